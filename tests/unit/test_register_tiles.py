# SPDX-License-Identifier: Apache-2.0
"""Tiles of vectors: the operations in the interpreter, what the verifier says of them, and the runtime's `pa_tile_`."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from rt_shim import CTYPES, NUMPY, compile_cpp

from pyasc.ir.interpreter import InterpreterError, interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify

PRODUCT = """\
func.module {
  func.func {symbol = "product", written = [2]} {
  ^(%a: ref<4 x 3 x FACTOR>, %b: ref<3 x 8 x f32>, %c: ref<2 x 4 x 8 x f32>):
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    %2 = arith.constant {value = 2} : i64
    %3 = arith.constant {value = 3} : i64
    %4 = arith.constant {value = 4} : i64
    %zero = arith.constant {value = 0.5} : f32
    %start = vec.fill %zero : tile<2 x 2 x 4 x f32>
    %sum = scf.for %0, %3, %1, [%start] {kind = "reduction"} : tile<2 x 2 x 4 x f32> {
    ^(%k: i64, %running: tile<2 x 2 x 4 x f32>):
      %left = vec.load %b, [%k, %0], [] : vec<4 x f32>
      %right = vec.load %b, [%k, %4], [] : vec<4 x f32>
      %next = vec.fma_tile %running, [%left, %right], %a, [%ROW, %k] {steps = [STEP, 0]}
      scf.yield %next
    }
    vec.store_tile %sum, %c, [%1, %2], [%0, %4] {axis = 1}
    %again = vec.load_tile %c, [%1, %2], [%0, %4] {axis = 1} : tile<2 x 2 x 4 x f32>
    vec.store_tile %again, %c, [%0, %1], [%0, %4] {axis = 0}
    func.return
  }
}
"""


def product(factor: str = "f32", row: str = "1", step: str = "2") -> str:
    return PRODUCT.replace("FACTOR", factor).replace("ROW", row).replace("STEP", step)


@pytest.mark.parametrize("factor, dtype", [("f32", np.float32), ("f16", np.float16), ("i32", np.int32)])
@pytest.mark.parametrize("row, step, rows", [("1", "2", [1, 3]), ("3", "-1", [3, 2]), ("2", "0", [2, 2])])
def test_a_product_by_tiles(factor: str, dtype: Any, row: str, step: str, rows: list[int]) -> None:
    module = parse(product(factor, row, step))
    assert verify(module) == []
    assert str(parse(str(module))) == str(module)
    rng = np.random.default_rng(0)
    a = rng.integers(-9, 9, (4, 3)).astype(dtype)
    b = rng.integers(-9, 9, (3, 8)).astype(np.float32)
    c = np.full((2, 4, 8), 99, np.float32)
    interpret(module, "product", (a, b, c))
    expected = np.full((2, 4, 8), 99, np.float32)
    expected[1, 2:4] = a[rows].astype(np.float32) @ b + 0.5
    expected[0, 1], expected[1, 1] = expected[1, 2:4]
    assert c.tolist() == expected.tolist()


def test_each_step_rounds_once() -> None:
    a = np.full((4, 3), 1 + 2.0**-12, np.float32)
    b = np.full((3, 8), 1 + 2.0**-12, np.float32)
    c = np.zeros((2, 4, 8), np.float32)
    interpret(parse(product()), "product", (a, b, c))
    expected = 0.5
    for _ in range(3):
        expected = float(np.float32(expected + (1 + 2.0**-12) ** 2))
    assert c[1, 2:4].tolist() == [[expected] * 8] * 2


def test_a_tile_outside_of_its_buffer_is_told() -> None:
    text = product().replace("vec.store_tile %sum, %c, [%1, %2]", "vec.store_tile %sum, %c, [%1, %3]")
    arrays = [np.zeros(shape, np.float32) for shape in ((4, 3), (3, 8), (2, 4, 8))]
    with pytest.raises(InterpreterError, match="4 lanes at"):
        interpret(parse(text), "product", arrays)


@pytest.mark.parametrize(
    "before, after, message",
    [
        ("[%left, %right]", "[%left]", "vectors of tile<2 x 2 x 4 x f32> are 2 of vec<4 x f32>"),
        ("steps = [2, 0]", "steps = [2]", "1 steps for 2 indices"),
        ("%c, [%1, %2], [%0, %4] {axis = 1}\n", "%c, [%1, %2], [%0] {axis = 1}\n", "1 starts for 2 columns"),
        ("{axis = 0}", "{axis = 2}", "rows along axis 2 of ref<2 x 4 x 8 x f32>"),
        ("%c, [%0, %1], [%0, %4]", "%c, [%0], [%0, %4]", "2 indices for ref<2 x 4 x 8 x f32>"),
        ("vec.store_tile %sum, %c, [%1, %2]", "vec.store_tile %sum, %a, [%1]", "rows along axis 1"),
    ],
)
def test_what_does_not_fit_is_told(before: str, after: str, message: str) -> None:
    assert before in product()
    problems = verify(parse(product().replace(before, after, 1)))
    assert any(message in str(problem) for problem in problems)


SHAPES = ((1, 1), (1, 4), (2, 3), (8, 3), (14, 2))
LANES = {"f32": 8, "f64": 4}
FACTORS = {"f32": ("f16", "bf16", "i16"), "f64": ("i32",)}
CASES = [(d, d, shape) for d in LANES for shape in SHAPES]
CASES += [(d, factor, (2, 3)) for d, factors in FACTORS.items() for factor in factors]


def source() -> str:
    """For each shape and dtype a kernel that loads a tile, adds an outer product, and stores it."""
    text = '#include "pyasc_rt.h"\n'
    for dtype, factor, (rows, columns) in CASES:
        t, lanes = CTYPES[dtype], LANES[dtype]
        v = f"pa_vec<{t}, {lanes}>"
        tile = f"pa_tile<{v}, {rows}, {columns}>"
        vectors = ", ".join(f"pa_load<{v}>(x + {c * lanes})" for c in range(columns))
        places = ", ".join(f"y + {c * lanes}" for c in range(columns))
        memory = f"pyasc_{factor}" if factor in ("f16", "bf16") else CTYPES[factor]
        name = f"fma_{dtype}_{factor}_{rows}_{columns}"
        text += (
            f'extern "C" void {name}(const {memory}* a, const {t}* x, {t}* y, int64_t da, int64_t dy) {{\n'
        )
        text += f"  {tile} tile = pa_tile_load<{tile}>(dy, {places});\n"
        text += f"  pa_tile_fma(tile, a, da, {vectors});\n  pa_tile_store(tile, dy, {places});\n}}\n"
        if factor == dtype:
            text += f'extern "C" void fill_{dtype}_{rows}_{columns}({t} value, {t}* y, int64_t dy) {{\n'
            text += f"  pa_tile_store(pa_tile_fill<{tile}>(value), dy, {places});\n}}\n"
    return text


@pytest.fixture(scope="module", params=[("-march=native",), ()], ids=["native", "baseline"])
def library(request: pytest.FixtureRequest) -> ctypes.CDLL:
    return compile_cpp(source(), request.param)


def _pointer(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize("dtype, factor, shape", CASES)
def test_outer_products(library: ctypes.CDLL, dtype: str, factor: str, shape: tuple[int, int]) -> None:
    rows, columns = shape
    rng, width, type_ = np.random.default_rng(1), columns * LANES[dtype], NUMPY[dtype]
    a = rng.integers(-50, 50, (rows, 3)).astype(np.float32)
    memory = (a.view(np.uint32) >> 16).astype(np.uint16) if factor == "bf16" else a.astype(NUMPY[factor])
    x = rng.integers(-50, 50, width).astype(type_)
    y = rng.integers(-50, 50, (rows, width + 5)).astype(type_)
    expected = y.copy()
    expected[:, :width] += a[:, :1].astype(type_) * x
    call = getattr(library, f"fma_{dtype}_{factor}_{rows}_{columns}")
    call(_pointer(memory), _pointer(x), _pointer(y), ctypes.c_int64(3), ctypes.c_int64(width + 5))
    assert y.tolist() == expected.tolist()


@pytest.mark.parametrize("rows, columns", SHAPES)
@pytest.mark.parametrize("dtype", LANES)
def test_one_number_everywhere(library: ctypes.CDLL, dtype: str, rows: int, columns: int) -> None:
    width = columns * LANES[dtype]
    y = np.full((rows, width + 1), 7, NUMPY[dtype])
    value = ctypes.c_float(-0.0) if dtype == "f32" else ctypes.c_double(-0.0)
    getattr(library, f"fill_{dtype}_{rows}_{columns}")(value, _pointer(y), ctypes.c_int64(width + 1))
    assert np.signbit(y[:, :width]).all() and (y[:, :width] == 0).all()
    assert (y[:, width] == 7).all()
