"""Executes docs/notebooks/without-a-gpu.ipynb cell by cell, as a notebook without outputs would, and checks what it
finds. Jupyter is not needed: cells are plain Python whose last expression is shown."""

import ast
import json
import os
import unittest

from paths import ROOT

try:
    import pandas
except ImportError as error:
    raise unittest.SkipTest("pandas is not installed") from error

NOTEBOOK = ROOT / "docs/notebooks/without-a-gpu.ipynb"


def execute(notebook):
    """The names that the cells define, and what each code cell shows."""
    names, shown = {"__name__": "__main__"}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body[-1] if isinstance(tree.body[-1], ast.Expr) else None
        if last is not None:
            tree.body.pop()
        exec(compile(tree, cell["id"], "exec"), names)
        shown.append(None if last is None else eval(compile(ast.Expression(last.value), cell["id"], "eval"), names))
    return names, shown


class Notebook(unittest.TestCase):
    def test_runs_and_finds_what_it_says(self):
        os.chdir(NOTEBOOK.parent)
        notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        names, shown = execute(notebook)
        for table in (one for one in shown if isinstance(one, pandas.DataFrame)):
            self.assertGreater(len(table), 0)
        self.assertIn("long_scoreboard", names["answer"]._repr_html_())
        self.assertEqual(names["latencies"]["value"].isna().sum(), 0)
        self.assertLess(abs(names["promised"] / names["found"] - 1), 0.1)
        throughput = names["throughput"]
        self.assertTrue(throughput["warps of an SM"].is_monotonic_decreasing)
        self.assertTrue(throughput["loads in a microsecond"].is_monotonic_decreasing)
        rows, chain = names["faster"]["times as fast"]
        self.assertGreater(rows, 1.1)
        self.assertLess(abs(chain - 1), 0.1)
        if names["ranked"] is not None:
            self.assertLess(names["ranked"]["us"].min() * 1.2, names["ranked"]["us"].max())
            self.assertEqual(len(names["tiles"]), 5)
            self.assertLess(names["tiles"]["us"].min() * 1.2, names["tiles"]["us"].max())

    def test_has_no_outputs(self):
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
            self.assertFalse(cell.get("outputs"), cell["id"])


if __name__ == "__main__":
    unittest.main()
