"""Runs the command line program that the package has: `python -m gputomo predict ...`, or `gputomo predict ...`."""

from __future__ import annotations

import os
import sys

from .errors import Error
from .scanning import executable


def main() -> int:
    """Replaces this process by the program. Returns 1, with a message, where the package was installed without it."""
    try:
        program = executable()
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    os.execv(program, ["gputomo", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
