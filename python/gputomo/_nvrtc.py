"""Compiles CUDA C++ to machine code with NVRTC, of a CUDA toolkit or of NVIDIA's package, without a GPU."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import InputError

_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
_FOLDERS = ("cu13/lib", "cuda_nvrtc/lib")
"""In NVIDIA's packages: of CUDA 13 and of CUDA 12."""


def _files() -> list[str]:
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        spec = None
    roots = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    return [str(root / folder / name) for root in roots for folder in _FOLDERS for name in _NAMES]


def include_folders() -> list[str]:
    """Headers of NVIDIA's packages."""
    return sorted({str(Path(file).parent.parent / "include") for file in _files() if Path(file).exists()})


def _library(origin: str) -> Any:
    for name in [file for file in _files() if Path(file).exists()] + list(_NAMES):
        try:
            # NVRTC looks for this one by name, not beside itself.
            for needed in sorted(Path(name).parent.glob("libnvrtc-builtins.so*")) if "/" in name else []:
                ctypes.CDLL(str(needed))
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise InputError(
        f"{origin}: is CUDA C++, and there is no NVRTC to compile it: install the CUDA toolkit or the Python package "
        "nvidia-cuda-nvrtc, or give a cubin"
    )


def compile(source: str, options: Sequence[str], sm: int, origin: str) -> bytes:
    """The cubin for compute capability `sm` (90 for 9.0). `options` are those of NVRTC, without an architecture. Raises
    InputError where there is no NVRTC, with what to do, and where it refuses the source, with what it says."""
    nvrtc = _library(origin)
    program = ctypes.c_void_p()
    _check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None), origin)
    try:
        every = [option.encode() for option in (*options, f"-arch=sm_{sm}")]
        status = nvrtc.nvrtcCompileProgram(program, len(every), (ctypes.c_char_p * len(every))(*every))
        if status:
            log = _text(nvrtc, program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
            raise InputError(f"{origin}: NVRTC refuses it for sm_{sm}: {log.decode(errors='replace').strip()}")
        return _text(nvrtc, program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, ends=False)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _check(nvrtc: Any, status: int, origin: str) -> None:
    if status:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise InputError(f"{origin}: NVRTC: {nvrtc.nvrtcGetErrorString(status).decode()}")


def _text(nvrtc: Any, program: Any, size_of: Any, read: Any, ends: bool = True) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    read(program, buffer)
    return buffer.raw[:-1] if ends and size.value else buffer.raw
