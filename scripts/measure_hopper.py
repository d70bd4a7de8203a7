#!/usr/bin/env python3
"""Measures and captures the suite `hopper`: operations of kernels/hopper, and examples of CUTLASS.

    python3 scripts/measure_hopper.py compile --sources CUTLASS --executables DIR
    python3 scripts/measure_hopper.py run --out RESULTS [--executables DIR]
    python3 scripts/measure_hopper.py record --out RESULTS --gpu h200
    python3 scripts/measure_hopper.py capture --out RESULTS --captures CAPTURES --gputomo build/gputomo
    python3 scripts/measure_hopper.py page --answers PREDICT.json SIMULATE.json

The programs of scripts/measure_suites.py would start Python and the profiler three times for each of some hundred
operations. Here one process runs all of them, one after the other, and launches are attributed to operations by their
order. `compile` needs nvcc and a checkout of CUTLASS at the commit of kernels/hopper/programs.json. `run` needs a GPU
of compute capability 9.0, PyTorch, Triton, ncu and permission to read the GPU's counters. Caches are flushed before
each pass. `record` applies the rule of suites/README.md and writes suites/hopper.json and suites/held-out/hopper.json.
`capture` writes CAPTURES/hopper/PROGRAM/HASH for each launch that was measured, without the code of other kernels.
`page` puts what `gputomo accuracy --results` kept into the tables of docs/results/hopper-asynchronous.md.
"""
import argparse
import hashlib
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure_suites import (COUNTERS, CYCLES, DURATION, LAUNCH, LONGEST, NCU, REPEATED, REPETITIONS, ROOT, STALLS, load,
                            machine, number, plain_name, rounded, rows_of, text_of, traits_of, triple)

SUITE = "hopper"
FOLDER = ROOT / "kernels" / SUITE
OPERATIONS = FOLDER / "operations.py"
SUITE_FILES = ((ROOT / "suites" / f"{SUITE}.json", False), (ROOT / "suites" / "held-out" / f"{SUITE}.json", True))
SHORTEST = 1  # us; shorter launches are not measured to a percent
# What PyTorch launches beside the kernel that an operation is about.
HELPERS = re.compile(r"elementwise|fill|memset|copy", re.I)
ALL = COUNTERS + list(STALLS.values()) + list(LAUNCH.values())


def held_out(name):
    return int(hashlib.sha256(f"{SUITE}/{name}".encode()).hexdigest()[:8], 16) % 3 == 0


def sources_digest():
    digest = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in (".py", ".json"):
            digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def programs():
    return load(FOLDER / "programs.json")


def compile_all(options):
    listed = programs()
    Path(options.executables).mkdir(parents=True, exist_ok=True)

    def one(program):
        source = Path(options.sources) / program["path"] / program["file"]
        target = Path(options.executables) / program["program"]
        includes = [f"-I{Path(options.sources) / include}" for include in listed["includes"] + [program["path"]]]
        command = ["nvcc", *listed["flags"], *includes, str(source), "-lcuda", "-o", f"{target}.part"]
        with open(f"{target}.log", "w") as log:
            try:
                status = subprocess.run(command, stdout=log, stderr=log, timeout=options.seconds).returncode
            except subprocess.TimeoutExpired:
                status = "time limit"
        if status == 0:
            Path(f"{target}.part").rename(target)
        print(f"compile {program['program']}: {status}", flush=True)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(one, listed["programs"]))


def python(*arguments, **settings):
    environment = {**os.environ, "OMP_NUM_THREADS": "4", "CUDA_MODULE_LOADING": "LAZY", **settings}
    return [sys.executable, str(OPERATIONS), *map(str, arguments)], environment


def logged(command, log, environment=None, seconds=600):
    with open(log, "w") as output:
        try:
            return subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=environment,
                                  timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            return "time limit"


def profiled(command, base, metrics, options=(), environment=None):
    """Profiles what a program brackets by cudaProfilerStart and -Stop, or all launches where options choose them."""
    profiler = [*NCU, *options] if not options else [*NCU[:NCU.index("--profile-from-start")], *options]
    status = logged([*profiler, "--log-file", f"{base}.csv", "--metrics", ",".join(metrics), *command],
                    f"{base}.output", environment)
    print(f"{base.name}: {status}, {len(rows_of(Path(f'{base}.csv')))} launches", flush=True)


def run(options):
    out = Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    (out / "machine.json").write_text(json.dumps(machine()) + "\n")
    if not options.skip_operations:
        command, environment = python("counts", out / "counts.json", PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        print("counts:", logged(command, out / "counts.output", environment), flush=True)
        for part, metrics, repetitions in (("counters", ALL, 1), ("cycles", REPEATED, REPETITIONS - 1)):
            command, environment = python("bracket", repetitions, PYTORCH_NO_CUDA_MEMORY_CACHING="1")
            profiled(command, out / f"operations.{part}", metrics, (), environment)
    if options.executables:
        for program in programs()["programs"]:
            executable = Path(options.executables).resolve() / program["program"]
            if not executable.exists():
                continue
            line = (f"for i in $(seq {program.get('runs', 1)}); do "
                    f"{shlex.quote(str(executable))} {program['arguments']}; done")
            profiled(["bash", "-c", line], out / program["program"], ALL,
                     ["--kernel-name", f"regex:{programs()['kernels']}",
                      "--launch-count", "60"])


def entry_of(program, algorithm, name, rows, index, gpu):
    """One launch, measured in `rows`, the first of which has all counters."""
    counters = {counter: number(rows[0].get(counter) or "") for counter in COUNTERS}
    counters = {counter: value for counter, value in counters.items() if value is not None}
    for counter in REPEATED:
        counters[counter] = statistics.median(number(row[counter]) for row in rows)
    launch = {field: number(rows[0][counter]) for field, counter in LAUNCH.items()}
    stalls = {reason: number(rows[0].get(counter) or "") for reason, counter in STALLS.items()}
    executed = {number(row["smsp__inst_executed.sum"]) for row in rows}
    return {"name": f"{program}/{name}", "program": program, "algorithm": algorithm, "kernel": rows[0]["Kernel Name"],
            "launch": index, "grid": triple(rows[0]["Grid Size"]), "block": triple(rows[0]["Block Size"]),
            "registers": int(launch["registers_per_thread"]),
            "static_shared": int(launch["shared_mem_per_block_static"]),
            "dynamic_shared": int(launch["shared_mem_per_block_dynamic"]),
            "traits": traits_of(launch, counters) + (["async"] if stalls.get("gmma") else []),
            "measured": {gpu: {
                "repetitions": len(rows), "instructions_repeat": max(executed) - min(executed) <= 1e-3 * max(executed),
                "cycles": sorted(int(number(row[CYCLES])) for row in rows),
                "shared_carveout": int(launch["shared_mem_config_size"]),
                "counters": {counter: rounded(value) for counter, value in counters.items() if value},
                "stalls": {reason: float(f"{value:.4g}") for reason, value in stalls.items() if value}}}}


def operations_measured(out):
    """(operation, rows by repetition of one launch) of all launches, in order."""
    counts = load(out / "counts.json")
    counters, cycles = rows_of(out / "operations.counters.csv"), rows_of(out / "operations.cycles.csv")
    total = sum(map(len, counts.values()))
    if len(counters) != total or len(cycles) % total:
        print(f"{len(counters)} launches have counters and {len(cycles)} cycles; expected {total} and a multiple: "
              "launches are matched by name, grid and block")
    at, again = 0, {}
    whole = len(cycles) // total * total
    for operation, names in counts.items():
        for _ in names:
            if at >= len(counters):
                return
            row = counters[at]
            same = [cycles[i] for i in range(at, whole, total)]
            same = [other for other in same if all(
                other[field] == row[field] for field in ("Kernel Name", "Grid Size", "Block Size"))]
            yield operation, [row, *same]
            at += 1


def entries(options):
    out = Path(options.out)
    found = []

    def add(program, algorithm, rows):
        names = [entry["kernel"] for entry in found if entry["program"] == program]
        microseconds = statistics.median(number(row[DURATION]) for row in rows) / 1e3
        kernel = rows[0]["Kernel Name"]
        if kernel in names or HELPERS.search(plain_name(kernel)) or not SHORTEST <= microseconds <= LONGEST:
            return
        if len(rows) < REPETITIONS:
            print(f"{program}: {plain_name(kernel)} is left out: {len(rows)} of {REPETITIONS} repetitions")
            return
        name = plain_name(kernel)
        if any(entry["name"] == f"{program}/{name}" for entry in found):
            name += f"-{len(names) + 1}"
        found.append(entry_of(program, algorithm, name, rows[:REPETITIONS], 0, options.gpu))

    if (out / "counts.json").exists():
        for operation, rows in operations_measured(out):
            add(operation, operation.rsplit("-", 1)[0] if operation[-1].isdigit() else operation, rows)
    for program in programs()["programs"]:
        again = {}
        for row in rows_of(out / f"{program['program']}.csv"):
            again.setdefault((row["Kernel Name"], row["Grid Size"], row["Block Size"]), []).append(row)
        for rows in again.values():
            add(program["program"], program["program"], rows)
    return found


def record(options):
    found = entries(options)
    listed = {program["program"]: program for program in programs()["programs"]}
    for path, held in SUITE_FILES:
        chosen = sorted((entry for entry in found if held_out(entry["name"]) == held), key=lambda entry: entry["name"])
        used = {}
        for entry in chosen:
            program = listed.get(entry["program"], {"path": f"kernels/{SUITE}", "arguments": entry["program"]})
            used[entry["program"]] = {"path": program["path"],
                                      "flags": programs()["flags"] if "file" in program else [],
                                      "arguments": program["arguments"], "fixed_size": True}
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text_of({
            "schema": "gputomo-suite-1", "suite": SUITE, "compiler": options.compiler, "sources": sources_digest(),
            "machines": {options.gpu: load(Path(options.out) / "machine.json")},
            "programs": dict(sorted(used.items())), "entries": chosen}))
        print(f"{path.relative_to(ROOT)}: {len(chosen)} entries")


def capture(options):
    captures, out = Path(options.captures).resolve(), Path(options.out)
    captures.mkdir(parents=True, exist_ok=True)
    gputomo = str(Path(options.gputomo).resolve())
    guard = threading.Lock()

    def folder_of(program, kernel):
        return captures / SUITE / program / hashlib.sha256(kernel.encode()).hexdigest()[:12]

    def split(whole, launch, program, kernel):
        target = folder_of(program, kernel)
        target.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([gputomo, "capture", "--reduce", str(whole), "--out", str(target),
                               "--launch", str(launch), "--time-limit", str(options.reduction_seconds),
                               *(["--unproven"] if options.reduction_seconds > 1 else [])],
                              capture_output=True, text=True)
        with guard:
            said = (done.stderr.splitlines() or done.stdout.splitlines() or ["nothing"])[-1]
            print(f"{program} {plain_name(kernel)}: {said}"[:200], flush=True)

    def recorded(command, whole, kernels, environment=None):
        status = logged([gputomo, "capture", "--out", str(whole), "--launches", "0:6", "--results", *kernels,
                         "--max-memory", str(1 << 34), "--", *command], f"{whole}.output", environment)
        index = load(whole / "capture.json") if (whole / "capture.json").exists() else {"launches": [], "kernels": []}
        print(f"capture {whole.name}: {status}, {len(index['launches'])} launches", flush=True)
        names = [kernel["name"] for kernel in index["kernels"]]
        return [(i, names[launch["launch"]["kernel"]], "buffers" in launch)
                for i, launch in enumerate(index["launches"]) if "launch" in launch]

    tasks = []
    if (out / "counts.json").exists() and not options.skip_operations:
        counts = load(out / "counts.json")
        command, environment = python("once", PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        launches = iter(recorded(command, captures / "operations", [], environment))
        for operation, names in counts.items():
            for _ in names:
                launch, kernel, stored = next(launches, (None, "", False))
                if stored and not HELPERS.search(plain_name(kernel)):
                    tasks.append((captures / "operations", launch, operation, kernel))
    for program in programs()["programs"]:
        executable = Path(options.executables or ".").resolve() / program["program"]
        if not executable.exists():
            continue
        seen = set()
        for launch, kernel, stored in recorded([str(executable), *program["arguments"].split()],
                                               captures / program["program"], ["--kernel", programs()["kernels"]]):
            if stored and kernel not in seen:
                seen.add(kernel)
                tasks.append((captures / program["program"], launch, program["program"], kernel))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda task: split(*task), tasks))


CLASSES = {
    "cuBLAS": r"cublas-(fp16|bf16|fp8|tf32|b)", "CUTLASS": r"cutlass-", "cuDNN": r"cudnn-", "PyTorch's attention":
    r"(flash|efficient)-", "Triton, products": r"triton-(gemm|persistent|boxes|made|split|grouped|bias|gated|scaled)",
    "Triton, attention": r"triton-attend", "other": r""}


def short_name(name):
    """The program, with as much of the kernel's name as tells it from the program's others."""
    program, kernel = name.split("/")
    numbered = re.search(r"-(\d+)$", kernel)
    for part in ("fprop", "bprop", "dq_dk_dv", "combine", "convert", "dot_do_o", "splitkv", "splitKreduce", "cutlassF",
                 "cutlassB"):
        if part in kernel and program.startswith(("cudnn-back", "flash-back", "efficient-back", "cublas-bf16-8")):
            return f"{program} {part}"
    if "Sparse" in kernel:
        return f"{program} sparse"
    return f"{program} {numbered[1]}" if numbered else program


def page(options):
    answers = {}
    for path in options.answers:
        for kernel in load(path)["kernels"]:
            for method in ("predict", "simulate"):
                if method in kernel:
                    answers.setdefault(kernel["name"], {})[method] = kernel[method]
    measured = [(entry, held) for path, held in SUITE_FILES for entry in load(path)["entries"]]
    rows, errors = [], {}
    for entry, held in sorted(measured, key=lambda pair: pair[0]["name"]):
        cycles = entry["measured"]["h200"]["counters"][CYCLES]
        cells = []
        for method in ("predict", "simulate"):
            answer = answers.get(entry["name"], {}).get(method)
            if not answer or "failure" in answer and "not captured" in answer["failure"]:
                cells.append("-")
                continue
            of_class = next(name for name, pattern in CLASSES.items() if re.match(pattern, entry["name"]))
            error = answer["cycles"] / cycles - 1 if "cycles" in answer else 1
            for group in (of_class, "held out" if held else "open", "all"):
                errors.setdefault(group, {}).setdefault(method, []).append(abs(error))
            cells.append(f"{answer['cycles']:,.0f} ({100 * error:+.1f}%)" if "cycles" in answer else "refused")
        rows.append(f"| {short_name(entry['name'])}{' *' if held else ''} | {'x'.join(map(str, entry['grid']))} | "
                    f"{cycles:,.0f} | {cells[0]} | {cells[1]} |\n")

    def line(group):
        def cell(found):
            worst, mean = max(found), statistics.mean(found)
            return f"{len(found)} | {100 * mean:.1f}% | {100 * statistics.median(found):.1f}% | {100 * worst:.1f}%"
        return f"| {group} | {cell(errors[group]['predict'])} | {cell(errors[group]['simulate'])} |\n"

    path = ROOT / "docs" / "results" / "hopper-asynchronous.md"
    text = path.read_text()
    tables = {
        "classes": "| kernels | predict: number | mean | median | worst | simulate: number | mean | median | worst |\n"
                   "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
                   + "".join(line(group) for group in [*CLASSES, "open", "held out", "all"] if group in errors),
        "kernels": "| kernel | grid | measured | predict | simulate |\n| --- | --- | --- | --- | --- |\n" + "".join(rows)}
    for name, table in tables.items():
        marks = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(marks, lambda found, table=table: found[1] + table + found[2], text, flags=re.S)
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function in (("compile", compile_all), ("run", run), ("record", record), ("capture", capture),
                           ("page", page)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        if name == "page":
            command.add_argument("--answers", required=True, nargs="+", help="files that `accuracy --results` kept")
            continue
        command.add_argument("--executables", required=name == "compile", help="folder of the compiled examples")
        if name == "compile":
            command.add_argument("--sources", required=True, help="checkout of CUTLASS")
            command.add_argument("--seconds", type=int, default=900, help="limit for a program")
        else:
            command.add_argument("--out", required=True, help="folder of the profiler's results")
        if name in ("run", "capture"):
            command.add_argument("--skip-operations", action="store_true", help="only examples of CUTLASS")
        if name == "record":
            command.add_argument("--gpu", required=True, help="name of the GPU's measurements, for example h200")
            command.add_argument("--compiler", default="Triton 3.6.0, PyTorch 2.11.0+cu130, nvcc 13.0.88")
        if name == "capture":
            command.add_argument("--captures", required=True, help="folder of the captures")
            command.add_argument("--gputomo", default=str(ROOT / "build" / "gputomo"), help="the executable")
            command.add_argument("--reduction-seconds", type=int, default=1,
                                 help="time for a reduction of contents; with 1 they stay whole where it takes longer")
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
