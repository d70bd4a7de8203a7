#!/usr/bin/env python3
"""Compiles the programs of the suites into EXECUTABLES/SUITE__PROGRAM.

    python3 scripts/compile_suites.py --sources SOURCES --out EXECUTABLES [SUITE ...]

Needs nvcc and sources that fetch_suites.py has fetched. Files, flags, include folders and libraries of each program come
from suites/programs.json. An executable that is there already is left alone, so another call continues an earlier one.
What a compiler said of a program that it refused is in EXECUTABLES/SUITE__PROGRAM.log; the exit status is then 1.
"""
import argparse
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure_suites import ROOT, load, recorded_entries, stem

# The compilation that all measurements in suites/*.json name. A program's own -arch replaces the one here.
FLAGS = ["-O3", "-lineinfo", "-cudart", "shared"]
ARCHITECTURE = "-arch=sm_90"


def command(program, options):
    repository = options.sources / program["suite"]
    folder = repository / program["path"]
    flags = [word for flag in program["flags"] for word in shlex.split(flag)]
    architecture = [] if any(flag.startswith(("-arch", "-gencode")) for flag in flags) else [ARCHITECTURE]
    return [options.nvcc, *FLAGS, *architecture, *flags,
            *(f"-I{repository / include}" for include in program["includes"]),
            *(str(folder / file) for file in program["files"]),
            *(f"-l{library}" for library in program["libraries"])]


def compile_program(program, options):
    executable = options.out / stem(program)
    if executable.exists():
        return "compiled before"
    if not (options.sources / program["suite"] / program["path"]).is_dir():
        return "refused: its sources are not there"
    # A file of this name appears only when it is whole, because `measure_suites.py run` may be waiting for it.
    part, log = Path(f"{executable}.part"), Path(f"{executable}.log")
    with open(log, "w") as output:
        output.write(shlex.join(command(program, options)) + "\n")
        output.flush()
        try:
            status = subprocess.run(command(program, options) + ["-o", str(part)], stdout=output, stderr=output,
                                    cwd=options.sources / program["suite"] / program["path"],
                                    timeout=options.seconds).returncode
        except subprocess.TimeoutExpired:
            return f"refused: not compiled within {options.seconds} s"
    if status:
        return f"refused: {log} says why"
    part.rename(executable)
    log.unlink()
    return "compiled"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="suites to compile; all without a name")
    parser.add_argument("--sources", required=True, type=lambda text: Path(text).resolve(),
                        help="folder that fetch_suites.py filled")
    parser.add_argument("--out", required=True, type=lambda text: Path(text).resolve(), help="folder for executables")
    parser.add_argument("--programs", type=Path, default=ROOT / "suites" / "programs.json", help="what to compile")
    parser.add_argument("--nvcc", default="nvcc", help="compiler; version 13.0.88 made the recorded measurements")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at the same time")
    parser.add_argument("--seconds", type=int, default=900, help="limit for a program")
    parser.add_argument("--recorded", action="store_true", help="only programs that have entries in suites/*.json")
    options = parser.parse_args()
    if not shutil.which(options.nvcc):
        sys.exit(f"compile_suites.py: no compiler {options.nvcc}; install the CUDA toolkit or name it with --nvcc")
    programs = [program for program in load(options.programs) if program["files"]]
    unknown = set(options.suites) - {program["suite"] for program in programs}
    if unknown:
        sys.exit(f"compile_suites.py: {options.programs} has no programs of {', '.join(sorted(unknown))}")
    if options.suites:
        programs = [program for program in programs if program["suite"] in options.suites]
    if options.recorded:
        programs = [program for program in programs if recorded_entries(program)]
    options.out.mkdir(parents=True, exist_ok=True)

    def report(program):
        verdict = compile_program(program, options)
        print(f"{stem(program)}: {verdict}", flush=True)
        return not verdict.startswith("refused")

    with ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(report, programs))
    print(f"{sum(done)} of {len(done)} programs are in {options.out}")
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
