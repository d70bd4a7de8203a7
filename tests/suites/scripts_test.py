#!/usr/bin/env python3
"""Tries scripts/repeat_main.c with a stand-in for the CUDA runtime, and the scripts that fetch and measure suites.

Usage: scripts_test.py SOURCE_FOLDER. Exit code 77: no C compiler, or no git.
"""
import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

SOURCE = pathlib.Path(sys.argv[1]).resolve()


def run(*command, **settings):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **settings)


def build(folder):
    flags = ["cc", "-O1", "-fPIC", "-shared"]
    tests = SOURCE / "tests" / "suites"
    run(*flags, "-o", folder / "libcudart.so", tests / "fake_runtime.c", check=True)
    run(*flags, "-Wall", "-Werror", "-o", folder / "repeat_main.so", SOURCE / "scripts" / "repeat_main.c", "-ldl",
        "-lpthread", check=True)
    run("cc", "-o", folder / "program", tests / "fake_program.c", folder / "libcudart.so", f"-Wl,-rpath,{folder}",
        check=True)


def repeat(folder, arguments=("x",), **settings):
    """Standard output and report of the program under repeat_main."""
    settings = {f"GPUTOMO_{name.upper()}": str(value) for name, value in settings.items()}
    result = run(folder / "program", *arguments, cwd=folder, check=True, timeout=60, env={
        **os.environ, "LD_PRELOAD": str(folder / "repeat_main.so"), "GPUTOMO_REPORT": str(folder / "report"),
        "GPUTOMO_LOCK": str(folder / "lock"), **settings})
    return result.stdout.splitlines(), (folder / "report").read_text().splitlines()


def test_repetition(folder):
    build(folder)
    # Without a report the program runs as it is.
    alone = run(folder / "program", "x", env={**os.environ, "LD_PRELOAD": str(folder / "repeat_main.so")})
    assert alone.returncode == 3 and alone.stdout.splitlines()[-1] == "checks", alone.stdout

    output, report = repeat(folder, repetitions=2)
    assert output.count("checks") == 1, "later repetitions end with the last chosen launch"
    assert "reset" not in output
    begins = {line for line in output if line.startswith("begin")}
    assert len(begins) == 1 and output.count(begins.pop()) == 3, "rand() and arguments start afresh"
    measured = [output[i + 1] for i, line in enumerate(output) if line == "start"]
    # The first launch within the limits: the second one of `grows`. A recorded launch and one of 9 ms do not count.
    assert measured == ["launch steady 100,2,1 64 7", "launch grows 13,2,1 64 7"] * 2, measured
    assert output.count("stop") == 4
    assert "launch 1 grows 13.0 13,2,1 64,1,1 chosen" in report, report
    assert "repetition 2 done, CUDA status 0, 2 of 2 launches measured" in report, report
    assert not any("recorded" in line for line in report)

    output, report = repeat(folder, repetitions=1, most=1, shortest=20, longest=10000)
    assert [output[i + 1] for i, line in enumerate(output) if line == "start"] == ["launch too_long 9000,2,1 64 7"]

    (folder / "list").write_text("2 steady\n0 too_long\n")
    output, report = repeat(folder, repetitions=3, launches=folder / "list")
    starts = [i for i, line in enumerate(output) if line == "start"]
    assert [output[i + 1].split()[1] for i in starts] == ["steady", "too_long"] * 3
    assert "checks" not in output

    (folder / "list").write_text("7 steady\n")
    output, report = repeat(folder, repetitions=3, launches=folder / "list")
    assert "start" not in output and report == ["repetition 1 exited, CUDA status 0, 0 of 1 launches measured"], report

    # A kernel that never ends, as long as another process waits for the lock.
    output, report = repeat(folder, ("x", "stuck"), repetitions=0, held=1)
    assert report[0].startswith("repetition 0 stopped on the GPU"), report
    assert any("steady" in line and line.endswith("chosen") for line in report), report
    (folder / "list").write_text("0 never_ends\n")
    output, report = repeat(folder, ("x", "stuck"), repetitions=4, held=1, launches=folder / "list")
    assert report == ["repetition 1 stopped on the GPU, CUDA status 0, 0 of 1 launches measured"], report

    # A launch that CUDA refuses is neither timed nor chosen.
    assert not any("refused" in line for line in repeat(folder, repetitions=0)[1])

    # The limit for data that the CPU makes is four times the limit for what follows the first launch.
    report = repeat(folder, ("x", "prepares"), repetitions=0, seconds=1)[1]
    assert report[0].startswith("repetition 0 exited"), report

    output, report = repeat(folder, ("x", "endless"), repetitions=1, seconds=1)
    assert report[0].startswith("repetition 0 cut off"), report
    assert report[-1].startswith("repetition 1 done"), report


def module():
    specification = importlib.util.spec_from_file_location("measure_suites", SOURCE / "scripts" / "measure_suites.py")
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    return loaded


def write_rows(path, measure, kernels):
    """A profiler's CSV file: (kernel, grid, cycles, ns) for each row, and lines of other programs around it."""
    names = ["ID", "Kernel Name", "Block Size", "Grid Size", *measure.COUNTERS, *measure.STALLS.values(),
             *measure.LAUNCH.values()]
    lines = ["==PROF== Connected", ",".join(f'"{name}"' for name in names), ",".join('""' for _ in names)]
    for i, (kernel, grid, cycles, ns) in enumerate(kernels):
        values = {"ID": i, "Kernel Name": kernel, "Block Size": "(64, 1, 1)", "Grid Size": grid,
                  measure.CYCLES: f"{cycles:,}", measure.DURATION: ns, measure.THREADS: 31.5,
                  measure.LOADS: 10, measure.LOAD_SECTORS: 320, "launch__registers_per_thread": 20}
        lines.append(",".join(f'"{values.get(name, 0)}"' for name in names))
    path.write_text("\n".join(lines) + "\n")


def test_record(folder):
    measure = module()
    (folder / "suites").mkdir()
    selection = {"sources": {"s": {"repository": "https://example.org/s", "commit": "1" * 40, "folders": ["p"]}},
                 "excluded": {}}
    (folder / "suites" / "selection.json").write_text(json.dumps(selection))
    measure.ROOT = folder
    kernels = [f"_Z{len(name)}{name}v" for name in ("one", "two", "three", "four", "five", "six", "brief")]
    program = {"suite": "s", "program": "p", "algorithm": "p", "path": "p", "flags": [], "arguments": "",
               "fixed_size": True}
    (folder / "programs").write_text(json.dumps([program]))
    out = folder / "results"
    out.mkdir()
    (out / "machine.json").write_text(json.dumps({"card": "A"}))

    def results(kernels, repetitions=4, **changes):
        rows = [(kernel, "(8, 1, 1)", 1000 * (i + 7), changes.get("ns", 6000 + i) if i < 6 else 4000)
                for i, kernel in enumerate(kernels)]
        write_rows(out / "s__p.counters.csv", measure, rows)
        write_rows(out / "s__p.cycles.csv", measure, [(k, g, c + r, n) for r in range(repetitions)
                                                      for k, g, c, n in rows])
        (out / "s__p.launches").write_text(f"2 {kernels[5]}\n")

    def record(gpu):
        measure.record(argparse_like(programs=folder / "programs", out=out, gpu=gpu, compiler="c"))
        read = {}
        for path in folder.glob("suites/**/s.json"):
            for entry in json.loads(path.read_text())["entries"]:
                read[entry["name"]] = entry, path.parent.name
        return read

    results(kernels)
    entries = record("first")
    assert json.loads((folder / "programs").read_text())[0]["launches"] == [f"2 {kernels[5]}"]
    # Seven kernels: one is shorter than the limit, and of six the shortest one leaves.
    assert sorted(entries) == ["p/five", "p/four", "p/six", "p/three", "p/two"], entries
    six, place = entries["p/six"]
    assert six["launch"] == 2 and six["traits"] == ["scattered"], six
    assert six["measured"]["first"]["cycles"] == [12000, 12000, 12001, 12002, 12003]
    assert six["measured"]["first"]["counters"][measure.CYCLES] == 12001
    for name, (_, place) in entries.items():
        drawn = int(hashlib.sha256(f"s/{name}".encode()).hexdigest()[:8], 16) % 3 == 0
        assert place == ("held-out" if drawn else "suites"), (name, place)

    # Another GPU: the same entries, whatever is now the longest, and beside the measurements of the first.
    results(kernels[::-1], ns=9000)
    again = record("second")
    assert sorted(again) == sorted(entries)
    assert set(again["p/six"][0]["measured"]) == {"first", "second"} and again["p/six"][0]["launch"] == 2

    # Kernels of this repository: all of them, and the digest of their sources in place of a repository.
    (folder / "kernels" / "own").mkdir(parents=True)
    (folder / "kernels" / "own" / "k.cu").write_text("kernel")
    (folder / "programs").write_text(json.dumps([{**program, "suite": "own"}]))
    for name in ("counters.csv", "cycles.csv", "launches"):
        shutil.copy(out / f"s__p.{name}", out / f"own__p.{name}")
    record("first")
    own = [json.loads(path.read_text()) for path in folder.glob("suites/**/own.json")]
    assert sum(len(suite["entries"]) for suite in own) == 7, own
    digest = hashlib.sha256(b"k.cu\0kernel\0").hexdigest()
    assert all(suite["sources"] == digest and "repository" not in suite for suite in own), own
    (folder / "programs").write_text(json.dumps([program]))

    # Fewer than five repetitions are no measurement.
    shutil.rmtree(folder / "suites" / "held-out", ignore_errors=True)
    (folder / "suites" / "s.json").unlink(missing_ok=True)
    results(kernels, repetitions=3)
    assert not record("third")


def test_run(folder):
    """From a program to entries, and to the same launches on a second GPU, with a stand-in for the profiler."""
    build(folder)
    tools = folder / "bin"
    tools.mkdir()
    (tools / "ncu").symlink_to(SOURCE / "tests" / "suites" / "fake_ncu.py")
    (tools / "nvidia-smi").write_text("#!/bin/sh\necho 'NVIDIA X, 1.2, 1980, 3201'\n")
    (tools / "nvidia-smi").chmod(0o755)
    for part in ("scripts", "suites"):
        (folder / part).mkdir()
    for script in ("measure_suites.py", "repeat_main.c"):
        shutil.copy(SOURCE / "scripts" / script, folder / "scripts")
    (folder / "suites" / "selection.json").write_text(json.dumps({"sources": {"s": {
        "repository": "https://example.org/s", "commit": "1" * 40, "folders": ["p"]}}, "excluded": {}}))
    program = {"suite": "s", "program": "p", "algorithm": "p", "path": "p", "flags": [], "arguments": "x",
               "fixed_size": True, "files": ["p.cu"]}
    listed = folder / "suites" / "programs.json"
    (folder / "s" / "p").mkdir(parents=True)
    (folder / "program").rename(folder / "s__p")

    def write(*programs):
        listed.write_text(json.dumps([{**program, **changes} for changes in programs]))

    write({}, {"program": "absent"})
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def script(command, *arguments, **settings):
        where = ["--sources", folder, "--executables", folder] if command == "run" else []
        return run(sys.executable, folder / "scripts" / "measure_suites.py", command, *where, *arguments,
                   env={**environment, **settings})

    def entries():
        return {entry["name"]: entry for path in folder.glob("suites/**/s.json")
                for entry in json.loads(path.read_text())["entries"]}

    first = script("run", "--out", folder / "one")
    assert "s__absent is left out: no " in first.stdout, first.stdout + first.stderr
    assert "choose s__p: 2 launches chosen, repetition 0 exited" in first.stdout, first.stdout + first.stderr
    assert "counters s__p: 2 launches measured" in first.stdout, first.stdout
    assert "cycles s__p: 8 launches measured" in first.stdout, first.stdout
    assert "cycles s__p: measured before" in script("run", "--out", folder / "one").stdout
    result = script("record", "--out", folder / "one", "--gpu", "x")
    assert result.returncode == 0, result.stderr
    found = entries()
    assert sorted(found) == ["p/grows", "p/steady"] and found["p/grows"]["launch"] == 1, found
    assert found["p/grows"]["grid"] == [13, 2, 1] and found["p/grows"]["measured"]["x"]["repetitions"] == 5
    assert "s__p" not in script("run", "--out", folder / "two", "--missing-on", "x").stdout
    assert "choose s__p: 2 launches recorded before" in script("run", "--out", folder / "two").stdout
    script("record", "--out", folder / "two", "--gpu", "y")
    assert {name: set(entry["measured"]) for name, entry in entries().items()} == {
        "p/grows": {"x", "y"}, "p/steady": {"x", "y"}}

    # Launches that were chosen before are not chosen again; a program without any is not started.
    write({"program": "q", "launches": ["0 steady"]}, {"program": "r", "launches": []})
    (folder / "s__p").rename(folder / "s__q")
    chosen = script("run", "--out", folder / "three").stdout
    assert "choose s__q: 1 launches chosen before" in chosen and "cycles s__q: 4 launches" in chosen, chosen
    assert "s__r" not in chosen and not (folder / "three" / "s__q.choice.report").exists()

    # A program that is killed keeps no part of its results, and is measured by the next run.
    write({"program": "q", "launches": ["0 steady", "9 grows"], "arguments": "x endless"})
    stopped = script("run", "--out", folder / "four", "--program-seconds", "2").stdout
    assert "counters s__q: stopped by the time limit after 1 launches" in stopped, stopped
    assert "cycles s__q: no counters" in stopped and not (folder / "four" / "s__q.counters.csv").exists()

    # One worker measures a program to its end before the next one, so that an early end leaves whole entries.
    write({"program": "q", "launches": ["0 steady"]}, {"program": "t", "launches": ["0 grows"]})
    shutil.copy(folder / "s__q", folder / "s__t")
    order = script("run", "--out", folder / "five", "--parallel", "1").stdout.splitlines()
    assert [line.split(":")[0] for line in order] == [
        f"{step} s__{name}" for name in "qt" for step in ("choose", "counters", "cycles")], order

    # Programs that are still being compiled wait, and are left out when all are compiled but them.
    write({"program": "u", "launches": ["0 steady"]}, {"program": "v", "launches": ["0 steady"]})
    shutil.copy(folder / "s__q", folder / "later")

    def compile_one():
        (folder / "later").rename(folder / "s__u")
        (folder / "compiled").touch()

    compiling = threading.Timer(1, compile_one)
    compiling.start()
    waited = script("run", "--out", folder / "seven", "--compiled", folder / "compiled").stdout
    compiling.join()
    assert "cycles s__u: 4 launches measured" in waited, waited
    assert "s__v is left out: it was not compiled" in waited, waited

    (tools / "ncu").unlink()
    environment["PATH"] = f"{tools}:/bin"
    if not shutil.which("ncu", path=environment["PATH"]):
        assert "no ncu on the PATH" in script("run", "--out", folder / "six").stderr
    assert "cannot read" in script("record", "--out", folder / "none", "--gpu", "x").stderr


def test_capture(folder):
    """Which launch is captured and reduced, with a stand-in for gputomo that writes an index."""
    measure = module()
    captured = {"kernels": [{"name": "other"}, {"name": "k"}], "launches": [
        {"launch": {"kernel": 1, "grid": [1, 1, 1], "block": [32, 1, 1]}, "buffers": []},
        {"launch": {"kernel": 0, "grid": [8, 1, 1], "block": [32, 1, 1]}, "buffers": []},
        {"launch": {"kernel": 1, "grid": [8, 1, 1], "block": [32, 1, 1]}, "buffers": []},
        {"graph": 0}, {"launch": {"kernel": 1, "grid": [8, 1, 1], "block": [32, 1, 1]}}]}
    entry = {"program": "p", "kernel": "k", "launch": 1, "grid": [8, 1, 1], "block": [32, 1, 1],
             "measured": {"x": {"counters": {}}}}
    assert measure.launch_number(captured, {}, entry) == 2
    assert measure.launch_number(captured, {}, {**entry, "launch": 0}) is None, "another shape"
    assert measure.launch_number(captured, {}, {**entry, "launch": 2}) is None, "no memory"
    assert measure.launch_number(captured, {"kernels": "k"}, {**entry, "launch": 0}) == 2, "no library counts launches"

    for name, content in (("suites/held-out", None), ("scripts", None), ("p", None)):
        (folder / name).mkdir(parents=True)
    shutil.copy(SOURCE / "scripts" / "repeat_main.c", folder / "scripts")
    program = {"suite": "s", "program": "p", "path": "p", "arguments": "1 2", "files": ["p.cu"]}
    (folder / "suites" / "programs.json").write_text(json.dumps([program, {**program, "program": "absent"}]))
    (folder / "suites" / "s.json").write_text(json.dumps({"entries": [entry, {**entry, "program": "absent"}]}))
    (folder / "s" / "p").mkdir(parents=True)
    (folder / "s__p").touch()
    gputomo = folder / "gputomo"
    gputomo.write_text(f"""#!{sys.executable}
import json, os, pathlib, sys
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
out = pathlib.Path(options["--out"])
out.mkdir(exist_ok=True)
if "--reduce" in options:
    assert (pathlib.Path(options["--reduce"]) / "capture.json").exists() and options["--launch"] == "2", options
    (out / "capture.json").write_text("small")
    print("reduced")
else:
    assert options["--kernel"] == "^(k)$" and options["--launches"] == "0:2", options
    assert pathlib.Path(os.environ["GPUTOMO_LAUNCHES"]).read_text() == "1 k\\n"
    (out / "capture.json").write_text({json.dumps(json.dumps(captured))})
""")
    gputomo.chmod(0o755)
    measure.ROOT = folder
    options = argparse_like(programs=folder / "suites" / "programs.json", out=folder / "captures", sources=folder,
                            executables=folder, gputomo=gputomo, parallel=2, seconds=60, program_seconds=20,
                            reduction_seconds=10, max_memory=1000)
    measure.capture(options)
    small = measure.capture_folder(folder / "captures", "s", entry) / "capture.json"
    assert small.read_text() == "small"
    assert [path.name for path in (folder / "captures").iterdir()] == ["s"], "whole captures are deleted"
    gputomo.unlink()
    measure.capture(options)  # what is there is left alone


def test_tutorial(folder):
    """The driver of PyTorch's operations and Triton's tutorials, with stand-ins that print what is called."""
    for package in ("torch", "triton"):
        (folder / package).mkdir()
    (folder / "torch" / "__init__.py").write_text("""
class nn: functional = None
class cuda:
    synchronize = staticmethod(lambda: print("wait"))
    cudart = staticmethod(lambda: cuda)
    cudaProfilerStart = staticmethod(lambda: print("start"))
    cudaProfilerStop = staticmethod(lambda: print("stop"))
manual_seed = lambda seed: None
rand = randn = lambda *shape, **options: 1.0
zeros = rand
""")
    (folder / "triton" / "__init__.py").write_text("autotune = None\ncdiv = lambda a, b: -(-a // b)\n")
    (folder / "triton" / "testing.py").write_text("perf_report = None\n")
    (folder / "01-vector-add.py").write_text("""
import matplotlib.pyplot, triton.testing
@triton.testing.perf_report(None)
def benchmark(): raise SystemExit("a benchmark ran")
benchmark.run(print_data=True)
def add(x, y): print("launch")
""")
    (folder / "07-extern-functions.py").write_text("raise RuntimeError('no GPU of this kind')\n")
    driver = [sys.executable, SOURCE / "scripts" / "run_operations.py"]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1",
                   "GPUTOMO_REPETITIONS": "2", "GPUTOMO_LOCK": str(folder / "lock")}
    result = run(*driver, "triton-tutorials", "vector-add", cwd=folder, env=environment)
    assert result.stdout.split() == ["wait", "launch", "wait"] + 2 * ["start", "launch", "wait", "stop"] + [
        "1", "operations", "measured"], result.stdout + result.stderr
    result = run(*driver, "triton-tutorials", "libdevice", cwd=folder, env=environment)
    assert result.returncode == 1 and "no GPU of this kind" in result.stdout, result.stdout + result.stderr
    for suite in ("triton-tutorials", "pytorch"):
        assert f"no {suite} nothing" in run(*driver, suite, "nothing", cwd=folder, env=environment).stderr
    result = run(*driver, "pytorch", "add", cwd=folder, env=environment)
    assert result.stdout.split() == ["wait", "wait"] + 2 * ["start", "wait", "stop"] + [
        "1", "operations", "measured"], result


def argparse_like(**members):
    return type("Options", (), members)()


def test_names():
    measure = module()
    for mangled, name in {"_Z4copyIfLi4EEvPT_": "copy", "_ZN9Namespace6kernelIiEEvT_": "kernel", "softmax": "softmax",
                          "_ZN12_GLOBAL__N_15inner5spaceEPf": "space"}.items():
        assert measure.plain_name(mangled) == name, (mangled, measure.plain_name(mangled))


def test_fetch(folder):
    origin = folder / "origin"
    for path in ("a/one/k.cu", "a/one-more/k.cu", "b/k.cu", "top.txt"):
        (origin / path).parent.mkdir(parents=True, exist_ok=True)
        (origin / path).write_text(path)
    git = ["git", "-C", origin, "-c", "user.name=t", "-c", "user.email=t@example.org"]
    run(*git, "init", "-q", check=True)
    run(*git, "add", ".", check=True)
    run(*git, "commit", "-qm", "first", check=True)
    commit = run(*git, "rev-parse", "HEAD", check=True).stdout.strip()
    (origin / "a/one/k.cu").write_text("changed later")
    run(*git, "commit", "-qam", "second", check=True)
    for option in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        run(*git, "config", option, "true", check=True)
    selection = folder / "selection.json"

    def fetch(*suites, folders=("a/one",)):
        selection.write_text(json.dumps({"sources": {"s": {
            "repository": f"file://{origin}", "commit": commit, "folders": folders}}}))
        return run(sys.executable, SOURCE / "scripts" / "fetch_suites.py", "--out", folder / "out", "--selection",
                   selection, *suites)

    result = fetch()
    assert result.returncode == 0, result.stderr
    found = sorted(str(p.relative_to(folder / "out" / "s")) for p in (folder / "out" / "s").rglob("*")
                   if p.is_file() and ".git" not in p.parts)
    assert found == ["a/one/k.cu"] and (folder / "out/s/a/one/k.cu").read_text() == "a/one/k.cu", found
    assert "no suite t; there are s" in fetch("t").stderr
    assert "s has no c at" in fetch(folders=["c"]).stderr


def test_compile(folder):
    (folder / "src/s/a/one").mkdir(parents=True)
    nvcc = folder / "nvcc"
    # Writes its command line where the executable belongs, and fails for one file.
    nvcc.write_text("#!/bin/sh\ncase \"$*\" in *bad.cu*) echo no such type; exit 2;; esac\n"
                    "for last; do :; done; echo \"$*\" > \"$last\"\n")
    nvcc.chmod(0o755)
    common = {"suite": "s", "path": "a/one", "includes": ["inc"], "libraries": ["curand"], "flags": []}
    programs = [{**common, "program": "p.q", "files": ["k.cu"], "flags": ["-Xcompiler '-O1 -g'"]},
                {**common, "program": "old", "files": ["k.cu"], "flags": ["-arch=sm_80"]},
                {**common, "program": "bad", "files": ["bad.cu"]}, {**common, "program": "gone", "files": ["k.cu"],
                                                                    "path": "a/two"},
                {**common, "program": "operation", "files": []}]
    (folder / "programs.json").write_text(json.dumps(programs))

    def compile_all(*arguments):
        return run(sys.executable, SOURCE / "scripts" / "compile_suites.py", "--sources", folder / "src", "--out",
                   folder / "exe", "--programs", folder / "programs.json", "--nvcc", nvcc, *arguments)

    result = compile_all()
    assert result.returncode == 1 and "2 of 4 programs" in result.stdout, result
    assert "s__gone: refused: its sources are not there" in result.stdout, result.stdout
    assert "no such type" in (folder / "exe/s__bad.log").read_text()
    command = (folder / "exe/s__p.q").read_text().split()
    source = folder / "src/s"
    assert command == ["-O3", "-lineinfo", "-cudart", "shared", "-arch=sm_90", "-Xcompiler", "-O1", "-g",
                       f"-I{source}/inc", f"{source}/a/one/k.cu", "-lcurand", "-o",
                       f"{folder}/exe/s__p.q.part"], command
    assert "-arch=sm_80" in (folder / "exe/s__old").read_text() and "sm_90" not in (folder / "exe/s__old").read_text()
    assert sorted(path.name for path in (folder / "exe").iterdir()) == ["s__bad.log", "s__old", "s__p.q"]
    assert "s__old: compiled before" in compile_all().stdout
    assert "has no programs of t" in compile_all("t").stderr
    assert "no compiler missing-nvcc" in compile_all("--nvcc", "missing-nvcc").stderr


def main():
    for tool in ("cc", "git", "c++filt"):
        if not shutil.which(tool):
            print(f"skipped: no {tool} on the PATH")
            sys.exit(77)
    test_names()
    for test in (test_repetition, test_record, test_run, test_capture, test_tutorial, test_fetch, test_compile):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder).resolve())


if __name__ == "__main__":
    main()
