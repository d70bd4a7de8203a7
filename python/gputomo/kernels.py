"""Kernels: code with the signature, block size and shared memory that it is launched with."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Union, overload

from . import _core, _ptxas, sources
from .answers import Answer
from .arguments import Buffer, HostCopies, Marshalled, Parameter, is_array, marshal
from .errors import InputError
from .launches import Capture, CapturedLaunch, Launch, Three
from .machines import MachineLike

__all__ = ["Kernel", "kernel"]

Grid = Union[int, Sequence[int], Callable[[Mapping[str, Any]], Union[int, Sequence[int]]]]
Arguments = Union[Sequence[Any], Mapping[str, Any]]

_ELF, _FATBIN = b"\x7fELF", b"\x50\xed\x55\xba"
_ELF_MACHINE = 18  # offset of e_machine (elf(5))
_EM_CUDA = 190
_THREADS_OF_WARP = 32


def three(value: Any, what: str) -> Three:
    """Raises InputError unless the value is one to three whole numbers from 1 to 2^32 - 1."""
    numbers = [value] if isinstance(value, int) else list(value) if isinstance(value, Sequence) else []
    fits = all(isinstance(n, int) and not isinstance(n, bool) and 0 < n < 1 << 32 for n in numbers)
    if not 1 <= len(numbers) <= 3 or not fits:
        raise InputError(f"{what} {value!r}: expected one to three whole numbers from 1 to {(1 << 32) - 1}")
    numbers += [1] * (3 - len(numbers))
    return numbers[0], numbers[1], numbers[2]


@dataclass(frozen=True)
class Hidden:
    """A parameter that the language adds behind those of the signature."""

    parameter: Parameter
    bytes_per_block: int
    """Of the memory that it points to; 0 for a null pointer."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """Code that can be launched. `kernel()` makes one.

    `predict()` and `simulate()` take the grid, the arguments and the GPU. The signature, hidden parameters, the size
    of a block and its shared memory come from the code where it has them.
    """

    name: str
    code: bytes
    """A cubin, or PTX."""
    origin: str
    """The file or object in messages."""
    parameters: tuple[Parameter, ...]
    """Those that arguments are given for, in order."""
    hidden: tuple[Hidden, ...] = ()
    """Those that are filled in: Triton's two pointers to scratch memory."""
    block: Three | None = None
    """Threads of a block; None where the code does not say."""
    dynamic_shared_bytes: int = 0
    cluster: Three | None = None
    cooperative: bool = False
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Values of Triton's `constexpr` parameters, and of those that it made constants, by name."""
    declared: tuple[str, ...] = ()
    """Names of all parameters in Triton's source, in order."""
    declared_constants: frozenset[str] = frozenset()
    """Those of them that the source declares `constexpr`."""
    registers: int = 0
    """Of a thread; 0 where the code is PTX."""
    static_shared_bytes: int = 0
    """Of a block, with what the system keeps; 0 where the code is PTX."""
    conversion: Any = None
    """Makes the parameters of the code from the arguments, where a package passes them in parts of its own."""
    raw: tuple[Parameter, ...] = ()
    """With a conversion: the parameters of the code."""

    @property
    def is_machine_code(self) -> bool:
        """Whether the code is a cubin."""
        return self.code.startswith(_ELF)

    @property
    def signature(self) -> str:
        """`softmax(*fp32 out, *fp32 in, i32 columns)`"""
        shown = (f"{p.type or f'{p.size_bytes} bytes'} {p.name}" for p in self.parameters)
        return f"{self.name}({', '.join(shown)})"

    def launch(
        self,
        grid: Grid,
        args: Arguments = (),
        *,
        block: int | Sequence[int] | None = None,
        shared_bytes: int | None = None,
    ) -> Launch:
        """A launch, for `predict_many()`.

        `grid` is the number of blocks, in up to three dimensions; for Triton also a function of the constants. For a
        kernel of Warp it is the number of threads, the `dim` of `wp.launch()`.

        `args` are the arguments in the order of the signature, or by name. An array, of NumPy or torch, is memory with
        its content; arrays that share memory share it on the GPU too. A torch tensor on a GPU is copied to the host,
        and the content of a `meta` tensor is generated. `gputomo.Buffer(bytes)` is memory without an array. A number
        takes the type of its parameter. Where the code does not say the type, as in a cubin, an `int` is a whole
        number and a `float` a floating-point number of the parameter's size, and NumPy scalars, ctypes objects and
        bytes are taken as they are. For Triton, arguments of `constexpr` parameters may be left out.

        `block` is the number of threads and `shared_bytes` the dynamic shared memory of a block, where the code does
        not say them.

        Raises InputError where something is missing, wrong, or differs from what the code was compiled for.
        """
        return self._launch(grid, args, block, shared_bytes, HostCopies())

    def _launch(self, grid: Grid, args: Arguments, block: Any, shared_bytes: int | None, copies: HostCopies) -> Launch:
        if callable(grid):
            grid = grid(dict(self.constants))
        three(grid, "grid")
        threads = self._block_of(block)
        blocks = three(self.conversion.blocks(grid, threads), "grid") if self.conversion else three(grid, "grid")
        shared = self.dynamic_shared_bytes if shared_bytes is None else shared_bytes
        if isinstance(shared, bool) or not isinstance(shared, int) or shared < 0:
            raise InputError(f"shared_bytes {shared!r}: expected a whole number that is not negative")
        values, parameters = list(self._values(args)), list(self.parameters)
        if self.conversion:
            pairs = self.conversion.pairs(self.raw, values, grid)
            parameters, values = [one for one, _ in pairs], [value for _, value in pairs]
        for hidden in self.hidden:
            parameters.append(hidden.parameter)
            size = hidden.bytes_per_block * blocks[0] * blocks[1] * blocks[2]
            values.append(Buffer(size) if size else None)
        marshalled = marshal(parameters, values, self.signature, copies)
        return Launch(
            self._shape(blocks, threads, shared),
            lambda sm: self._made(blocks, threads, shared, marshalled, sm),
            self.is_machine_code,
            marshalled,
        )

    def predict(
        self,
        grid: Grid,
        args: Arguments,
        machine: MachineLike,
        *,
        block: int | Sequence[int] | None = None,
        shared_bytes: int | None = None,
        caches: str | None = None,
        advise: bool = False,
        quick: bool = False,
        seed: int = 1,
        time_limit_seconds: float = 60.0,
    ) -> Answer:
        """What the launch costs on the GPU, from sampled blocks of it, mostly within a second.

        For `grid`, `args`, `block` and `shared_bytes` see `launch()`; the other arguments are those of
        `Launch.predict()`. PTX is compiled with the ptxas on the PATH or the one that Triton has.
        """
        return self.launch(grid, args, block=block, shared_bytes=shared_bytes).predict(
            machine, caches=caches, advise=advise, quick=quick, seed=seed, time_limit_seconds=time_limit_seconds
        )

    def simulate(
        self,
        grid: Grid,
        args: Arguments,
        machine: MachineLike,
        *,
        block: int | Sequence[int] | None = None,
        shared_bytes: int | None = None,
        caches: str = "cold",
        seed: int = 1,
        time_limit_seconds: float = 60.0,
        whole: bool = False,
        outputs: bool = False,
    ) -> Answer:
        """What the launch costs on the GPU, simulated block by block, within minutes.

        For `grid`, `args`, `block` and `shared_bytes` see `launch()`; the other arguments are those of
        `Launch.simulate()`.
        """
        return self.launch(grid, args, block=block, shared_bytes=shared_bytes).simulate(
            machine, caches=caches, seed=seed, time_limit_seconds=time_limit_seconds, whole=whole, outputs=outputs
        )

    def _block_of(self, block: Any) -> Three:
        if block is None:
            if self.block is None:
                raise InputError(f"{self.name}: its code does not say how many threads a block has; expected block=")
            return self.block
        threads = three(block, "block")
        if self.block is not None and threads != self.block:
            raise InputError(f"block {block!r}: {self.name} was compiled for blocks of {self.block}")
        return threads

    def _values(self, args: Arguments) -> Sequence[Any]:
        if isinstance(args, Mapping):
            return self._values_by_name(args)
        if isinstance(args, (str, bytes)) or not isinstance(args, Sequence):
            raise InputError(f"args: found {type(args).__name__}; expected a list of arguments, or a dict by name")
        if len(args) == len(self.parameters):
            return args
        # The parameters of Triton's source, with or without those that it declares constants.
        for names in (self.declared, [name for name in self.declared if name not in self.declared_constants]):
            if len(args) == len(names):
                return self._values_by_name(dict(zip(names, args)))
        raise InputError(f"found {len(args)} arguments; expected {len(self.parameters)}, those of {self.signature}")

    def _values_by_name(self, args: Mapping[str, Any]) -> Sequence[Any]:
        names = [p.name for p in self.parameters]
        constants = self.constants
        missing = [name for name in names if name not in args]
        unknown = [name for name in args if name not in names and name not in constants]
        if missing or unknown:
            what = f"has no argument for {', '.join(missing)}" if missing else f"has no parameter {', '.join(unknown)}"
            raise InputError(f"args: {self.signature} {what}; expected one for each of {', '.join(names)}")
        for name, value in args.items():
            if name in constants and not is_array(value) and value is not None and value != constants[name]:
                raise InputError(
                    f"argument {name}: found {value!r}; expected {constants[name]!r}, for which {self.name} "
                    "was compiled"
                )
        return [args[name] for name in names]

    def _shape(self, blocks: Three, threads: Three, shared: int) -> dict[str, Any]:
        return {"kernel": self.name, "grid": blocks, "block": threads, "dynamic_shared_bytes": shared}

    def _made(
        self, blocks: Three, threads: Three, shared: int, marshalled: Marshalled, sm: int | None
    ) -> _core.Launch:
        """`sm`: PTX is compiled for this compute capability; None: it is executed as it is."""
        code = self.code
        if sm is not None and not self.is_machine_code:
            code = _ptxas.compile(code, sm, self.origin)
        return _core.Launch.of(
            code,
            self.name,
            self.origin,
            blocks,
            threads,
            shared,
            self.cluster,
            self.cooperative,
            marshalled.arguments,
            marshalled.buffers,
        )


class CapturedKernel:
    """A launch of a capture, with the arguments and the memory that the program gave it."""

    def __init__(self, captured: CapturedLaunch) -> None:
        self._captured = captured
        self.name = captured.kernel or ""

    def launch(self, grid: Any = None, args: Any = None) -> Launch:
        """The launch. Raises InputError where a grid or arguments are given, which a captured launch has."""
        if grid is not None or args is not None:
            raise InputError(f"{self.name}: a launch of a capture has its grid and arguments; expected none")
        return self._captured.launch()

    def predict(self, grid: None = None, args: None = None, *, machine: MachineLike, **options: Any) -> Answer:
        """What the launch costs on the GPU. For the options see `Launch.predict()`."""
        return self.launch(grid, args).predict(machine, **options)

    def simulate(self, grid: None = None, args: None = None, *, machine: MachineLike, **options: Any) -> Answer:
        """What the launch costs on the GPU, simulated. For the options see `Launch.simulate()`."""
        return self.launch(grid, args).simulate(machine, **options)


@overload
def kernel(x: CapturedLaunch | CapturedKernel) -> CapturedKernel: ...
@overload
def kernel(
    x: Any, name: str | None = None, *, machine: MachineLike | None = None, args: Sequence[Any] | None = None
) -> Kernel: ...
def kernel(
    x: Any, name: str | None = None, *, machine: MachineLike | None = None, args: Sequence[Any] | None = None
) -> Any:
    """A kernel that can be predicted and simulated.

    `x` is one of:

    - a cubin (bytes, or a path to one) or PTX (text, or a path to it). `name` is the kernel's name in the code, and is
      needed where it has several;
    - a kernel that Triton compiled (`triton.compile(...)`, `fn.warmup(...)`, or what `fn[grid](...)` returns), or a
      `CachingAutotuner` or a compile result of PyTorch's Inductor;
    - an `ObjectCode` of cuda.core, with `name`;
    - a `RawKernel` of CuPy, which NVRTC compiles for `machine`;
    - a kernel of Warp, which Warp compiles for `machine`;
    - a dispatcher of numba-cuda, which numba compiles for `machine` and the types of `args`, the arguments of a launch.
      Without them it is the one that the dispatcher compiled itself;
    - a launch of a `Capture`.

    Returns a Kernel, or for a launch of a capture a CapturedKernel, whose `predict(machine=...)` needs no grid and no
    arguments. Raises InputError where the code is none of these, or has no such kernel.
    """
    if isinstance(x, (Kernel, CapturedKernel)):
        return x
    if isinstance(x, CapturedLaunch):
        return CapturedKernel(x)
    if isinstance(x, Capture):
        raise InputError(f"{x.folder}: is a capture of {len(x)} launches; expected one of them, capture[number]")
    if hasattr(x, "asm") and hasattr(x, "metadata"):
        return _of_triton(x)
    if sources.is_inductor(x):
        return _of_triton(sources.of_inductor(x))
    if sources.is_inductor_result(x):
        return _of_triton(sources.of_inductor_result(x))
    raw = _source_of(x, machine, args)
    if raw is not None:
        return _of_raw(raw, name)
    code, origin = _code_of(x)
    return _of_code(code, origin, name)


def _source_of(x: Any, machine: MachineLike | None, args: Sequence[Any] | None) -> sources.Raw | None:
    """Code of other packages' objects; None where `x` is none of these."""
    if sources.is_object_code(x):
        return sources.of_object_code(x)
    if sources.is_cupy(x):
        return sources.of_cupy(x, machine)
    if sources.is_warp(x):
        return sources.of_warp(x, machine)
    if sources.is_numba(x):
        return sources.of_numba(x, machine, args)
    return None


def _of_raw(raw: sources.Raw, name: str | None) -> Kernel:
    made = _of_code(raw.code, raw.origin, raw.name or name)
    if raw.conversion is None and raw.block is None:
        return made
    return replace(
        made,
        parameters=raw.conversion.parameters,
        raw=made.parameters,
        conversion=raw.conversion,
        block=raw.block or made.block,
        dynamic_shared_bytes=raw.dynamic_shared_bytes,
    )


def _code_of(x: Any) -> tuple[bytes, str]:
    if isinstance(x, (bytes, bytearray, memoryview)):
        return bytes(x), "the cubin" if bytes(x[:4]) == _ELF else "the code"
    if isinstance(x, str) and ("\n" in x or ".entry" in x):
        return x.encode(), "the PTX"
    if isinstance(x, (str, os.PathLike)):
        try:
            return Path(x).read_bytes(), os.fspath(x)
        except OSError as error:
            raise InputError(f"{os.fspath(x)}: cannot be read: {error.strerror}; expected a cubin or PTX") from error
    raise InputError(
        f"{type(x).__name__}: is no kernel; expected a cubin (bytes or path), PTX (text or path), a kernel that "
        "Triton or Inductor compiled, one of CuPy, cuda.core, numba-cuda or Warp, or a launch of a capture. A @triton.jit function is compiled first: "
        "gputomo.triton.compile(fn, args, machine)"
    )


def _of_code(code: bytes, origin: str, name: str | None) -> Kernel:
    _check_kind(code, origin)
    if name is None:
        names = _core.kernels_in(code, origin)
        if len(names) != 1:
            raise InputError(f"{origin}: has {len(names)} kernels; expected name=, one of {', '.join(names)}")
        name = names[0]
    facts = _core.kernel_code(code, name, origin)
    return Kernel(
        name=name,
        code=code,
        origin=origin,
        parameters=_parameters_of(facts),
        block=None if facts["block"] is None else three(facts["block"], "block"),
        registers=facts["registers"],
        static_shared_bytes=facts["static_shared_bytes"],
    )


def _check_kind(code: bytes, origin: str) -> None:
    if code.startswith(_FATBIN):
        raise InputError(f"{origin}: is a fatbin; expected a cubin. `cuobjdump -xelf all` extracts cubins")
    if code.startswith(_ELF) and len(code) > _ELF_MACHINE + 2:
        machine = struct.unpack_from("<H", code, _ELF_MACHINE)[0]
        if machine not in (0, _EM_CUDA):
            raise InputError(f"{origin}: is a program or library for a CPU; expected a cubin or PTX")


def _parameters_of(facts: Mapping[str, Any]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(one["name"] or str(i), one["offset"], one["size"], one["type"])
        for i, one in enumerate(facts["parameters"])
    )


def _of_triton(compiled: Any) -> Kernel:
    """The parameters of a cubin of Triton are those of its signature that are no constants, then its hidden ones."""
    metadata = compiled.metadata
    name = str(metadata.name)
    origin = f"Triton's {name}"
    if "cubin" not in compiled.asm:
        raise InputError(f"{origin}: has no cubin but {', '.join(compiled.asm)}; expected a kernel for an NVIDIA GPU")
    code = bytes(compiled.asm["cubin"])
    facts = _core.kernel_code(code, name, origin)
    every = _parameters_of(facts)
    signature = _triton_signature(compiled, origin)
    types = {key: kind for key, kind in signature.items() if kind != "constexpr"}
    if len(every) < len(types):
        raise InputError(
            f"{origin}: its cubin has {len(every)} parameters; expected the {len(types)} of its signature"
        )
    visible = tuple(
        Parameter(str(key), p.offset_bytes, p.size_bytes, kind) for p, (key, kind) in zip(every, types.items())
    )
    if (ctas := int(getattr(metadata, "num_ctas", 1) or 1)) > 1:
        # Triton's launcher multiplies the grid by them.
        raise InputError(f"{origin}: has clusters of {ctas} blocks (num_ctas); expected 1, the only number supported")
    return Kernel(
        name=name,
        code=code,
        origin=origin,
        parameters=visible,
        hidden=_hidden(every[len(types) :], metadata, origin),
        block=(int(metadata.num_warps) * _THREADS_OF_WARP, 1, 1),
        dynamic_shared_bytes=int(metadata.shared),
        cooperative=bool(getattr(metadata, "launch_cooperative_grid", False)),
        constants=_triton_constants(compiled, signature),
        declared=tuple(map(str, signature)),
        declared_constants=_declared_constants(compiled),
        registers=facts["registers"],
        static_shared_bytes=facts["static_shared_bytes"],
    )


def _triton_signature(compiled: Any, origin: str) -> dict[Any, str]:
    signature = dict(getattr(compiled.src, "signature", None) or {})
    for key, kind in signature.items():
        if not isinstance(kind, str):
            raise InputError(f"{origin}: its parameter {key} is a tuple, which is not supported yet")
        if kind.startswith(("tensordesc", "nvTmaDesc")):
            raise InputError(f"{origin}: its parameter {key} is a tensor map ({kind}), which is not supported yet")
    return signature


def _hidden(parameters: Sequence[Parameter], metadata: Any, origin: str) -> tuple[Hidden, ...]:
    """The pointers to memory that Triton's launcher allocates: of the kernel, and of its profiler."""
    names = ("global_scratch", "profile_scratch")
    if len(parameters) > len(names) or any(p.size_bytes != 8 for p in parameters):
        sizes = ", ".join(str(p.size_bytes) for p in parameters)
        raise InputError(
            f"{origin}: has {len(parameters)} hidden parameters of {sizes} bytes; expected at most the pointers to "
            f"{' and '.join(names)}"
        )
    return tuple(
        Hidden(Parameter(name, p.offset_bytes, p.size_bytes, ""), int(getattr(metadata, f"{name}_size", 0) or 0))
        for name, p in zip(names, parameters)
    )


def _triton_constants(compiled: Any, signature: Mapping[Any, str]) -> dict[str, Any]:
    names = list(signature)
    constants: dict[str, Any] = {}
    for path, value in dict(getattr(compiled.src, "constants", None) or {}).items():
        place = path[0] if isinstance(path, tuple) and len(path) == 1 else path
        if isinstance(place, int) and place < len(names):
            constants[str(names[place])] = getattr(value, "value", value)
        elif isinstance(place, str):
            constants[place] = getattr(value, "value", value)
    return constants


def _declared_constants(compiled: Any) -> frozenset[str]:
    parameters = getattr(getattr(compiled.src, "fn", None), "params", ())
    return frozenset(p.name for p in parameters if getattr(p, "is_constexpr", False))
