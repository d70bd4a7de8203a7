"""Kernels of numba-cuda, CuPy, cuda.core, Warp and PyTorch's Inductor. None of them is imported here: who has such an
object has imported its package."""

from __future__ import annotations

import ctypes
import json
import struct
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _nvrtc
from .arguments import Buffer, Parameter, is_array, type_of_array
from .errors import InputError
from .machines import MachineLike, load

__all__: list[str] = []

_POINTER = 8
_NUMBA_SCALARS = {
    "bool": "u1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "fp16", "float32": "fp32", "float64": "fp64",
}  # fmt: skip
_BITS = {"fp16": 2, "fp32": 4, "fp64": 8, "u1": 1}


def _module(x: Any) -> str:
    return type(x).__module__ or ""


def is_numba(x: Any) -> bool:
    return hasattr(x, "py_func") and hasattr(x, "overloads") and "numba" in _module(x) and "cuda" in _module(x)


def is_cupy(x: Any) -> bool:
    return _module(x).startswith("cupy") and type(x).__name__ == "RawKernel"


def is_object_code(x: Any) -> bool:
    return _module(x).startswith("cuda.core") and type(x).__name__ == "ObjectCode"


def is_warp(x: Any) -> bool:
    return _module(x).startswith("warp") and hasattr(x, "adj") and hasattr(x, "module")


def is_inductor(x: Any) -> bool:
    return hasattr(x, "compile_results") and hasattr(x, "launchers") and hasattr(x, "triton_meta")


def machine_needed(machine: MachineLike | None, what: str) -> int:
    """The compute capability to compile for."""
    if machine is None:
        raise InputError(f"{what}: has to be compiled; expected machine=, the GPU to compile for")
    capability = load(machine).compute_capability
    return int(capability)


@dataclass(frozen=True)
class Raw:
    """Code of another package, and what `kernel()` cannot read in it."""

    code: bytes
    origin: str
    name: str | None
    conversion: Any = None
    """Makes the code's parameters of arguments; None where each argument is a parameter."""
    block: tuple[int, int, int] | None = None
    dynamic_shared_bytes: int = 0


def of_object_code(x: Any) -> Raw:
    kind = x.code_type  # without repr(x), which loads the code onto a GPU
    origin = f"cuda.core's {x.name or 'ObjectCode'}"
    if kind not in ("cubin", "ptx"):
        raise InputError(f"{origin}: is {kind}; expected cubin or ptx: Program.compile('cubin')")
    code = x.code
    if isinstance(code, str):
        code = Path(code).read_bytes()
    return Raw(bytes(code), origin, None)


def of_cupy(x: Any, machine: MachineLike | None) -> Raw:
    """CuPy compiles when a kernel is first launched, and does not give its code away. So the source is compiled here,
    by the same compiler with the same options."""
    origin = f"CuPy's {x.name}"
    if x.backend != "nvrtc":
        raise InputError(f"{origin}: is compiled by {x.backend}; expected backend='nvrtc'")
    if x.file_path is not None:
        return Raw(Path(x.file_path).read_bytes(), origin, x.name)
    sm = machine_needed(machine, origin)
    cupy = sys.modules["cupy"]
    own = Path(cupy.__file__ or "").parent / "_core/include"
    folders = [str(own), *_nvrtc.include_folders()]
    options = [option for option in x.options if not option.startswith(("-arch", "--gpu-architecture"))]
    code = _nvrtc.compile(x.code, [*options, *(f"-I{folder}" for folder in folders), "-DCUPY_USE_JITIFY=0"], sm, origin)
    return Raw(code, origin, x.name)


class NumbaConversion:
    """numba-cuda passes an array as its memory's owner, its parent, its length, the size of an element, its memory,
    and for each dimension length and stride."""

    def __init__(self, kinds: Sequence[Any], names: Sequence[str], origin: str) -> None:
        self.kinds = list(kinds)
        self.origin = origin
        self.parameters = tuple(self._declared(name, kind) for name, kind in zip(names, kinds))

    def _declared(self, name: str, kind: Any) -> Parameter:
        if hasattr(kind, "ndim") and hasattr(kind, "dtype"):
            return Parameter(name, 0, (5 + 2 * kind.ndim) * _POINTER, f"{kind}")
        scalar = _NUMBA_SCALARS.get(str(kind))
        if scalar is None:
            raise InputError(f"{self.origin}: its parameter {name} is {kind}; expected an array or a number")
        return Parameter(name, 0, _size_of(scalar), scalar)

    def blocks(self, grid: Any, threads: Any) -> Any:
        return grid

    def pairs(self, raw: Sequence[Parameter], values: Sequence[Any], grid: Any) -> list[tuple[Parameter, Any]]:
        wanted = sum(5 + 2 * k.ndim if hasattr(k, "ndim") else 1 for k in self.kinds)
        if len(raw) != wanted:
            raise InputError(
                f"{self.origin}: its code has {len(raw)} parameters; expected {wanted}, as numba-cuda passes them"
            )
        places = iter(raw)
        made: list[tuple[Parameter, Any]] = []
        for declared, kind, value in zip(self.parameters, self.kinds, values):
            if not hasattr(kind, "ndim"):
                place = next(places)
                made.append((Parameter(declared.name, place.offset_bytes, place.size_bytes, declared.type), value))
                continue
            element, shape, strides = _array(value, declared.name, kind.ndim, str(kind.dtype), _numba_item(kind))
            count = 1
            for length in shape:
                count *= length
            fields = [0, 0, count, element, value, *shape, *strides]
            names = ["owner", "parent", "count", "item", "", *["shape"] * kind.ndim, *["stride"] * kind.ndim]
            for field, part in zip(fields, names):
                place = next(places)
                name = f"{declared.name}.{part}" if part else declared.name
                made.append((Parameter(name, place.offset_bytes, _POINTER, ""), field))
        return made


def _numba_item(kind: Any) -> int:
    bits = getattr(kind.dtype, "bitwidth", None)
    return int(bits) // 8 if bits else _size_of(_NUMBA_SCALARS.get(str(kind.dtype), ""))


def _size_of(scalar: str) -> int:
    if scalar in _BITS:
        return _BITS[scalar]
    return int("".join(c for c in scalar if c.isdigit()) or 0) // 8


def _array(
    value: Any, name: str, dimensions: int, dtype: str, item: int
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Size of an element, lengths and strides in bytes of an array argument."""
    if isinstance(value, Buffer):
        if dimensions != 1:
            raise InputError(f"argument {name}: found a Buffer; expected an array of {dimensions} dimensions")
        return item, (value.bytes // item,), (item,)
    if not is_array(value):
        raise InputError(f"argument {name}: found {type(value).__name__}; expected an array or a gputomo.Buffer")
    found = _NUMBA_OF_ARRAY.get(type_of_array(value), type_of_array(value))
    shape = tuple(int(n) for n in value.shape)
    if len(shape) != dimensions or found != dtype:
        raise InputError(
            f"argument {name}: found an array of {found} with {len(shape)} dimensions; expected {dtype} with "
            f"{dimensions}, for which it was compiled"
        )
    if hasattr(value, "untyped_storage"):
        element = int(value.element_size())
        return element, shape, tuple(int(n) * element for n in value.stride())
    return int(value.itemsize), shape, tuple(int(n) for n in value.strides)


_NUMBA_OF_ARRAY = {triton: numba for numba, triton in _NUMBA_SCALARS.items()} | {"i1": "bool"}


def of_numba(x: Any, machine: MachineLike | None, args: Sequence[Any] | None) -> Raw:
    function = x.py_func
    origin = f"numba's {function.__name__}"
    names = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    if args is not None:
        sm = machine_needed(machine, origin)
        if len(args) != len(names):
            raise InputError(f"{origin}: found {len(args)} args; expected {len(names)}: {', '.join(names)}")
        kinds = tuple(x.typeof_pyval(_as_numpy(value)) for value in args)
        cuda = sys.modules["numba.cuda"]
        options = {k: x.targetoptions[k] for k in ("fastmath", "opt", "lineinfo") if k in x.targetoptions}
        ptx, _ = cuda.compile(function, kinds, cc=divmod(sm, 10), device=False, output="ptx", abi="numba", **options)
    else:
        signatures = list(x.overloads)
        if len(signatures) != 1:
            raise InputError(
                f"{origin}: was compiled for {len(signatures)} signatures; expected args=, the arguments of a launch, "
                "and machine=, to compile it for"
            )
        kinds = tuple(getattr(signatures[0], "args", signatures[0]))
        ptx = x.inspect_asm(signatures[0])
    code = ptx if isinstance(ptx, bytes) else str(ptx).encode()
    return Raw(code.rstrip(b"\0"), origin, None, NumbaConversion(kinds, names, origin))


def _as_numpy(value: Any) -> Any:
    """A NumPy array of the type, the lengths and the strides of a tensor, for numba to look at."""
    if hasattr(value, "untyped_storage"):
        import numpy

        kind = numpy.dtype(_NUMBA_OF_ARRAY.get(type_of_array(value), type_of_array(value)))
        if value.is_contiguous():
            return numpy.empty(tuple(value.shape), kind)
        strides = tuple(n * kind.itemsize for n in value.stride())
        return numpy.lib.stride_tricks.as_strided(numpy.empty(1, kind), tuple(value.shape), strides)
    return value


class WarpConversion:
    """Warp passes the lengths of the launch, then arrays and numbers by value. An array is a struct of its memory, its
    gradient, lengths, strides and its number of dimensions. The grid is the `dim` of `wp.launch()`."""

    def __init__(self, kernel: Any, block: int, origin: str) -> None:
        self.warp = sys.modules["warp"]
        self.types = [(arg.label, arg.type) for arg in kernel.adj.args]
        self.block = block
        self.origin = origin
        self.dimensions = int(getattr(kernel.adj, "kernel_dim", 1))
        self.array = self._array_struct()
        self.parameters = tuple(self._declared(name, kind) for name, kind in self.types)

    def _array_struct(self) -> Any:
        for place in ("warp._src.types", "warp.types"):
            if hasattr(sys.modules.get(place), "array_t"):
                return sys.modules[place].array_t
        raise InputError(f"{self.origin}: Warp {self.warp.__version__} has no array_t; expected Warp 1.8 or newer")

    def _is_array(self, kind: Any) -> bool:
        return isinstance(kind, self.warp.array)

    def _declared(self, name: str, kind: Any) -> Parameter:
        if self._is_array(kind):
            return Parameter(name, 0, ctypes.sizeof(self.array), f"array of {kind.ndim}")
        kind = {float: self.warp.float32, int: self.warp.int32, bool: self.warp.bool}.get(kind, kind)
        scalar = _NUMBA_SCALARS.get(getattr(kind, "__name__", ""), "")
        if not scalar and not issubclass(kind, (ctypes.Array, ctypes.Structure)):
            raise InputError(f"{self.origin}: its parameter {name} is {kind}; expected an array, a number or a vector")
        return Parameter(name, 0, _size_of(scalar) if scalar else ctypes.sizeof(kind), scalar)

    @staticmethod
    def lengths(grid: Any) -> tuple[int, ...]:
        return (grid,) if isinstance(grid, int) else tuple(grid)

    def blocks(self, grid: Any, threads: Any) -> Any:
        count = 1
        for length in self.lengths(grid):
            count *= length
        return -(-count // threads[0])

    def pairs(self, raw: Sequence[Parameter], values: Sequence[Any], grid: Any) -> list[tuple[Parameter, Any]]:
        if len(raw) != 1 + len(self.types):
            raise InputError(f"{self.origin}: its code has {len(raw)} parameters; expected {1 + len(self.types)}")
        lengths = self.lengths(grid)
        if len(lengths) != self.dimensions:
            raise InputError(
                f"{self.origin}: found a grid of {len(lengths)} dimensions; expected {self.dimensions}, as many "
                "dimensions as wp.tid() returns"
            )
        count = 1
        for length in lengths:
            count *= length
        bounds = struct.pack(f"<{len(lengths)}I", *lengths)
        bounds += bytes(-len(bounds) % _POINTER) + struct.pack("<QQ", count, 1)
        if raw[0].size_bytes != len(bounds):
            raise InputError(
                f"{self.origin}: the bounds of its launch have {raw[0].size_bytes} bytes; expected {len(bounds)}, as of "
                "Warp 1.19"
            )
        made: list[tuple[Parameter, Any]] = [(raw[0], bounds)]
        for place, declared, (name, kind), value in zip(raw[1:], self.parameters, self.types, values):
            if not self._is_array(kind):
                kept = declared.type if not isinstance(value, ctypes.Array) else ""
                value = bytes(value) if isinstance(value, (ctypes.Array, ctypes.Structure)) else value
                made.append((Parameter(name, place.offset_bytes, place.size_bytes, kept), value))
                continue
            if isinstance(value, self.warp.array):
                value = value.numpy()
            item = ctypes.sizeof(kind.dtype) if issubclass(kind.dtype, ctypes.Array) else 0
            scalar = kind.dtype._wp_scalar_type_ if item else kind.dtype
            inner = len(getattr(kind.dtype, "_shape_", ())) if item else 0
            scalar = {float: self.warp.float32, int: self.warp.int32, bool: self.warp.bool}.get(scalar, scalar)
            size = _size_of(_NUMBA_SCALARS.get(scalar.__name__, ""))
            shape: tuple[int, ...]
            strides: tuple[int, ...]
            if isinstance(value, Buffer):
                shape, strides = (value.bytes // (item or size),), (item or size,)
            else:
                _, shape, strides = _array(value, name, kind.ndim + inner, scalar.__name__, size)
            described = self.array(0, 0, kind.ndim, shape[: kind.ndim], strides[: kind.ndim])
            made.append((Parameter(name, place.offset_bytes, _POINTER, ""), value))
            rest = bytes(described)[_POINTER:]
            made.append((Parameter(f"{name}.shape", place.offset_bytes + _POINTER, len(rest), ""), rest))
        return made


def of_warp(x: Any, machine: MachineLike | None) -> Raw:
    warp = sys.modules["warp"]
    origin = f"Warp's {x.key}"
    sm = machine_needed(machine, origin)
    with tempfile.TemporaryDirectory(prefix="gputomo-") as folder:
        warp.compile_aot_module(x.module, arch=sm, module_dir=folder, use_ptx=False)
        files = sorted(Path(folder).glob("*.cubin"))
        if len(files) != 1:
            raise InputError(f"{origin}: Warp made {len(files)} cubins for sm_{sm}; expected one")
        code = files[0].read_bytes()
        shared: Mapping[str, int] = {}
        for file in Path(folder).glob("*.meta"):
            shared = json.loads(file.read_text())
    name = f"{x.get_mangled_name()}_cuda_kernel_forward"
    block = int(x.module.options.get("block_dim", 256))
    conversion = WarpConversion(x, block, origin)
    return Raw(code, origin, name, conversion, (block, 1, 1), int(shared.get(f"{name}_smem_bytes", 0)))


def of_inductor(x: Any) -> Any:
    """What stands for Triton's compiled kernel of an autotuner of Inductor: that of its only configuration, or of the
    one that it chose."""
    fn = getattr(x, "fn", None)
    origin = f"Inductor's {getattr(fn, '__name__', 'kernel')}"
    results = list(x.compile_results)
    if len(x.launchers) == 1 and len(results) > 1:
        results = [one for one in results if one.config == x.launchers[0].config]
    if len(results) != 1:
        raise InputError(
            f"{origin}: has {len(results)} compiled configurations; expected one: call its precompile(), and where "
            "there are several, one of its compile_results"
        )
    return of_inductor_result(results[0], origin)


def is_inductor_result(x: Any) -> bool:
    return hasattr(x, "compile_meta") and hasattr(x, "inductor_meta") and hasattr(x, "kernel")


def of_inductor_result(x: Any, origin: str = "Inductor's kernel") -> Any:
    compiled = x.kernel
    if hasattr(compiled, "asm"):
        return compiled
    # A kernel that PyTorch launches itself: the code goes once it is loaded.
    code = getattr(compiled, "cubin_raw", None)
    path = getattr(compiled, "cubin_path", None)
    if code is None and path is not None and Path(path).exists():
        code = Path(path).read_bytes()
    if code is None:
        raise InputError(
            f"{origin}: PyTorch has loaded its code and does not keep it; expected "
            "torch._inductor.config.use_static_triton_launcher = False before it is compiled"
        )
    metadata = types.SimpleNamespace(name=compiled.name, num_warps=compiled.num_warps, shared=compiled.shared)
    source = types.SimpleNamespace(signature=x.compile_meta["signature"], constants=x.compile_meta["constants"])
    return types.SimpleNamespace(asm={"cubin": code}, metadata=metadata, src=source)
