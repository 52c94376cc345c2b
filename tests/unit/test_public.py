# SPDX-License-Identifier: Apache-2.0
"""The package's public names, and that importing it starts nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import pyasc as asc

HEAVY = {"click", "ctypes", "jinja2", "numpy", "subprocess", "inspect", "threading", "tempfile", "json"}


def run_python(code: str) -> str:
    """The output of `code` in an interpreter of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_every_public_name_can_be_loaded() -> None:
    missing = [name for name in dir(asc) if getattr(asc, name, None) is None]
    assert missing == []


def test_a_name_belongs_to_one_module() -> None:
    names = [name for module in asc._EXPORTS.values() for name in module]
    assert len(names) == len(set(names))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'pyasc' has no attribute 'kernle'"):
        asc.kernle


def test_a_loaded_name_is_kept() -> None:
    assert asc.KnobError is asc.KnobError
    assert "KnobError" in vars(asc)


def test_import_loads_nothing_but_the_table() -> None:
    code = (
        "import json, re, sys, typing; before = set(sys.modules); import pyasc; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    loaded = set(json.loads(run_python(code)))
    assert {name for name in loaded if name.startswith("pyasc")} == {"pyasc", "pyasc._version"}
    assert not loaded & HEAVY
