"""Checks the tables of docs/simulator.md and its two neighbours against the sources of the simulated GPU.

Each row of a table with the column 'leaves that it reads' names files, leaves and tests. They have to exist, the files
have to read the leaves, and all leaves that a file reads have to be in its rows. Every file of src/sim is in a row.
Files, leaves and tests that docs/changing-costs.md names have to exist as well.
"""
import pathlib
import re

PAGES = ("docs/simulator.md", "docs/simulated-memory.md", "docs/simulated-device.md")
EXAMPLES = "docs/changing-costs.md"
TEST_COLUMNS = 5  # of its table whose last column names tests
LEAVES = "leaves that it reads"
# A row with this word among its leaves reads leaves of other units as well: it checks, completes or reports them.
ANY = "any"
# What a leaf is read from: a part of the description by the name that the simulator's code gives it.
PARTS = "topology|issue|shared|memory|path|pipeline|row|supply|instruction_supply|launch|clock|identity|cache|from|part|" \
        "tlb|first|stores|atomics|operation"
READ = re.compile(rf"(?<![\w.>])(?:(?:machine_?\.)?(?:{PARTS})|\w+->second|machine_?\.\w+)\.(\w+)\b(?!\()")


class Row:
    def __init__(self, page, cells):
        named = [re.findall(r"`([^`]+)`", cell) for cell in cells]
        self.where = f"{page}, '{cells[0]}'"
        self.files, self.leaves, self.tests = named[-3:]
        self.reads_any = ANY in re.findall(r"\w+", re.sub(r"`[^`]+`", "", cells[-2]))


def rows_of(page, text):
    rows, inside = [], False
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[-2:-1] == [LEAVES]:
            inside = True
        elif inside and not set(cells[0]) <= set("- "):
            rows.append(Row(page, cells))
    return rows


def sources(root, name):
    """The source files that a name of the column 'file' stands for: a room's path, or one below src/sim."""
    path = root / "src/sim" / name
    if name.endswith("/"):
        return sorted(file for file in path.rglob("*.?pp")) if path.is_dir() else []
    return [file for file in (path.with_name(path.name + end) for end in (".hpp", ".cpp")) if file.exists()]


def leaves_read(files, names):
    """Last names of leaves that the code of these files reads from a description."""
    text = "\n".join(re.sub(r"//.*", "", file.read_text(encoding="utf-8")) for file in files)
    if "machine" not in text:
        return set()
    return {name for name in READ.findall(text) if name in names}


def faults(root, leaves, overlap):
    """`leaves`: all of the schema. `overlap(a, b)`: whether two patterns can name the same leaf."""
    rows = [row for page in PAGES for row in rows_of(page, (root / page).read_text(encoding="utf-8"))]
    found, names = [], {leaf.split(".")[-1] for leaf in leaves}
    tests = "\n".join(file.read_text(encoding="utf-8") for file in sorted((root / "tests").rglob("*.cpp")))
    suites = set(re.findall(r"TEST(?:_F|_P)?\((\w+),", tests))
    cases = {f"{suite}.{case}" for suite, case in re.findall(r"TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", tests)}
    named = {}  # file -> the last names of the leaves in its rows; None where it may read any
    for row in rows:
        files = []
        for name in row.files:
            files += sources(root, name)
            if not sources(root, name):
                found.append(f"{row.where}: no file src/sim/{name}")
        code = "\n".join(file.read_text(encoding="utf-8") for file in files)
        for leaf in row.leaves:
            if not any(overlap(leaf, known) for known in leaves):
                found.append(f"{row.where}: `{leaf}` is no leaf of docs/machine.schema.json")
            elif not re.search(rf"(?:\.|->){leaf.split('.')[-1]}\b", code):
                found.append(f"{row.where}: none of its files reads `{leaf}`")
        if not row.files or not row.tests:
            found.append(f"{row.where}: expected at least one file and one test")
        found += [f"{row.where}: no test {test}" for test in row.tests if test not in suites and test not in cases]
        for file in files:
            mine = None if row.reads_any else {leaf.split(".")[-1] for leaf in row.leaves}
            before = named.get(file, set())
            named[file] = None if mine is None or before is None else before | mine
    for file in sorted((root / "src/sim").rglob("*.?pp")):
        name = file.relative_to(root)
        if file not in named:
            found.append(f"{name} is in no row of {' and '.join(PAGES)}")
        elif named[file] is not None:
            found += [f"{name} reads a leaf .{leaf} that its rows in {' and '.join(PAGES)} do not name"
                      for leaf in sorted(leaves_read([file], names) - named[file])]
    return found + example_faults(root, leaves, overlap, suites)


def example_faults(root, leaves, overlap, suites):
    """What the page of examples names and the tree does not have."""
    text = (root / EXAMPLES).read_text(encoding="utf-8")
    parts, wrong = {leaf.split(".")[0] for leaf in leaves}, []
    for name in re.findall(r"`([^`\s]+)`", text):
        words = name.split(".")
        if re.fullmatch(r"(?:sm|memory|exec|machine_code)/\w+", name) and not sources(root, name):
            wrong.append(name)
        elif re.fullmatch(r"[a-z_]+(?:\.[a-z_*\d]+)+", name) and words[0] in parts:  # a leaf, or what has leaves
            if not any(overlap(name, ".".join(leaf.split(".")[:len(words)])) for leaf in leaves):
                wrong.append(name)
    for line in text.split("\n"):
        # A list of tests, or the last cell of a table that has a column of them.
        tests = line.partition("**Tests.**")[2] or (line.split("|")[-2] if line.count("|") == TEST_COLUMNS + 1 else "")
        wrong += [test for test in re.findall(r"`(\w+)(?:\.\w+)?`", tests) if test not in suites]
    return [f"{EXAMPLES}: names {name}, which is not there" for name in wrong]
