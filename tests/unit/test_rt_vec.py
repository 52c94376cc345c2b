# SPDX-License-Identifier: Apache-2.0
"""The explicit vectors of pyasc_vec.h: lanes, fused multiply-add, reductions in a fixed order, scans."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable

import numpy as np
import pytest
from rt_shim import CTYPES, INCLUDE, KERNEL_FLAGS, NUMPY, compile_cpp, compiler

DTYPES = ("f32", "f64", "i8", "i32", "i64", "u16")
LANES = 16
OPS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def source() -> str:
    """Functions over one vector of 16 lanes, for each dtype."""
    text = '#include "pyasc_rt.h"\n'
    for d in DTYPES:
        t, v = CTYPES[d], f"pa_vec<{CTYPES[d]}, {LANES}>"
        for op in OPS:
            text += f'extern "C" void scan_{op}_{d}(const {t}* x, {t}* y) {{\n'
            text += f"  pa_store<{v}>(y, pa_scan<pa_op_{op}>(pa_load<{v}>(x)));\n}}\n"
            text += f'extern "C" void scan_at_{op}_{d}(const {t}* x, {t}* y) {{\n'
            text += f"  pa_store<{v}>(y, pa_scan_at<pa_op_{op}, {v}>(x + 1));\n}}\n"
            text += f'extern "C" void reduce_{op}_{d}(const {t}* x, {t}* y) {{\n'
            text += f"  y[0] = pa_reduce<pa_op_{op}>(pa_load<{v}>(x));\n}}\n"
        text += f'extern "C" void last_{d}(const {t}* x, {t}* y) {{\n'
        text += f"  pa_store<{v}>(y, pa_broadcast_last(pa_load<{v}>(x)));\n}}\n"
        text += f'extern "C" void first_of_{d}(const {t}* x, {t}* y) {{\n'
        text += f"  pa_store<{v}>(y, pa_broadcast<{v}>(x[0]));\n}}\n"
        text += f'extern "C" void part_{d}(const {t}* x, {t}* y, int64_t n) {{\n'
        text += f"  pa_store_first<{v}>(y, pa_load_first<{v}>(x, n, 7), n);\n}}\n"
        text += f'extern "C" void filled_{d}(const {t}* x, {t}* y, int64_t n) {{\n'
        text += f"  pa_store<{v}>(y, pa_load_first<{v}>(x, n, 7));\n}}\n"
    for d in ("f32", "f64"):
        t, v = CTYPES[d], f"pa_vec<{CTYPES[d]}, {LANES}>"
        for f in ("fma", "mad"):
            text += f'extern "C" void {f}_{d}(const {t}* x, {t}* y) {{\n  {v} a = pa_load<{v}>(x);\n'
            text += f"  pa_store<{v}>(y, pa_{f}(a, pa_load<{v}>(x + {LANES}), pa_load<{v}>(y)));\n}}\n"
            text += f'extern "C" void scalar_{f}_{d}(const {t}* x, {t}* y) {{\n'
            text += f"  for (int i = 0; i < {LANES}; i++) y[i] = pa_{f}(x[i], x[i + {LANES}], y[i]);\n}}\n"
    return text


@pytest.fixture(scope="module", params=[("-march=native",), ()], ids=["native", "baseline"])
def library(request: pytest.FixtureRequest) -> ctypes.CDLL:
    return compile_cpp(source(), request.param)


def run(library: ctypes.CDLL, name: str, x: np.ndarray, *extra: int) -> np.ndarray:
    y = np.zeros(LANES, x.dtype)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, y)]
    getattr(library, name)(*pointers, *(ctypes.c_int64(e) for e in extra))
    return y


def values(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(11)
    if dtype in ("f32", "f64"):
        return rng.standard_normal(LANES).astype(NUMPY[dtype])
    info = np.iinfo(NUMPY[dtype])
    return rng.integers(info.min, info.max, LANES, dtype=NUMPY[dtype], endpoint=True)


def behind(x: np.ndarray) -> np.ndarray:
    """The values with an element in front that must not count."""
    return np.concatenate([np.full(1, 99, x.dtype), x])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPS)
def test_scan_takes_in_1_2_4_8_places(library: ctypes.CDLL, op: str, dtype: str) -> None:
    x = values(dtype)
    want = x.copy()
    for by in (1, 2, 4, 8):
        want = np.concatenate([want[:by], OPS[op](want[:-by], want[by:])])
    assert np.array_equal(run(library, f"scan_{op}_{dtype}", x), want)
    assert np.array_equal(run(library, f"scan_at_{op}_{dtype}", behind(x)), want)
    if dtype not in ("f32", "f64"):
        assert np.array_equal(want, OPS[op].accumulate(x, dtype=x.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPS)
def test_reduction_combines_halves(library: ctypes.CDLL, op: str, dtype: str) -> None:
    x = values(dtype)
    want = x
    while want.size > 1:
        want = OPS[op](want[: want.size // 2], want[want.size // 2 :])
    assert run(library, f"reduce_{op}_{dtype}", x)[0] == want[0]


def test_scan_and_reduction_keep_signed_zeros_and_nan(library: ctypes.CDLL) -> None:
    zeros = np.full(LANES, -0.0, np.float32)
    assert np.signbit(run(library, "scan_add_f32", zeros)).all()
    assert np.signbit(run(library, "scan_at_add_f32", behind(zeros))).all()
    assert np.signbit(run(library, "reduce_add_f32", zeros)[0])
    x = values("f32")
    x[5] = np.nan
    for op in OPS:
        for found in (run(library, f"scan_{op}_f32", x), run(library, f"scan_at_{op}_f32", behind(x))):
            assert np.array_equal(np.isnan(found), np.arange(LANES) >= 5)
        assert np.isnan(run(library, f"reduce_{op}_f32", x)[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_lanes_are_broadcast_and_cut(library: ctypes.CDLL, dtype: str) -> None:
    x = values(dtype)
    assert np.array_equal(run(library, f"last_{dtype}", x), np.full_like(x, x[-1]))
    assert np.array_equal(run(library, f"first_of_{dtype}", x), np.full_like(x, x[0]))
    for n in (0, 1, 7, LANES):
        assert np.array_equal(run(library, f"part_{dtype}", x, n), np.where(np.arange(LANES) < n, x, 0))
        assert np.array_equal(run(library, f"filled_{dtype}", x, n), np.where(np.arange(LANES) < n, x, 7))


def test_broadcast_keeps_minus_zero(library: ctypes.CDLL) -> None:
    assert np.signbit(run(library, "first_of_f32", np.full(1, -0.0, np.float32))).all()


def has_fma(flags: tuple[str, ...]) -> bool:
    command = [*compiler(), *flags, "-dM", "-E", "-xc++", "/dev/null"]
    return "__FMA__" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(shutil.which("g++") is None, reason="reads the assembly of g++")
def test_fma_on_a_register_is_one_instruction(tmp_path) -> None:
    if not has_fma(("-march=native",)):
        pytest.skip("this processor has no fused multiply-add")
    text = '#include "pyasc_rt.h"\ntypedef pa_native<float> V;\n'
    text += 'extern "C" void f(float* p) { constexpr int n = pa_shape<V>::lanes;\n'
    text += "  pa_store<V>(p, pa_fma(pa_load<V>(p + n), pa_load<V>(p + 2 * n), pa_load<V>(p))); }\n"
    (tmp_path / "f.cpp").write_text(text)
    command = [
        "g++",
        *KERNEL_FLAGS,
        "-march=native",
        f"-I{INCLUDE}",
        "-S",
        str(tmp_path / "f.cpp"),
        "-o",
        "-",
    ]
    assembly = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    arithmetic = [line.split()[0] for line in assembly.splitlines() if "fmadd" in line or "mulps" in line]
    assert len(arithmetic) == 1 and "ps" in arithmetic[0]


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("form", ["", "scalar_"], ids=["vector", "scalar"])
def test_fma_rounds_once_and_mad_as_the_processor_likes(library: ctypes.CDLL, form: str, dtype: str) -> None:
    t = NUMPY[dtype]
    x = np.concatenate([np.full(LANES, 1 + np.finfo(t).eps, t), np.arange(LANES, dtype=t)])
    fused = (x[:LANES].astype(np.longdouble) * x[LANES:] - 3).astype(t)
    separate = x[:LANES] * x[LANES:] - t(3)
    assert not np.array_equal(fused, separate)
    results = {}
    for name in ("fma", "mad"):
        results[name] = np.full(LANES, -3, t)
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, results[name])]
        getattr(library, f"{form}{name}_{dtype}")(*pointers)
    assert np.array_equal(results["fma"], fused)
    assert np.array_equal(results["mad"], fused) or np.array_equal(results["mad"], separate)
