# SPDX-License-Identifier: Apache-2.0
"""What is loaded when: importing starts nothing, and text to C++ needs neither NumPy nor a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ADD = """
import pyasc as asc

def add(a: asc.float32[N], b: asc.float32[N], c: asc.float32[N]):
    for i in range(N):
        c[i] = a[i] + b[i]
"""

HEAVY = ("numpy", "jinja2", "click", "ctypes", "subprocess")
"""What takes long to load, and is for those who use it."""


def loaded_by(program: str, **variables: str) -> set[str]:
    """The modules that a new interpreter has loaded after running the program."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-c", f"{program}\nimport sys; print('\\n' + ' '.join(sys.modules))"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_import_loads_nothing() -> None:
    modules = loaded_by("import pyasc")
    assert {name for name in modules if name.startswith("pyasc.")} == {"pyasc._version"}
    assert not modules & set(HEAVY)


def test_names_of_a_kernel_file_load_no_compiler() -> None:
    modules = loaded_by(
        "import pyasc as asc\n"
        "@asc.kernel\n"
        "def f(x: asc.float32[...]): pass\n"
        "asc.parallel_for, asc.float16, asc.exp"
    )
    compiler = ("pyasc.frontend", "pyasc.passes", "pyasc.codegen", "pyasc.ir.core")
    assert not {name for name in modules if name.startswith(compiler)}
    assert not modules & {"numpy", "jinja2", "click", "subprocess"}


def test_a_kernel_in_float32_becomes_cpp_without_numpy() -> None:
    modules = loaded_by(
        f"import pyasc as asc; asc.kernel_from_source({ADD!r}).source('cpu')", PYASC_VERIFY="0"
    )
    assert "pyasc.codegen.cpp.emitter" in modules
    assert not modules & {"numpy", "click", "subprocess"}
    assert not {
        name for name in modules if name.startswith(("pyasc.cli", "pyasc.model", "pyasc.ir.interpreter"))
    }
    assert not modules & {
        "pyasc.ir.verifier",
        "pyasc.ir.parser",
        "pyasc.runtime.build",
        "pyasc.runtime.cache",
    }


def test_templates_are_compiled_once(tmp_path: Path) -> None:
    program = f"import pyasc as asc; print(asc.kernel_from_source({ADD!r}).source('cpu'))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run() -> str:
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    first = run()
    (kept,) = tmp_path.rglob("__jinja2_*")
    written = kept.stat().st_mtime_ns
    assert run() == first
    assert kept.stat().st_mtime_ns == written
    kept.write_bytes(b"damaged")
    assert run() == first
