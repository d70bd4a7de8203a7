#!/usr/bin/env python3
"""scripts/version.sh finds the version of trees with and without git, and whatever names a version agrees with it.

Usage: version_test.py GPUTOMO CMAKE, the built executable and the cmake that built it.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GPUTOMO, CMAKE = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
UNRELEASED = "# Changelog\n\n## Unreleased\n\n### Added\n\n- x\n\n## 0.7.9, 2026-01-02\n\n## 0.7.8, 2026-01-01\n"

WITH_GIT = unittest.skipUnless(shutil.which("git"), "git is not installed")

sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import package_version  # noqa: E402


def git_says(*arguments):
    """What git prints of the tree under test, or nothing where there is no git or it refuses."""
    if not shutil.which("git"):
        return ""
    run = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return run.stdout.strip()


def output(*command, folder=None):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


class Tree:
    """A source tree that has nothing but what the version comes from."""

    def __init__(self, folder, changelog=UNRELEASED):
        self.folder = pathlib.Path(folder)
        (self.folder / "scripts").mkdir(parents=True)
        for name in ("version.sh", "package_version.py"):
            shutil.copy(ROOT / "scripts" / name, self.folder / "scripts" / name)
        if changelog:
            (self.folder / "CHANGELOG.md").write_text(changelog)

    def git(self, *arguments):
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false",
                    "-c", "tag.gpgsign=false")
        output("git", *identity, "-C", str(self.folder), *arguments)

    def commit(self, tag=None):
        if not (self.folder / ".git").exists():
            self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        if tag:
            self.git("tag", tag)

    def run(self):
        return subprocess.run([self.folder / "scripts" / "version.sh"], capture_output=True, text=True, check=False)

    def version(self):
        run = self.run()
        assert run.returncode == 0, run.stderr
        return run.stdout.strip()


class Versions(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name).resolve()

    def test_without_git_the_changelog_decides(self):
        self.assertEqual(Tree(self.place / "a").version(), "0.7.10.dev0")
        released = UNRELEASED.replace("## Unreleased\n\n### Added\n\n- x\n\n", "")
        self.assertEqual(Tree(self.place / "b", released).version(), "0.7.9")

    @WITH_GIT
    def test_a_tag_decides_before_the_changelog(self):
        tree = Tree(self.place / "a")
        tree.commit()
        self.assertEqual(tree.version(), "0.7.10.dev0")  # no tag yet
        tree.commit("v1.2.3")
        self.assertEqual(tree.version(), "1.2.3")
        tree.git("tag", "nightly")  # no version, but nearer
        tree.commit()
        tree.commit("benchmark-5")
        self.assertEqual(tree.version(), "1.2.4.dev2")

    @WITH_GIT
    def test_the_git_of_an_enclosing_tree_does_not_count(self):
        outer = Tree(self.place / "outer")
        outer.commit("v5.0.0")
        self.assertEqual(Tree(self.place / "outer" / "third_party" / "gputomo").version(), "0.7.10.dev0")

    @WITH_GIT
    def test_a_tag_of_no_release_is_refused_by_name(self):
        tree = Tree(self.place / "a")
        tree.commit("v2-rc1")
        self.assertEqual(tree.run().returncode, 1)
        self.assertIn("v2-rc1", tree.run().stderr)

    def test_a_changelog_without_a_release_is_refused_by_name(self):
        headings = Tree(self.place / "b", "# Changelog\n\n## Soon\n\n## 0.7.9, 2026-01-02\n").run()
        self.assertEqual(headings.returncode, 1)
        self.assertIn("'Soon'", headings.stderr)
        self.assertEqual(Tree(self.place / "c", "# Changelog\n").run().returncode, 1)
        self.assertEqual(Tree(self.place / "d", None).run().returncode, 1)

    def test_a_source_distribution_keeps_its_version(self):
        tree = Tree(self.place / "a")
        (tree.folder / "PKG-INFO").write_text("Metadata-Version: 2.2\nName: gputomo\nVersion: 3.0.1.dev4\n")
        found = output(sys.executable, "-B", "-c", "import package_version as p; print(p.dynamic_metadata('version'))",
                       folder=tree.folder / "scripts")
        self.assertEqual(found, "3.0.1.dev4")


class Agreement(unittest.TestCase):
    def setUp(self):
        self.version = output(str(ROOT / "scripts" / "version.sh"))

    def test_python_and_cmake(self):
        self.assertEqual(package_version.dynamic_metadata("version"), self.version)
        with self.assertRaisesRegex(RuntimeError, "readme"):
            package_version.dynamic_metadata("readme")
        with tempfile.TemporaryDirectory() as place:
            script = pathlib.Path(place, "print.cmake")
            script.write_text(
                f"set(CPACK_GPUTOMO_SOURCE_DIR {ROOT})\nset(CPACK_GPUTOMO_PROCESSOR sparc)\nset(CPACK_GENERATOR DEB)\n"
                f"include({ROOT}/cmake/PackageVersion.cmake)\nfile(WRITE {place}/found \"${{GPUTOMO_RELEASE}} "
                "${CPACK_PACKAGE_VERSION} ${CPACK_DEBIAN_PACKAGE_VERSION} ${CPACK_PACKAGE_FILE_NAME}\")\n")
            output(CMAKE, "-P", str(script))
            release, package, debian, name = pathlib.Path(place, "found").read_text().split()
        self.assertEqual(release, re.sub(r"\.dev.*", "", self.version))
        self.assertEqual(package, self.version)
        self.assertEqual(debian, self.version.replace(".dev", "~dev"))
        self.assertEqual(name, f"gputomo-{self.version}-linux-sparc")

    def test_the_executable(self):
        printed = re.fullmatch(r"(\S+) \((\S+)\)", output(GPUTOMO, "--version"))
        self.assertIsNotNone(printed)
        self.assertIn(f'"gputomo {printed[1]}"', output(GPUTOMO, "manual", "man").splitlines()[0])
        if git_says("rev-parse", "HEAD").startswith(printed[2].removesuffix("-dirty")):
            self.assertEqual(printed[1], self.version)
        else:  # the tree has commits or an origin that the executable was not built from
            self.assertEqual(printed[1].partition(".dev")[0], self.version.partition(".dev")[0])

    def test_the_newest_tag_has_a_heading_in_the_changelog(self):
        tag = git_says("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
        if not tag:
            self.skipTest("this tree has no tag of a release")
        self.assertRegex((ROOT / "CHANGELOG.md").read_text(), rf"(?m)^## {re.escape(tag[1:])}, \d{{4}}-\d\d-\d\d$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
