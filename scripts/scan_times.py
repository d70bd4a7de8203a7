#!/usr/bin/env python3
"""Writes docs/results/scan-times.json: the seconds that each experiment took in recorded scans.

Usage: scripts/scan_times.py recordings/h200-scan-1.json.gz recordings/h100-scan-1.json.gz > docs/results/scan-times.json
"""

import gzip
import json
import sys


def seconds_of(path: str) -> dict:
    """The GPU's name, the file and the seconds of each experiment that was done."""
    with gzip.open(path) as file:
        scan = json.load(file)
    rows = scan["experiments"]
    return {
        "gpu": scan["device"]["name"],
        "recording": path,
        "seconds": {row["id"]: round(row["seconds"], 3) for row in rows if row["status"] == "done"},
    }


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    document = {"schema": "gputomo-scan-times-1", "scans": [seconds_of(path) for path in sys.argv[1:]]}
    print(json.dumps(document, indent=1))
