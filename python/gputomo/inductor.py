"""PyTorch's Inductor without a GPU: times of operations, for its scheduling passes.

    estimate = gputomo.inductor.runtime_estimation("h200")
    schedule_overlap_bucketing(graph_module, custom_runtime_estimation=estimate)

`gputomo.kernel()` takes the kernels that Inductor compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._frames import library
from .errors import InputError
from .machines import Machine, MachineLike, load

__all__ = ["runtime_estimation"]

_TENSOR = "operations.wgmma.m64n256k{depth}.{out}.{kind}.{kind}.throughput"
_KINDS = {"float16": ("f16", 16), "bfloat16": ("bf16", 16), "float8_e4m3fn": ("e4m3", 32), "float32": ("tf32", 8)}
_ROWS, _COLUMNS, _GROUP = 64, 256, 128  # of a product, and threads that ask for it together


class _Rates:
    """What the described GPU was measured to reach."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.bytes_per_second = 1e9 * self._need("memory.read_bandwidth")
        self.start_seconds = self._need("launch.profiler_cycles") / (1e6 * self._need("clock.sm_mhz"))
        self._cycles_per_second = 1e6 * self._need("clock.sm_mhz") * self._need("topology.sms")

    def _need(self, path: str) -> float:
        value = self._machine[path].value
        if not isinstance(value, (int, float)):
            raise InputError(f"{self._machine.name}: {path} is not known; expected a number")
        return float(value)

    def flops_per_second(self, dtype: str, exact: bool) -> float:
        """Of products of matrices of that type. `exact`: 32-bit numbers are not rounded to TF32."""
        if dtype not in _KINDS or (dtype == "float32" and exact):
            return 2 * self._need("operations.fma.rn.f32.throughput") * self._cycles_per_second
        kind, depth = _KINDS[dtype]
        rate = self._need(_TENSOR.format(depth=depth, out="f32", kind=kind)) / _GROUP
        return 2 * _ROWS * _COLUMNS * depth * rate * self._cycles_per_second


def runtime_estimation(machine: MachineLike) -> Callable[[Any, Any], Any]:
    """A function for `custom_runtime_estimation` of Inductor's scheduling of overlaps.

    It returns milliseconds for a node of an FX graph whose values have shapes (`node.meta["val"]`), and None for others:
    collectives, views, and what is no operation. A time is the larger of two: floating-point operations at the measured
    rate of the tensor cores, and bytes of inputs and outputs at the measured bandwidth of the memory. The start of a
    kernel is added. No kernel is simulated: at this point Inductor has none. Raises InputError where the description
    lacks a rate.
    """
    rates = _Rates(load(machine))
    torch = library("torch", "torch", "gputomo.inductor")
    registry = library("torch.utils.flop_counter", "torch", "gputomo.inductor").flop_registry
    tree = library("torch.utils._pytree", "torch", "gputomo.inductor")

    def bytes_of(value: Any) -> int:
        tensors = [one for one in tree.tree_leaves(value) if isinstance(one, torch.Tensor)]
        return sum(int(one.numel()) * int(one.element_size()) for one in tensors)

    def estimate(node: Any, override_size: Any = None) -> Any:
        target = node.target
        if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload) or "val" not in node.meta:
            return None
        if target.namespace != "aten" or target.is_view or override_size is not None:
            return None
        args, kwargs = tree.tree_map(
            lambda one: one.meta.get("val") if isinstance(one, torch.fx.Node) else one, (node.args, node.kwargs)
        )
        output = node.meta["val"]
        seconds = (bytes_of((args, kwargs)) + bytes_of(output)) / rates.bytes_per_second
        if target.overloadpacket in registry:
            flops = registry[target.overloadpacket](*args, **kwargs, out_val=output)
            first = next(one for one in tree.tree_leaves(args) if isinstance(one, torch.Tensor))
            exact = not torch.backends.cuda.matmul.allow_tf32
            seconds = max(seconds, flops / rates.flops_per_second(str(first.dtype).removeprefix("torch."), exact))
        return 1000 * (seconds + rates.start_seconds)

    return estimate
