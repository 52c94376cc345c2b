# SPDX-License-Identifier: Apache-2.0
"""Pyright and mypy take kernels as they are written, and the stub lists what the package has.

`make types` has pyright look at the examples too.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stubs

import pyasc
from pyasc.frontend.library import METHODS

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "tests" / "typing" / "kernels.py"
FILES = [*sorted((ROOT / "examples").glob("*.py")), KERNELS]
ELEMENTS = Path(pyasc.__file__).parent / "_elements.pyi"


def checker(*command: str) -> str:
    """What a checker prints that finds nothing wrong; its complaints fail the test."""
    environment = {**os.environ, "MYPYPATH": str(ROOT), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    found = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.slow
def test_pyright() -> None:
    pytest.importorskip("pyright")
    python = ("--pythonpath", sys.executable)
    assert "0 errors, 0 warnings" in checker("pyright", *python, str(KERNELS))


@pytest.mark.slow
def test_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    options = ("--follow-imports=silent", "--cache-dir", str(tmp_path), "--check-untyped-defs")
    assert "no issues found" in checker("mypy", *options, *map(str, FILES))


def test_the_stub_is_in_sync() -> None:
    assert stubs.FILE.read_text(encoding="utf-8") == stubs.stub(), "run `make docs`"


def test_the_stub_has_every_public_name() -> None:
    tree = ast.parse(stubs.FILE.read_text(encoding="utf-8"))
    imported = {
        a.asname or a.name for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names
    }
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assigned = {node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)}
    assigned |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert set(dir(pyasc)) <= imported | defined | assigned


def test_elements_have_every_method_of_arrays() -> None:
    tree = ast.parse(ELEMENTS.read_text(encoding="utf-8"))
    (value,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "_Value")
    assert set(METHODS) <= {node.name for node in value.body if isinstance(node, ast.FunctionDef)}


def test_the_kernels_of_the_checkers_compile() -> None:
    from pyasc.cli.loading import kernels_of, run_file
    from pyasc.runtime.checking import check_kernel

    kernels = kernels_of(run_file(str(KERNELS)))
    assert len(kernels) == 7
    found = [each for kernel in kernels for each in check_kernel(kernel)]
    assert [str(each) for each in found if each.severity == "error"] == []
