# SPDX-License-Identifier: Apache-2.0
"""Functions on vectors give each lane the bits of the scalar function, with and without wide instructions."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from rt_shim import KERNEL_FLAGS

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
  T values[pa_shape<V>::lanes];
  __builtin_memcpy(values, bits, sizeof(values));
  return pa_load<V>(values);
}
template <class T> static bool same(T a, T b) { return (a != a && b != b) || !__builtin_memcmp(&a, &b, sizeof(T)); }
template <class V, class F, class G> static int check(const char* name, F vector, G scalar) {
  const uint64_t step = sizeof(pa_element<V>) == 4 ? 4999 : 90071992547409973;
  for (uint64_t at = 0; at < (pa_is_wide<V>::value ? 86000 : 860000); at += pa_shape<V>::lanes) {
    const V x = spread<V>(at, step), y = spread<V>(at * 7 + 3, step);
    pa_element<V> a[pa_shape<V>::lanes], b[pa_shape<V>::lanes], r[pa_shape<V>::lanes];
    pa_store(a, x), pa_store(b, y), pa_store(r, vector(x, y));
    for (int i = 0; i < pa_shape<V>::lanes; i++)
      if (!same<pa_element<V>>(r[i], scalar(a[i], b[i])))
        return printf("%s(%a, %a): %a in lane %d of %d\n", name, (double)a[i], (double)b[i], (double)r[i], i,
                      pa_shape<V>::lanes), 1;
  }
  return 0;
}
template <class V> static int check_shape();
template <class V> static int check_all() {
  typedef pa_element<V> T;
  int bad = 0;
@CHECKS@
  bad += check<V>("select", [](V x, V y) { return pa_v_select(pa_v_lt(x, y) & ~pa_v_isnan(x), x, y); },
                  [](T x, T y) { return x < y ? x : y; });
  bad += check_shape<V>();
  return bad;
}
// What knows how many registers a vector has: masks, conversions, places of lanes.
template <class V> static int check_shape() {
  typedef pa_element<V> T;
  typedef typename pa_shape<V>::mask I;
  constexpr int n = pa_shape<V>::lanes;
  typedef pa_vec<float, n> F;
  typedef pa_vec<double, n> D;
  typedef pa_vec<int8_t, n> B;
  int bad = 0;
  bad += check<V>("ints", [](V x, V) { return pa_v_cast<V>(pa_v_cast<I>(pa_v_larger(x, V{}))); },
                  [](T x, T) { return (T)pa_cast<pa_element<I>>(x > 0 ? x : T(0)); });
  bad += check<V>("bytes", [](V x, V) { return pa_v_cast<V>(pa_v_cast<B>(x)); },
                  [](T x, T) { return (T)pa_cast<int8_t>(x); });
  bad += check<V>("floats", [](V x, V y) { return x + pa_v_cast<V>(pa_v_cast<F>(pa_v_cast<D>(y))); },
                  [](T x, T y) { return x + (T)(float)(double)y; });
  bad += check<V>("signs", [](V x, V y) { return pa_v_select(pa_v_signbit(x) ^ pa_v_isfinite(y), -x, y * 2 - 1); },
                  [](T x, T y) { return !!__builtin_signbit(x) != !!__builtin_isfinite(y) ? -x : y * 2 - 1; });
  bad += check<V>("masks", [](V x, V y) { return pa_v_from_mask<V>(pa_v_ge(pa_v_cast<B>(x), pa_v_cast<B>(y))); },
                  [](T x, T y) { return (T)(pa_cast<int8_t>(x) >= pa_cast<int8_t>(y)); });
  bad += check<V>("exp", [](V x, V) { return pa_v_exp(x); }, [](T x, T) { return pa_exp(x); });
  bad += check<V>("log", [](V x, V) { return pa_v_log(x); }, [](T x, T) { return pa_log(x); });
  bad += check<V>("sqrt", [](V x, V) { return pa_v_sqrt(pa_v_abs(x)); }, [](T x, T) { return pa_sqrt(pa_abs(x)); });
  const V numbers = pa_v_lanes<V>(T(5));
  for (int by = 0; by < n; by++) {
    T found[n], part[n] = {};
    pa_store(found, pa_v_shift(numbers, numbers + T(n), by));
    for (int i = 0; i < n; i++) bad += found[i] != T(5 + by + i);
    pa_store(found, pa_v_select(pa_mask<n>::first(by), numbers, V{}));
    for (int i = 0; i < n; i++) bad += found[i] != (i < by ? T(5 + i) : T(0));
    pa_store(part, pa_load<V>(found, by + 1), by);
    for (int i = 0; i < n; i++) bad += part[i] != found[i];
    bad += pa_v_eq(numbers, pa_broadcast<V>(T(5 + by))).any() != true;
  }
  bad += pa_v_eq(numbers, V{}).any() || !pa_mask<n>::same(true).any() || pa_mask<n>::same(false).any();
  bad += !pa_v_select(pa_mask<n>::first(n), ~pa_mask<n>::first(n - 1), pa_mask<n>::same(false)).any();
  if (bad) printf("shape of %d lanes of %d bytes\n", n, (int)sizeof(T));
  return bad;
}
int main() {
  return check_all<pa_native<float>>() + check_all<pa_native<double>>() + check_shape<pa_vec<float, 8>>() +
         check_shape<pa_vec<float, 16>>() + check_shape<pa_vec<float, 32>>() + check_shape<pa_vec<double, 8>>() +
         check_shape<pa_vec<double, 16>>();
}
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


@pytest.mark.skipif(
    shutil.which("g++") is None or platform.machine() != "x86_64", reason="reads x86 assembly of g++"
)
def test_vectors_of_several_registers_stay_in_them() -> None:
    text = '#include "pyasc_rt.h"\ntypedef pa_vec<float, 16> V;\n'
    text += 'extern "C" void f(float* p) { const V a = pa_load<V>(p), b = pa_load<V>(p + 16);\n'
    text += (
        "  pa_store<V>(p, pa_v_select(pa_v_lt(a, b) & ~pa_v_isnan(a), a * b + 1.0f, pa_fma(a, b, -b))); }\n"
    )
    command = ["g++", *KERNEL_FLAGS, "-march=x86-64-v3", f"-I{INCLUDE}", "-xc++", "-", "-S", "-o", "-"]
    assembly = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    assert "%ymm" in assembly and "(%rsp)" not in assembly and "(%rbp)" not in assembly
