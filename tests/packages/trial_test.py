#!/usr/bin/env python3
"""scripts/try_package.sh and try_packages.sh find what is wrong with a package. A shell script stands in for gputomo.

Usage: trial_test.py
"""

import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"
KERNEL = ROOT / "tests/data/cubin/stream_copy_x4.sm_90.cubin"

# Commands of gputomo as a trial calls them: scan --device D --quick --quiet --out DIR, show, predict, capture.
PROGRAM = r"""#!/bin/sh
case $1 in
    --version) echo "1.2.3 (abcdef)" ;;
    scan)
        while [ "$1" != --out ]; do shift; done
        mkdir -p "$2"
        echo '<html>report</html>' >"$2/report.html"
        echo '{}' >"$2/machine.json" ;;
    show) echo "caches.l1.latency 42" ;;
    predict) echo '{"microseconds": 5}' ;;
    capture) echo "captured nothing" ;;
esac
"""


def run(*command, **environment):
    """Runs a script without what the caller's environment says of trials."""
    of_trials = ("ARCH", "EXPERIMENTS", "GLIBC", "NOTEBOOK")
    clean = {name: value for name, value in os.environ.items() if name not in of_trials}
    return subprocess.run([str(part) for part in command], env={**clean, **environment}, capture_output=True, text=True,
                          check=False)


@unittest.skipUnless(shutil.which("dpkg"), "dpkg is not installed")
class Trial(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def package(self, program=PROGRAM, version="1.2.3"):
        """A tarball whose executable is this shell script."""
        name = f"gputomo-{version}-linux-x86_64"
        path = self.folder / name / "bin/gputomo"
        path.parent.mkdir(parents=True)
        path.write_text(program)
        path.chmod(0o755)
        packages = self.folder / "packages"
        packages.mkdir()
        with tarfile.open(packages / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(self.folder / name, name)
        return packages / f"{name}.tar.gz"

    def fails(self, program, message, **package):
        run_of_it = run(SCRIPTS / "try_package.sh", "--extract", self.package(program, **package), KERNEL)
        self.assertEqual(run_of_it.returncode, 1, run_of_it)
        self.assertIn(message, run_of_it.stderr)

    def test_accepts_a_package_that_works(self):
        trial = run(SCRIPTS / "try_package.sh", "--extract", self.package(), KERNEL)
        self.assertEqual(trial.returncode, 0, trial)
        self.assertIn("works, from file to report", trial.stdout)

    def test_refuses_another_version(self):
        self.fails(PROGRAM, "it says that it is 1.2.3", version="1.2.4")

    def test_refuses_half_a_report(self):
        self.fails(PROGRAM.replace("</html>", ""), "the report is not whole")

    def test_refuses_an_answer_without_time(self):
        self.fails(PROGRAM.replace("microseconds", "lines"), "the answer has no time")

    def test_refuses_a_library_that_the_loader_rejects(self):
        message = "ERROR: ld.so: object cannot be preloaded"
        self.fails(PROGRAM.replace("captured nothing", message), message)

    def test_refuses_a_program_that_does_not_start(self):
        self.fails("#!/bin/sh\nexit 127\n", "it says that it is")

    def test_tries_all_packages_of_a_folder(self):
        trial = run(SCRIPTS / "try_packages.sh", self.package().parent)
        self.assertEqual(trial.returncode, 0, trial)
        self.assertIn("here: gputomo-1.2.3-linux-x86_64.tar.gz: works", trial.stdout)

    def test_fails_where_one_package_fails(self):
        trial = run(SCRIPTS / "try_packages.sh", self.package(version="1.2.4").parent)
        self.assertEqual(trial.returncode, 1, trial)

    def test_does_not_call_packages_of_another_processor_tried(self):
        trial = run(SCRIPTS / "try_packages.sh", self.package().parent, ARCH="riscv64")
        self.assertNotIn("works", trial.stdout)
        self.assertIn("in roots alone", trial.stdout)

    def test_refuses_an_unknown_processor(self):
        build = run(SCRIPTS / "package.sh", self.folder / "build", ARCH="m68k")
        self.assertEqual(build.returncode, 2, build)
        self.assertIn("expected", build.stderr)
        self.assertFalse((self.folder / "build").exists())


if __name__ == "__main__":
    unittest.main()
