"""Triton without a GPU: compiles kernels for described GPUs, and ranks configurations of `@triton.autotune`.

    prune = gputomo.triton.early_config_prune(jit_kernel, "h200", keep=0.25)
    kernel = triton.autotune(configs, key=["n"], prune_configs_by={"early_config_prune": prune})(jit_kernel)

The remaining configurations are timed by Triton where there is a GPU. Triton is imported when something is compiled.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import math
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ._frames import library
from ._tuning import PredictionWarning, check_keep, kept, milliseconds_of, warn
from .arguments import HostCopies, is_array, type_of_array
from .errors import Error, InputError
from .kernels import Kernel, kernel
from .launches import Launch
from .machines import Machine, MachineLike, load

__all__ = ["PredictionWarning", "compile", "early_config_prune", "launch", "perf_model", "without_gpu"]

_ALIGNMENT = 16
"""Bytes, and for whole numbers a factor, that Triton compiles for where an argument has it."""
_NOT_OPTIONS = ("grid", "warmup", "stream", "device", "device_type", "do_not_specialize")


def _jit_function(fn: Any) -> tuple[Any, list[Mapping[str, Callable[[Mapping[str, Any]], Any]]]]:
    """The function that @triton.jit made, with the heuristics around it, the outermost first."""
    heuristics = []
    if inspect.isfunction(fn) and not inspect.signature(fn).parameters:
        fn = fn()
    while not hasattr(fn, "params"):
        if not hasattr(fn, "fn"):
            raise InputError(f"{fn!r}: is no Triton kernel; expected a function with @triton.jit")
        if isinstance(getattr(fn, "values", None), Mapping):
            heuristics.append(fn.values)
        fn = fn.fn
    return fn, heuristics


def _type_of(value: Any, parameter: Any) -> str:
    """The type of an argument as Triton's signature has it."""
    name = parameter.name
    annotation = getattr(parameter, "annotation_type", None)
    if isinstance(annotation, str) and annotation and not is_array(value):
        return annotation
    if value is None:
        return "constexpr"
    if hasattr(value, "dtype") and (is_array(value) or hasattr(value, "data_ptr")):
        kind = type_of_array(value)
        return f"*{'k' if getattr(parameter, 'is_const', False) else ''}{kind}"
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "u1"
    if isinstance(value, int):
        if -(1 << 31) <= value < 1 << 31:
            return "i32"
        if -(1 << 63) <= value < 1 << 63:
            return "i64"
        return "u64"
    if isinstance(value, float):
        return "fp32"
    raise InputError(f"argument {name}: found {type(value).__name__}; expected an array or a number")


def _is_aligned(value: Any) -> bool:
    if is_array(value):
        if hasattr(value, "data_ptr"):
            return bool(value.data_ptr() % _ALIGNMENT == 0)
        return bool(value.__array_interface__["data"][0] % _ALIGNMENT == 0)
    return isinstance(value, int) and not isinstance(value, bool) and value % _ALIGNMENT == 0


def _bound(fn: Any, args: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments of the kernel by name, with defaults."""
    names = [p.name for p in fn.params]
    if isinstance(args, Mapping):
        bound = dict(args)
    else:
        if len(args) > len(names):
            raise InputError(f"{fn.__name__}: found {len(args)} arguments; expected at most {len(names)}")
        bound = dict(zip(names, args))
    bound.update({name: value for name, value in given.items() if name in names})
    for p in fn.params:
        if p.name not in bound and getattr(p, "has_default", False):
            bound[p.name] = p.default
    missing = [name for name in names if name not in bound]
    if missing:
        by_name = ", ".join(f"{name}=..." for name in missing)
        raise InputError(
            f"{fn.__name__}: has no argument for {', '.join(missing)}; expected it among the arguments or as {by_name}"
        )
    return {name: bound[name] for name in names}


def _source(fn: Any, bound: Mapping[str, Any]) -> Any:
    """What Triton compiles, specialized as a launch with these arguments would be."""
    compiler = library("triton.compiler", "triton", "gputomo.triton")
    signature: dict[str, str] = {}
    constants: dict[tuple[int, ...], Any] = {}
    attributes: dict[tuple[int, ...], Any] = {}
    for i, p in enumerate(fn.params):
        value = bound[p.name]
        kind = "constexpr" if p.is_constexpr else _type_of(value, p)
        whole = isinstance(value, int) and not isinstance(value, bool)
        specializes = not getattr(p, "do_not_specialize", False)
        if kind != "constexpr" and whole and value == 1 and specializes:
            kind = "constexpr"
        signature[p.name] = kind
        if kind == "constexpr":
            constants[(i,)] = value
        elif specializes and not getattr(p, "do_not_specialize_on_alignment", False) and _is_aligned(value):
            attributes[(i,)] = [["tt.divisibility", _ALIGNMENT]]
    return compiler.ASTSource(fn, signature, constants, attributes)


def _options(fn: Any, target: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `given` that are Triton's options. Raises InputError for what is neither that nor an argument, as Triton
    does where a kernel is launched."""
    names = {p.name for p in fn.params}
    options = {k: v for k, v in given.items() if k not in names and k not in _NOT_OPTIONS and v is not None}
    known = vars(library("triton.compiler", "triton", "gputomo.triton").make_backend(target).parse_options({}))
    unknown = [name for name in options if name not in known]
    if unknown:
        near = difflib.get_close_matches(unknown[0], [*known, *names], 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"{fn.__name__}: {unknown[0]} is neither an argument nor one of Triton's options{meant}")
    return options


def compile(fn: Any, args: Any, machine: MachineLike, **options: Any) -> Kernel:
    """Compiles a function with `@triton.jit` for a described GPU, which need not be there.

    `args` are the arguments of the launch, in order or by name, with `constexpr` ones among them or in `options`.
    Types, alignments and whole numbers that are 1 are compiled in, as Triton does for a launch. `options` are also
    those of Triton, such as `num_warps` and `num_stages`.

    Raises InputError where an argument is missing, ImportError without Triton, and what Triton's compiler raises.
    """
    function, heuristics = _jit_function(fn)
    return _compiled(function, heuristics, args, load(machine), options)[0]


def _compiled(
    fn: Any, heuristics: Sequence[Mapping[str, Any]], args: Any, machine: Machine, given: Mapping[str, Any]
) -> tuple[Kernel, dict[str, Any]]:
    triton = library("triton", "triton", "gputomo.triton")
    backends = library("triton.backends.compiler", "triton", "gputomo.triton")
    given = dict(given)
    for values in heuristics:
        named = dict(args) if isinstance(args, Mapping) else dict(zip([p.name for p in fn.params], args))
        for name, choose in values.items():
            given[name] = choose({**named, **given})
    bound = _bound(fn, args, given)
    target = backends.GPUTarget("cuda", machine.compute_capability, 32)
    compiled = triton.compile(_source(fn, bound), target=target, options=_options(fn, target, given))
    return kernel(compiled), bound


def launch(fn: Any, grid: Any, args: Any, machine: MachineLike, **options: Any) -> Launch:
    """Compiles a kernel as `compile()` does, and returns its launch. `grid` is as in `fn[grid]`: whole numbers, or a
    function of the arguments by name."""
    function, heuristics = _jit_function(fn)
    return _launch(function, heuristics, grid, args, load(machine), options, HostCopies())


def _launch(
    fn: Any,
    heuristics: Sequence[Mapping[str, Any]],
    grid: Any,
    args: Any,
    machine: Machine,
    given: Mapping[str, Any],
    copies: HostCopies,
) -> Launch:
    made, bound = _compiled(fn, heuristics, args, machine, given)
    blocks = grid(bound) if callable(grid) else grid
    return made._launch(blocks, {name: bound[name] for name in bound}, None, None, copies)


def _grid_of(kwargs: Mapping[str, Any]) -> Any:
    if "grid" not in kwargs:
        raise InputError("Triton passed no grid; expected a call as kernel[grid](...)")
    return kwargs["grid"]


class _Ranker:
    """Predicts configurations of one kernel."""

    def __init__(self, fn: Any, machine: MachineLike, options: Mapping[str, Any]) -> None:
        self._fn = fn
        self._machine = machine
        self._options = dict(options)

    def milliseconds(
        self, configs: Sequence[Mapping[str, Any]], named: Mapping[str, Any], kwargs: Mapping[str, Any]
    ) -> list[float | None]:
        """None where a configuration cannot be predicted, with a warning."""
        fn, heuristics = _jit_function(self._fn)
        machine = load(self._machine)
        copies = HostCopies()
        launches: list[Launch | None] = []
        for config in configs:
            try:
                grid = _grid_of(kwargs)
                given = {**kwargs, **config}
                launches.append(_launch(fn, heuristics, grid, named, machine, given, copies))
            except ImportError:
                raise
            except Exception as error:  # Triton's compiler raises errors of many kinds
                warn(self._shown(fn, config), error, 4)
                launches.append(None)
        shown = [self._shown(fn, config) for config in configs]
        return milliseconds_of(launches, shown, machine, self._options)

    @staticmethod
    def _shown(fn: Any, config: Mapping[str, Any]) -> str:
        return f"{fn.__name__}({', '.join(f'{name}={value}' for name, value in config.items())})"


def perf_model(fn: Any, machine: MachineLike, **options: Any) -> Callable[..., float]:
    """A function for `prune_configs_by={"perf_model": ..., "top_k": ...}` of `@triton.autotune`.

    `fn` is the function with `@triton.jit`, or a function without parameters that returns it, for use in a decorator
    above it. `options` are those of `predict_many()`, such as `caches="warm"`.

    The function returns predicted milliseconds. A configuration that cannot be predicted, which a PredictionWarning
    says, gets minus infinity, so that Triton keeps and times it. Triton cuts at `top_k`, also between configurations
    that are equally good: `early_config_prune()` keeps these together, and predicts several at a time.
    """
    ranker = _Ranker(fn, machine, options)

    def model(**kwargs: Any) -> float:
        function, _ = _jit_function(fn)
        names = {p.name for p in function.params}
        named = {name: value for name, value in kwargs.items() if name in names}
        others = {name: value for name, value in kwargs.items() if name not in names}
        time = ranker.milliseconds([others], named, {"grid": _grid_of(kwargs)})[0]
        return -math.inf if time is None else time

    return model


def early_config_prune(
    fn: Any, machine: MachineLike, keep: float | int = 0.25, **options: Any
) -> Callable[..., list[Any]]:
    """A function for `prune_configs_by={"early_config_prune": ...}` of `@triton.autotune`.

    It keeps the configurations that are predicted to be fastest: the share `keep` of them, rounded up, or with an int
    that number. Configurations that are as fast as the last one of these, to a thousandth, are kept too, and so are
    those that cannot be predicted, which a PredictionWarning says. The order of configurations stays.

    `fn` is the function with `@triton.jit`, or a function without parameters that returns it. `options` are those of
    `predict_many()`. Raises InputError where `keep` is neither a share from 0 to 1 nor a positive int.
    """
    check_keep(keep)
    ranker = _Ranker(fn, machine, options)

    def prune(configs: list[Any], named_args: Mapping[str, Any], **kwargs: Any) -> list[Any]:
        times = ranker.milliseconds([config.all_kwargs() for config in configs], named_args, kwargs)
        return [config for config, stays in zip(configs, kept(times, keep)) if stays]

    return prune


class _Utilities:
    """What Triton asks of the driver when it loads code. The function's handle stands for the code."""

    def __init__(self, machine: Machine) -> None:
        shared = machine["shared.max_per_block"].value
        self._properties = {"max_shared_mem": int(shared or 0), "multiprocessor_count": 1, "warpSize": 32}
        self.codes: list[bytes] = []

    def get_device_properties(self, device: Any) -> dict[str, int]:
        return self._properties

    def load_binary(self, name: str, code: bytes, shared: int, device: Any) -> tuple[int, int, int, int, int]:
        self.codes.append(bytes(code))
        return 0, len(self.codes) - 1, 0, 0, 1024  # module, function, registers, spills, threads


class _Recorder:
    """Triton's driver of a GPU that is only described. Launches are recorded, and nothing runs."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.utils = _Utilities(machine)
        self.launches: list[Launch] = []
        self._copies = HostCopies()
        recorder = self

        class Launcher:
            def __init__(self, source: Any, metadata: Any) -> None:
                self.source, self.metadata = source, metadata

            def __call__(self, x: int, y: int, z: int, stream: Any, function: int, *rest: Any) -> None:
                _, launch_metadata, enter, leave, *args = rest
                if enter is not None:
                    enter(launch_metadata)
                recorder._record(self, (x, y, z), function, args)
                if leave is not None:
                    leave(launch_metadata)

        self.launcher_cls = Launcher

    def _record(self, launcher: Any, grid: tuple[int, int, int], function: int, args: Sequence[Any]) -> None:
        stands_for = types.SimpleNamespace(
            asm={"cubin": self.utils.codes[function]}, metadata=launcher.metadata, src=launcher.source
        )
        self.launches.append(kernel(stands_for)._launch(grid, list(args), None, None, self._copies))

    def get_current_device(self) -> str:
        return f"gputomo:{self.machine.name}:{id(self)}"  # Triton keeps what it compiled by device

    def set_current_device(self, device: Any) -> None:
        pass

    def get_current_stream(self, device: Any) -> int:
        return 0

    def get_current_target(self) -> Any:
        backends = library("triton.backends.compiler", "triton", "gputomo.triton")
        return backends.GPUTarget("cuda", self.machine.compute_capability, 32)

    def get_benchmarker(self) -> Callable[..., Any]:
        """What @triton.autotune times configurations with."""

        def predict(run: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any) -> Any:
            before = len(self.launches)
            run()
            tried = self.launches[before:]
            del self.launches[before:]
            try:
                answers = [one.predict(self.machine, caches="dirty", quick=True) for one in tried]
                milliseconds = sum(answer.microseconds for answer in answers) / 1000
            except Error as error:
                names = ", ".join(one.kernel for one in tried)
                warnings.warn(f"a configuration of {names} cannot be predicted and is not chosen: {error}",
                              PredictionWarning, stacklevel=2)  # fmt: skip
                milliseconds = math.inf
            return milliseconds if quantiles is None else [milliseconds] * len(quantiles)

        return predict

    def get_active_torch_device(self) -> Any:
        return library("torch", "torch", "gputomo.triton").device("cpu")


@contextlib.contextmanager
def without_gpu(machine: MachineLike) -> Iterator[list[Launch]]:
    """Lets Triton compile for a described GPU within a `with` statement, and records launches instead of running them.

    `fn.warmup(...)` compiles as it would on that GPU, and `fn[grid](...)` adds a Launch to the list that the statement
    gives. Arguments are torch tensors on the CPU or of the device `meta`, and arrays stay as they are. What Triton
    compiled before stays, and so does the GPU that it uses otherwise.

    A function with `@triton.autotune` chooses by predicted times. It keeps its choice after the statement, as Triton
    keeps one that was timed. A configuration that cannot be predicted is not chosen, which a PredictionWarning says.
    """
    runtime = library("triton.runtime.driver", "triton", "gputomo.triton")
    active = getattr(runtime, "driver", runtime)
    before = getattr(active, "_active", None)
    recorder = _Recorder(load(machine))
    active.set_active(recorder)
    try:
        yield recorder.launches
    finally:
        active._active = before  # reset_active() would look for a GPU where there was none
