"""gputomo predicts and simulates kernels on described GPUs, without a GPU.

    import gputomo

    h200 = gputomo.load("h200")
    h200.caches["l1"].capacity.value                    # 238592 (bytes)

    k = gputomo.kernel("kernel.cubin")
    answer = k.predict((1024,), [x, y, 2.0, x.size], h200, block=256)
    answer.time.microseconds, answer.limiter.resource
    print(answer)

Neither CUDA nor torch is needed. `gputomo.triton` compiles Triton's kernels for described GPUs and prunes
configurations of `@triton.autotune`; `gputomo.helion`, `gputomo.kernel_tuner`, `gputomo.tvm` and `gputomo.inductor` are
for other tuners. `gputomo.capture()` records the launches of Triton's kernels in the running process.
"""

from __future__ import annotations

from importlib import metadata as _metadata
from typing import TYPE_CHECKING, Any

from .answers import Answer
from .arguments import Buffer, Parameter
from .capturing import Recording, capture
from .errors import DeviceError, Error, InputError, TimeLimitError, UnknownLeafError
from .kernels import CapturedKernel, Kernel, kernel
from .launches import Capture, CapturedLaunch, Launch, predict_many
from .machines import Diff, Leaf, Machine, diff, load, names
from .scanning import executable, scan

if TYPE_CHECKING:
    from . import helion, inductor, kernel_tuner, triton, tvm

try:
    __version__ = _metadata.version("gputomo")
except _metadata.PackageNotFoundError:  # runs from the folder where it was built
    __version__ = "unknown"

__all__ = [
    "Answer", "Buffer", "Capture", "CapturedKernel", "CapturedLaunch", "DeviceError", "Diff", "Error", "InputError",
    "Kernel", "Launch", "Leaf", "Machine", "Parameter", "Recording", "TimeLimitError", "UnknownLeafError", "capture",
    "diff", "executable", "helion", "inductor", "kernel", "kernel_tuner", "load", "names", "predict_many", "scan",
    "triton", "tvm",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # These import other packages when they are used.
    if name in ("helion", "inductor", "kernel_tuner", "triton", "tvm"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'gputomo' has no attribute '{name}'")
