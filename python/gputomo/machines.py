"""Machine descriptions: everything known of one GPU, each value with its unit and where it comes from."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Union, get_type_hints

from . import _core
from ._frames import Columns, Tabular
from .errors import InputError, UnknownLeafError

__all__ = ["Diff", "Difference", "Group", "Groups", "Leaf", "Machine", "MachineLike", "diff", "load", "names"]

_FOLDER = Path(__file__).with_name("machines")
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Leaf:
    """One value of a description: what it is, how sure that is, and where it comes from."""

    path: str
    """`caches.l1.capacity`; a key that has dots itself is in brackets: `operations[add.f32].latency`."""
    unit: str
    """As in JSON: `bytes`, `cycles`, `ns`, `MHz`, `GB/s`, `bytes/cycle`, `ops/cycle`, `count`; empty where it has
    none."""
    value: Any
    """An int, float, bool, str or a list of them, in `unit`. None where `knowledge` is not `known`."""
    knowledge: str
    """`known`; `absent`: looked for, and the GPU does not have it; `undecided`: see `candidates`; `unknown`: not
    looked for."""
    candidates: list[Any]
    """The values that explain a measurement equally well, where it is undecided."""
    interval: tuple[float, float] | None
    """Lowest and highest value that a measurement allows, in `unit`. None for citations and what is no number."""
    confidence: float | None
    """From 0 to 1, how sure a measurement is. None for citations."""
    method: str
    """The experiment that measured it, and its rule. Empty for citations."""
    source: str
    """The publication that a citation comes from: `Wong 2010, Table III`. Empty for measurements."""
    note: str
    description: str
    """What the leaf means, as the schema says it."""
    internal: str
    """Why a scan does not fill the leaf. Empty for leaves that it fills."""

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return self.knowledge == "known"

    @property
    def absent(self) -> bool:
        """Whether the GPU was found not to have it."""
        return self.knowledge == "absent"

    @property
    def number(self) -> float | None:
        """The value as a float; None where it is no number."""
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        return float(self.value) if is_number else None

    def __str__(self) -> str:
        texts = {"known": str(self.value), "absent": "absent", "unknown": "unknown"}
        text = texts.get(self.knowledge) or f"one of {', '.join(map(str, self.candidates))}"
        return f"{text} {self.unit}".rstrip() if self.known else text


class Group:
    """Leaves that belong together, such as those of one cache, as attributes."""

    def __init__(self, path: str, leaves: dict[str, Leaf]) -> None:
        self._path = path
        self._leaves = leaves

    def __getattr__(self, name: str) -> Leaf:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._leaves[name]
        except KeyError:
            raise AttributeError(f"{self._path} has no leaf '{name}'; it has {', '.join(self._leaves)}") from None

    def __iter__(self) -> Iterator[Leaf]:
        """The leaves that the description says something of."""
        return (leaf for leaf in self._leaves.values() if leaf.knowledge != "unknown")

    def __dir__(self) -> list[str]:
        return list(self._leaves)

    def __repr__(self) -> str:
        return f"<{self._path}: {', '.join(f'{leaf.path.rpartition(chr(46))[2]}={leaf}' for leaf in self)}>"


class Groups(Mapping[str, Group]):
    """Groups by name, such as all caches: `machine.caches["l1"]`."""

    def __init__(self, path: str, groups: dict[str, Group]) -> None:
        self._path = path
        self._groups = groups

    def __getitem__(self, name: str) -> Group:
        try:
            return self._groups[name]
        except KeyError:
            known = ", ".join(self._groups) or "none"
            raise UnknownLeafError(f"{self._path} has no '{name}'; it has {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def __repr__(self) -> str:
        return f"<{self._path}: {', '.join(self._groups)}>"


def _split(path: str) -> tuple[str, str, str]:
    """Section, key and leaf of `section.leaf`, `section.key.leaf` or `section[key].leaf`; the key may have dots."""
    begin, bracket, rest = path.partition("[")
    if bracket and "." not in begin:
        key, _, leaf = rest.rpartition("].")
        return begin, key, leaf
    section, _, rest = path.partition(".")
    key, _, leaf = rest.rpartition(".")
    return section, key, leaf


class Machine(Tabular):
    """The description of one GPU. `load()` makes one.

    Sections are attributes. `machine.topology.sms.value` is a leaf of a section, and
    `machine.caches["l1"].capacity.value` one of a section that has several things. `machine["caches.l1.capacity"]`
    finds a leaf by its path. Iteration yields all leaves that the description says something of.

    The table of `to_pandas()`, `to_polars()` and `to_arrow()` has one row for each of these leaves, with the columns
    path, section, key, leaf, value (as text), number (None where it is none), unit, low, high, knowledge, confidence,
    method, source and note.
    """

    identity: Group
    clock: Group
    topology: Group
    issue: Group
    pipelines: Groups
    operations: Groups
    shared: Group
    caches: Groups
    tlbs: Groups
    paths: Groups
    patterns: Groups
    accesses: Groups
    memory: Group
    instruction_supply: Group
    launch: Group

    def __init__(self, core: _core.Machine, origin: str) -> None:
        self._core = core
        self._gpu: _core.Gpu | None = None
        self.origin = origin
        """Name or file that it was read from."""
        self._leaves = [
            Leaf(**{**rows, "interval": None if rows["interval"] is None else tuple(rows["interval"])})
            for rows in core.leaves()
        ]
        self._by_place = {_split(leaf.path): leaf for leaf in self._leaves}
        found: dict[str, dict[str, dict[str, Leaf]]] = {}
        for (section, key, leaf), value in self._by_place.items():
            found.setdefault(section, {}).setdefault(key, {})[leaf] = value
        for section, kind in get_type_hints(Machine).items():
            keys = found.get(section, {})
            if kind is Group:
                setattr(self, section, Group(section, keys.get("", {})))
            elif kind is Groups:
                groups = {key: Group(f'{section}["{key}"]', leaves) for key, leaves in keys.items()}
                setattr(self, section, Groups(section, groups))

    @property
    def name(self) -> str:
        """The GPU's name: `NVIDIA H200`."""
        return str(self.identity.name.value or self.origin)

    @property
    def assumed(self) -> list[str]:
        """What predictions and simulations assume, because the description leaves it open. Raises InputError where it
        lacks what cannot be assumed."""
        return self._described_gpu().assumed()

    @property
    def compute_capability(self) -> int:
        """90 for 9.0, of the GPU that is simulated. Raises InputError where it cannot be."""
        return self._described_gpu().sm()

    def __getitem__(self, path: str) -> Leaf:
        """The leaf at a path. A key that has dots itself may stand in brackets: `operations[add.f32].latency` and
        `operations.add.f32.latency` are the same. Raises UnknownLeafError, which is a KeyError."""
        try:
            return self._by_place[_split(path)]
        except KeyError:
            pass
        section, key, _ = _split(path)
        siblings = [leaf.path for place, leaf in self._by_place.items() if place[:2] == (section, key)]
        others = siblings or sorted({place[0] for place in self._by_place})
        raise UnknownLeafError(f"{self.origin}: no leaf '{path}'; expected one of {', '.join(others)}")

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and _split(path) in self._by_place

    def __iter__(self) -> Iterator[Leaf]:
        return (leaf for leaf in self._leaves if leaf.knowledge != "unknown")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<Machine {self.name} of {self.origin}: {len(self)} leaves>"

    def to_json(self) -> str:
        """The description in its file format, `gputomo-machine-1`."""
        return self._core.to_json()

    def _described_gpu(self) -> _core.Gpu:
        if self._gpu is None:
            self._gpu = _core.Gpu(self._core, self.origin)
        return self._gpu

    def _columns(self) -> Columns:
        rows = list(self)
        places = [_split(leaf.path) for leaf in rows]
        return {
            "path": [leaf.path for leaf in rows],
            "section": [place[0] for place in places],
            "key": [place[1] or None for place in places],
            "leaf": [place[2] for place in places],
            "value": [str(leaf.value) if leaf.known else None for leaf in rows],
            "number": [leaf.number for leaf in rows],
            "unit": [leaf.unit for leaf in rows],
            "low": [leaf.interval[0] if leaf.interval else None for leaf in rows],
            "high": [leaf.interval[1] if leaf.interval else None for leaf in rows],
            "knowledge": [leaf.knowledge for leaf in rows],
            "confidence": [leaf.confidence for leaf in rows],
            "method": [leaf.method for leaf in rows],
            "source": [leaf.source for leaf in rows],
            "note": [leaf.note for leaf in rows],
        }


MachineLike = Union[Machine, str, "os.PathLike[str]"]


def names() -> list[str]:
    """Names of the descriptions that the package has: `["8800gtx", ..., "h200", ...]`."""
    return sorted(file.stem for file in _FOLDER.glob("*.json"))


@lru_cache(maxsize=None)
def _gpus() -> list[tuple[str, str]]:
    """Names of the package's descriptions, each with that of its GPU."""
    files = [_FOLDER / f"{name}.json" for name in names()]
    return [(file.stem, json.loads(file.read_bytes())["identity"]["name"]["value"]) for file in files]


def load(machine: MachineLike) -> Machine:
    """A description by its name, such as `"h200"`, or from a file that `gputomo scan` wrote.

    The file is a `machine.json` or a `scan.json`, compressed with gzip or not. `"H200"`, the GPU's name `"NVIDIA H200"`
    and `"sim:h200"` of the command line are the same as `"h200"`. A Machine is returned as it is. Raises InputError
    that names the file and the field where it is wrong.
    """
    if isinstance(machine, Machine):
        return machine
    origin = os.fspath(machine)
    name = origin.removeprefix("sim:")
    file = Path(name)
    if name in names():
        file = _FOLDER / f"{name}.json"
    elif not file.exists():
        meant = _core.description_named(name, _gpus())
        if meant is not None:
            origin, file = meant, _FOLDER / f"{meant}.json"
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(
            f"machine '{origin}': cannot be read ({error.strerror}); expected a file, or one of {', '.join(names())}"
        ) from error
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise InputError(f"{origin}: is damaged: {error}; expected a whole gzip file") from error
    return Machine(_read(content, origin), origin)


def _read(content: bytes, origin: str) -> _core.Machine:
    try:
        document = json.loads(content)
    except ValueError:
        document = None  # the reader says what is wrong
    is_scan = isinstance(document, dict) and document.get("schema") == _core.scan_schema
    return (_core.Machine.from_scan if is_scan else _core.Machine.from_json)(content, origin)


@dataclass(frozen=True)
class Difference:
    """A leaf that two descriptions have with different values."""

    path: str
    unit: str
    a: Leaf
    b: Leaf
    a_text: str
    """The value as text, with as many digits as distinguish both."""
    b_text: str


@dataclass(frozen=True)
class Diff(Tabular):
    """How two descriptions differ. The table has the columns path, unit, a and b, one row for each differing leaf."""

    differing: tuple[Difference, ...]
    undecided: tuple[str, ...]
    """Paths of leaves for which one has candidates that allow the other's value."""
    only_a: tuple[str, ...]
    """Paths of leaves that only one has."""
    only_b: tuple[str, ...]
    equal: int
    """How many leaves are equal."""

    @property
    def same(self) -> bool:
        """Whether no leaf that both have differs, as `gputomo diff` exits with 0."""
        return not self.differing

    def _columns(self) -> Columns:
        return {
            "path": [one.path for one in self.differing],
            "unit": [one.unit for one in self.differing],
            "a": [one.a_text for one in self.differing],
            "b": [one.b_text for one in self.differing],
        }


def diff(a: MachineLike, b: MachineLike, tolerance: float = 0.0) -> Diff:
    """Compares two descriptions, leaf by leaf, as `gputomo diff` does.

    Numbers are equal when their intervals overlap, or when they differ by no more than the share `tolerance` of the
    larger one. Raises InputError as `load()` does.
    """
    first, second = load(a), load(b)
    found = _core.diff(first._core, second._core, tolerance)
    differing = tuple(
        Difference(one["path"], one["unit"], first[one["path"]], second[one["path"]], one["a_text"], one["b_text"])
        for one in found["differing"]
    )
    return Diff(differing, tuple(found["undecided"]), tuple(found["only_a"]), tuple(found["only_b"]), found["equal"])
