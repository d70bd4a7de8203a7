"""The exceptions of gputomo: one class for each exit code of the command line, with the same messages.

Each message says what happened, where, and what was expected.
"""

from __future__ import annotations

__all__ = ["DeviceError", "Error", "InputError", "TimeLimitError", "UnknownLeafError"]


class Error(Exception):
    """Base of all others. By itself: a kernel failed while it was executed."""


class InputError(Error):
    """An argument, a file or code is wrong. The message names it and what was expected."""


class UnknownLeafError(InputError, KeyError):
    """A machine description has no leaf of this path."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DeviceError(Error):
    """A GPU failed, or has too little memory. The message names the kernel."""


class TimeLimitError(DeviceError):
    """A launch exceeded its time limit. The message names the kernel and the limit."""
