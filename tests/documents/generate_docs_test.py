#!/usr/bin/env python3
"""scripts/generate_docs.py --check accepts the tree as it is, and refuses one copy with each kind of mistake.

Usage: generate_docs_test.py GPUTOMO, the built executable.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPIED = ("README.md", "CHANGELOG.md", "docs", "scripts", "recordings/README.md")


def append(text):
    return lambda old: old + text


def replace(old_part, new_part):
    def change(old):
        assert old_part in old, old_part
        return old.replace(old_part, new_part, 1)
    return change


# What is done to which file, and what the complaint names.
MISTAKES = [
    ("docs/methods/README.md", append("one line more\n"), "docs/methods/README.md is stale"),
    ("docs/results/reproduction.json", replace('"agree": 152', '"agree": 151'), "reproduction.md is stale"),
    ("docs/methods/tlbs.md", replace("**Determines** `tlbs.*.reach`.", "**Determines** nothing."),
     "tlbs.*.reach: no section"),
    ("docs/methods/tlbs.md", replace("`tlbs.*.reach`", "`tlbs.*.no_such_leaf`"), "`tlbs.*.no_such_leaf` is no leaf"),
    ("docs/methods/tlbs.md", replace("**Limits.**", "**Bounds.**"), "no **Limits**"),
    ("docs/methods/noise.md", append(("word " * 20 + "\n") * 160), "docs/methods/noise.md: 2"),
    ("docs/tour.md", append(("word " * 20 + "\n") * 160), "bytes, at most 16384; split it"),
    ("docs/methods/noise.md", append("[link](nowhere.md)\n"), "nowhere.md, which is not there"),
    ("docs/methods/noise.md", append("[link](tlbs.md#nowhere)\n"), "no such heading"),
    ("docs/methods/noise.md", append("`src/no/such/file.cpp`\n"), "names src/no/such/file.cpp"),
    ("docs/architecture.md", replace("units, results, machine |", "units, machine |"), "room report may include"),
    ("docs/tour.md", append("word " * 30 + "\n"), "columns, at most"),
    ("README.md", replace("capture/reduce  makes", "reduction       makes"), "layers lacks room capture/reduce"),
    ("README.md", replace("    deduce        traces", "    machine       traces"), "layers lacks room deduce"),
    ("README.md", replace("    results  files  units   ", "    results  files          "), "layers lacks room units"),
    ("README.md", replace("    cli  ", "    sim  "), "layers lacks room cli"),
    ("README.md", replace("    deduce        traces", "    sim           traces"), "has launch below sim, which it includes"),
    ("docs/README.md", replace("D-001 to D-0", "D-001 to D-1"), "expected 'D-001 to D-"),
    ("docs/simulator.md", replace("`sm/units/fetch`", "`sm/fetcher`"), "no file src/sim/sm/fetcher"),
    ("docs/simulator.md", replace("`sm/units/fetch`, ", ""), "src/sim/sm/units/fetch.cpp is in no row"),
    ("docs/simulator.md", replace("`issue.ilp_latency`", "`issue.no_such_leaf`"), "`issue.no_such_leaf` is no leaf"),
    ("docs/simulator.md", replace("`issue.ilp_latency`, ", ""), "sm/units/scheduler.cpp reads a leaf .ilp_latency"),
    ("docs/simulator.md", replace("`issue.ilp_latency`", "`issue.ilp_latency`, `shared.banks`"),
     "none of its files reads `shared.banks`"),
    ("docs/simulator.md", replace("`Scheduler201`", "`Scheduler2001`"), "no test Scheduler2001"),
    ("docs/simulator.md", replace("`Scheduler201`", ""), "'scheduler': expected at least one file and one test"),
    ("docs/simulated-memory.md", replace("`memory/pauses`", "`memory/dram`"), "memory/pauses.cpp is in no row"),
    ("docs/changing-costs.md", replace("`shared.latency`", "`shared.delay`"), "names shared.delay"),
    ("docs/changing-costs.md", replace("`src/sim/sm/load_store/load_store.cpp`", "`src/sim/sm/load_unit.cpp`"),
     "names src/sim/sm/load_unit.cpp"),
    ("docs/changing-costs.md", replace("`LoadStore423`", "`LoadStore499`"), "names LoadStore499"),
]


def rounds():
    """The mistakes in rounds, each of which is checked at once. None has two mistakes of the same file or two in
    docs/methods, whose pages are compared with each other."""
    made = []
    for mistake in MISTAKES:
        path = pathlib.PurePath(mistake[0])
        place = path.parent if path.parent.name == "methods" else path
        free = next((one for one in made if place not in one), None)
        if free is None:
            free = {}
            made.append(free)
        free[place] = mistake
    return [list(one.values()) for one in made]


def copy_of_tree(folder):
    for entry in ROOT.iterdir():
        if entry.name not in {name.split("/")[0] for name in COPIED} and not entry.name.startswith((".", "build")):
            (folder / entry.name).symlink_to(entry)
    (folder / "recordings").mkdir()
    for entry in (ROOT / "recordings").iterdir():
        if entry.name != "README.md":
            (folder / "recordings" / entry.name).symlink_to(entry)
    for name in COPIED:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)


def check(folder, program):
    run = subprocess.run([sys.executable, str(folder / "scripts/generate_docs.py"), "--check", "--gputomo", program],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return run.returncode, run.stderr


def paper_output(name, day="2026-11-23", agrees=True):
    row = {"id": f"{name}.row", "gpu": "a GPU", "quantity": "latency", "published": [4, 6], "unit": "cycle",
           "reproduced": 5 if agrees else None, "agrees": agrees}
    return {"schema": "gputomo-reproduction-1", "paper": name, "results": [row], "not_reproducible": [],
            "origin": {"date": f"{day}T12:00:00Z", "commit": "abcdef"}}


def record(folder, program, outputs):
    """What `generate_docs.py --reproduced` says of these outputs: exit status, complaint, the page that it writes."""
    files = []
    for number, output in enumerate(outputs):
        files.append(str(folder / f"output{number}.json"))
        pathlib.Path(files[-1]).write_text(json.dumps(output), encoding="utf-8")
    run = subprocess.run([sys.executable, str(folder / "scripts/generate_docs.py"), "--gputomo", program,
                          "--reproduced"] + files,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return run.returncode, run.stderr, (folder / "docs/results/reproduction.md").read_text(encoding="utf-8")


def record_faults(folder, program):
    """Complaints where outputs of `gputomo reproduce` are not recorded, or not refused, as they should be."""
    names = sorted(path.stem for path in (ROOT / "papers").glob("*.json"))
    faults = []
    for outputs, complaint in [([{"schema": "another"}], "expected what `gputomo reproduce PAPER --json` prints"),
                               ([paper_output(name) for name in names[1:]], f"no file for {names[0]}"),
                               ([paper_output(name, f"2026-11-0{i + 1}") for i, name in enumerate(names)], "one run")]:
        status, said, _ = record(folder, program, outputs)
        if status == 0 or complaint not in said:
            faults.append(f"--reproduced: status {status}, expected a failure and '{complaint}'\n{said}")
    status, said, page = record(folder, program, [paper_output(name, agrees=name != names[0]) for name in names])
    row = f"| `{names[0]}.row` | a GPU | latency | 4, 6 | - | cycle |"
    if status != 0 or row not in page or f"`{names[1]}.row`" in page:
        faults.append(f"--reproduced: status {status}, expected the one row that differs: {row}\n{said}")
    return faults


def main():
    program, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy_of_tree(folder)
        status, said = check(folder, program)
        if status != 0:
            failed += 1
            print(f"the tree as it is: status {status}\n{said}")
        for mistakes in rounds():
            pages = {folder / file: (folder / file).read_text(encoding="utf-8") for file, *_ in mistakes}
            for file, change, _ in mistakes:
                (folder / file).write_text(change(pages[folder / file]), encoding="utf-8")
            status, said = check(folder, program)
            for page, text in pages.items():
                page.write_text(text, encoding="utf-8")
            for file, _, complaint in mistakes:
                if status != 1 or complaint not in said:
                    failed += 1
                    print(f"{file}: status {status}, expected 1 and '{complaint}'\n{said}")
        faults = record_faults(folder, program)
        print("\n".join(faults))
        failed += bool(faults)
    print(f"{len(MISTAKES) + 2 - failed} of {len(MISTAKES) + 2} as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
