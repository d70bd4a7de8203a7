"""TVM's MetaSchedule without a GPU: a cost model that predicts candidates for a described GPU.

    model = gputomo.tvm.cost_model("h200")
    tvm.s_tir.meta_schedule.tune_tir(..., cost_model=model)

TVM is imported when a model is made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from . import _nvrtc
from ._frames import library
from ._tuning import PredictionWarning, milliseconds_of, warn
from .arguments import Buffer
from .errors import InputError
from .kernels import kernel
from .launches import Launch
from .machines import Machine, MachineLike, load

__all__ = ["PredictionWarning", "cost_model", "launches"]

_ITEM = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "bool": 1}


def _bytes(dtype: str, shape: Sequence[int]) -> int:
    size = _ITEM.get(dtype) or max(1, int("".join(c for c in dtype if c.isdigit()) or 8) // 8)
    for length in shape:
        size *= int(length)
    return size


def _buffer_of(parameter: Any, function: Any) -> Any:
    """The shape, type and name of a parameter that is a buffer, else None. From TVM 0.27.0.post1 on, the type of the
    parameter says it; before, the function had a map."""
    known = getattr(function, "buffer_map", None)
    if known is not None:
        return known[parameter] if parameter in known else None
    return parameter if type(getattr(parameter, "ty", None)).__name__ == "BufferType" else None


def launches(module: Any, machine: MachineLike) -> list[Launch]:
    """The launch of a scheduled IRModule with one kernel, whose parameters are buffers of fixed shapes. Contents are
    generated.

    TVM writes CUDA C++, which NVRTC compiles. Raises InputError where the module has other parameters, several kernels,
    or a kernel whose arguments are not these buffers.
    """
    tvm = library("tvm", "tvm", "gputomo.tvm")
    described: Machine = load(machine)
    functions = [one for _, one in module.functions.items() if hasattr(one, "params") and hasattr(one, "body")]
    if len(functions) != 1:
        raise InputError(f"the module has {len(functions)} functions; expected one")
    buffers: dict[str, Buffer] = {}
    for variable in functions[0].params:
        buffer = _buffer_of(variable, functions[0])
        if buffer is None:
            raise InputError(f"parameter {variable} is no buffer; expected buffers of fixed shapes")
        size = _bytes(str(buffer.dtype), [int(n) for n in buffer.shape])
        buffers[str(buffer.name)] = Buffer(size, generated=str(buffer.dtype).startswith(("float", "bfloat")))
    source = _source(tvm, module, described)
    name, arguments, threads = _signature(source)
    # Some versions of TVM name the argument of a buffer A A_ptr.
    arguments = [one if one in buffers else one.removesuffix("_ptr") for one in arguments]
    unknown = [one for one in arguments if one not in buffers]
    if unknown:
        raise InputError(f"kernel {name}: its argument {unknown[0]} is none of the buffers {', '.join(buffers)}")
    grid, block = _extents(functions[0].body)
    if block[0] * block[1] * block[2] != threads:
        raise InputError(f"kernel {name}: its loops have {block} threads and its code {threads}; expected the same")
    code = _nvrtc.compile(
        source,
        ["--std=c++17", *(f"-I{folder}" for folder in _includes())],
        described.compute_capability,
        f"TVM's {name}",
    )
    return [kernel(code, name).launch(grid, [buffers[one] for one in arguments], block=block)]


def _includes() -> list[str]:
    """Headers of CUDA and of its C++ library, which come with NVIDIA's packages."""
    found = _nvrtc.include_folders()
    return found + [f"{folder}/cccl" for folder in found]


def _source(tvm: Any, module: Any, machine: Machine) -> str:
    # The tag has the limits of a block, without which TVM looks for a GPU.
    target = tvm.target.Target("nvidia/nvidia-h100" if machine.compute_capability >= 90 else "nvidia/nvidia-a100")
    built = tvm.compile(module, target=target)
    devices = [one for one in built.mod.imports if one.kind == "cuda"]
    if len(devices) != 1:
        raise InputError(f"TVM made {len(devices)} CUDA modules; expected one")
    return str(devices[0].inspect_source("cuda"))


_KERNEL = re.compile(r'extern "C" __global__ void __launch_bounds__\((\d+)\) (\w+)\(([^)]*)\)(?!\s*;)')


def _signature(source: str) -> tuple[str, list[str], int]:
    """Name, names of the arguments, and threads of the only kernel."""
    found = _KERNEL.findall(source)
    if len(found) != 1:
        raise InputError(f"TVM's code has {len(found)} kernels; expected one")
    threads, name, arguments = found[0]
    return name, [one.split()[-1].lstrip("*") for one in arguments.split(",") if one.strip()], int(threads)


def _extents(body: Any) -> tuple[list[int], list[int]]:
    """Blocks and threads of the loops that are bound to them."""
    # Up to TVM 0.26 a module of TVM walks through statements, later its foreign function interface.
    visit = getattr(library("tvm_ffi", "tvm", "gputomo.tvm"), "structural_walk", None)
    if visit is None:
        visit = library("tvm.tirx.stmt_functor", "tvm", "gputomo.tvm").post_order_visit
    found: dict[str, int] = {}

    def look(node: Any) -> None:
        binding = getattr(node, "thread_binding", None)
        if binding is not None:
            found[str(binding.thread_tag)] = int(node.extent)

    visit(body, look)
    grid = [found.get(f"blockIdx.{d}", 1) for d in "xyz"]
    return grid, [found.get(f"threadIdx.{d}", 1) for d in "xyz"]


@lru_cache(maxsize=None)
def _model_class() -> Any:
    """The class of the cost models. TVM keeps every class of which it was given an object until the process ends, so
    that there is one, and only its objects hold a machine."""
    base = library("tvm.s_tir.meta_schedule.cost_model", "tvm", "gputomo.tvm")
    utilities = library("tvm.ir.utils", "tvm", "gputomo.tvm")
    numpy = library("numpy", "tvm", "gputomo.tvm")

    class PredictedCost(base.PyCostModel):  # type: ignore[misc, name-defined]
        def __init__(self, described: Machine, options: dict[str, Any]) -> None:
            self.described = described
            self.options = options

        def load(self, path: str) -> None:
            """Nothing is learnt, so nothing is kept."""

        def save(self, path: str) -> None:
            """Nothing is learnt, so nothing is kept."""

        def update(self, context: Any, candidates: Any, results: Any) -> None:
            """Nothing is learnt from measurements."""

        def predict(self, context: Any, candidates: Any) -> Any:
            made: list[Launch | None] = []
            names = [f"candidate {i}" for i in range(len(candidates))]
            for name, candidate in zip(names, candidates):
                try:
                    made += launches(candidate.sch.mod, self.described)
                except Exception as error:  # TVM raises errors of many kinds
                    warn(name, error)
                    made.append(None)
            times = milliseconds_of(made, names, self.described, self.options)
            known = [time for time in times if time is not None]
            best = min(known, default=1.0)
            return numpy.array([1 / (best if time is None else time) for time in times], dtype="float64")

    return utilities.derived_object(PredictedCost)


def cost_model(machine: MachineLike, **options: Any) -> Any:
    """A cost model for MetaSchedule that predicts candidates for a described GPU.

    The score of a candidate is 1 over its predicted milliseconds. One that cannot be predicted, which a
    PredictionWarning says, gets the score of the best one of its batch, so that TVM measures it. `options` are those of
    `predict_many()`.
    """
    return _model_class()(load(machine), options)
