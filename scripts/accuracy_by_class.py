#!/usr/bin/env python3
"""Writes docs/results/accuracy-by-class.json from what `gputomo accuracy --results` recorded.

    python3 scripts/accuracy_by_class.py --gpu h200 --date 2026-11-26 --results RESULTS.json [RESULTS.json ...]

Each open entry of suites/*.json gets a class by the counters of the GPU that measured it: `atomics`, if more than 2% of
the sectors at the L2 are of atomics; `latency`, if no unit is busy for 60% of the time; else the busiest one of
`compute` (SM), `L1`, `L2` and `DRAM`. Kernels of our own are classed in the same way. scripts/generate_docs.py makes
the table and the picture of docs/results/accuracy.md.
"""
import argparse
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS = {"compute": "sm__throughput", "L1": "l1tex__throughput", "L2": "lts__throughput",
         "DRAM": "gpu__dram_throughput"}
BUSY = 60  # percent, as in the tables of docs/results/accuracy.md
ATOMICS = 0.02  # of the sectors at the L2; reductions that end with one atomic a block have less


def class_of(counters):
    def of(name):
        return counters.get(name, 0)

    if of("lts__t_sectors_op_atom.sum") + of("lts__t_sectors_op_red.sum") > ATOMICS * of("lts__t_sectors.sum"):
        return "atomics"
    busy = {name: of(f"{unit}.avg.pct_of_peak_sustained_elapsed") for name, unit in UNITS.items()}
    # The L1 is a part of the SM, whose throughput includes it.
    busiest = max(busy, key=lambda name: (busy[name], name != "compute"))
    return busiest if busy[busiest] >= BUSY else "latency"


def entries(gpu):
    """Class of each entry by its suite and name."""
    found = {}
    for path in [*(ROOT / "suites").glob("*.json"), ROOT / "suites" / "held-out" / "own.json"]:
        suite = json.loads(path.read_text())
        for entry in suite.get("entries", []) if isinstance(suite, dict) else []:
            if gpu in entry.get("measured", {}):
                found[suite["suite"], entry["name"]] = class_of(entry["measured"][gpu]["counters"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", required=True, help="name of the measurements in the suites, for example h200")
    parser.add_argument("--date", required=True, help="day of the answers")
    parser.add_argument("--results", required=True, nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    classes = entries(options.gpu)
    kernels = []
    for path in options.results:
        for kernel in json.loads(path.read_text())["kernels"]:
            key = kernel["suite"], kernel["name"]
            if key not in classes:
                parser.error(f"{path}: {'/'.join(key)} has no measurement of {options.gpu} in suites/")
            ratios = {method: round(kernel[method]["cycles"] / kernel["measured_cycles"], 4)
                      for method in ("simulate", "predict") if "cycles" in kernel.get(method, {})}
            kernels.append({"suite": key[0], "name": key[1], "class": classes[key],
                            "measured_cycles": kernel["measured_cycles"], **ratios})
    kernels.sort(key=lambda kernel: (kernel["suite"], kernel["name"]))
    lines = ",\n".join(f"  {json.dumps(kernel)}" for kernel in kernels)
    target = ROOT / "docs" / "results" / "accuracy-by-class.json"
    about = json.loads(target.read_text())["about"] if target.exists() else ""
    target.write_text(f'{{\n "about": {json.dumps(about)},\n "gpu": "{options.gpu}",\n "date": "{options.date}",\n "kernels": [\n{lines}\n ]\n}}\n')


if __name__ == "__main__":
    main()
