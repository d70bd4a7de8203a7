"""Gives scikit-build-core the version of the source tree, which scripts/version.sh finds (pyproject.toml)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any


def dynamic_metadata(field: str, settings: dict[str, Any] | None = None) -> str:
    """Returns the version, say "0.2.0" or "0.2.1.dev17"; raises RuntimeError where the tree has none."""
    if field != "version":
        raise RuntimeError(f"package_version gives the version alone; expected the field version, found {field}")
    folder = Path(__file__).resolve().parent
    # A source distribution has no history: its version is the one that it was made with.
    made = folder.parent / "PKG-INFO"
    if made.exists() and (found := re.search(r"^Version: (\S+)$", made.read_text(encoding="utf-8"), re.MULTILINE)):
        return found[1]
    run = subprocess.run([folder / "version.sh"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return run.stdout.strip()
