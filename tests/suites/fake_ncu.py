#!/usr/bin/env python3
"""Stands in for ncu: runs the program and writes a row for each launch between "start" and "stop" of fake_runtime.c."""
import re
import subprocess
import sys

if sys.argv[1:] == ["--version"]:
    print("NVIDIA Nsight Compute\nVersion 1.2.3.4 (build 5)")
    sys.exit()
rest, options = sys.argv[1:], {}
while rest[0].startswith("--"):
    name = rest.pop(0)
    options[name] = "" if name == "--csv" else rest.pop(0)
assert options["--profile-from-start"] == "off" and options["--clock-control"] == "none", options
result = subprocess.run(rest, stdout=subprocess.PIPE, text=True)
lines = result.stdout.splitlines()
metrics = options["--metrics"].split(",")
with open(options["--log-file"], "w") as out:
    out.write("==PROF== Connected to process 1\n")
    for cells in [["ID", "Kernel Name", "Block Size", "Grid Size", *metrics], [""] * (4 + len(metrics))] + [
            [str(i), kernel, f"({block}, 1, 1)", "(" + grid.replace(",", ", ") + ")",
             *("9000" if metric == "gpu__time_duration.sum" else "30" for metric in metrics)]
            for i, (kernel, grid, block) in enumerate(
                re.match(r"launch (\S+) (\S+) (\d+)", lines[i + 1]).groups()
                for i, line in enumerate(lines) if line == "start")]:
        out.write(",".join(f'"{cell}"' for cell in cells) + "\n")
    if result.returncode in (-9, 137):
        out.write("==ERROR== The application returned an error code (9).\n")
