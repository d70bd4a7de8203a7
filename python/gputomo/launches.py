"""Launches: a kernel with its grid and arguments, or one that was captured from a program."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Literal, Union, overload

from . import _core
from .answers import Answer, answer_of
from .arguments import Marshalled
from .errors import Error, InputError
from .machines import Machine, MachineLike, load

__all__ = ["Capture", "CapturedLaunch", "Launch", "predict_many"]

Three = tuple[int, int, int]

_SAMPLE_ABOVE = 50_000_000  # warp instructions, as the command line's default


def _milliseconds(seconds: float) -> int:
    if not seconds > 0:
        raise InputError(f"time_limit_seconds {seconds!r}: expected a positive number")
    return max(1, round(seconds * 1000))


class Launch:
    """A launch of a kernel, which can be predicted and simulated on any GPU. `Kernel.launch()` makes one.

    Contents of arrays are read when it is predicted or simulated, and not changed.
    """

    def __init__(
        self,
        shape: dict[str, Any],
        make: Callable[[int | None], _core.Launch],
        is_machine_code: bool,
        marshalled: Marshalled,
    ) -> None:
        self._make = make
        self._is_machine_code = is_machine_code
        self._marshalled = marshalled
        self._made: dict[int | None, _core.Launch] = {}
        self._lock = threading.Lock()
        self.kernel: str = shape["kernel"]
        self.grid: Three = tuple(shape["grid"])
        """Blocks in x, y and z."""
        self.block: Three = tuple(shape["block"])
        """Threads of a block in x, y and z."""
        self.dynamic_shared_bytes: int = shape["dynamic_shared_bytes"]
        """Of a block."""

    def __repr__(self) -> str:
        return f"<Launch {self.kernel}, grid {self.grid}, block {self.block}>"

    def _core_launch(self, sm: int | None) -> _core.Launch:
        key = None if self._is_machine_code else sm
        with self._lock:
            if key not in self._made:
                self._made[key] = self._make(key)
            return self._made[key]

    def predict(
        self,
        machine: MachineLike,
        *,
        caches: str | None = None,
        advise: bool = False,
        quick: bool = False,
        seed: int = 1,
        time_limit_seconds: float = 60.0,
        _stop: _core.Stop | None = None,
    ) -> Answer:
        """What the launch costs on the GPU, from sampled blocks of it, mostly within a second.

        `machine` is a Machine, the name of a description that the package has, or a file. `caches` says what the L2
        holds when the launch begins: `cold` (nothing), `dirty` (other data that were written and have to go to DRAM,
        as benchmarks leave it that clear memory before each run) or `warm` (what the launch itself leaves). By default
        it is cold, and `time.warm_cycles` is the time with warm ones where both differ. `advise` tries changes that
        might make the launch faster (`advice`), as the command line does, which takes several times as long. `quick`
        executes fewer blocks, for the comparison of many configurations: rare blocks that do more are missed. `seed`
        chooses the sampled blocks. `time_limit_seconds` ends the sampling.

        Other threads run meanwhile. Ctrl-C raises KeyboardInterrupt. Raises InputError where the launch or the
        description lacks something, Error where the kernel fails, and TimeLimitError where not even one block ends in
        time.
        """
        gpu = load(machine)._described_gpu()
        rows = _core.predict(
            self._core_launch(gpu.sm()), gpu, seed, _milliseconds(time_limit_seconds), caches, advise, quick, _stop
        )
        return answer_of(rows, None, self._marshalled.assumptions, self._marshalled.warnings)

    def simulate(
        self,
        machine: MachineLike,
        *,
        caches: str = "cold",
        seed: int = 1,
        time_limit_seconds: float = 60.0,
        whole: bool = False,
        check: bool = False,
        outputs: bool = False,
    ) -> Answer:
        """What the launch costs on the GPU, simulated block by block, within minutes.

        A long launch is sampled, unless `whole` asks for all blocks. PTX is executed as it is. `check` compares memory
        after a captured launch with what the GPU left there (`differences`). `outputs` returns all arrays as they are
        after the launch (`outputs`, by the names of parameters); both need all blocks. For the other arguments and
        what is raised see `predict()`.
        """
        gpu = load(machine)._described_gpu()
        limit = _milliseconds(time_limit_seconds)
        launch = self._core_launch(None)
        rows = _core.simulate(launch, gpu, seed, limit, None if whole else _SAMPLE_ABOVE, caches, check, outputs, None)
        made = None
        if outputs:
            made = {name: make(rows["outputs"][i]) for name, (i, make) in self._marshalled.restore.items()}
        return answer_of(rows, made, self._marshalled.assumptions, self._marshalled.warnings)


@dataclass(frozen=True)
class CapturedLaunch:
    """A launch that `gputomo capture` recorded. `gputomo.kernel()` predicts and simulates it."""

    capture: Capture
    number: int
    kernel: str | None
    """None for a launch of a graph."""
    grid: Three | None
    block: Three | None
    dynamic_shared_bytes: int | None
    stream: int
    start_microseconds: float | None
    """Since the first launch of the process, on the GPU that was recorded."""
    microseconds: float | None
    """How long it took there; None where that may hold waiting for the host."""
    has_memory: bool
    """Whether its memory was recorded, without which it cannot be executed."""
    has_results: bool
    """Whether memory after the launch was recorded, too."""

    def launch(self) -> Launch:
        """Raises InputError that names what the capture lacks: machine code, parameters or memory."""
        core = self.capture._core.launch(self.number)
        return Launch(core.shape(), lambda sm: core, True, Marshalled([], [], {}, [], []))


class Capture(Sequence[CapturedLaunch]):
    """A folder that `gputomo capture` wrote: a sequence of launches, in order. Raises InputError that names file and
    field where it is wrong."""

    def __init__(self, folder: Union[str, os.PathLike[str]]) -> None:
        self.folder = os.fspath(folder)
        self._core = _core.Capture.load(self.folder)
        self._launches = [self._launch_of(i, rows) for i, rows in enumerate(self._core.launches())]

    def _launch_of(self, number: int, rows: dict[str, Any]) -> CapturedLaunch:
        threes = {key: tuple(rows[key]) for key in ("grid", "block") if rows[key] is not None}
        return CapturedLaunch(capture=self, number=number, **{**rows, **threes})

    @overload
    def __getitem__(self, number: int) -> CapturedLaunch: ...
    @overload
    def __getitem__(self, number: slice) -> list[CapturedLaunch]: ...
    def __getitem__(self, number: Any) -> Any:
        return self._launches[number]

    def __len__(self) -> int:
        return len(self._launches)

    def __iter__(self) -> Iterator[CapturedLaunch]:
        return iter(self._launches)

    def __repr__(self) -> str:
        return f"<Capture {self.folder}: {len(self)} launches>"


class _Bar:
    """A bar on a terminal, and nothing elsewhere, unless it is asked for."""

    def __init__(self, total: int, show: bool | None) -> None:
        self.total = total
        self.done = 0
        self.show = sys.stderr.isatty() if show is None else show

    def advance(self, what: str) -> None:
        self.done += 1
        if self.show:
            full = 24 * self.done // self.total
            bar = "#" * full + "." * (24 - full)
            sys.stderr.write(f"\r\033[K[{bar}] {self.done}/{self.total} {what[:60]}")
            sys.stderr.flush()

    def close(self) -> None:
        if self.show and self.done:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


@overload
def predict_many(
    launches: Sequence[Launch],
    machine: MachineLike,
    *,
    processes: int | None = ...,
    caches: str | None = ...,
    quick: bool = ...,
    seed: int = ...,
    time_limit_seconds: float = ...,
    return_errors: Literal[False] = ...,
    progress: bool | None = ...,
) -> list[Answer]: ...
@overload
def predict_many(
    launches: Sequence[Launch],
    machine: MachineLike,
    *,
    processes: int | None = ...,
    caches: str | None = ...,
    quick: bool = ...,
    seed: int = ...,
    time_limit_seconds: float = ...,
    return_errors: bool,
    progress: bool | None = ...,
) -> list[Answer | Error]: ...
def predict_many(
    launches: Sequence[Launch],
    machine: MachineLike,
    *,
    processes: int | None = None,
    caches: str | None = None,
    quick: bool = False,
    seed: int = 1,
    time_limit_seconds: float = 60.0,
    return_errors: bool = False,
    progress: bool | None = None,
) -> list[Any]:
    """Predicts launches, `processes` at a time, and returns their answers in the same order.

    By default, one launch runs on each processor that this process may use. They run on threads of this process,
    because the interpreter's lock is released: nothing is copied, and launches share the arrays that they have in
    common. Each launch may take `time_limit_seconds`; for the other arguments see `Launch.predict()`.

    The first launch that fails ends all others, and its error is raised, unless `return_errors` puts errors in the
    place of answers. Ctrl-C raises KeyboardInterrupt. `progress` shows a bar on standard error, by default on a
    terminal.
    """
    described = load(machine)
    described._described_gpu()
    at_once = processes if processes is not None else len(os.sched_getaffinity(0))
    if isinstance(at_once, bool) or not isinstance(at_once, int) or at_once < 1:
        raise InputError(f"processes {processes!r}: expected a whole number from 1")
    options = {"caches": caches, "quick": quick, "seed": seed, "time_limit_seconds": time_limit_seconds}
    return _Many(described, options, at_once, return_errors, _Bar(len(launches), progress)).run(launches)


class _Many:
    def __init__(
        self, machine: Machine, options: dict[str, Any], at_once: int, return_errors: bool, bar: _Bar
    ) -> None:
        self.machine = machine
        self.options = options
        self.at_once = at_once
        self.return_errors = return_errors
        self.bar = bar
        self.stop = _core.Stop()

    def one(self, launch: Launch) -> Any:
        try:
            return launch.predict(self.machine, _stop=self.stop, **self.options)
        except Error as error:
            if self.return_errors:
                return error
            raise

    def run(self, launches: Sequence[Launch]) -> list[Any]:
        pool = ThreadPoolExecutor(max_workers=self.at_once)
        try:
            futures: list[Future[Any]] = [pool.submit(self.one, launch) for launch in launches]
            names = {future: launch.kernel for future, launch in zip(futures, launches)}
            left = set(futures)
            while left:
                # With a timeout, because signals are looked for between waits.
                done, left = wait(left, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()  # raises the first error
                    self.bar.advance(names[future])
            return [future.result() for future in futures]
        except BaseException:
            self.stop.set()
            raise
        finally:
            self.bar.close()
            pool.shutdown(wait=True, cancel_futures=True)
