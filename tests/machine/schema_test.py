#!/usr/bin/env python3
"""Applies docs/machine.schema.json (draft 2020-12) to machine descriptions with a validator that knows that draft.

Every description must be valid, and for each keyword that the schema uses, a description with one mutation must be
refused by that keyword. A keyword without a mutation below fails the test.

Usage: schema_test.py SOURCE_FOLDER. Exit code 77: python3-jsonschema 4 or later is not installed.
"""

import copy
import json
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError as error:
    print(f"skipped: {error}; expected python3-jsonschema 4 or later (scripts/setup.sh installs it)")
    sys.exit(77)

# Keywords that say nothing about validity, and those that only hold other keywords.
ANNOTATIONS = {"$schema", "title", "description", "internal", "$defs"}


def keywords_of(schema, names=False):
    """The keywords of a schema. Below `properties` and `$defs`, keys are names and not keywords (`names`)."""
    found = set()
    if isinstance(schema, dict):
        for key, part in schema.items():
            if not names:
                found.add(key)
            found |= keywords_of(part, key in ("properties", "$defs") and not names)
    elif isinstance(schema, list):
        for part in schema:
            found |= keywords_of(part)
    return found - ANNOTATIONS


def set_member(*path):
    """A mutation that sets the member at path[:-1] to path[-1]."""

    def mutate(machine):
        *parents, name, value = path
        for parent in parents:
            machine = machine[parent]
        machine[name] = value

    return mutate


def remove(*path):
    def mutate(machine):
        *parents, name = path
        for parent in parents:
            machine = machine[parent]
        del machine[name]

    return mutate


def rename_cache(machine):
    machine["caches"]["two words"] = machine["caches"].pop("l2")


# A small valid description with a leaf of every kind: cited, measured, absent, undecided.
BASE = {
    "schema": "gputomo-machine-1",
    "identity": {"name": {"value": "Test", "source": "test"}},
    "clock": {
        "scope": {"value": "sm", "source": "test"},
        "sm_mhz": {"value": 1300.5, "unit": "MHz", "method": "clock", "confidence": 0.9, "interval": [1300, 1301]},
    },
    "issue": {"dual_issue": {"absent": True, "source": "test"}},
    "caches": {
        "l2": {
            "line": {"candidates": [64, 128], "unit": "bytes", "method": "caches", "confidence": 0.5},
            "capacity": {"value": 1048576, "unit": "bytes", "source": "test", "note": "as published"},
        }
    },
    "paths": {"global": {"caches": {"value": ["l2"], "source": "test"}}},
}

LINE = ("caches", "l2", "line")
CAPACITY = ("caches", "l2", "capacity")
SM_MHZ = ("clock", "sm_mhz")

# For each keyword: what is wrong, and the mutation that makes it so.
MUTATIONS = {
    "additionalProperties": ("an unknown section", set_member("colours", {})),
    "allOf": ("a leaf without provenance", remove(*CAPACITY, "source")),
    "anyOf": ("a value without its unit", remove(*CAPACITY, "unit")),
    "const": ("a unit of another leaf", set_member(*CAPACITY, "unit", "cycles")),
    "enum": ("a choice that does not exist", set_member("clock", "scope", "value", "galaxy")),
    "items": ("a list with an element of another type", set_member("paths", "global", "caches", "value", [2])),
    "maxItems": ("an interval of three numbers", set_member(*SM_MHZ, "interval", [1, 2, 3])),
    "maximum": ("a confidence above 1", set_member(*SM_MHZ, "confidence", 1.5)),
    "minItems": ("an interval of one number", set_member(*SM_MHZ, "interval", [1300])),
    "minLength": ("an empty citation", set_member(*CAPACITY, "source", "")),
    "minimum": ("a negative size", set_member(*CAPACITY, "value", -1)),
    "oneOf": ("a leaf that is both known and absent", set_member(*CAPACITY, "absent", True)),
    "pattern": ("a name with a blank", rename_cache),
    "properties": ("a confidence beside a citation", set_member(*CAPACITY, "confidence", 0.5)),
    "propertyNames": ("a name with a blank", rename_cache),
    "$ref": ("a note that is no text", set_member(*CAPACITY, "note", 7)),
    "required": ("no schema name", remove("schema")),
    "type": ("a size that is a text", set_member(*CAPACITY, "value", "1 MiB")),
    "unevaluatedProperties": ("an unknown member of a leaf", set_member(*LINE, "colour", "red")),
}


# Keywords that apply other schemas. The error names the keyword of the inner schema; its path names these.
APPLICATORS = {"allOf", "items", "properties", "propertyNames"}


def all_errors(errors):
    """The errors and those of the alternatives behind them."""
    for error in errors:
        yield error
        yield from all_errors(error.context)


def is_of(error, keyword):
    if keyword == "$ref":  # the validator leaves it out of paths; only the referenced schema mentions `note`
        return "note" in error.absolute_path
    if keyword in APPLICATORS:
        return keyword in list(error.absolute_schema_path)[-3:]
    return error.validator == keyword


def main(source):
    schema = json.loads((source / "docs/machine.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    faults = []

    files = sorted((source / "machines").glob("*.json")) + sorted((source / "tests/data/machines").glob("*.json"))
    if len(files) < 12:
        faults.append(f"found {len(files)} machine descriptions; expected at least 12")
    for file in files:
        for error in validator.iter_errors(json.loads(file.read_text())):
            faults.append(f"{file.name}: {error.json_path}: {error.message}")

    for error in validator.iter_errors(BASE):
        faults.append(f"the description to mutate is not valid: {error.json_path}: {error.message}")
    for keyword in sorted(keywords_of(schema) - set(MUTATIONS)):
        faults.append(f"the schema uses {keyword}, which no mutation violates; add one to MUTATIONS")
    for keyword, (what, mutate) in sorted(MUTATIONS.items()):
        machine = copy.deepcopy(BASE)
        mutate(machine)
        errors = list(all_errors(validator.iter_errors(machine)))
        if not any(is_of(error, keyword) for error in errors):
            faults.append(f"{keyword}: {what} is accepted; expected an error of this keyword")

    print("\n".join(faults) if faults else f"{len(files)} descriptions are valid, {len(MUTATIONS)} mutations are not")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
