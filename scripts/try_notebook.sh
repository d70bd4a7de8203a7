#!/usr/bin/env bash
# Installs a wheel with pip and executes the notebook of docs/notebooks in Jupyter without a browser.
#
#   scripts/try_notebook.sh WHEEL TREE
#
# TREE is a tree of gputomo's sources, whose kernels and recordings the notebook reads. Jupyter and pandas come from the
# package index, so that this needs a network.
set -euo pipefail
[[ $# -eq 2 ]] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
wheel=$1
tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "try_notebook: $(basename "$wheel"): $1" >&2
    exit 1
}

python3 -m venv "$work/venv"
pip=("$work/venv/bin/pip" install -q --disable-pip-version-check)
"${pip[@]}" --no-index "$wheel" >"$work/pip" 2>&1 || {
    grep -q 'not a supported wheel' "$work/pip" || fail "pip: $(tail -n 1 "$work/pip")"
    echo "$(basename "$wheel"): the notebook is skipped: $(python3 --version) takes no such wheel"
    exit 77
}
"${pip[@]}" pandas nbconvert ipykernel >"$work/pip" 2>&1 || fail "pip: $(tail -n 1 "$work/pip")"
start=$SECONDS
HOME=$work "$work/venv/bin/jupyter" nbconvert --to notebook --execute --ExecutePreprocessor.timeout=1200 \
    --output-dir "$work" --output executed "$tree/docs/notebooks/without-a-gpu.ipynb" >"$work/messages" 2>&1 ||
    fail "the notebook failed: $(tail -n 1 "$work/messages")"
"$work/venv/bin/python" - "$work/executed.ipynb" <<'PYTHON' || fail "the notebook has not the outputs that it should"
import json
import sys
cells = [cell for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
outputs = [output["data"] for cell in cells for output in cell["outputs"] if "data" in output]
shown = ["".join(data.get("text/html", "")) for data in outputs]
assert all(cell["execution_count"] for cell in cells)
assert sum("<table" in html for html in shown) >= 5, len(shown)
assert any("long_scoreboard" in html for html in shown)
PYTHON
echo "$(basename "$wheel"): the notebook runs, in $((SECONDS - start)) s"
