"""What a launch costs on a GPU, why, and what that rests on.

`predict()` and `simulate()` return an Answer with the same names and units as the command line's JSON. What one of
them cannot know is None, never zero.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ._frames import Columns, to_arrow, to_pandas, to_polars
from .errors import InputError

__all__ = [
    "Advice",
    "AdvisedInstruction",
    "Answer",
    "BufferDifference",
    "Bound",
    "CacheAccesses",
    "Coverage",
    "Instruction",
    "Interval",
    "LaunchShape",
    "Limiter",
    "Line",
    "NumberDifference",
    "Occupancy",
    "Rate",
    "Roofline",
    "Sensitivity",
    "Time",
    "TimePart",
    "Work",
]

# Each class has the fields of the struct of that name in src/answer/answer.hpp. A new one needs a row here and one in
# python/extension/answer_rows.cpp.


@dataclass(frozen=True)
class LaunchShape:
    """What was launched."""

    kernel: str
    grid: tuple[int, int, int]
    """Blocks in x, y and z."""
    block: tuple[int, int, int]
    """Threads of a block in x, y and z."""
    dynamic_shared_bytes: int
    """Of a block."""
    shared_bytes: int | None
    """That a block takes of its SM: static, dynamic, and what the system keeps."""
    registers_per_thread: int | None


@dataclass(frozen=True)
class Interval:
    """Where 90% of the measured times would lie, by how far the method was off for other kernels."""

    low_cycles: float
    high_cycles: float
    basis: str
    """Which kernels, on which GPU, and how far off 90% of them were."""


@dataclass(frozen=True)
class Coverage:
    """How much of the launch was looked at. A block is executed for its results, or timed on an SM too."""

    blocks: int
    """Of the grid."""
    executed_blocks: int
    timed_blocks: int
    error: float | None
    """Half width of the 95% confidence interval of the cycles, over the cycles. None where it is not known."""
    machine_code: bool
    """False where PTX was executed."""


@dataclass(frozen=True)
class Time:
    """Time as a profiler counts it: `gpc__cycles_elapsed.max`."""

    cycles: float
    microseconds: float
    """At the clock of the description."""
    interval: Interval | None
    """None where no errors are published for this GPU, or they do not hold for this launch, as a warning says."""
    launch_cycles: float | None
    """The part of `cycles` before the first block starts and after the last one ends. None where the description does
    not say; `cycles` then has no such part."""
    warm_cycles: float | None
    """With warm caches, where the answer is that of cold ones and both differ by more than 5%."""


@dataclass(frozen=True)
class Bound:
    """Cycles that the launch would take if one resource alone limited it."""

    resource: str
    cycles: float


@dataclass(frozen=True)
class TimePart:
    """A part of the launch's time."""

    what: str
    cycles: float


@dataclass(frozen=True)
class Limiter:
    """What limits the launch."""

    resource: str
    """The one with the largest bound, or `latency`."""
    latency_cycles: float
    """The launch would take if nothing were ever busy."""
    bounds: tuple[Bound, ...]
    """Largest first."""
    parts: tuple[TimePart, ...]
    """Where the time goes: the largest of `bounds`, and what the launch takes beyond it. The sum is the time."""
    used_sm: float
    """Share, from 0 to 1, of what the whole GPU can do at most, by unit as a profiler groups them."""
    used_l1: float
    used_l2: float
    used_dram: float


@dataclass(frozen=True)
class Occupancy:
    """How many blocks and warps are on an SM while the grid lasts."""

    blocks_per_sm: float
    warps_per_sm: float
    max_warps_per_sm: int | None
    limited_by: str
    waves: float
    """Blocks of the grid over those that the GPU holds at once."""
    needed_warps_per_sm: float | None
    """For the latency not to limit."""
    achieved_warps_per_sm: float | None
    """Mean warps of an SM that has blocks, over the time from its first block to the end of its last one."""
    tail_share: float | None
    """Share of the GPU's places for blocks that are empty in the last wave, of the places in all waves."""


@dataclass(frozen=True)
class CacheAccesses:
    """Accesses to one cache by the whole grid."""

    hits: int
    misses: int


@dataclass(frozen=True)
class Work:
    """Counts of the whole grid."""

    warp_instructions: float
    thread_instructions: float
    transactions: float
    """Of global and local memory: lines of an instruction."""
    divergent_branches: float | None
    shared_accesses: float | None
    """Warp instructions that access shared memory."""
    shared_time_ratio: float | None
    """Their time over that without bank conflicts."""
    bank_conflict_cycles: float | None
    l1_bytes: float | None
    l1_hit_rate: float | None
    """From 0 to 1."""
    l2_read_bytes: float | None
    l2_written_bytes: float | None
    l2_atomic_bytes: float | None
    dram_read_bytes: float | None
    dram_written_bytes: float | None
    dram_bytes: float
    """Read and written."""
    footprint_read_bytes: float | None
    """Memory that the whole grid reads, each byte once."""
    footprint_written_bytes: float | None
    footprint_exact: bool
    """All blocks were executed."""
    flop: Mapping[str, float] | None
    """Floating-point operations by type: `f16`, `bf16`, `f32`, `f64`, and `tensor f16` and so on for matrix products.
    A fused multiply-add counts as two. None where they were not counted."""
    caches: Mapping[str, CacheAccesses]
    """By key of the description; empty where they were not counted."""


@dataclass(frozen=True)
class Rate:
    """What moves or is computed in a second, beside what the description says can be."""

    what: str
    """`f32`, `registers from L1`, `L1 from L2`, `L2 to DRAM`"""
    per_second: float
    """Operations or bytes."""
    ceiling_per_second: float | None


@dataclass(frozen=True)
class Roofline:
    """The two ceilings of a launch: what its instructions can compute, and what DRAM can move for them."""

    type: str
    """Of most of the launch's operations; `f32` where it has none."""
    flop_per_second: float | None
    flop_per_second_ceiling: float | None
    dram_bytes_per_second: float
    dram_bytes_per_second_ceiling: float | None
    flop_per_byte: float | None
    """Operations for each byte of DRAM."""


@dataclass(frozen=True)
class AdvisedInstruction:
    """An instruction that an advice concerns."""

    address_bytes: int
    """From the kernel's first instruction."""
    text: str
    file: str | None
    """The source file that it comes from; None where the code does not say."""
    line: int | None


@dataclass(frozen=True)
class Advice:
    """A change that would make the launch faster, by the model that predicted it."""

    id: str
    change: str
    """In words."""
    factor: float
    """Time of the launch over its time with the change."""
    instructions: tuple[AdvisedInstruction, ...]
    """Some of those that it concerns."""


@dataclass(frozen=True)
class Sensitivity:
    """How an answer depends on one number of the description."""

    path: str
    value: str
    """With its unit."""
    evidence: str
    larger_cycles: float
    """Of the launch, where the number is a tenth larger."""
    smaller_cycles: float
    """Where it is a tenth smaller."""
    elasticity: float
    """Relative change of the time over that of the number, negative where time falls."""


@dataclass(frozen=True)
class Instruction:
    """A machine instruction that the launch executes."""

    address_bytes: int
    """From the kernel's first instruction."""
    text: str
    file: str | None
    """The source file that it comes from; None where the code does not say."""
    line: int | None
    executed: float
    """By warps of the whole grid."""
    share_of_wait: float
    """Of the cycles of all warps, from 0 to 1, that passed here."""
    waits_for_bytes: int | None
    """Address of the instruction whose result it waits for most."""
    stall_cycles: Mapping[str, float]
    """Cycles of the warps by a profiler's reason, such as `long_scoreboard`, most first. `selected` is no stall."""


@dataclass(frozen=True)
class Line:
    """What the instructions of one source line cost together."""

    file: str
    line: int
    executed: float
    """Instructions of warps of the whole grid."""
    share_of_wait: float
    """Of the cycles of all warps, from 0 to 1."""
    stall_cycles: Mapping[str, float]
    """As in `Instruction`."""


@dataclass(frozen=True)
class NumberDifference:
    """How far numbers are apart, where the bytes of a buffer are read as such."""

    type: str
    """`f16`, `bf16`, `f32` or `f64`."""
    numbers: int
    """That differ."""
    without_size: int
    """Among them: infinite, NaN or subnormal on either side."""
    units_in_last_place: float
    """Largest difference of the others, of the larger number."""
    relative: float
    """Largest difference of the others, as a share of the larger number."""


@dataclass(frozen=True)
class BufferDifference:
    """Where memory after a launch is not what the recorded GPU left there."""

    buffer: str
    first_byte: int
    differing_bytes: int
    compared_bytes: int
    found: int
    """The first byte that differs."""
    expected: int
    as_numbers: NumberDifference
    tolerated: bool


@dataclass(frozen=True)
class Answer:
    """What a launch costs on a GPU. `print(answer)` shows what the command line prints, and a notebook a card."""

    method: str
    """`predict` or `simulate`. A launch whose blocks wait for each other is simulated by `predict()` too."""
    launch: LaunchShape
    gpu: str
    caches: str
    """What the L2 held when the launch began: `cold`, `warm` or `after:N`."""
    coverage: Coverage
    time: Time
    limiter: Limiter | None
    occupancy: Occupancy | None
    work: Work
    flop_rates: tuple[Rate, ...]
    """Operations by type; empty where they were not counted."""
    byte_rates: tuple[Rate, ...]
    """Each way that was counted."""
    roofline: Roofline
    summary: str
    """What takes the time, in a few sentences."""
    stall_cycles: Mapping[str, float]
    """Cycles of all warps by a profiler's reason, most first. Empty where no machine code was executed."""
    hot: tuple[Instruction, ...]
    """The dozen instructions at which warps spend most cycles."""
    instructions: tuple[Instruction, ...]
    """All that are executed, in the order of the code. Empty where no machine code was executed."""
    lines: tuple[Line, ...]
    """Lines of source, the costliest first. Empty where the code names none (nvcc -lineinfo writes them)."""
    advice: tuple[Advice, ...] | None
    """Best first. None where changes were not tried, empty where none would help."""
    sensitivity: tuple[Sensitivity, ...] | None
    """Largest first. None where that was not looked for."""
    differences: tuple[BufferDifference, ...] | None
    """Where memory differs from what the recorded GPU left; None where that was not asked for."""
    printed: str | None
    """What the threads of the simulated blocks print, at most 1 MiB. None in predictions and for PTX."""
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    outputs: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """The arrays after the launch by the names of their parameters, of `simulate(outputs=True)`."""
    _text: str = field(default="", repr=False, compare=False)
    _json: str = field(default="", repr=False, compare=False)
    _html: str = field(default="", repr=False, compare=False)
    _added: tuple[tuple[str, ...], tuple[str, ...]] = field(default=((), ()), repr=False, compare=False)

    @property
    def microseconds(self) -> float:
        """The same as `time.microseconds`."""
        return self.time.microseconds

    @property
    def cycles(self) -> float:
        """The same as `time.cycles`."""
        return self.time.cycles

    def to_json(self) -> dict[str, Any]:
        """The document of the command line's `--json`, with the schema `gputomo-answer-1`."""
        document: dict[str, Any] = json.loads(self._json)
        assumptions, warnings = self._added
        document["assumptions"] += assumptions
        document["warnings"] = [*warnings, *document["warnings"]]
        return document

    def to_pandas(self, table: str = "instructions") -> Any:
        """A `pandas.DataFrame` with one row for each instruction (`"instructions"`: the fields of `Instruction`, and a
        column of cycles for each reason), source line (`"lines"`), reason (`"stalls"`: reason, cycles, share) or
        resource (`"bounds"`: resource, cycles, share_of_time). Raises ImportError without pandas, and InputError for
        another name."""
        return to_pandas(self._columns(table))

    def to_polars(self, table: str = "instructions") -> Any:
        """The same table as a `polars.DataFrame`."""
        return to_polars(self._columns(table))

    def to_arrow(self, table: str = "instructions") -> Any:
        """The same table as a `pyarrow.Table`."""
        return to_arrow(self._columns(table))

    def _columns(self, table: str) -> Columns:
        if table == "instructions":
            return self._with_stalls(Instruction, self.instructions)
        if table == "lines":
            return self._with_stalls(Line, self.lines)
        if table == "stalls":
            total = sum(self.stall_cycles.values())
            return {
                "reason": list(self.stall_cycles),
                "cycles": list(self.stall_cycles.values()),
                "share": [cycles / total for cycles in self.stall_cycles.values()],
            }
        if table == "bounds":
            bounds = self.limiter.bounds if self.limiter else ()
            return {
                "resource": [bound.resource for bound in bounds],
                "cycles": [bound.cycles for bound in bounds],
                "share_of_time": [bound.cycles / self.time.cycles for bound in bounds],
            }
        raise InputError(f"table '{table}': expected 'instructions', 'lines', 'stalls' or 'bounds'")

    def _with_stalls(self, of: type, rows: Sequence[Any]) -> Columns:
        columns: Columns = {
            f.name: [getattr(row, f.name) for row in rows]
            for f in dataclasses.fields(of)
            if f.name != "stall_cycles"
        }
        for reason in self.stall_cycles:
            columns[reason] = [row.stall_cycles.get(reason, 0.0) for row in rows]
        return columns

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._html


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _convert(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return _convert(next(one for one in arguments if one is not type(None)), value)
    if origin is tuple:
        return tuple(_convert(arguments[0], one) for one in value)
    if origin is Mapping:
        return {key: _convert(arguments[1], one) for key, one in value.items()}
    return build(hint, value) if dataclasses.is_dataclass(hint) else value


def build(cls: Any, rows: dict[str, Any]) -> Any:
    """An object of a class of this module, from rows of the extension module."""
    hints = _hints(cls)
    return cls(**{f.name: _convert(hints[f.name], rows[f.name]) for f in dataclasses.fields(cls) if f.name in rows})


def answer_of(
    rows: dict[str, Any], outputs: Mapping[str, Any] | None, assumptions: list[str], warnings: list[str]
) -> Answer:
    """The answer of the extension module, with what the package itself assumed and warns of."""
    answer: Answer = build(Answer, {key: value for key, value in rows.items() if key != "outputs"})
    added = "".join(f"<p>{escape(one)}</p>" for one in warnings)
    text = rows["text"] + "".join(f"assumed: {one}\n" for one in assumptions)
    return dataclasses.replace(
        answer,
        assumptions=answer.assumptions + tuple(assumptions),
        warnings=tuple(warnings) + answer.warnings,
        outputs=outputs,
        _text=text + "".join(f"warning: {one}\n" for one in warnings),
        _json=rows["json"],
        _html=rows["html"].removesuffix("</div>") + added + "</div>",
        _added=(tuple(assumptions), tuple(warnings)),
    )
