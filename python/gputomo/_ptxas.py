"""Compiles PTX to machine code with the ptxas of a CUDA toolkit, of Triton or of NVIDIA's package."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import InputError

_TOO_NEW = "Unsupported .version"
_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)([a-z]?)", re.MULTILINE)


def find() -> list[str]:
    """The ptxas on the PATH, then those of installed packages, which are not imported. Triton has a newer one beside
    the one that it takes for older GPUs."""
    on_path = shutil.which("ptxas")
    found = [on_path] if on_path else []
    for package, below in (
        ("triton", "backends/nvidia/bin/ptxas"),
        ("triton", "backends/nvidia/bin/ptxas-blackwell"),
        ("nvidia", "cu13/bin/ptxas"),
        ("nvidia", "cuda_nvcc/bin/ptxas"),
    ):
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            continue
        folders = (spec.submodule_search_locations or []) if spec else []
        files = [Path(folder) / below for folder in folders]
        found += [str(file) for file in files if os.access(file, os.X_OK)]
    return found


def compile(ptx: bytes, sm: int, origin: str) -> bytes:
    """The cubin for compute capability `sm` (90 for 9.0), or for the PTX's own variant of it, such as sm_90a. Raises
    InputError where there is no ptxas, with what to do, and where it refuses the code, with what it says."""
    compilers = find()
    if not compilers:
        raise InputError(
            f"{origin}: is PTX, and there is no ptxas to compile it: give a cubin for sm_{sm}, install the CUDA "
            "toolkit, or pip install triton"
        )
    target = _TARGET.search(ptx.decode("utf-8", "replace"))
    # Code for one architecture only, such as Triton's for sm_90a, is refused for the plain one.
    suffix = target[2] if target and int(target[1]) == sm else ""
    with tempfile.TemporaryDirectory(prefix="gputomo-") as folder:
        source, cubin = Path(folder) / "code.ptx", Path(folder) / "code.cubin"
        source.write_bytes(ptx)
        for compiler in compilers:
            command = [compiler, f"-arch=sm_{sm}{suffix}", str(source), "-o", str(cubin)]
            ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if ended.returncode == 0:
                return cubin.read_bytes()
            said = ended.stdout.decode("utf-8", "replace")
            if _TOO_NEW not in said:
                break  # a newer compiler would refuse it, too
        # NVIDIA's package holds the newest ptxas.
        hint = "; pip install nvidia-cuda-nvcc brings a newer one" if _TOO_NEW in said else ""
        raise InputError(f"{origin}: {compiler} refuses it{hint}:\n{said}")
