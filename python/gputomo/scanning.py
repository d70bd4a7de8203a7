"""Measures a GPU, with the executable that the package has."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Union

from .errors import DeviceError, Error, InputError, TimeLimitError
from .machines import Machine, load

__all__ = ["executable", "scan"]

# Exit codes of the executable (`gputomo --help`).
_ERRORS: dict[int, type[Error]] = {2: InputError, 3: DeviceError, 4: TimeLimitError}
_INTERRUPTED = 130


def executable() -> str:
    """The path of the command line program `gputomo`. Raises Error where the package was installed without it."""
    file = Path(__file__).with_name("bin") / "gputomo"
    if not os.access(file, os.X_OK):
        raise Error(f"{file}: is missing; expected the executable that the package is built with")
    return str(file)


def scan(
    device: str = "auto",
    out: Union[str, os.PathLike[str], None] = None,
    *,
    only: Sequence[str] = (),
    quick: bool = False,
    seed: int = 1,
) -> Machine:
    """Measures a GPU, as `gputomo scan` does, and returns its description.

    `device` is `cuda:N`, `sim:NAME`, `sim:FILE.json`, or `auto` for a GPU where there is one. `out` is the folder for
    machine.json, scan.json and report.html; by default they are not kept. `only` names experiments. Progress is shown
    on standard error. Ctrl-C ends the scan and raises KeyboardInterrupt.

    Raises InputError, DeviceError, TimeLimitError or Error with the last message of the program.
    """
    with tempfile.TemporaryDirectory(prefix="gputomo-") as folder:
        where = os.fspath(out) if out is not None else folder
        command = [executable(), "scan", "--device", device, "--out", where, "--seed", str(seed)]
        command += ["--quick"] if quick else []
        command += ["--only", ",".join(only)] if only else []
        ended = _run(command, tells_files=out is not None)
        if ended.code == -2 or ended.code == _INTERRUPTED:
            raise KeyboardInterrupt
        if ended.code != 0:
            raise _ERRORS.get(ended.code, Error)(ended.message or f"gputomo scan ended with {ended.code}")
        scanned = load(Path(where) / "machine.json")
        if out is None:
            scanned.origin = f"the scan of {device}"
        return scanned


class _Ended:
    def __init__(self, code: int, message: str) -> None:
        self.code = code
        self.message = message


def _run(command: list[str], tells_files: bool) -> _Ended:
    """Passes standard error on, and keeps its last message. Names of files that are not kept are left out."""
    import sys

    last = ""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                last = line.strip() or last
                if tells_files or not line.startswith("written:"):
                    sys.stderr.write(line)
        except KeyboardInterrupt:
            process.wait()  # the program got the signal, too, and writes what it has
            raise
    return _Ended(process.returncode, last.removeprefix("gputomo: "))
