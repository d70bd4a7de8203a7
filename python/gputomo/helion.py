"""Helion without a GPU: predicts configurations of its kernels, for its tuner.

    add.settings.autotune_config_filter = gputomo.helion.config_filter(add, args, "h200", slowest=2.0)

Helion is imported by whoever has a kernel of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from . import triton
from ._frames import library
from ._tuning import PredictionWarning, milliseconds_of, warn
from .arguments import HostCopies
from .errors import InputError
from .launches import Launch
from .machines import Machine, MachineLike, load

__all__ = ["PredictionWarning", "benchmark_provider", "config_filter", "launches", "milliseconds"]


def _bound(kernel: Any, args: Sequence[Any]) -> Any:
    if hasattr(kernel, "compile_config"):
        return kernel
    if not hasattr(kernel, "bind"):
        raise InputError(f"{type(kernel).__name__}: is no kernel of Helion; expected a function with @helion.kernel")
    return kernel.bind(tuple(args))


def launches(kernel: Any, args: Sequence[Any], config: Any, machine: MachineLike) -> list[Launch]:
    """The launches of Triton kernels that a kernel of Helion makes with a configuration.

    `kernel` is a function with `@helion.kernel` or what its `bind()` returns. `args` are torch tensors, also on the CPU
    or of the device `meta`, and numbers.
    """
    described, copies = load(machine), HostCopies()
    made: list[Launch] = []

    def launcher(jit: Any, grid: Any, *values: Any, **options: Any) -> None:
        kept = {name: value for name, value in options.items() if value is not None and value is not False}
        names = [p.name for p in jit.params]
        made.append(triton._launch(jit, [], grid, dict(zip(names, values)), described, kept, copies))

    _bound(kernel, args).compile_config(config, allow_print=False)(*args, _launcher=launcher)
    return made


def milliseconds(
    kernel: Any, args: Sequence[Any], configs: Sequence[Any], machine: MachineLike, **options: Any
) -> list[float | None]:
    """Predicted times of configurations: the sum of their launches. None where one cannot be predicted, which a
    PredictionWarning says. `options` are those of `predict_many()`."""
    described, bound = load(machine), _bound(kernel, args)
    every: list[Launch | None] = []
    names: list[str] = []
    parts: list[int] = []
    for config in configs:
        shown = f"{getattr(getattr(bound, 'kernel', None), 'name', 'kernel')}({config})"
        try:
            found: list[Launch] | list[None] = launches(bound, args, config, described)
        except ImportError:
            raise
        except Exception as error:  # Helion and Triton raise errors of many kinds
            warn(shown, error)
            found = [None]
        every += found
        names += [shown] * len(found)
        parts.append(len(found))
    times = iter(milliseconds_of(every, names, described, options))
    sums: list[float | None] = []
    for count in parts:
        own = [next(times) for _ in range(count)]
        known = [time for time in own if time is not None]
        sums.append(sum(known) if len(known) == count else None)
    return sums


def config_filter(
    kernel: Any, args: Sequence[Any], machine: MachineLike, slowest: float = 2.0, **options: Any
) -> Callable[[Any], Any]:
    """A function for `@helion.kernel(autotune_config_filter=...)`.

    It leaves out configurations that are predicted to take more than `slowest` times as long as the fastest of those
    that it was asked before, and at least as long as the default one. One that cannot be predicted stays. Helion times
    those that stay.
    """
    if not slowest >= 1:
        raise InputError(f"slowest {slowest!r}: expected a number from 1")
    bound = _bound(kernel, args)
    best = math.inf

    def keeps(config: Any) -> Any:
        nonlocal best
        if best == math.inf:
            first = milliseconds(bound, args, [bound.config_spec.default_config()], machine, **options)[0]
            best = math.inf if first is None else first
        time = milliseconds(bound, args, [config], machine, **options)[0]
        if time is None:
            return config
        best = min(best, time)
        return config if time <= slowest * best else None

    return keeps


def benchmark_provider(machine: MachineLike, **options: Any) -> type:
    """A class for `benchmark_provider_cls` of a search of Helion. It predicts configurations for a described GPU instead
    of timing them, so that a search needs no GPU. A configuration that cannot be predicted counts as failed with an
    infinite time, which a PredictionWarning says: nothing can time it here."""
    base = library("helion.autotuner.benchmark_provider", "helion", "gputomo.helion")
    described: Machine = load(machine)

    class PredictedBenchmarkProvider(base.BenchmarkProvider):  # type: ignore[misc, name-defined]
        def __init__(
            self, kernel: Any, settings: Any, config_spec: Any, args: Sequence[Any], log: Any, autotune_metrics: Any
        ) -> None:
            self.kernel, self.args, self.log = kernel, args, log
            self.mutated_arg_indices: Sequence[int] = []

        def setup(self) -> None:
            pass

        def cleanup(self) -> None:
            pass

        def benchmark(self, configs: list[Any], *, desc: str = "Predicting") -> list[Any]:
            times = milliseconds(self.kernel, self.args, configs, described, **options)
            return [
                base.BenchmarkResult(
                    config=config,
                    fn=self.kernel.compile_config(config, allow_print=False) if time is not None else base._unset_fn,
                    perf=math.inf if time is None else time,
                    status="error" if time is None else "ok",
                    compile_time=None,
                )
                for config, time in zip(configs, times)
            ]

    return PredictedBenchmarkProvider
