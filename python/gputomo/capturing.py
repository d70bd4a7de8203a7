"""Records the launches of Triton's kernels in a running process, such as those of a notebook's cell.

    with gputomo.capture("folder") as recorded:
        softmax[(rows,)](out, x, columns, BLOCK=1024)
    gputomo.kernel(recorded.capture[0]).predict(machine="h200")

Triton's hooks say when a kernel is launched. Other kernels of the process are not seen: `gputomo capture` records all
kernels of a program.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ._driver import Driver
from ._frames import library
from .arguments import number_bytes
from .errors import InputError
from .kernels import Kernel, kernel
from .launches import Capture

__all__ = ["Recording", "capture"]

_CHUNK = 1 << 20
"""Bytes. Equal pieces of this size are stored once. Smaller ones make the index long."""
_SCRATCH_FROM = 0x7000_0000_0000
"""Where hidden memory of Triton's launcher lies in the capture: it is not allocated yet when a launch is recorded."""
_POINTER = 8


class Recording:
    """Launches that are being recorded, or that were. `capture()` makes one."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        kernels: str | None,
        memory: bool,
        results: bool,
        max_memory: int,
        driver: Any = None,
    ) -> None:
        self.folder = os.fspath(folder)
        try:
            self._kernels = re.compile(kernels) if kernels is not None else None
        except re.error as error:
            raise InputError(f"kernels {kernels!r}: {error}; expected a regular expression") from error
        if isinstance(max_memory, bool) or not isinstance(max_memory, int) or max_memory < 0:
            raise InputError(f"max_memory {max_memory!r}: expected a number of bytes")
        if Path(self.folder).exists() and not (Path(self.folder) / "capture.json").exists():
            if not Path(self.folder).is_dir() or any(Path(self.folder).iterdir()):
                raise InputError(f"{self.folder}: is no capture; expected an empty or a new folder, or a capture")
        self._memory, self._results, self._limit = memory, results, max_memory
        self._driver = driver
        self._local = threading.local()
        self._lock = threading.RLock()
        self._threads: dict[int, int] = {}
        self._streams: dict[int, int] = {0: 0}
        self._gpus: list[dict[str, Any]] = []
        self._modules: dict[str, tuple[int, bytes]] = {}
        self._kernel_rows: dict[tuple[str, int], int] = {}
        self._launches: list[dict[str, Any]] = []
        self._events: list[tuple[int, Any, Any]] = []
        self._shapes: set[Any] = set()
        self._store = _Store(max_memory)
        self._left_out: list[int] = []
        self._done: Capture | None = None

    @property
    def capture(self) -> Capture:
        """What was recorded. Raises InputError before the end of the `with` statement, and where nothing was
        launched."""
        if self._done is None:
            raise InputError(
                f"{self.folder}: no launch was recorded; expected one of a Triton kernel, and the end of the with "
                "statement"
            )
        return self._done

    def __len__(self) -> int:
        return len(self._launches)

    def __enter__(self) -> Recording:
        compiler = library("triton.compiler.compiler", "triton", "gputomo.capture")
        knobs = library("triton.knobs", "triton", "gputomo.capture")
        self._hooks = (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook)
        if not all(hasattr(hook, "add") and hasattr(hook, "remove") for hook in self._hooks):
            version = sys.modules["triton"].__version__
            raise InputError(f"Triton {version}: its launch hooks are no chains; expected Triton 3.5 or newer")
        if self._driver is None:
            self._driver = Driver()
        self._begin = time.monotonic()
        self._compiled = compiler.CompiledKernel
        self._launch_metadata = self._compiled.launch_metadata
        recording, original = self, self._launch_metadata

        @functools.wraps(original)
        def launch_metadata(self: Any, grid: Any, stream: Any, *args: Any) -> Any:
            # Hooks are not told the arguments. Triton calls this method before each launch, in the same thread.
            recording._local.next = (self, grid, stream, args)
            return original(self, grid, stream, *args)

        self._compiled.launch_metadata = launch_metadata
        self._hooks[0].add(self._entered)
        self._hooks[1].add(self._left)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._compiled.launch_metadata = self._launch_metadata
        self._hooks[0].remove(self._entered)
        self._hooks[1].remove(self._left)
        if self._launches:
            for number, start, end in self._events:
                self._launches[number]["us"] = self._driver.microseconds(start, end)
            self._driver.close()
            self._write(0 if kind is None else 1)
            self._done = Capture(self.folder)

    def _entered(self, metadata: Any) -> None:
        self._local.current = None
        compiled, grid, stream, args = self._local.__dict__.pop("next", (None, None, None, None))
        if compiled is None or (self._kernels and not self._kernels.search(compiled.name)):
            return
        with self._lock:
            row, pointers = self._row(compiled, grid, stream, args)
            number = len(self._launches)
            self._launches.append(row)
            frozen = self._driver.is_capturing(stream)
            shape = json.dumps({key: row["launch"][key] for key in ("kernel", "grid", "block", "shared_bytes")})
            stored = self._memory and not frozen and shape not in self._shapes
            if stored:
                self._shapes.add(shape)
                self._driver.synchronize()
                row["buffers"] = self._snapshot(pointers, number, row)
                # Alone, with an L2 full of other data, and behind work that lasts until the launch has arrived.
                self._driver.clear(stream)
            row["host_us"] = 1e6 * time.monotonic()
            start = None if frozen else self._driver.event(stream)
            self._local.current = (number, stream, pointers, start, time.monotonic(), stored)

    def _left(self, metadata: Any) -> None:
        current, self._local.current = getattr(self._local, "current", None), None
        if current is None:
            return
        number, stream, pointers, start, began, stored = current
        with self._lock:
            row = self._launches[number]
            if start is not None:
                if self._driver.has_passed(start):
                    row["host_wait_us"] = 1e6 * (time.monotonic() - began)
                self._events.append((number, start, self._driver.event(stream)))
            if stored and self._results and "buffers" in row:
                self._driver.synchronize()
                row["results"] = self._snapshot(pointers, number, row)

    def _row(self, compiled: Any, grid: Any, stream: int, args: Any) -> tuple[dict[str, Any], list[int]]:
        made = kernel(compiled)
        gpu = self._driver.gpu()
        if gpu not in self._gpus:
            self._gpus.append(gpu)
        blocks = (list(grid) + [1, 1])[:3]
        parameters, pointers, hidden = self._parameters(made, dict(zip(made.declared, args)), blocks)
        shape: dict[str, Any] = {
            "kernel": self._kernel(made),
            "grid": blocks,
            "block": list(made.block or (1, 1, 1)),
            "shared_bytes": made.dynamic_shared_bytes,
            "parameters": parameters,
        }
        if made.cooperative:
            shape["cooperative"] = True
        row: dict[str, Any] = {
            "process": 0,
            "gpu": self._gpus.index(gpu),
            "stream": self._streams.setdefault(stream, len(self._streams)),
            "thread": self._threads.setdefault(threading.get_ident(), len(self._threads)),
            "host_us": 0.0,
            "launch": shape,
        }
        if hidden:
            row["hidden"] = hidden
        return row, pointers

    @staticmethod
    def _parameters(
        made: Kernel, values: Mapping[str, Any], blocks: list[int]
    ) -> tuple[list[dict[str, Any]], list[int], list[tuple[int, int]]]:
        """The parameters with their values, the pointers among them, and address and size of hidden memory."""
        rows, pointers, hidden = [], [], []
        for parameter in made.parameters:
            value = values[parameter.name]
            if hasattr(value, "data_ptr"):
                address = int(value.data_ptr())
                pointers.append(address)
                content = address.to_bytes(_POINTER, "little")
            elif parameter.type.startswith("*"):
                address = int(value or 0)
                pointers += [address] if address else []
                content = address.to_bytes(_POINTER, "little")
            else:
                content = number_bytes(parameter, value, f"argument {parameter.name}")
            rows.append({"offset": parameter.offset_bytes, "value": content.hex()})
        for i, one in enumerate(made.hidden):
            size = one.bytes_per_block * blocks[0] * blocks[1] * blocks[2]
            address = _SCRATCH_FROM + (i << 40) if size else 0
            hidden += [(address, size)] if size else []
            rows.append({"offset": one.parameter.offset_bytes, "value": address.to_bytes(_POINTER, "little").hex()})
        return rows, pointers, hidden

    def _kernel(self, made: Kernel) -> int:
        digest = hashlib.sha256(made.code).hexdigest()
        module = self._modules.setdefault(digest, (len(self._modules), made.code))[0]
        return self._kernel_rows.setdefault((made.name, module), len(self._kernel_rows))

    def _snapshot(self, pointers: list[int], number: int, row: dict[str, Any]) -> list[dict[str, Any]]:
        buffers = []
        for begin, size in sorted({found for p in pointers if (found := self._driver.allocation(p)) is not None}):
            buffer: dict[str, Any] = {"space": "device", "address": hex(begin), "bytes": size}
            content = self._store.add(self._driver, begin, size)
            if content is None:
                self._left_out.append(number)
                buffer["omitted"] = f"its {size} bytes are above the limit of {self._limit}"
            else:
                buffer["content"] = content
            buffers.append(buffer)
        for begin, size in row.get("hidden", ()):
            zeros = [{"offset": 0, "bytes": size, "fill": f"{0:#018x}"}]
            buffers.append({"space": "device", "address": hex(begin), "bytes": size, "content": zeros})
        return buffers

    def _write(self, exit_code: int) -> None:
        """Into a folder beside the capture, which then takes its place: a capture is there whole or not at all."""
        target = Path(self.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            work.chmod(0o755)
            (work / "modules").mkdir()
            modules = []
            for digest, (_, code) in self._modules.items():
                name = f"modules/{digest}.cubin"
                (work / name).write_bytes(code)
                modules.append({"sha256": digest, "file": name, "format": "cubin", "bytes": len(code)})
            memory = self._store.write(work)
            (work / "capture.json").write_text(json.dumps(self._index(modules, memory, exit_code), indent=1) + "\n")
            if target.exists():
                shutil.rmtree(target)
            work.replace(target)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise

    def _index(self, modules: list[Any], memory: list[Any], exit_code: int) -> dict[str, Any]:
        from . import __version__

        command = [sys.executable, *sys.argv]
        index: dict[str, Any] = {
            "schema": "gputomo-capture-1",
            "version": __version__,
            "commit": "",
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "command": command,
            "exit_code": exit_code,
            "wall_seconds": time.monotonic() - self._begin,
            "gpus": self._gpus,
            "processes": [{"pid": os.getpid(), "command": command}],
            "modules": modules,
            "kernels": [{"name": n, "readable": n, "module": m} for n, m in self._kernel_rows],
            "graphs": [],
            "memory": memory,
            "launches": [{key: value for key, value in row.items() if key != "hidden"} for row in self._launches],
        }
        if self._memory:
            launches = sorted(set(self._left_out))
            limit = {"bytes": self._limit, "launches_left_out": len(launches), "bytes_left_out": self._store.left_out}
            if launches:
                limit["first_launch_left_out"] = launches[0]
            index["memory_limit"] = limit
        return index


class _Store:
    """Contents of memory, in pieces of which equal ones are kept once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: dict[bytes, int] = {}  # where each lies in the file
        self._in_file: list[dict[str, Any]] = []
        self._packed: list[bytes] = []
        self._packer = zlib.compressobj(1)
        self._digest = hashlib.sha256()
        self._size = 0
        self.left_out = 0

    def add(self, driver: Any, address: int, size: int) -> list[dict[str, Any]] | None:
        """Parts of the content; None where it does not fit."""
        if self._size + size > self._limit:
            self.left_out += size
            return None
        parts: list[dict[str, Any]] = []
        for offset in range(0, size, _CHUNK):
            piece = driver.read(address + offset, min(_CHUNK, size - offset))
            part: dict[str, Any] = {"offset": offset, "bytes": len(piece)}
            if not any(piece):
                part["fill"] = f"{0:#018x}"
            else:
                part["file"], part["at"] = "", self._place(piece)  # the file's name is known at the end
            parts.append(part)
        self._in_file += [part for part in parts if "file" in part]
        return parts

    def _place(self, piece: bytes) -> int:
        key = hashlib.sha256(piece).digest()
        if key not in self._pieces:
            self._pieces[key] = self._size
            self._packed.append(self._packer.compress(piece))
            self._digest.update(piece)
            self._size += len(piece)
        return self._pieces[key]

    def write(self, folder: Path) -> list[dict[str, Any]]:
        if not self._size:
            return []
        (folder / "memory").mkdir()
        name = f"memory/{self._digest.hexdigest()}.bin"
        (folder / name).write_bytes(b"".join(self._packed) + self._packer.flush())
        for part in self._in_file:
            part["file"] = name
        return [{"file": name, "bytes": self._size}]


def capture(
    folder: str | os.PathLike[str],
    *,
    kernels: str | None = None,
    memory: bool = True,
    results: bool = False,
    max_memory: int = 4 << 30,
) -> Recording:
    """Records the launches of Triton's kernels within a `with` statement into a folder, as `gputomo capture` does for
    a program. An older capture there is replaced at the end.

    All launches are recorded, in order, with code, grid, parameters and, where it does not hold waiting for the host,
    time. Of the first launch of each kernel with
    each shape, all allocations that its arguments point into are copied to the host before it, with at most
    `max_memory` bytes in all, and with `results` after it too. Such a launch runs alone and with an L2 full of other
    data, so that its time is comparable with `caches="dirty"` of a prediction. Pointers within memory are not followed. `kernels` is a
    regular expression for names. `memory=False` copies nothing: then the process does not wait for the GPU.

    Kernels that are no Triton kernels are not seen, nor are those that PyTorch's Inductor launches by itself
    (`torch._inductor.config.use_static_triton_launcher`) because it compiled them before.

    Raises InputError for arguments that are wrong, DeviceError without a GPU, ImportError without Triton.
    """
    return Recording(folder, kernels, memory, results, max_memory)
