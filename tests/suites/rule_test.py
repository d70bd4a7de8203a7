#!/usr/bin/env python3
"""Applies the schema and the rule of selection (suites/README.md) to the suites, and to mutations that they refuse.

Usage: rule_test.py SOURCE_FOLDER. Exit code 77: python3-jsonschema 4 or later is not installed.
"""
import copy
import hashlib
import json
import pathlib
import statistics
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError as error:
    print(f"skipped: {error}; expected python3-jsonschema 4 or later (scripts/setup.sh installs it)")
    sys.exit(77)

CYCLES = "gpc__cycles_elapsed.max"
OWN = "own"  # kernels of this repository, to which the rule of selection does not apply
HOPPER = "hopper"  # Triton kernels of this repository, and what libraries run; README.md has a rule of its own
LOADS = "l1tex__t_{}_pipe_lsu_mem_global_op_ld.sum"


def expected_traits(entry):
    """By the counters of the first GPU that measured the entry."""
    measurement = next(iter(entry["measured"].values()))
    counters = measurement["counters"]
    found = set()
    if entry["static_shared"] + entry["dynamic_shared"] > 0:
        found.add("shared")
    if counters["smsp__thread_inst_executed_per_inst_executed.ratio"] < 28:
        found.add("divergent")
    # Counters are rounded to six digits, so a mean of exactly 16 sectors may seem a little more.
    if counters.get(LOADS.format("sectors"), 0) > 16 * (1 + 1e-5) * counters.get(LOADS.format("requests"), 0):
        found.add("scattered")
    if measurement["stalls"].get("gmma"):
        found.add("async")
    return found


def faults_of_entry(suite, entry, held_out):
    name = f"{suite['suite']}/{entry['name']}"
    drawn = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % 3 == 0
    if drawn != held_out:
        yield f"{name} is {'not ' if drawn else ''}held out; its hash says otherwise"
    if entry["program"] not in suite["programs"]:
        yield f"{name}: no program {entry['program']}"
        return
    if set(entry["traits"]) != expected_traits(entry):
        yield f"{name}: traits {entry['traits']}, by counters {sorted(expected_traits(entry))}"
    for gpu, measurement in entry["measured"].items():
        if gpu not in suite["machines"]:
            yield f"{name}: no machine {gpu}"
        if measurement["cycles"] != sorted(measurement["cycles"]):
            yield f"{name}: cycles are not in ascending order"
        if len(measurement["cycles"]) != measurement["repetitions"]:
            yield f"{name}: {len(measurement['cycles'])} cycles of {measurement['repetitions']} repetitions"
        if abs(statistics.median(measurement["cycles"]) / measurement["counters"][CYCLES] - 1) > 1e-5:
            yield f"{name}: the counter is not the median of the repetitions"
    if "h200" in entry["measured"] and suite["suite"] not in (OWN, HOPPER):
        microseconds = entry["measured"]["h200"]["counters"]["gpu__time_duration.sum"] / 1e3
        shortest = 5 if suite["programs"][entry["program"]]["fixed_size"] else 20
        if not shortest <= microseconds <= 5000:
            yield f"{name}: {microseconds} us are outside the limits of {shortest} us and 5 ms"


def plain(name):
    return name.lower().replace("-", "").replace("_", "")


def faults_of_programs(selection, programs, parts):
    """What programs.json says about what is compiled, against the rule and against what the suites measured."""
    excluded = {plain(name) for names in selection["excluded"].values() for name in names}
    listed = {}
    for program in programs:
        name = f"{program['suite']}/{program['program']}"
        if name in listed:
            yield f"programs.json: {name} occurs twice"
        listed[name] = program
        if plain(program["program"]) in excluded:
            yield f"programs.json: {name} is excluded"
        folders = selection["sources"][program["suite"]]["folders"]
        if not any((program["path"] + "/").startswith(folder + "/") for folder in folders):
            yield f"programs.json: {program['path']} is no named folder"
        if not program["files"] and "kernels" not in program:
            yield f"programs.json: {name} has no files"
        for launch in program.get("launches", []):
            index, *kernel = launch.split()
            if not index.isdigit() or len(kernel) != 1:
                yield f"programs.json: {name}: '{launch}' is no index and kernel"
    for suite, _ in parts:
        for name, program in suite["programs"].items():
            same = listed.get(f"{suite['suite']}/{name}", {})
            changed = [field for field, value in program.items() if same.get(field) != value]
            if changed:
                yield f"programs.json: {suite['suite']}/{name} was measured with another {', '.join(changed)}"


def faults_of_own(folder, programs, suites):
    """What is wrong with the suite of this repository's own kernels."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".cu", ".hpp")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    listed = {program["program"]: program for program in programs}
    measured = {(entry["program"], entry["kernel"]) for suite in suites for entry in suite["entries"]}
    compiled = {path.relative_to(folder).as_posix() for path in folder.rglob("*.cu")}
    yield from (f"kernels/own/{name} is in no program" for name in sorted(
        compiled.difference(*(program["files"] for program in programs))))
    for program in programs:
        for launch in program["launches"]:
            if (program["program"], launch.split()[1]) not in measured:
                yield f"own: {launch.split()[1]} was not measured"
    for suite in suites:
        if suite.get("sources") != digest.hexdigest():
            yield "own: measured from other sources than kernels/own has; measure them again"
        for name, program in suite["programs"].items():
            if any(listed.get(name, {}).get(field) != value for field, value in program.items()):
                yield f"own: {name} was measured with other flags or arguments than kernels/own/programs.json has"
        for entry in suite["entries"]:
            yield from faults_of_entry(suite, entry, suite is not suites[0])


def faults(selection, programs, parts):
    """What breaks the rule. `parts`: open and held-out suites, as pairs of a document and whether it is held out."""
    yield from faults_of_programs(selection, programs, parts)
    excluded = {plain(name) for names in selection["excluded"].values() for name in names}
    for source, named in selection["sources"].items():
        for folder in named["folders"]:
            if plain(folder.split("/")[-1].removesuffix("-cuda")) in excluded:
                yield f"selection.json: {folder} is excluded"
    names, algorithms = set(), {}
    for suite, held_out in parts:
        source = selection["sources"].get(suite["suite"])
        if not source:
            yield f"{suite['suite']}: no such source in selection.json"
            continue
        if (suite["repository"], suite["commit"]) != (source["repository"], source["commit"]):
            yield f"{suite['suite']}: another repository or commit than in selection.json"
        for name, program in suite["programs"].items():
            if not any((program["path"] + "/").startswith(folder + "/") for folder in source["folders"]):
                yield f"{suite['suite']}/{name}: {program['path']} is no named folder"
        for entry in suite["entries"]:
            name = f"{suite['suite']}/{entry['name']}"
            if name in names:
                yield f"{name} occurs twice"
            names.add(name)
            of_algorithm = algorithms.setdefault((suite["suite"], entry["algorithm"]), [])
            of_algorithm.append(name)
            if len(of_algorithm) == 6:
                yield f"{name}: a sixth entry of the algorithm {entry['algorithm']}"
            yield from faults_of_entry(suite, entry, held_out)


def faults_of_hopper(folder, suites):
    """What is wrong with the suite of asynchronous kernels."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".py", ".json")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    listed = subprocess.run([sys.executable, folder / "operations.py", "list"], check=True, capture_output=True,
                            text=True)
    known = {program["program"] for program in json.loads((folder / "programs.json").read_text())["programs"]}
    known.update(listed.stdout.split())
    names = set()
    for suite in suites:
        if suite.get("sources") != digest.hexdigest():
            yield "hopper: measured from other sources than kernels/hopper has; measure them again"
        for entry in suite["entries"]:
            if entry["name"] in names:
                yield f"hopper/{entry['name']} occurs twice"
            names.add(entry["name"])
            if entry["program"] not in known:
                yield f"hopper: {entry['program']} is no operation"
            yield from faults_of_entry(suite, entry, suite is not suites[0])


def check_hopper(folder, suites):
    assert len(suites) == 2, "expected suites/hopper.json and suites/held-out/hopper.json"
    found = list(faults_of_hopper(folder, suites))
    assert not found, "\n".join(found)
    for text, change in {
            "other sources": lambda s: s[1].__setitem__("sources", "0" * 64),
            "occurs twice": lambda s: s[0]["entries"].append(s[0]["entries"][0]),
            "is no operation": lambda s: s[0]["entries"][0].__setitem__("program", "unknown"),
            "its hash says otherwise": lambda s: s.reverse()}.items():
        changed = copy.deepcopy(suites)
        change(changed)
        found = list(faults_of_hopper(folder, changed))
        assert any(text in fault for fault in found), (text, found[:3])


def check_own(folder, suites):
    programs = json.loads((folder / "programs.json").read_text())
    assert len(suites) == 2, "expected suites/own.json and suites/held-out/own.json"
    found = list(faults_of_own(folder, programs, suites))
    assert not found, "\n".join(found)
    for text, change in {
            "other sources": lambda p, s: s[1].__setitem__("sources", "0" * 64),
            "was not measured": lambda p, s: s[0]["entries"].pop(),
            "is in no program": lambda p, s: p[0]["files"].pop(),
            "other flags": lambda p, s: p[0].__setitem__("flags", []),
            "its hash says otherwise": lambda p, s: s.reverse(),
            "not the median": lambda p, s: s[0]["entries"][0]["measured"]["h100"]["cycles"].__setitem__(2, 1)}.items():
        changed = copy.deepcopy((programs, suites))
        change(*changed)
        found = list(faults_of_own(folder, *changed))
        assert any(text in fault for fault in found), (text, found[:3])


def main():
    folder = pathlib.Path(sys.argv[1]) / "suites"
    schema = json.loads((folder / "schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    selection = json.loads((folder / "selection.json").read_text())
    programs = json.loads((folder / "programs.json").read_text())
    parts = [(json.loads(path.read_text()), path.parent.name == "held-out") for path in sorted(folder.glob("**/*.json"))
             if path.name not in ("schema.json", "selection.json", "programs.json")]
    assert parts, f"no suites in {folder}"
    own = [part[0] for part in sorted(parts, key=lambda part: part[1]) if part[0]["suite"] == OWN]
    for suite, _ in parts:
        for error in validator.iter_errors(suite):
            raise SystemExit(f"{suite['suite']}: {'/'.join(map(str, error.path))}: {error.message}")
    hopper = [part[0] for part in sorted(parts, key=lambda part: part[1]) if part[0]["suite"] == HOPPER]
    parts = [part for part in parts if part[0]["suite"] not in (OWN, HOPPER)]
    found = list(faults(selection, programs, parts))
    assert not found, "\n".join(found)
    check_own(folder.parent / "kernels" / OWN, own)
    check_hopper(folder.parent / "kernels" / HOPPER, hopper)

    def mutated(change):
        copies = copy.deepcopy([selection, programs, [list(part) for part in parts]])
        change(copies[0], copies[2])
        return copies

    def entry(parts):
        return parts[0][0]["entries"][0]

    gpu = next(iter(entry(parts)["measured"]))
    program = entry(parts)["program"]
    refused = {
        "held out": lambda s, p: p[0].__setitem__(1, not p[0][1]),
        "no program": lambda s, p: p[0][0]["programs"].pop(program),
        "by counters": lambda s, p: entry(p).__setitem__("dynamic_shared", 1 if not entry(p)["traits"] else 0)
        or entry(p).__setitem__("traits", ["shared", "divergent", "scattered", "async"]),
        "no machine": lambda s, p: p[0][0]["machines"].pop(gpu),
        "ascending": lambda s, p: entry(p)["measured"][gpu]["cycles"].insert(0, 10**12),
        "of 7 repetitions": lambda s, p: entry(p)["measured"][gpu].__setitem__("repetitions", 7),
        "not the median": lambda s, p: entry(p)["measured"][gpu]["counters"].__setitem__(CYCLES, 1),
        "outside the limits": lambda s, p: entry(p)["measured"]["h200"]["counters"].__setitem__(
            "gpu__time_duration.sum", 6e6),
        "occurs twice": lambda s, p: p[0][0]["entries"].append(entry(p)),
        "no named folder": lambda s, p: p[0][0]["programs"][program].__setitem__("path", "elsewhere"),
        "another repository": lambda s, p: p[0][0].__setitem__("commit", "0" * 40),
        "no such source": lambda s, p: p[0][0].__setitem__("suite", "unknown"),
        "a sixth entry": lambda s, p: p[0][0]["entries"].extend([entry(p)] * 5),
        "is excluded": lambda s, p: s["sources"]["hecbench"]["folders"].append("src/hotspot-cuda"),
    }
    for text, change in {
            "occurs twice": lambda p: p.append(p[0]),
            "hecbench/k-means is excluded": lambda p: p[0].update(suite="hecbench", program="k-means"),
            "no named folder": lambda p: p[0].__setitem__("path", "elsewhere"),
            "has no files": lambda p: p[0].__setitem__("files", []),
            "no index and kernel": lambda p: p[0].__setitem__("launches", ["_Z1kv"]),
            "with another arguments": lambda p: [q.__setitem__("arguments", "0") for q in p]}.items():
        changed = copy.deepcopy(programs)
        change(changed)
        found = list(faults(selection, changed, parts))
        assert any("programs.json" in fault and text in fault for fault in found), (text, found[:3])
    for text, change in refused.items():
        found = list(faults(*mutated(change)))
        assert any(text in fault for fault in found), f"a mutation should be refused with '{text}', found {found[:3]}"

    def schema_refuses(change):
        changed = mutated(lambda s, p: change(p[0][0]))
        return not validator.is_valid(changed[2][0][0])

    assert schema_refuses(lambda suite: suite.__setitem__("commit", "main"))
    assert schema_refuses(lambda suite: suite["entries"][0].pop("grid"))
    assert schema_refuses(lambda suite: suite["entries"][0].__setitem__("block", [32, 0, 1]))
    assert schema_refuses(lambda suite: suite["entries"][0]["measured"][gpu].__setitem__("repetitions", 4))
    assert schema_refuses(lambda suite: suite["entries"][0].__setitem__("source", "__global__ void kernel() {}"))
    everything = [entry for suite, _ in parts for entry in suite["entries"]]
    irregular = sum(1 for entry in everything if set(entry["traits"]) & {"shared", "divergent", "scattered"})
    print(f"{len(everything)} entries of {len({suite['suite'] for suite, _ in parts})} sources, {irregular} irregular")


if __name__ == "__main__":
    main()
