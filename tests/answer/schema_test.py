#!/usr/bin/env python3
"""Applies docs/answer.schema.json (draft 2020-12) to what predict and simulate print with --json.

The schema allows no member that it does not describe, and asks for all that it does: a field that is added to an answer
has to be added there. Each output must be refused, too, where a member is missing or has another type.

Usage: schema_test.py GPUTOMO SOURCE_FOLDER. Exit code 77: python3-jsonschema 4 or later is not installed.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
except ImportError as error:
    print(f"skipped: {error}; expected python3-jsonschema 4 or later (scripts/setup.sh installs it)")
    sys.exit(77)


def small_capture(of, to):
    """A copy whose launches have four blocks, so that they are answered quickly."""
    shutil.copytree(of, to)
    index = json.loads((to / "capture.json").read_text(encoding="utf-8"))
    for launch in index["launches"]:
        launch["launch"]["grid"] = [2, 2, 1]
    (to / "capture.json").write_text(json.dumps(index), encoding="utf-8")
    return to


def main():
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    schema = json.loads((root / "docs/answer.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    folder = tempfile.TemporaryDirectory()
    capture = str(small_capture(root / "tests/answer/fixtures/sgemm", pathlib.Path(folder.name) / "capture"))
    cubin = ["--kernel", "vector_add", "--grid", "264", "--block", "256", *["--arg", "buf:270336"] * 3]
    file = str(root / "tests/machine_code/fixtures/vector_add.cubin")
    commands = [["predict", capture, "--machine", "h200"],
                ["predict", capture, "--machine", "h200", "--launch", "1"],
                ["predict", file, "--machine", "h200", *cubin],
                ["simulate", file, "--device", "h200", *cubin],
                ["simulate", str(root / "tests/data/ptx/vector_add.ptx"), "--device", "gtx980", "--kernel", "vector_add",
                 "--grid", "1", "--block", "4", *["--arg", "buf:16"] * 3, "--arg", "u32:4"]]
    for command in commands:
        done = subprocess.run([program, *command, "--json"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        answer = json.loads(done.stdout)
        of = schema["oneOf"][0 if answer["schema"] == "gputomo-answer-1" else 1]
        faults = list(Draft202012Validator({**schema, "oneOf": [of]}).iter_errors(answer))
        for fault in faults:
            for part in fault.context or [fault]:
                print(f"{' '.join(command)}: {part.json_path}: {part.message[:200]}")
        assert not faults, command
        for member in answer:
            without = {name: value for name, value in answer.items() if name != member}
            assert not validator.is_valid(without), f"{command}: accepted without {member}"
            assert not validator.is_valid({**answer, member: object}), f"{command}: accepted any {member}"
    print(f"{len(commands)} outputs fit the schema")


main()
