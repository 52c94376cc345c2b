# SPDX-License-Identifier: Apache-2.0
"""Functions on vectors give each lane the bits of the scalar function, with and without wide instructions."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from pyasc.runtime.toolchain import Toolchain, default_toolchain

INCLUDE = Path(__file__).parents[2] / "pyasc" / "codegen" / "cpp" / "include"
UNARY = "exp log sqrt abs tanh erf sin log1p rint floor rsqrt".split()
BINARY = "maximum minimum pymax pymin pow fmod copysign".split()

PROGRAM = r"""
#include <stdio.h>
#include "pyasc_rt.h"
template <class V> static V spread(uint64_t at, uint64_t step) {
  typedef typename pa_shape<V>::element T;
  typedef typename pa_int_of_size<sizeof(T)>::u U;
  U bits[pa_shape<V>::lanes];
  for (int i = 0; i < pa_shape<V>::lanes; i++) bits[i] = (U)((at + i) * step);
  V v;
  __builtin_memcpy(&v, bits, sizeof(v));
  return v;
}
template <class T> static bool same(T a, T b) { return (a != a && b != b) || !__builtin_memcmp(&a, &b, sizeof(T)); }
template <class V, class F, class G> static int check(const char* name, F vector, G scalar) {
  const uint64_t step = sizeof(pa_element<V>) == 4 ? 4999 : 90071992547409973;
  for (uint64_t at = 0; at < 860000; at += pa_shape<V>::lanes) {
    const V x = spread<V>(at, step), y = spread<V>(at * 7 + 3, step), r = vector(x, y);
    for (int i = 0; i < pa_shape<V>::lanes; i++)
      if (!same<pa_element<V>>(r[i], scalar(x[i], y[i])))
        return printf("%s(%a, %a): %a\n", name, (double)x[i], (double)y[i], (double)r[i]), 1;
  }
  return 0;
}
template <class V> static int check_all() {
  typedef pa_element<V> T;
  int bad = 0;
@CHECKS@
  bad += check<V>("select", [](V x, V y) { return pa_v_select(pa_v_lt(x, y) & ~pa_v_isnan(x), x, y); },
                  [](T x, T y) { return x < y ? x : y; });
  return bad;
}
int main() { return check_all<pa_native<float>>() + check_all<pa_native<double>>(); }
"""


def program() -> str:
    checks = [
        f'  bad += check<V>("{fn}", [](V x, V) {{ return pa_v_{fn}(x); }}, [](T x, T) {{ return pa_{fn}(x); }});'
        for fn in UNARY
    ]
    checks += [
        f'  bad += check<V>("{fn}", [](V x, V y) {{ return pa_v_{fn}(x, y); }}, '
        f"[](T x, T y) {{ return pa_{fn}(x, y); }});"
        for fn in BINARY
    ]
    return PROGRAM.replace("@CHECKS@", "\n".join(checks))


def compiled(toolchain: Toolchain, march: str, directory: Path) -> Path:
    source, path = directory / "check.cpp", directory / "check"
    source.write_text(program())
    flags = [f"-march={march}" if flag == "-march=native" else flag for flag in toolchain.flags]
    command = [*toolchain.argv, *flags, "-O2", f"-I{INCLUDE}", str(source), "-o", str(path), "-lm"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return path


MACHINES = ("native", "x86-64-v3", "x86-64-v2") if platform.machine() == "x86_64" else ("native",)


@pytest.mark.parametrize("march", MACHINES)
def test_lanes_have_the_bits_of_the_scalar(march: str, tmp_path: Path) -> None:
    path = compiled(default_toolchain(), march, tmp_path)
    done = subprocess.run([str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
