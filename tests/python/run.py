#!/usr/bin/env python3
"""Runs the tests of a module of this folder. Exits with 77 where all are skipped, and says why.

Usage: run.py MODULE
"""

import sys
import unittest

program = unittest.main(module=sys.argv[1], argv=sys.argv[:1], exit=False)
result = program.result
if result.wasSuccessful() and result.skipped and len(result.skipped) == result.testsRun:
    print("skipped:", ", ".join(sorted({reason for _, reason in result.skipped})))
    sys.exit(77)
sys.exit(not result.wasSuccessful())
