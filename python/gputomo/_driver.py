"""NVIDIA's driver, as far as a recording in a running process needs it: facts of the GPU, memory and events."""

from __future__ import annotations

import ctypes
from typing import Any

from .errors import DeviceError

_NAME = "libcuda.so.1"
_NOT_READY = 600
_BLOCKING_SYNC = 1
_CLEARED = 256 << 20
"""Bytes: several times the L2 of any GPU, so that nothing else stays there."""
_CLEARINGS = 8
"""So that the GPU is busy for about half a millisecond, which is longer than a launch needs to reach it."""
_MULTIPROCESSORS, _CLOCK, _MEMORY_CLOCK, _MAJOR, _MINOR = 16, 13, 36, 75, 76  # CUdevice_attribute


class Driver:
    """The driver in the current process, with the context that is current in the calling thread."""

    def __init__(self) -> None:
        try:
            self._cuda = ctypes.CDLL(_NAME)
        except OSError as error:
            raise DeviceError(f"{_NAME}: {error}; expected NVIDIA's driver, to capture launches of a GPU") from error
        self._check("cuInit", 0)
        self._cleared = ctypes.c_uint64()

    def _check(self, function: str, *arguments: Any) -> None:
        status = getattr(self._cuda, function)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorName(status, ctypes.byref(text))
            raise DeviceError(f"{function}: {(text.value or b'').decode() or status}")

    def _attribute(self, device: ctypes.c_int, attribute: int) -> int:
        value = ctypes.c_int()
        self._check("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
        return value.value

    def gpu(self) -> dict[str, Any]:
        """The current GPU, as captures describe one."""
        device, version = ctypes.c_int(), ctypes.c_int()
        self._check("cuCtxGetDevice", ctypes.byref(device))
        self._check("cuDriverGetVersion", ctypes.byref(version))
        name, uuid, memory = ctypes.create_string_buffer(256), (ctypes.c_ubyte * 16)(), ctypes.c_size_t()
        self._check("cuDeviceGetName", name, 256, device)
        self._check("cuDeviceGetUuid", uuid, device)
        self._check("cuDeviceTotalMem_v2", ctypes.byref(memory), device)
        digits = bytes(uuid).hex()
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        return {
            "name": name.value.decode(),
            "uuid": "GPU-" + "-".join(parts),
            "sm": 10 * self._attribute(device, _MAJOR) + self._attribute(device, _MINOR),
            "multiprocessors": self._attribute(device, _MULTIPROCESSORS),
            "clock_khz": self._attribute(device, _CLOCK),
            "memory_clock_khz": self._attribute(device, _MEMORY_CLOCK),
            "memory_bytes": memory.value,
            "driver": version.value,
        }

    def allocation(self, address: int) -> tuple[int, int] | None:
        """Begin and size of the allocation of the GPU's memory that an address lies in; None where there is none."""
        begin, size = ctypes.c_uint64(), ctypes.c_size_t()
        found = self._cuda.cuMemGetAddressRange_v2(ctypes.byref(begin), ctypes.byref(size), ctypes.c_uint64(address))
        return None if found else (begin.value, size.value)

    def read(self, address: int, size: int) -> bytes:
        content = ctypes.create_string_buffer(size)
        self._check("cuMemcpyDtoH_v2", content, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return content.raw

    def synchronize(self) -> None:
        self._check("cuCtxSynchronize")

    def event(self, stream: int) -> Any:
        """An event that was recorded in a stream."""
        event = ctypes.c_void_p()
        self._check("cuEventCreate", ctypes.byref(event), _BLOCKING_SYNC)
        self._check("cuEventRecord", event, ctypes.c_void_p(stream))
        return event

    def clear(self, stream: int) -> None:
        """Writes to other memory, so that the L2 holds nothing of the program, and the GPU is busy."""
        if not self._cleared.value:
            self._check("cuMemAlloc_v2", ctypes.byref(self._cleared), ctypes.c_size_t(_CLEARED))
        for _ in range(_CLEARINGS):
            self._check(
                "cuMemsetD8Async", self._cleared, ctypes.c_ubyte(0), ctypes.c_size_t(_CLEARED), ctypes.c_void_p(stream)
            )

    def close(self) -> None:
        if self._cleared.value:
            self._check("cuMemFree_v2", self._cleared)
            self._cleared = ctypes.c_uint64()

    def has_passed(self, event: Any) -> bool:
        status: int = self._cuda.cuEventQuery(event)
        return status != _NOT_READY

    def microseconds(self, start: Any, end: Any) -> float:
        self._check("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self._check("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
        return 1000 * milliseconds.value

    def is_capturing(self, stream: int) -> bool:
        """Whether a stream's work goes into a graph, so that nothing may be copied or recorded."""
        status = ctypes.c_int()
        self._check("cuStreamIsCapturing", ctypes.c_void_p(stream), ctypes.byref(status))
        return status.value != 0
