#!/usr/bin/env python3
"""Measures the programs of the suites with Nsight Compute and records what it found in suites/*.json.

    python3 scripts/measure_suites.py run --sources DIR --executables DIR --out results
    python3 scripts/measure_suites.py record --out results --gpu h200
    python3 scripts/measure_suites.py capture --sources DIR --executables DIR --out CAPTURES --gputomo build/gputomo

`run` needs a GPU, ncu, a C compiler and permission to read the GPU's counters. It starts each program of
suites/programs.json up to three times: without the profiler, to choose launches; for all counters of these (about 16
passes); for the cycles of four more repetitions. scripts/repeat_main.c times launches and repeats main() within a
process. No launches are chosen for a program that has entries in suites/*.json or launches in suites/programs.json:
these are measured, so that another GPU gets the same ones. Each program is measured to its end before the next one of
a worker starts, since only all five repetitions make an entry. Caches are flushed before each pass, and clocks are
left as they are. A second `run` continues where the first stopped.

`record` needs no GPU. It applies the rule of suites/README.md and writes entries, traits and counters. Launches that
`run` chose are added to suites/programs.json.

`capture` records the launches of all entries and reduces them (docs/capture.md), so that they can be simulated where
there is no GPU. CAPTURES/SUITE/PROGRAM/HASH is the capture of an entry; HASH has the first 12 hexadecimal digits of the
SHA-256 of its kernel's name. What is there already is left alone.

suites/programs.json is a list of what was compiled, in the order of measurement, one object a program:

    suite, program, algorithm   names; an algorithm has at most five entries
    path, files                 folder in the repository, and the files in it that were compiled together; no files
                                for kernels that PyTorch has compiled
    flags, includes, libraries  compiler flags; folders in the repository for -I; names for -l
    arguments                   of the program, which runs in its folder
    fixed_size                  true where the source fixes the problem's size
    kernels                     of operations that scripts/run_operations.py starts: their names, a regular expression
    launches                    "INDEX KERNEL" for each launch to measure, where these were chosen before
"""
import argparse
import csv
import hashlib
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CYCLES = "gpc__cycles_elapsed.max"
DURATION = "gpu__time_duration.sum"  # ns
REPEATED = [CYCLES, DURATION, "gpc__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.max", "sm__cycles_elapsed.avg",
            "smsp__inst_executed.sum"]
LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
COUNTERS = REPEATED + ["sm__cycles_active.avg", "smsp__inst_issued.sum", THREADS, LOADS, LOAD_SECTORS] + [
    f"l1tex__t_sectors_pipe_lsu_mem_{what}.sum" for what in (
        "global_op_ld_lookup_hit", "global_op_st", "global_op_st_lookup_hit", "global_op_red", "global_op_atom",
        "local_op_ld", "local_op_st")] + [
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "l1tex__t_sector_hit_rate.pct",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] + [
    f"lts__t_sectors{what}.sum" for what in (
        "", "_op_read", "_op_write", "_op_atom", "_op_red", "_srcunit_tex", "_srcunit_tex_lookup_hit")] + [
    "lts__t_sector_hit_rate.pct", "dram__bytes_read.sum", "dram__bytes_write.sum",
    "dram__cycles_elapsed.avg.per_second", "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__maximum_warps_per_active_cycle_pct"] + [
    f"{unit}.avg.pct_of_peak_sustained_elapsed" for unit in (
        "sm__throughput", "gpu__compute_memory_throughput", "gpu__dram_throughput", "l1tex__throughput",
        "lts__throughput")]
STALLS = {reason: f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in (
    "barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard",
    "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
    "short_scoreboard", "sleeping", "tex_throttle", "wait")}
LAUNCH = {name: f"launch__{name}" for name in (
    "registers_per_thread", "shared_mem_per_block_static", "shared_mem_per_block_dynamic", "shared_mem_config_size")}
NCU = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--target-processes", "all",
       "--print-kernel-base", "mangled", "--kernel-name-base", "mangled", "--profile-from-start", "off"]
REPETITIONS = 5
# The limits of the rule, in microseconds.
LONGEST, SHORTEST, SHORTEST_OF_FIXED_SIZE, SHORTEST_OF_OWN = 5000, 20, 5, 1
MOST_OF_ALGORITHM = 5
# Sectors of a scattered request: more than 16. Entries have six digits of each counter, so that a mean of exactly 16
# may seem a little more.
SCATTERED = 16 * (1 + 1e-5)
# A program that starts later than this before the end of `run` would be stopped: the profiler's start and the wait for
# other programs take about as long.
LEAST_SECONDS = 20
OWN = "own"  # the suite of kernels of this repository: their sources are in kernels/own, and no rule selects them
STOPPED = "returned an error code (9)"  # the profiler's words for a program that `timeout` killed


def fail(text):
    sys.exit(f"measure_suites.py: {text}")


def load(path):
    try:
        return json.loads(Path(path).read_text())
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror}")
    except ValueError as error:
        fail(f"{path}: no JSON: {error}")


def rows_of(path):
    """Rows of a profiler's CSV file; none where there is no file. Lines of the program and the profiler are skipped."""
    try:
        lines = [line for line in path.read_text(errors="replace").splitlines(True) if line.startswith('"')]
    except OSError:
        return []
    return [row for row in csv.DictReader(io.StringIO("".join(lines))) if (row.get("ID") or "").isdigit()]


def number(text):
    """A value as the profiler prints it; None for a counter that it could not read."""
    try:
        value = float(text.replace(",", ""))
    except (AttributeError, ValueError):
        return None
    return None if value != value else value


def rounded(value):
    """Six significant digits: more than the counters repeat to."""
    value = float(f"{value:.6g}")
    return int(value) if value == int(value) else value


def triple(text):
    """"(128, 1, 1)" or "128,1,1" as a list."""
    return [int(part) for part in re.findall(r"\d+", text)]


def stem(program):
    return f"{program['suite']}__{program['program']}"


def suite_files(suite):
    return [ROOT / "suites" / f"{suite}.json", ROOT / "suites" / "held-out" / f"{suite}.json"]


def recorded_entries(program):
    """Entries of a program that suites/ already has."""
    return [entry for path in suite_files(program["suite"]) if path.exists() for entry in load(path)["entries"]
            if entry["program"] == program["program"]]


def machine():
    """The card as the driver describes it, and the profiler's version."""
    fields = ["name", "driver_version", "clocks.max.sm", "clocks.max.memory"]
    out = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"],
                         check=True, capture_output=True, text=True).stdout.splitlines()[0].split(", ")
    version = re.search(r"Version (\S+)", subprocess.run(["ncu", "--version"], check=True, capture_output=True,
                                                         text=True).stdout)
    return {"card": out[0], "driver": out[1], "sm_mhz": int(out[2]), "memory_mhz": int(out[3]),
            "profiler": f"Nsight Compute {version[1]}", "date": date.today().isoformat()}


def start(program, base, options, seconds, settings, profiler=()):
    """Runs a program, under the profiler or alone, for at most that many seconds."""
    # PyTorch has gigabytes of kernels, of which an operation needs a few.
    loading = "LAZY" if "kernels" in program else "EAGER"
    environment = {**os.environ, "CUDA_MODULE_LOADING": loading, "OMP_NUM_THREADS": "4",
                   "GPUTOMO_LOCK": str(base.parent / "gpu.lock"), **settings}
    folder = Path(options.sources).resolve() / program["suite"] / program["path"]
    command = ["timeout", "-s", "KILL", str(seconds)]
    if "kernels" in program:
        command += [sys.executable, str(ROOT / "scripts" / "run_operations.py"), program["suite"],
                    program["arguments"]]
    else:
        # The profiler preloads a library of its own, which has to stay.
        library = base.parent / "repeat_main.so"
        command += ["bash", "-c", f'export LD_PRELOAD="$LD_PRELOAD:{library}"; exec "$0" "$@"',
                    str(Path(options.executables).resolve() / stem(program)), *program["arguments"].split()]
    with open(f"{base}.output", "w") as output:
        where = folder if program["files"] else base.parent
        process = subprocess.Popen([*profiler, *command], cwd=where, env=environment, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait(seconds + 5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()


def choose(program, out, options, seconds):
    """Writes the launches to measure: those of recorded entries, those chosen before, or those of repeat_main."""
    base = out / f"{stem(program)}.choice"
    listed = out / f"{stem(program)}.launches"
    if "kernels" in program:
        return "all launches that run_operations.py brackets"
    entries = recorded_entries(program)
    if entries:
        listed.write_text("".join(f"{entry['launch']} {entry['kernel']}\n" for entry in entries))
        return f"{len(entries)} launches recorded before"
    if "launches" in program:
        listed.write_text("".join(f"{launch}\n" for launch in program["launches"]))
        return f"{len(program['launches'])} launches chosen before"
    start(program, base, options, seconds, {"GPUTOMO_REPETITIONS": "0", "GPUTOMO_REPORT": f"{base}.report"})
    report = Path(f"{base}.report").read_text() if Path(f"{base}.report").exists() else ""
    if not report:
        return f"no report; {base}.output says more"
    chosen = conditions(report)
    # A program that was cut off before a launch within the limits is tried again by the next `run`.
    if chosen or re.match(r"repetition 0 (returned|exited), CUDA status 0,", report):
        listed.write_text("".join(f"{launch} {kernel}\n" for (kernel, *_), launch in chosen.items()))
    return f"{len(chosen)} launches chosen, {report.splitlines()[0]}"


def complaints(base):
    """What the profiler says of a process that it could not measure; empty where it says nothing."""
    try:
        lines = Path(f"{base}.csv").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return " ".join(line for line in lines if line.startswith(("==ERROR==", "==WARNING== No ")))


def profile(program, out, part, options, repetitions, metrics, seconds):
    """One process under the profiler."""
    base = out / f"{stem(program)}.{part}"
    if rows_of(Path(f"{base}.csv")):
        return "measured before"
    settings = {"GPUTOMO_REPETITIONS": str(repetitions)}
    kernels = []
    if "kernels" in program:
        kernels = ["--kernel-name", f"regex:^({program['kernels']})$"]
    else:
        listed = out / f"{stem(program)}.launches"
        if not listed.exists() or not listed.stat().st_size:
            return "no launch to measure"
        settings.update(GPUTOMO_REPORT=f"{base}.report", GPUTOMO_LAUNCHES=str(listed))
    start(program, base, options, seconds, settings, [*NCU, "--log-file", f"{base}.csv", "--metrics",
                                                      ",".join(metrics), *kernels])
    measured = len(rows_of(Path(f"{base}.csv")))
    complaint = complaints(base)
    if STOPPED in complaint:
        # Entries of a part of the launches would hide that the others are missing.
        Path(f"{base}.csv").rename(f"{base}.stopped")
        return f"stopped by the time limit after {measured} launches"
    return f"{measured} launches measured" if measured else (
        f"no launch measured: {complaint or f'{base}.output says more'}")


def counters(program, out, options, seconds):
    return profile(program, out, "counters", options, 1, COUNTERS + list(STALLS.values()) + list(LAUNCH.values()),
                   seconds)


def cycles(program, out, options, seconds):
    if not rows_of(out / f"{stem(program)}.counters.csv"):
        return "no counters"
    return profile(program, out, "cycles", options, REPETITIONS - 1, REPEATED, seconds)


def capture_folder(captures, suite, entry):
    return Path(captures) / suite / entry["program"] / hashlib.sha256(entry["kernel"].encode()).hexdigest()[:12]


def launch_number(captured, program, entry):
    """The number of the entry's launch in a capture; None where the program did not launch it with its memory."""
    names = [kernel["name"] for kernel in captured["kernels"]]
    ordinal = 0
    for number, launch in enumerate(captured["launches"]):
        shape = launch.get("launch")
        if not shape or names[shape["kernel"]] != entry["kernel"]:
            continue
        same = shape["grid"] == entry["grid"] and shape["block"] == entry["block"]
        # Operations of PyTorch run under no library that counts launches: the first of the shape is the entry's.
        if same and "buffers" in launch and ("kernels" in program or ordinal == entry["launch"]):
            return number
        ordinal += 1
    return None


def capture_program(program, entries, folder, options, seconds):
    """Records the launches of entries in one run of the program; returns the index."""
    base = folder / stem(program)
    listed = Path(f"{base}.launches")
    listed.write_text("".join(f"{entry['launch']} {entry['kernel']}\n" for entry in entries))
    kernels = "|".join(sorted({re.escape(entry["kernel"]) for entry in entries}))
    most = 1 + max(entry["launch"] for entry in entries)
    # Several programs may use the GPU at the same time: nothing is timed. What is stored takes processor time.
    settings = {"GPUTOMO_REPETITIONS": "1", "GPUTOMO_LOCK": "", "GPUTOMO_HELD": "1000", "GPUTOMO_SECONDS": "100",
                "GPUTOMO_REPORT": f"{base}.report", "GPUTOMO_LAUNCHES": str(listed)}
    start(program, base, options, seconds, settings,
          [str(Path(options.gputomo).resolve()), "capture", "--out", str(base), "--kernel", f"^({kernels})$", "--launches", f"0:{most}",
           "--max-memory", str(options.max_memory), "--"])
    index = base / "capture.json"
    return load(index) if index.exists() else None


def capture(options):
    programs = load(options.programs)
    end = time.time() + options.seconds
    library_folder = Path(options.out).resolve()
    library_folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=library_folder))
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", work / "repeat_main.so", ROOT / "scripts" / "repeat_main.c",
                    "-ldl", "-lpthread"], check=True)

    def size(entry):
        return next(iter(entry["measured"].values()))["counters"].get("smsp__inst_executed.sum", 0)

    tasks = []
    for program in programs:
        entries = [entry for entry in recorded_entries(program)
                   if not (capture_folder(options.out, program["suite"], entry) / "capture.json").exists()]
        executable = Path(options.executables) / stem(program)
        if entries and ("kernels" in program or executable.exists()):
            tasks.append((max(map(size, entries)), program, entries))
        elif entries:
            print(f"{stem(program)} is left out: no {executable}", flush=True)
    tasks.sort(key=lambda task: -task[0])  # the longest reductions begin first
    waiting, guard = [], threading.Lock()

    def reduce(program, entry, number, folder, pending):
        began = time.time()
        left = int(end - began)
        target = capture_folder(options.out, program["suite"], entry)
        target.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(
                [str(Path(options.gputomo).resolve()), "capture", "--reduce", folder, "--out", target, "--launch", str(number),
                 "--unproven", "--time-limit", str(max(1, min(options.reduction_seconds, left * 3 // 4)))],
                capture_output=True, text=True, timeout=max(5, left))
            what = (done.stdout.splitlines() or done.stderr.splitlines() or ["nothing"])[-1]
        except subprocess.TimeoutExpired:
            what = "stopped by the time limit"
        print(f"reduce {program['suite']}/{program['program']}: {what} ({time.time() - began:.1f} s)", flush=True)
        with guard:
            pending[0] -= 1
            last = not pending[0]
        if last:
            shutil.rmtree(folder, ignore_errors=True)

    def record_one(program, entries):
        began = time.time()
        index = capture_program(program, entries, work, options, max(5, int(min(options.program_seconds, end - began))))
        numbers = [(entry, launch_number(index, program, entry)) for entry in entries] if index else []
        found = [(entry, number) for entry, number in numbers if number is not None]
        print(f"capture {stem(program)}: {len(found)} of {len(entries)} launches ({time.time() - began:.1f} s)",
              flush=True)
        pending = [len(found)]
        with guard:
            waiting.extend((reduce, program, entry, number, work / stem(program), pending) for entry, number in found)
        if not found:
            shutil.rmtree(work / stem(program), ignore_errors=True)

    busy = [0]

    def worker():
        while time.time() < end - 5:
            with guard:
                if waiting:
                    step, *arguments = waiting.pop(0)
                elif tasks:
                    step, arguments = record_one, tasks.pop(0)[1:]
                elif busy[0]:
                    step = None
                else:
                    return
                busy[0] += step is not None
            if step is None:
                time.sleep(0.2)
                continue
            try:
                step(*arguments)
            finally:
                with guard:
                    busy[0] -= 1

    workers = [threading.Thread(target=worker) for _ in range(options.parallel)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    shutil.rmtree(work, ignore_errors=True)


def measured_on(program, gpu):
    return any(gpu in entry["measured"] for entry in recorded_entries(program))


def run(options):
    programs = [program for program in load(options.programs)
                if program.get("launches") != [] and not measured_on(program, options.missing_on)]
    out = Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for tool in ("ncu", "nvidia-smi", "cc"):
        if not shutil.which(tool):
            fail(f"no {tool} on the PATH; run this where the GPU and the CUDA toolkit are")
    for program in programs:
        folder = Path(options.sources) / program["suite"] / program["path"]
        executable = Path(options.executables) / stem(program)
        compiled = "kernels" not in program and not options.compiled
        for path, needed in (folder, program["files"]), (executable, compiled):
            if needed and not path.exists():
                print(f"{stem(program)} is left out: no {path}", flush=True)
                programs = [other for other in programs if other is not program]
                break
    (out / "machine.json").write_text(json.dumps(machine()) + "\n")
    library = out / "repeat_main.so"
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", library, ROOT / "scripts" / "repeat_main.c", "-ldl",
                    "-lpthread"], check=True)
    end = time.time() + options.seconds
    guard = threading.Lock()

    def next_of(waiting):
        """The first program whose executable is there. None: those that are left are still being compiled."""
        complete = not options.compiled or Path(options.compiled).exists()
        while waiting:
            for index, program in enumerate(waiting):
                if "kernels" in program or (Path(options.executables) / stem(program)).exists():
                    return waiting.pop(index)
            if not complete:
                return None
            print(f"{stem(waiting.pop(0))} is left out: it was not compiled", flush=True)
        return None

    def work(steps, waiting):
        while time.time() < end - LEAST_SECONDS:
            with guard:
                program = next_of(waiting)
                if not waiting and not program:
                    return
            if not program:
                time.sleep(0.2)
                continue
            for step in steps:
                began = time.time()
                what = step(program, out, options, max(5, int(min(options.program_seconds, end - began))))
                print(f"{step.__name__} {stem(program)}: {what} ({time.time() - began:.1f} s)", flush=True)

    def pool(steps, chosen):
        waiting = list(chosen)
        workers = [threading.Thread(target=work, args=(steps, waiting)) for _ in range(options.parallel)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()

    # Programs whose launches are known come first: choosing takes minutes where a program is slow on the CPU. The
    # others all choose before any of them is measured, since a program that chooses waits for each measurement.
    known = [program for program in programs if "kernels" in program or "launches" in program
             or recorded_entries(program)]
    others = [program for program in programs if program not in known]
    pool([choose, counters, cycles], known)
    pool([choose], others)
    pool([counters, cycles], others)


def conditions(report):
    """Index of the chosen launch by kernel, grid and block, from the text of repeat_main's report."""
    found = {}
    for line in report.splitlines():
        fields = line.split()
        if fields[:1] == ["launch"] and fields[-1] == "chosen":
            found[fields[2], fields[4], fields[5]] = int(fields[1])
    return found


def listed_launches(program, out):
    """Lines "INDEX KERNEL": the launches that `run` measured; None where it neither chose nor measured any."""
    path = out / f"{stem(program)}.launches"
    return path.read_text().splitlines() if path.exists() else None


def plain_name(mangled):
    """The kernel's name without namespace, template arguments and parameters."""
    out = subprocess.run(["c++filt", "-p", mangled], check=True, capture_output=True, text=True).stdout.strip()
    out = out.replace("(anonymous namespace)", "")
    depth, kept = 0, ""
    for character in out:
        depth += (character == "<") - (character == ">")
        kept += character if depth == 0 and character != ">" else ""
    return re.sub(r"\W", "", kept.split("::")[-1].split("(")[0].split(" ")[-1]) or mangled


def traits_of(launch, counters):
    traits = []
    if launch["shared_mem_per_block_static"] + launch["shared_mem_per_block_dynamic"] > 0:
        traits.append("shared")
    if counters[THREADS] < 28:
        traits.append("divergent")
    if counters.get(LOADS, 0) > 0 and counters[LOAD_SECTORS] / counters[LOADS] > SCATTERED:
        traits.append("scattered")
    return traits


def entries_of(program, out, gpu):
    """Entries of one program, within the limits of the rule."""
    launches = {kernel: int(index) for index, kernel in map(str.split, listed_launches(program, out) or [])}
    again = {}
    for row in rows_of(out / f"{stem(program)}.cycles.csv"):
        again.setdefault((row["Kernel Name"], row["Block Size"], row["Grid Size"]), []).append(row)
    found = []
    for row in rows_of(out / f"{stem(program)}.counters.csv"):
        key = row["Kernel Name"], row["Block Size"], row["Grid Size"]
        if any(entry["kernel"] == key[0] for entry in found):
            continue
        repetitions = [row] + again.get(key, [])
        microseconds = statistics.median(number(r[DURATION]) for r in repetitions) / 1e3
        shortest = SHORTEST_OF_FIXED_SIZE if program["fixed_size"] else SHORTEST
        shortest = SHORTEST_OF_OWN if program["suite"] == OWN else shortest
        executed = {number(r["smsp__inst_executed.sum"]) for r in repetitions}
        if not shortest <= microseconds <= LONGEST:
            continue
        counters = {name: number(row[name]) for name in COUNTERS}
        if len(repetitions) < REPETITIONS:
            print(f"{stem(program)}: {key[0]} is left out: {len(repetitions)} of {REPETITIONS} repetitions")
            continue
        missing = [name for name, value in counters.items() if value is None]
        if missing:
            print(f"{stem(program)}: {key[0]} is left out: the profiler did not read {', '.join(missing)}")
            continue
        for name in REPEATED:
            counters[name] = statistics.median(number(r[name]) for r in repetitions)
        launch = {name: number(row[counter]) for name, counter in LAUNCH.items()}
        grid, block = triple(row["Grid Size"]), triple(row["Block Size"])
        stalls = {reason: number(row[counter]) for reason, counter in STALLS.items()}
        found.append({
            "name": None, "program": program["program"], "algorithm": program["algorithm"], "kernel": key[0],
            "launch": launches.get(key[0], 0), "grid": grid, "block": block,
            "registers": int(launch["registers_per_thread"]),
            "static_shared": int(launch["shared_mem_per_block_static"]),
            "dynamic_shared": int(launch["shared_mem_per_block_dynamic"]),
            "traits": traits_of(launch, counters) + (["async"] if stalls["gmma"] else []),
            "measured": {gpu: {
                "repetitions": len(repetitions),
                "instructions_repeat": max(executed) - min(executed) <= 1e-3 * max(executed),
                "cycles": sorted(int(number(r[CYCLES])) for r in repetitions),
                "shared_carveout": int(launch["shared_mem_config_size"]),
                "counters": {name: rounded(value) for name, value in counters.items() if value},
                "stalls": {reason: float(f"{value:.4g}") for reason, value in stalls.items() if value}}}})
    names = [plain_name(entry["kernel"]) for entry in found]
    for entry, name in zip(found, names):
        unique = "" if names.count(name) == 1 else "-" + hashlib.sha256(entry["kernel"].encode()).hexdigest()[:4]
        entry["name"] = f"{program['program']}/{name}{unique}"
    return found


def held_out(suite, name):
    return int(hashlib.sha256(f"{suite}/{name}".encode()).hexdigest()[:8], 16) % 3 == 0


def text_of(suite):
    """JSON with one line for each list and each set of counters."""
    text = json.dumps(suite, indent=1)
    short = re.compile(r"[\[{]\s*(?:[^\[\]{}]*?)\s*[\]}]")
    return short.sub(lambda match: re.sub(r"\s*\n\s*", " ", match[0]), text) + "\n"


def text_of_programs(programs):
    """JSON with one line for each list."""
    return re.sub(r"\[\n[^\[\]{}]*?\]", lambda match: re.sub(r"\s*\n\s*", " ", match[0]),
                  json.dumps(programs, indent=1)) + "\n"


def sources_digest(folder):
    """SHA-256 over the names and contents of the sources in a folder, which says what was measured."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".cu", ".hpp")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def origin_of(suite):
    """Where the sources of a suite are: in this repository, or in one that selection.json names."""
    if suite == OWN:
        return {"sources": sources_digest(ROOT / "kernels" / OWN)}
    source = load(ROOT / "suites" / "selection.json")["sources"][suite]
    return {name: source[name] for name in ("repository", "commit", "compiler") if name in source}


def record(options):
    """Adds new entries, unless their algorithm is full. Entries that were recorded before keep all but `measured`."""
    programs, out = load(options.programs), Path(options.out)
    card = load(out / "machine.json")
    new = {}
    for program in programs:
        new.setdefault(program["suite"], []).extend(
            (program, entry) for entry in entries_of(program, out, options.gpu))
        chosen = listed_launches(program, out)
        if chosen is not None and not recorded_entries(program):
            program.setdefault("launches", chosen)
    Path(options.programs).write_text(text_of_programs(programs))
    for name, found in new.items():
        source = {"compiler": options.compiler, **origin_of(name)}
        kept = {path: load(path) if path.exists() else {
            "schema": "gputomo-suite-1", "suite": name, **source, "machines": {}, "programs": {}, "entries": []}
            for path in suite_files(name)}
        before = {entry["kernel"] + entry["program"]: entry for suite in kept.values() for entry in suite["entries"]}
        by_algorithm = {}
        for program, entry in sorted(found, key=lambda pair: -pair[1]["measured"][options.gpu]["counters"][DURATION]):
            old = before.get(entry["kernel"] + entry["program"])
            if old:  # an entry keeps its name, launch and other measurements
                old["measured"].update(entry["measured"])
                continue
            same = by_algorithm.setdefault(entry["algorithm"], [e for e in before.values()
                                                                if e["algorithm"] == entry["algorithm"]])
            if len(same) == MOST_OF_ALGORITHM and name != OWN:
                continue
            same.append(entry)
            path = suite_files(name)[held_out(name, entry["name"])]
            kept[path]["entries"].append(entry)
            kept[path]["programs"][program["program"]] = {
                field: program[field] for field in ("path", "flags", "arguments", "fixed_size")}
        for path, suite in kept.items():
            if not suite["entries"]:
                continue
            suite["machines"][options.gpu] = card
            suite["entries"].sort(key=lambda entry: entry["name"])
            suite["programs"] = dict(sorted(suite["programs"].items()))
            path.parent.mkdir(exist_ok=True)
            path.write_text(text_of(suite))
            print(f"{path.relative_to(ROOT)}: {len(suite['entries'])} entries")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function in (("run", run), ("record", record), ("capture", capture)):
        command = commands.add_parser(name)
        command.add_argument("--programs", type=Path, default=ROOT / "suites" / "programs.json",
                             help="JSON list of what was compiled")
        command.add_argument("--out", required=True, help="folder of the captures" if name == "capture" else
                             "folder of the profiler's results")
        command.set_defaults(function=function)
        if name == "capture":
            command.add_argument("--gputomo", default=str(ROOT / "build" / "gputomo"), help="the executable")
            command.add_argument("--max-memory", type=int, default=1 << 33, help="most bytes of memory of a program")
            command.add_argument("--reduction-seconds", type=int, default=600, help="time for one reduction")
        if name != "record":
            command.add_argument("--parallel", type=int, default=8, help="processes that start at the same time")
            command.add_argument("--seconds", type=int, default=3600, help="time for all programs")
            command.add_argument("--program-seconds", type=int, default=120,
                                 help="time for one process, with its wait for the others")
            command.add_argument("--sources", required=True, help="folder that scripts/fetch_suites.py filled")
            command.add_argument("--executables", required=True, help="folder of the programs, named SUITE__PROGRAM")
        if name == "run":
            command.add_argument("--compiled", metavar="FILE",
                                 help="appears when all programs are compiled; until then, those without an executable "
                                      "wait for it")
            command.add_argument("--missing-on", metavar="GPU",
                                 help="leave out programs that have measurements of this GPU, for example h200")
        if name == "record":
            command.add_argument("--gpu", required=True, help="name of the GPU's measurements, for example h200")
            command.add_argument("--compiler", default="nvcc 13.0.88 -O3 -lineinfo -arch=sm_90",
                                 help="compiler and flags, for sources that selection.json gives none")
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
