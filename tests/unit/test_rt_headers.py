# SPDX-License-Identifier: Apache-2.0
"""The runtime headers stay light and self-contained, so that a kernel compiles in a fraction of a second."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from rt_shim import INCLUDE, KERNEL_FLAGS, compiler

from tests.compilers import compile_without_warnings

HEADERS = sorted(path.name for path in INCLUDE.glob("pyasc_*.h"))


@pytest.mark.parametrize("header", HEADERS)
def test_header_includes_only_fixed_width_integers(header: str) -> None:
    included = re.findall(r"#\s*include\s*(\S+)", (INCLUDE / header).read_text())
    assert [name for name in included if name != "<stdint.h>" and not name.startswith('"pyasc_')] == []


@pytest.mark.parametrize("header", HEADERS)
def test_macros_and_names_are_prefixed(header: str) -> None:
    text = (INCLUDE / header).read_text()
    assert [m for m in re.findall(r"#\s*define\s+(\w+)", text) if not m.startswith(("PA_", "PYASC_"))] == []


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("flags", [("-march=native",), ()], ids=["native", "baseline"])
def test_header_compiles_alone_without_warnings(header: str, flags: tuple[str, ...], tmp_path) -> None:
    (tmp_path / "alone.cpp").write_text(f'#include "{header}"\n#include "{header}"\n')
    compile_without_warnings(
        [*compiler(), *KERNEL_FLAGS, "-Wextra", *flags, f"-I{INCLUDE}"], tmp_path / "alone.cpp"
    )


def zig() -> list[str]:
    try:
        import ziglang  # noqa: F401
    except ImportError:
        pytest.skip("the ziglang package is not installed")
    return [sys.executable, "-m", "ziglang", "c++"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["x86_64-linux-gnu", "aarch64-linux-gnu"])
def test_clang_compiles_every_function_for_every_processor(target: str, tmp_path) -> None:
    text = '#include "pyasc_rt.h"\ntypedef pa_native<float> V;\n'
    for f in ("exp", "log", "log1p", "sin", "tan", "tanh", "erf", "gelu", "cbrt", "asin"):
        text += f'extern "C" void loop_{f}(float* x, int64_t n) {{\n'
        text += f"  for (int64_t i = 0; i < n; i++) x[i] = pa_{f}(x[i]);\n}}\n"
    text += 'extern "C" void scan(float* x) {\n'
    text += "  pa_store<V>(x, pa_fma(pa_load<V>(x), pa_scan_add(pa_load<V>(x)), V{}));\n}\n"
    text += 'extern "C" void halves(pyasc_f16* x, float* y) {\n'
    text += "  x[0] = pa_cast<pyasc_f16>(y[0]); y[1] = pa_cast<float>(x[1]);\n}\n"
    (tmp_path / "all.cpp").write_text(text)
    command = [*zig(), "-target", target, *KERNEL_FLAGS, "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    command += ["-c", str(tmp_path / "all.cpp"), "-o", str(tmp_path / "all.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
