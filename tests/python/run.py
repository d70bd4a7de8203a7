#!/usr/bin/env python3
"""Runs the tests of a module of this folder. Exits with 77 where all are skipped, and says why.

Usage: run.py MODULE
"""

import importlib
import sys
import unittest

try:
    module = importlib.import_module(sys.argv[1])
except unittest.SkipTest as skip:
    print("skipped:", skip)
    sys.exit(77)
result = unittest.main(module=module, argv=sys.argv[:1], exit=False).result
if result.wasSuccessful() and result.skipped and len(result.skipped) == result.testsRun:
    print("skipped:", ", ".join(sorted({reason for _, reason in result.skipped})))
    sys.exit(77)
sys.exit(not result.wasSuccessful())
