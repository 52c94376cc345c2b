# SPDX-License-Identifier: Apache-2.0
"""Configuration of the real lit: `lit tests/lit`, with `-Dupdate=1` to rewrite golden files."""
# pyright: reportUndefinedVariable=false
# ruff: noqa: F821

import os
import sys

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
update = " --update" if lit_config.params.get("update") else ""

config.name = "pyasc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(root, "build", "lit")
config.suffixes = [".ir", ".py", ".c", ".cpp", ".test"]
config.excludes = ["conftest.py", "lit.cfg.py"]
config.environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
config.environment["NO_COLOR"] = "1"
config.environment["PYASC_VERIFY"] = "1"
config.environment["PYASC_VECTORS"] = "64x32"
config.substitutions.append((r"\| golden ", f"| {sys.executable} {root}/tools/golden.py{update} "))
