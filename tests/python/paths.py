"""Where the tests find files of the tree."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CUBIN = ROOT / "tests/data/cubin/stream_copy_x4.sm_90.cubin"
CAPTURE = ROOT / "recordings/own/shared/a8c2d92c80e9"
WAITING = ROOT / "recordings/own/dependent/dd4db43e335f"
PROGRAM = os.environ.get("GPUTOMO_PROGRAM", str(ROOT / "build/gputomo"))
