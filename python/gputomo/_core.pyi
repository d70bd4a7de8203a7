"""The extension module (python/extension). Use the package's other modules: this one may change."""

from collections.abc import Sequence
from typing import Any, Optional

scan_schema: str

class Machine:
    @staticmethod
    def from_json(text: bytes, origin: str) -> Machine: ...
    @staticmethod
    def from_scan(text: bytes, origin: str) -> Machine: ...
    def leaves(self) -> list[dict[str, Any]]: ...
    def to_json(self) -> str: ...

class Gpu:
    def __init__(self, machine: Machine, origin: str) -> None: ...
    def assumed(self) -> list[str]: ...
    def sm(self) -> int: ...

class Launch:
    @staticmethod
    def of(
        code: bytes,
        kernel: str,
        origin: str,
        grid: Sequence[int],
        block: Sequence[int],
        dynamic_shared: int,
        cluster: Optional[Sequence[int]],
        cooperative: bool,
        arguments: list[tuple[int, bytes, Optional[int]]],
        buffers: list[tuple[str, int, Optional[int], Any]],
    ) -> Launch: ...
    def shape(self) -> dict[str, Any]: ...

class Capture:
    @staticmethod
    def load(folder: str) -> Capture: ...
    def launches(self) -> list[dict[str, Any]]: ...
    def launch(self, number: int) -> Launch: ...

class Stop:
    def __init__(self) -> None: ...
    def set(self) -> None: ...

def description_named(given: str, known: list[tuple[str, str]]) -> Optional[str]: ...
def diff(a: Machine, b: Machine, tolerance: float) -> dict[str, Any]: ...
def kernels_in(code: bytes, origin: str) -> list[str]: ...
def kernel_code(code: bytes, name: str, origin: str) -> dict[str, Any]: ...
def predict(
    launch: Launch,
    gpu: Gpu,
    seed: int,
    time_limit_ms: int,
    caches: Optional[str],
    advise: bool,
    quick: bool,
    stop: Optional[Stop],
) -> dict[str, Any]: ...
def simulate(
    launch: Launch,
    gpu: Gpu,
    seed: int,
    time_limit_ms: int,
    sample_above: Optional[int],
    caches: Optional[str],
    compares: bool,
    outputs: bool,
    stop: Optional[Stop],
) -> dict[str, Any]: ...
