#!/usr/bin/env python3
"""Fetches the sources of the suites: the folders of suites/selection.json at their pinned commits.

    python3 scripts/fetch_suites.py --out DIR [SUITE ...]

Needs git 2.27 or later and a network. Only the named folders are checked out; what the rule excludes is never fetched
into the work tree. Nothing is compiled.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Folders that the programs of a suite include or link, beside their own.
COMMON = {"cuda-samples": ["Common"], "cutlass": ["include", "tools/util/include", "examples/common"],
          "polybench-acc": ["CUDA/utilities"]}


def git(folder, *arguments):
    result = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"fetch_suites.py: git {' '.join(arguments)} failed in {folder}: {result.stderr.strip()}")
    return result.stdout.strip()


def fetch(name, source, out):
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    # A pattern for each folder, anchored, so that a neighbour whose name begins alike stays away.
    git(folder, "sparse-checkout", "init", "--no-cone")
    patterns = [f"/{path}/" for path in source["folders"] + COMMON.get(name, [])]
    git(folder, "sparse-checkout", "set", "--no-cone", *patterns)
    git(folder, "fetch", "-q", "--depth", "1", "--filter=blob:none", source["repository"], source["commit"])
    git(folder, "config", "remote.origin.url", source["repository"])
    git(folder, "config", "remote.origin.promisor", "true")
    git(folder, "checkout", "-q", "--detach", source["commit"])
    missing = [path for path in source["folders"] if not (folder / path).exists()]
    if missing:
        sys.exit(f"fetch_suites.py: {name} has no {', '.join(missing)} at {source['commit']}; "
                 "correct suites/selection.json")
    print(f"{name}: {len(source['folders'])} folders at {source['commit'][:12]} in {folder}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="suites to fetch; all without a name")
    parser.add_argument("--out", required=True, type=Path, help="folder that gets one folder a suite")
    parser.add_argument("--selection", type=Path, default=ROOT / "suites" / "selection.json",
                        help="sources, commits and folders")
    options = parser.parse_args()
    sources = json.loads(options.selection.read_text())["sources"]
    for name in options.suites or sources:
        if name not in sources:
            sys.exit(f"fetch_suites.py: no suite {name}; there are {', '.join(sources)}")
        fetch(name, sources[name], options.out)


if __name__ == "__main__":
    main()
