"""The package's types are complete, and right by mypy."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from paths import ROOT

try:
    import mypy
except ImportError:
    mypy = None


@unittest.skipIf(mypy is None, "mypy is not installed")
class Types(unittest.TestCase):
    def test_are_right_in_the_package_and_known_to_programs(self):
        program = (
            "import gputomo\n"
            "right: float = gputomo.Capture('a')[0].launch().predict('h200').time.microseconds\n"
            "wrong: str = gputomo.load('h200').caches['l1'].capacity.known\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "program.py"
            file.write_text(program)
            command = [
                sys.executable,
                "-m",
                "mypy",
                "--no-incremental",
                "--strict",
                "--python-version",
                "3.10",
                "gputomo",
            ]
            ended = subprocess.run([*command, file], capture_output=True, text=True, cwd=ROOT / "python")
        errors = [line for line in ended.stdout.splitlines() if ": error:" in line]
        self.assertEqual(len(errors), 1, ended.stdout + ended.stderr)
        self.assertRegex(errors[0], r'program.py:3: .*expression has type "bool", variable has type "str"')


if __name__ == "__main__":
    unittest.main()
