#!/usr/bin/env python3
"""Simulates or predicts the captured kernels of this repository and compares the errors with those that are published.

    own_accuracy_test.py GPUTOMO SOURCE_FOLDER simulate|predict [--h100] [--update]

own_accuracy.json has the bounds, and own_accuracy_h100.json those of an H100. Each kernel is within the bound of its class, or it is listed there as a known
inaccuracy with the ratio of answered to measured cycles. The test fails where a kernel that is not listed leaves its
bound, where a listed one is within it, and where the ratio of a listed one is another. An answer that is more than
`PROMISED` times off has a warning that names the reason of the list. Executed warp instructions equal
the counter's, with the exceptions that are listed. docs/results/accuracy.md states the same numbers, and the README
those of an H200.

--update writes what is measured now into own_accuracy.json. A new inaccuracy gets the reason "?", which the test
refuses until a person has named one.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RATIO_TOLERANCE = 0.15  # of a known inaccuracy's ratio; a smaller change is that of its reason's numbers, not its kind
INSTRUCTION_TOLERANCE = 1e-3  # as `instructions_repeat` of the suites
PROMISED = 1.5  # an answer may be so many times off, either way, without a warning
MEAN_TOLERANCE = 0.5  # percentage points by which a class may be better or worse than stated
TABLE = "tests/suites/own_accuracy_h100.json" if "--h100" in sys.argv else "tests/suites/own_accuracy.json"


def answers(gputomo, source, method, table):
    """Measurement and answer of each kernel, by name."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        done = subprocess.run(
            [gputomo, "accuracy", source / "suites" / "own.json", "--held-out", "--captures", source / "recordings",
             "--gpu", table["gpu"], "--device", f"sim:{source / table['description']}", "--only", method,
             "--jobs", str(os.cpu_count()), "--results", results, "--out", Path(folder) / "page.md"],
            capture_output=True, text=True)
        assert done.returncode == 0, f"gputomo accuracy exited with {done.returncode}: {done.stderr}"
        return {kernel["name"]: {"measured": kernel["measured_cycles"], **kernel[method]}
                for kernel in json.loads(results.read_text())["kernels"]}


def repeats(source, gpu):
    """Kernels that execute the same number of instructions each time."""
    return {entry["name"] for folder in (source / "suites", source / "suites" / "held-out")
            for entry in json.loads((folder / "own.json").read_text())["entries"]
            if entry["measured"].get(gpu, {}).get("instructions_repeat")}


def summaries(found, method, table):
    """Of each class: kernels, those within the bound, the mean error of these in percent, and the ratio of answered to
    measured cycles that is farthest from 1."""
    classes = {}
    for name, answer in found.items():
        ratio = ratio_of(answer)
        kernels, good = classes.setdefault(name.split("/")[0], ([], []))
        kernels.append(ratio)
        if within(ratio, name, method, table):
            good.append(abs(ratio - 1))
    return {name: {"kernels": len(kernels), "within": len(good),
                   "mean": round(100 * sum(good) / len(good), 1) if good else None,
                   "worst": float(f"{max(kernels, key=lambda ratio: max(ratio, 1 / ratio) if ratio else 0):.3g}")}
            for name, (kernels, good) in sorted(classes.items())}


def ratio_of(answer):
    """Answered over measured cycles; 0 where there is no answer."""
    return answer["cycles"] / answer["measured"] if "cycles" in answer else 0


def within(ratio, name, method, table):
    return abs(ratio - 1) <= table["bounds"][name.split("/")[0]][method]


def near(value, stated, tolerance):
    return abs(value - stated) <= tolerance * abs(stated) + 1e-9


def faults_of(name, answer, method, table):
    """What of one kernel's cycles is not as the table says."""
    ratio, listed = ratio_of(answer), table["inaccurate"].get(name, {})
    answered = f"{name}: {method} gives {ratio:.3f} of the measured cycles ({answer.get('failure', 'answered')})"
    good = within(ratio, name, method, table)
    if method not in listed:
        if not good:
            yield f"{answered}; it has left its bound. Mend it, or list it under `inaccurate` with a reason"
    elif good:
        yield f"{answered} and is right now; take it from `inaccurate`, and state the better numbers"
    elif not near(ratio, listed[method], RATIO_TOLERANCE):
        yield f"{answered}, {listed[method]} are listed"
    if method in listed and listed.get("reason") not in table["reasons"]:
        yield f"{name}: the reason '{listed.get('reason')}' is not among {', '.join(table['reasons'])}"


def promise_faults(name, answer, method, table):
    """A refused kernel has said what is wrong."""
    ratio, reason = ratio_of(answer), table["inaccurate"].get(name, {}).get("reason")
    if ratio == 0 or max(ratio, 1 / ratio) <= PROMISED:
        return
    named, warnings = table["warnings"].get(reason), answer.get("warnings", [])
    if named is None or not any(named in warning for warning in warnings):
        yield (f"{name}: {method} gives {ratio:.3f} of the measured cycles, and no warning says '{named}' "
               f"(`warnings` of the reason '{reason}'). It warns of: {'; '.join(warnings) or 'nothing'}")


def instruction_faults(name, answer, method, table):
    ratio, listed = answer.get("instruction_ratio"), table["instructions"].get(name, {}).get(method, 1)
    if ratio is not None and not near(ratio, listed, INSTRUCTION_TOLERANCE if listed == 1 else RATIO_TOLERANCE):
        yield f"{name}: {method} executes {ratio:.4f} of the counter's warp instructions; expected {listed}"


def class_faults(found, method, table):
    for name, now in summaries(found, method, table).items():
        stated = table["classes"].get(name, {}).get(method)
        if not stated or (now["kernels"], now["within"]) != (stated["kernels"], stated["within"]):
            yield f"class {name}: {method} has {now}, {stated} is stated"
        elif not near(now["worst"], stated.get("worst", 0), RATIO_TOLERANCE):
            yield f"class {name}: the worst ratio of {method} is {now['worst']}, {stated.get('worst')} is stated"
        elif now["mean"] is not None and abs(now["mean"] - stated["mean"]) > MEAN_TOLERANCE:
            yield f"class {name}: mean error of {method} {now['mean']}%, {stated['mean']}% is stated"


def statement(table):
    """The sentence of the README."""
    of = {method: (sum(c[method]["within"] for c in table["classes"].values()),
                   sum(c[method]["kernels"] for c in table["classes"].values()))
          for method in ("simulate", "predict")}
    bound = round(100 * max(bounds[method] for bounds in table["bounds"].values() for method in bounds))
    return (f"Of {of['simulate'][1]} small kernels of its own with cold caches, `simulate` answers "
            f"{of['simulate'][0]} and `predict` {of['predict'][0]} within {bound}% of an {table['gpu'].upper()}'s cycles")


def rows(table):
    """Rows of the table in docs/results/accuracy.json."""
    def text(of):
        return f"{of['within']}" + ("" if of["mean"] is None else f" ({of['mean']}%)")
    return [[name, str(of["simulate"]["kernels"]), text(of["simulate"]), str(of["simulate"]["worst"]),
             text(of["predict"]), str(of["predict"]["worst"])]
            for name, of in table["classes"].items()]


def document_faults(source, table):
    readme = " ".join((source / "README.md").read_text().split())
    if table["gpu"] == "h200" and statement(table) not in readme:
        yield f"README.md does not say '{statement(table)}'"
    tables = json.loads((source / "docs" / "results" / "accuracy.json").read_text())["tables"]
    if not any(one["rows"] == rows(table) for one in tables):
        yield f"docs/results/accuracy.json has no table with the rows {json.dumps(rows(table))}"


def updated(found, repeating, method, table):
    """The table with what is measured now."""
    for name, answer in found.items():
        for kind, good, ratio in (
                ("inaccurate", within(ratio_of(answer), name, method, table), ratio_of(answer)),
                ("instructions", name not in repeating or near(answer.get("instruction_ratio", 1), 1,
                                                               INSTRUCTION_TOLERANCE),
                 answer.get("instruction_ratio"))):
            listed = table[kind].setdefault(name, {})
            listed.pop(method, None)
            if not good:
                listed[method] = float(f"{ratio:.3g}")
            if kind == "inaccurate" and listed:
                listed["reason"] = listed.pop("reason", "?")
            if not set(listed) - {"reason"}:
                del table[kind][name]
    for name, now in summaries(found, method, table).items():
        table["classes"].setdefault(name, {})[method] = now
    table["inaccurate"] = dict(sorted(table["inaccurate"].items()))
    return table


def text_of(table):
    """JSON with one line for each kernel and class."""
    lines = []
    for key, value in table.items():
        if isinstance(value, dict):
            inner = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in value.items())
            lines.append(f" {json.dumps(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def refuses_mutations(found, method, table):
    """The check finds what it should: each change of the table is a fault."""
    listed = next((name for name, one in table["inaccurate"].items() if method in one), None)
    good = next(name for name, answer in found.items() if within(ratio_of(answer), name, method, table))

    def count(changes):
        changed = json.loads(json.dumps(table))
        changes(changed)
        return sum(1 for name, answer in found.items() for _ in faults_of(name, answer, method, changed)) + sum(
            1 for _ in class_faults(found, method, changed))

    if listed is not None:
        assert count(lambda t: t["inaccurate"].pop(listed)) == 1, "a kernel that left its bound is not noticed"
        assert count(lambda t: t["inaccurate"][listed].__setitem__(method, 7)) == 1, "another ratio is not noticed"
        assert count(lambda t: t["inaccurate"][listed].__setitem__("reason", "?")) == 1, \
            "a missing reason is not noticed"
    assert count(lambda t: t["inaccurate"].__setitem__(good, {method: 0.5, "reason": next(iter(t["reasons"]))})) == 1, \
        "a listed kernel that is right is not noticed"
    wrong = next(name for name, answer in found.items() if ratio_of(answer) and not answer.get("warnings"))
    of_reason = {**table, "inaccurate": {wrong: {method: PROMISED, "reason": next(iter(table["warnings"]))}}}
    silent = {**found[wrong], "cycles": 1.01 * PROMISED * found[wrong]["measured"]}
    assert list(promise_faults(wrong, silent, method, of_reason)), "an answer that is silently wrong is not noticed"
    said = {**silent, "warnings": [next(iter(table["warnings"].values()))]}
    assert not list(promise_faults(wrong, said, method, of_reason)), "a warning that names the reason is not noticed"
    assert count(lambda t: t["classes"][good.split("/")[0]][method].__setitem__("mean", 90)) == 1, \
        "another mean error is not noticed"


def main():
    gputomo, source, method = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    table = json.loads((source / TABLE).read_text())
    found = answers(gputomo, source, method, table)
    repeating = repeats(source, table["gpu"])
    if "--update" in sys.argv:
        table = updated(found, repeating, method, table)
        (source / TABLE).write_text(text_of(table))
        print(statement(table) if all(len(of) == 2 for of in table["classes"].values()) else f"{method} is written")
        return
    faults = [fault for name, answer in found.items() for fault in faults_of(name, answer, method, table)]
    faults += [fault for name, answer in found.items() for fault in promise_faults(name, answer, method, table)]
    faults += [fault for name in repeating for fault in instruction_faults(name, found[name], method, table)]
    faults += [f"{TABLE}: no kernel {name}" for name in {**table["inaccurate"], **table["instructions"]}
               if name not in found]
    faults += class_faults(found, method, table)
    faults += document_faults(source, table)
    assert not faults, "\n".join(faults)
    refuses_mutations(found, method, table)
    print(f"{len(found)} kernels, {sum(method in one for one in table['inaccurate'].values())} known inaccuracies")


if __name__ == "__main__":
    main()
