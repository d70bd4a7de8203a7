"""Machine descriptions as Python objects: leaves, tables, differences, and what is refused."""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import gputomo
from gputomo import machines
from paths import PROGRAM, ROOT

H200 = json.loads((ROOT / "machines/h200.json").read_text())


class Import(unittest.TestCase):
    def test_needs_nothing_else(self):
        code = (
            "import sys, gputomo\n"
            "gputomo.load('h200'), gputomo.kernel\n"
            "print([m for m in ('numpy', 'pandas', 'polars', 'pyarrow', 'torch', 'triton') if m in sys.modules])"
        )
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(ended.stdout.strip(), "[]")

    def test_runs_the_command_line(self):
        ended = subprocess.run([sys.executable, "-m", "gputomo", "list", "devices"], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertIn("sim:h200", ended.stdout)

    def test_stub_and_exports_name_what_there_is(self):
        stub = (ROOT / "python/gputomo/_core.pyi").read_text()
        from gputomo import _core

        for name in vars(_core):
            if not name.startswith("_"):
                self.assertRegex(stub, rf"(?m)^(class |def )?{name}\b")
        for name in gputomo.__all__:
            getattr(gputomo, name)
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            gputomo.nothing


class Leaves(unittest.TestCase):
    def setUp(self):
        self.machine = gputomo.load("h200")

    def test_have_value_unit_and_origin(self):
        leaf = self.machine.caches["l1"].capacity
        told = H200["caches"]["l1"]["capacity"]
        self.assertEqual(leaf.value, told["value"])
        self.assertEqual(leaf.unit, "bytes")
        self.assertEqual(leaf.interval, tuple(told["interval"]))
        self.assertEqual(leaf.confidence, told["confidence"])
        self.assertEqual(leaf.method, told["method"])
        self.assertEqual(str(leaf), f"{told['value']} bytes")
        self.assertTrue(leaf.description)

    def test_are_found_by_path(self):
        machine = self.machine
        self.assertIs(machine["caches.l1.capacity"], machine.caches["l1"].capacity)
        self.assertIs(machine["topology.sms"], machine.topology.sms)
        self.assertIs(machine["operations.add.f32.latency"], machine["operations[add.f32].latency"])
        self.assertIs(machine["operations.add.f32.latency"], machine.operations["add.f32"].latency)
        self.assertIn("topology.sms", machine)
        self.assertNotIn("topology.sums", machine)

    def test_are_all_of_the_file(self):
        sections = {name: told for name, told in H200.items() if name not in ("schema", "origin")}
        count = sum(
            len(told) if isinstance(getattr(self.machine, name), machines.Group) else sum(map(len, told.values()))
            for name, told in sections.items()
        )
        self.assertEqual(len(self.machine), count)
        self.assertEqual(len(list(self.machine)), count)

    def test_say_how_far_they_are_known(self):
        undecided = self.machine.issue.first_path
        self.assertEqual((undecided.knowledge, undecided.value), ("undecided", None))
        self.assertEqual(undecided.candidates, ["taken", "fall-through"])
        self.assertEqual(str(undecided), "one of taken, fall-through")
        unknown = gputomo.load("8800gtx").topology.sms_per_gpc
        self.assertEqual((unknown.knowledge, unknown.known, unknown.absent), ("unknown", False, False))
        absent = [leaf for name in gputomo.names() for leaf in gputomo.load(name) if leaf.absent]
        self.assertTrue(absent)
        self.assertEqual(str(absent[0]), "absent")

    def test_have_attributes_for_every_section(self):
        sections = {leaf.path.partition(".")[0].partition("[")[0] for leaf in self.machine._leaves}
        self.assertLessEqual(sections, set(vars(self.machine)))

    def test_that_do_not_exist_are_refused(self):
        for path, expected in (("caches.l1.size", "caches.l1.capacity"), ("nothing", "topology"), ("", "topology")):
            with self.assertRaisesRegex(KeyError, expected) as caught:
                self.machine[path]
            self.assertIsInstance(caught.exception, gputomo.InputError)
            self.assertNotIn('"', str(caught.exception)[:1])
        with self.assertRaisesRegex(AttributeError, "capacity"):
            self.machine.caches["l1"].size
        with self.assertRaisesRegex(KeyError, "it has .*l2"):
            self.machine.caches["l9"]


class Files(unittest.TestCase):
    def test_every_name_is_read(self):
        self.assertEqual(gputomo.names(), sorted(file.stem for file in (ROOT / "machines").glob("*.json")))
        for name in gputomo.names():
            self.assertGreater(len(gputomo.load(name)), 20, name)
        self.assertEqual(gputomo.load("sim:h200").to_json(), gputomo.load("h200").to_json())

    def test_files_and_scans_are_read(self):
        scan = ROOT / "recordings/h200-scan-1.json.gz"
        self.assertGreater(len(gputomo.load(scan)), 100)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "m.json"
            file.write_text(gputomo.load("gtx980").to_json())
            self.assertTrue(gputomo.diff(file, "gtx980").same)
            packed = pathlib.Path(folder) / "m.json.gz"
            packed.write_bytes(gzip.compress(file.read_bytes()))
            self.assertEqual(gputomo.load(packed).name, gputomo.load("gtx980").name)
            packed.write_bytes(packed.read_bytes()[:-20])
            with self.assertRaisesRegex(gputomo.InputError, "m.json.gz: is damaged"):
                gputomo.load(packed)

    def test_errors_are_those_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "m.json"
            for text in ("{", '{"schema": "gputomo-machine-1", "clock": {"sm_mhz": {"value": "fast"}}}', "\xff"):
                file.write_text(text, encoding="latin-1")
                with self.assertRaises(gputomo.InputError) as caught:
                    gputomo.load(file)
                told = subprocess.run([PROGRAM, "diff", file, file], capture_output=True, text=True, errors="replace")
                self.assertIn(str(caught.exception).splitlines()[0][:60], told.stderr)
        with self.assertRaisesRegex(gputomo.InputError, "h300.*expected a file, or one of .*h200"):
            gputomo.load("h300")

    def test_names_of_gpus_are_names_of_descriptions(self):
        known = gputomo.load("h200")
        for name in ("H200", "NVIDIA H200", "nvidia-h200", "sim:H200"):
            found = gputomo.load(name)
            self.assertEqual((found.origin, found.to_json()), ("h200", known.to_json()), name)
        for name in gputomo.names():
            self.assertEqual(gputomo.load(gputomo.load(name).name).origin, name)
        with self.assertRaisesRegex(gputomo.InputError, "H100 PCIe.*expected a file, or one of .*h100"):
            gputomo.load("H100 PCIe")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "H200"
            file.write_text(gputomo.load("gtx280").to_json())
            self.assertEqual(gputomo.load(file).name, "GeForce GTX 280", "a file comes first")


class Tables(unittest.TestCase):
    def test_have_a_row_for_each_leaf(self):
        machine = gputomo.load("h200")
        for library, frame in (
            ("pandas", machine.to_pandas),
            ("polars", machine.to_polars),
            ("pyarrow", machine.to_arrow),
        ):
            with self.subTest(library):
                try:
                    __import__(library)
                except ImportError:
                    self.skipTest(f"{library} is not installed")
                table = frame()
                self.assertEqual(table.shape, (len(machine), 14))
                rows = (
                    table.to_dict("records")
                    if library == "pandas"
                    else (table.to_dicts() if library == "polars" else table.to_pylist())
                )
                row = next(row for row in rows if row["path"] == "operations[add.f32].latency")
                self.assertEqual((row["section"], row["key"], row["leaf"]), ("operations", "add.f32", "latency"))
                self.assertEqual((row["number"], row["unit"]), (4.0, "cycles"))

    def test_say_what_to_install(self):
        with mock.patch.dict(sys.modules, {"polars": None}):
            with self.assertRaisesRegex(ImportError, r"to_polars\(\) needs polars.*pip install 'gputomo\[polars\]'"):
                gputomo.load("h200").to_polars()


class Differences(unittest.TestCase):
    def test_are_those_of_the_command_line(self):
        found = gputomo.diff("gtx480", "gtx980")
        told = subprocess.run(
            [PROGRAM, "diff", ROOT / "machines/gtx480.json", ROOT / "machines/gtx980.json"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(told.returncode, 1)
        self.assertFalse(found.same)
        for one in found.differing:
            self.assertIn(one.path, told.stdout)
            self.assertNotEqual(one.a_text, one.b_text)
        self.assertIn("identity.name", [one.path for one in found.differing])
        self.assertTrue(found.only_a or found.only_b)

    def test_obey_the_tolerance(self):
        strict, loose = gputomo.diff("gtx480", "gtx560ti"), gputomo.diff("gtx480", "gtx560ti", tolerance=0.5)
        self.assertLess(len(loose.differing), len(strict.differing))


if __name__ == "__main__":
    unittest.main()
