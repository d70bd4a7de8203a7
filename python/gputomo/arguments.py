"""Arguments of a launch: arrays, numbers and buffers become bytes of the kernel's parameters and memory."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import InputError

__all__ = ["Buffer", "Parameter"]

_POINTER_BYTES = 8
# Memory of which a launch has several views lies from here on, 2^40 bytes apart. Nothing else is allocated there.
_VIEWED_FROM = 1 << 44
_VIEWED_APART = 1 << 40


@dataclass(frozen=True, eq=False)
class Buffer:
    """Memory of a GPU that a pointer argument points to. The same object given twice is the same memory.

    `bytes` is its size. Its content is zeros; with `content`, these bytes and zeros behind them; with `generated`,
    normal floating-point numbers, whether they are read as half, bfloat16, single or double precision.
    """

    bytes: int
    content: Any = None
    """An object with the buffer protocol, of at most `bytes` bytes."""
    generated: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.bytes, bool) or not isinstance(self.bytes, int) or self.bytes <= 0:
            raise InputError(f"Buffer({self.bytes!r}): expected a positive number of bytes")
        if self.content is not None and self.generated:
            raise InputError("Buffer: found content and generated=True; expected one of them")
        if self.content is not None and memoryview(self.content).nbytes > self.bytes:
            found = memoryview(self.content).nbytes
            raise InputError(f"Buffer({self.bytes}): its content has {found} bytes; expected at most {self.bytes}")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel as it is launched."""

    name: str
    """Its number where the code names none."""
    offset_bytes: int
    size_bytes: int
    type: str
    """Of Triton (`*fp32`, `i32`) or PTX (`u64`, `f32`); empty where the code does not say."""


# The types of numbers, by Triton's name: format of struct, and the names that PTX has for it.
_FORMATS = {
    "i1": "?", "u1": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "fp16": "e", "fp32": "f", "fp64": "d", "s8": "b", "s16": "h", "s32": "i", "s64": "q", "f16": "e", "f32": "f",
    "f64": "d",
}  # fmt: skip
_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}
_FLOATS = {2: "e", 4: "f", 8: "d"}

# Names of the types of arrays, as NumPy and PyTorch have them, as Triton's.
ARRAY_TYPES = {
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "i1",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16",
}  # fmt: skip


def type_of_array(array: Any) -> str:
    """Triton's name of an array's type; its own name where Triton has none."""
    name = str(getattr(array.dtype, "name", None) or str(array.dtype).removeprefix("torch."))
    return ARRAY_TYPES.get(name, name)


def is_torch(value: Any) -> bool:
    return hasattr(value, "untyped_storage") and hasattr(value, "data_ptr")


def is_numpy(value: Any) -> bool:
    return hasattr(value, "__array_interface__") and hasattr(value, "strides") and getattr(value, "ndim", 0) >= 0


def is_array(value: Any) -> bool:
    """Whether a value is memory and not a number. A NumPy scalar such as `numpy.float32(1)` is a number."""
    return is_torch(value) or (is_numpy(value) and hasattr(value, "flags") and hasattr(value, "ctypes"))


@dataclass
class _Memory:
    """An allocation that pointers point into."""

    label: str
    bytes: int
    content: Any
    """An object with the buffer protocol, "generated", or None for zeros."""
    offsets: set[int] = field(default_factory=set)


@dataclass
class Marshalled:
    """What the extension module makes a launch of."""

    arguments: list[tuple[int, bytes, int | None]]
    buffers: list[tuple[str, int, int | None, Any]]
    restore: dict[str, tuple[int, Callable[[bytes], Any]]]
    """By parameter, of arrays: its buffer, and how the buffer's bytes become such an array again."""
    assumptions: list[str]
    warnings: list[str]


class HostCopies:
    """Contents of tensors that lie on a GPU, copied to the host once."""

    def __init__(self) -> None:
        self._by_place: dict[int, tuple[Any, Any]] = {}

    def bytes_of(self, storage: Any) -> Any:
        # The storage is kept, so that no other gets its address.
        place = storage.data_ptr()
        if place not in self._by_place:
            self._by_place[place] = (storage, _torch_bytes(storage.cpu()))
        return self._by_place[place][1]


def _torch() -> Any:
    """PyTorch, which is loaded where there are tensors."""
    return sys.modules["torch"]


def _torch_bytes(storage: Any) -> Any:
    """The bytes of a storage in the host's memory, which they keep alive. Types that NumPy lacks have bytes, too."""
    block = (ctypes.c_ubyte * storage.nbytes()).from_address(storage.data_ptr())
    block.storage = storage
    return block


class _Marshaller:
    def __init__(self, copies: HostCopies) -> None:
        self.copies = copies
        self.memory: dict[Any, _Memory] = {}
        self.pointers: list[tuple[Parameter, Any, int]] = []  # parameter, key of its memory, offset
        self.values: list[tuple[int, bytes]] = []
        self.restore: dict[str, tuple[Any, Callable[[bytes], Any]]] = {}
        self.assumptions: list[str] = []
        self.warnings: list[str] = []
        self.kept: list[Any] = []  # so that no other object gets the identity of one that was seen

    def add(self, parameter: Parameter, value: Any) -> None:
        where = f"argument {parameter.name}"
        if isinstance(value, Buffer) or is_array(value):
            self._check_pointer(parameter, value, where)
            self.kept.append(value)
            if isinstance(value, Buffer):
                content = "generated" if value.generated else value.content
                self._point(parameter, id(value), 0, _Memory(where, value.bytes, content))
                self.restore[parameter.name] = (id(value), lambda made: made)
            elif is_torch(value):
                self._add_torch(parameter, value, where)
            else:
                self._add_numpy(parameter, value, where)
            return
        if hasattr(value, "__cuda_array_interface__"):
            raise InputError(f"{where}: lies on a GPU; expected a NumPy or torch array: copy it to the host first")
        self.values.append((parameter.offset_bytes, number_bytes(parameter, value, where)))

    def _check_pointer(self, parameter: Parameter, value: Any, where: str) -> None:
        if parameter.size_bytes != _POINTER_BYTES:
            raise InputError(f"{where}: found memory; expected a number of {parameter.size_bytes} bytes")
        kind = parameter.type
        if kind and not kind.startswith("*") and kind not in ("u64", "s64", "b64"):
            raise InputError(f"{where}: found memory; expected a number of type {kind}")
        if kind.startswith("*") and not isinstance(value, Buffer):
            wanted, found = kind[1:].removeprefix("k"), type_of_array(value)
            if wanted != found and {wanted, found} != {"i1", "u1"}:
                raise InputError(f"{where}: found an array of {found}; expected {wanted}, for which it was compiled")

    def _point(self, parameter: Parameter, key: Any, offset: int, memory: _Memory) -> None:
        self.memory.setdefault(key, memory).offsets.add(offset)
        self.pointers.append((parameter, key, offset))

    def _add_torch(self, parameter: Parameter, tensor: Any, where: str) -> None:
        storage = tensor.untyped_storage()
        offset = tensor.storage_offset() * tensor.element_size()
        size = storage.nbytes()
        kind = type_of_array(tensor)
        device = tensor.device.type
        if device == "meta":
            floats = kind.startswith(("fp", "bf"))
            key: Any = ("meta", storage._cdata)
            content: Any = "generated" if floats else None
            if floats:
                self.assumptions.append(
                    f"the content of {where} was generated, because it is a meta tensor: numbers from 1 to 2"
                )
            else:
                self.warnings.append(
                    f"{where} is a meta tensor of {kind}, whose content is taken to be zeros: where it decides "
                    "addresses, branches or loops, the launch does something else"
                )
        else:
            key = storage.data_ptr()
            content = _torch_bytes(storage) if device == "cpu" else self.copies.bytes_of(storage)
            if device != "cpu":
                key = (device, key)
        if size == 0:
            raise InputError(f"{where}: has no elements; expected memory")
        self._point(parameter, key, offset, _Memory(where, size, content))
        dtype, shape, strides = tensor.dtype, tuple(tensor.shape), tensor.stride()
        start, element = tensor.storage_offset(), tensor.element_size()

        def restored(made: bytes) -> Any:
            torch = _torch()
            whole = len(made) // element * element
            return torch.as_strided(torch.frombuffer(bytearray(made[:whole]), dtype=dtype), shape, strides, start)

        self.restore[parameter.name] = (key, restored)

    def _add_numpy(self, parameter: Parameter, array: Any, where: str) -> None:
        import numpy

        root = array
        while isinstance(root.base, numpy.ndarray):
            root = root.base
        if not (root.flags.c_contiguous or root.flags.f_contiguous):
            raise InputError(f"{where}: its memory has gaps; expected a contiguous array: numpy.ascontiguousarray()")
        if array.nbytes == 0:
            raise InputError(f"{where}: has no elements; expected memory")
        offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        key = root.__array_interface__["data"][0]
        # Types such as ml_dtypes.bfloat16 have no format of the buffer protocol.
        content = root.view(numpy.uint8) if root.ndim and root.flags.c_contiguous else root
        self._point(parameter, key, offset, _Memory(where, root.nbytes, content))

        def restored(made: bytes) -> Any:
            return numpy.ndarray(array.shape, array.dtype, bytearray(made), offset, array.strides)

        self.restore[parameter.name] = (key, restored)

    def done(self) -> Marshalled:
        numbers = {key: i for i, key in enumerate(self.memory)}
        buffers: list[tuple[str, int, int | None, Any]] = []
        for i, memory in enumerate(self.memory.values()):
            # A pointer to the first byte is replaced by wherever the buffer lies, any other needs to know.
            address = None if memory.offsets == {0} else _VIEWED_FROM + i * _VIEWED_APART
            buffers.append((memory.label, memory.bytes, address, memory.content))
        arguments: list[tuple[int, bytes, int | None]] = [(offset, value, None) for offset, value in self.values]
        for parameter, key, offset in self.pointers:
            address = buffers[numbers[key]][2]
            if address is None:
                arguments.append((parameter.offset_bytes, bytes(_POINTER_BYTES), numbers[key]))
            else:
                arguments.append((parameter.offset_bytes, struct.pack("<Q", address + offset), None))
        arguments.sort(key=lambda one: one[0])
        restore = {name: (numbers[key], make) for name, (key, make) in self.restore.items()}
        return Marshalled(arguments, buffers, restore, self.assumptions, self.warnings)


def number_bytes(parameter: Parameter, value: Any, where: str) -> bytes:
    """The bytes of a number, as the parameter's type has it. Raises InputError where it does not fit."""
    size, kind = parameter.size_bytes, parameter.type
    if isinstance(value, (bytes, bytearray)) or isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array)):
        return _sized(bytes(value), size, where)
    if isinstance(value, ctypes._SimpleCData):
        return _sized(bytes(value), size, where)
    if kind.startswith("*") or value is None:
        if value is None and size == _POINTER_BYTES:
            return bytes(_POINTER_BYTES)
        raise InputError(f"{where}: found {value!r}; expected an array, a gputomo.Buffer or None")
    if hasattr(value, "dtype") and hasattr(value, "item"):
        if not kind:
            # The code does not say the type, and the value does.
            return (
                _sized(value.tobytes(), size, where) if hasattr(value, "tobytes") else _plain(parameter, value, where)
            )
        value = value.item()
    return _plain(parameter, value, where)


def _sized(value: bytes, size: int, where: str) -> bytes:
    if len(value) != size:
        raise InputError(f"{where}: has {len(value)} bytes; expected {size}")
    return value


def _plain(parameter: Parameter, value: Any, where: str) -> bytes:
    size, kind = parameter.size_bytes, parameter.type
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, (bool, int, float)):
        raise InputError(f"{where}: found {type(value).__name__}; expected a number, an array or a gputomo.Buffer")
    is_float = isinstance(value, float)
    takes_float = kind in ("bf16",) or _FORMATS.get(kind, "") in ("e", "f", "d")
    if kind and not kind.startswith("b") and is_float and not takes_float:
        raise InputError(f"{where}: found {value!r}; expected a whole number of type {kind}")
    if kind == "bf16":
        return _sized(_bfloat16(float(value)), size, where)
    try:
        if kind in _FORMATS:
            packed = struct.pack("<" + _FORMATS[kind], float(value) if takes_float else value)
        elif is_float:
            packed = struct.pack("<" + _FLOATS[size], value)
        else:
            packed = struct.pack("<" + (_SIGNED if value < 0 else _UNSIGNED)[size], value)
    except KeyError:
        raise InputError(f"{where}: found {value!r}; expected {size} bytes, as bytes or a ctypes object") from None
    except (struct.error, OverflowError) as error:
        wanted = kind or f"{size} bytes"
        raise InputError(f"{where}: found {value!r}; expected a number that {wanted} holds ({error})") from None
    return _sized(packed, size, where)


def _bfloat16(value: float) -> bytes:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:  # NaN
        return struct.pack("<H", bits >> 16 | 0x40)
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF)


def marshal(parameters: Sequence[Parameter], values: Sequence[Any], signature: str, copies: HostCopies) -> Marshalled:
    """Raises InputError where values differ from the parameters in number, size or kind."""
    if len(values) != len(parameters):
        raise InputError(f"found {len(values)} arguments; expected {len(parameters)}, those of {signature}")
    marshaller = _Marshaller(copies)
    for parameter, value in zip(parameters, values):
        marshaller.add(parameter, value)
    return marshaller.done()
