# SPDX-License-Identifier: Apache-2.0
"""The interpreter on tensors, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyasc.ir.interpreter import InterpreterError, interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
IN_X = "%x = tensor.read %p\n"


def run(body: str, array: np.ndarray[Any, Any] = X, dtype: str = "f32", extra: str = "") -> Any:
    """Run a body on `%x`, a tensor with the array's contents, and return its `%r`."""
    shape = "".join(f"{n} x " for n in array.shape)
    text = (
        f'func.module {{\nfunc.func {{symbol = "f", sizes = ["N"]}} {{\n^(%p: ref<{shape}{dtype}>{extra}):\n'
        f"%x = tensor.read %p\n%0 = arith.constant {{value = 0}} : i64\n%1 = arith.constant {{value = 1}} : i64\n"
        f"%2 = arith.constant {{value = 2}} : i64\n{body}\nfunc.return %r\n}}\n}}"
    )
    module = parse(text)
    assert verify(module, "py") == []
    (result,) = interpret(module, "f", [array], {"N": 4})
    return result


def check(body: str, expected: Any, array: np.ndarray[Any, Any] = X, dtype: str = "f32") -> None:
    actual = run(body, array, dtype)
    assert np.asarray(actual).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(actual, expected)


def test_reading_takes_a_snapshot_and_writing_fills() -> None:
    array = X.copy()
    run("%n = arith.neg %x\ntensor.write %n, %p\n%r = arith.add %x, %x", array)
    np.testing.assert_array_equal(array, -X)
    check("%n = arith.neg %x\ntensor.write %n, %p\n%r = arith.abs %x", np.abs(X), X.copy())


def test_elementwise_functions_and_casts() -> None:
    check("%r = arith.mul %x, %x", X * X)
    check("%c = arith.gt %x, %x\n%r = arith.not %c", np.ones((3, 4), bool))
    check("%r = arith.cast %x : tensor<3 x 4 x i8>", X.astype(np.int8))


def test_splat_generate_and_extract() -> None:
    check("%r = tensor.splat %2, [] : tensor<3 x N x i64>", np.full((3, 4), 2))
    check("%r = tensor.splat %2, [%2] : tensor<? x i64>", np.full(2, 2))
    generated = """\
%r = tensor.generate %2 : tensor<? x N x f32> {
^(%i: i64, %j: i64):
  %k = arith.add %i, %1
  %e = tensor.extract %x, [%k, %j]
  tensor.yield %e
}"""
    check(generated, X[1:])
    check("%r = tensor.dim %x {axis = 1}", 4)


def test_shapes() -> None:
    check("%r = tensor.broadcast %x, [] : tensor<2 x 3 x 4 x f32>", np.broadcast_to(X, (2, 3, 4)))
    check("%r = tensor.reshape %x, [%2] : tensor<? x 6 x f32>", X.reshape(2, 6))
    transposed = (
        "%r = tensor.view %x, [%0, %1], [%2, %2], [%1, %2] {axes = [1, -1, 0]} : tensor<2 x 1 x 2 x f32>"
    )
    check(transposed, X[0:2, 1:4:2].T[:, None, :])
    check("%r = tensor.concat %x, %x {axis = 1} : tensor<3 x 8 x f32>", np.concatenate([X, X], axis=1))


REDUCTIONS = {
    "add": np.sum,
    "mul": np.prod,
    "maximum": np.max,
    "minimum": np.min,
}


@pytest.mark.parametrize("fn", REDUCTIONS)
def test_reductions(fn: str) -> None:
    reduce: Any = REDUCTIONS[fn]
    check(f'%r = tensor.reduce %x {{fn = "{fn}", axes = [1]}} : tensor<3 x f32>', reduce(X, axis=1))
    check(f'%r = tensor.reduce %x {{fn = "{fn}", axes = [1, 0]}} : tensor<f32>', reduce(X))
    kept = f'%r = tensor.reduce %x {{fn = "{fn}", axes = [0], keepdims = true}} : tensor<1 x 4 x f32>'
    check(kept, reduce(X, axis=0, keepdims=True))


def test_reductions_of_integers_wrap_and_of_bools_are_logic() -> None:
    array = np.full((2, 3), 100, np.int8)
    check(
        '%r = tensor.reduce %x {fn = "add", axes = [0]} : tensor<3 x i8>',
        np.full(3, -56, np.int8),
        array,
        "i8",
    )
    truth = np.array([[True, False], [True, True]])
    check('%r = tensor.reduce %x {fn = "and", axes = [0]} : tensor<2 x i1>', truth.all(axis=0), truth, "i1")


def test_reductions_of_nothing() -> None:
    empty = np.zeros((0, 2), np.float32)
    check('%r = tensor.reduce %x {fn = "add", axes = [0]} : tensor<2 x f32>', np.zeros(2, np.float32), empty)
    check('%r = tensor.reduce %x {fn = "mul", axes = [0]} : tensor<2 x f32>', np.ones(2, np.float32), empty)
    full = np.zeros((0, 2), np.uint8)
    check(
        '%r = tensor.reduce %x {fn = "and", axes = [0]} : tensor<2 x u8>',
        np.full(2, 255, np.uint8),
        full,
        "u8",
    )
    with pytest.raises(InterpreterError, match="the maximum of nothing"):
        run('%r = tensor.reduce %x {fn = "maximum", axes = [0]} : tensor<2 x f32>', empty)


def test_sums_of_halves_are_carried_in_float32() -> None:
    array = np.full(3000, 1.0, np.float16)
    array[0] = 2048.0
    expected = np.float16(np.float32(2048 + 2999))
    check('%r = tensor.reduce %x {fn = "add", axes = [0]} : tensor<f16>', np.array(expected), array, "f16")
    running = np.cumsum(array.astype(np.float32)).astype(np.float16)
    check('%r = tensor.scan %x {fn = "add", axis = 0}', running, array, "f16")


def test_extremes_have_indices() -> None:
    array = np.array([[1, np.nan, 3], [4, 4, 2]], np.float32)
    check(
        '%r = tensor.argreduce %x {fn = "maximum", axis = 1} : tensor<2 x i64>',
        np.argmax(array, axis=1),
        array,
    )
    check(
        '%r = tensor.argreduce %x {fn = "minimum", axis = 0} : tensor<3 x i64>',
        np.argmin(array, axis=0),
        array,
    )
    kept = '%r = tensor.argreduce %x {fn = "minimum", axis = 0, keepdims = true} : tensor<1 x 3 x i64>'
    check(kept, np.argmin(array, axis=0, keepdims=True), array)


def test_scans() -> None:
    check('%r = tensor.scan %x {fn = "add", axis = 1}', np.cumsum(X, axis=1))
    check('%r = tensor.scan %x {fn = "maximum", axis = 0}', np.maximum.accumulate(X, axis=0))


def test_contractions() -> None:
    text = '%r = tensor.contract %x, %x {equation = "ij,kj->ik", accumulate = f32} : tensor<3 x 3 x f32>'
    check(text, X @ X.T)
    halves = X.astype(np.float16) * np.float16(100)
    text = '%r = tensor.contract %x, %x {equation = "ij,kj->ik", accumulate = f32} : tensor<3 x 3 x f16>'
    with np.errstate(over="ignore"):
        expected = (halves.astype(np.float32) @ halves.astype(np.float32).T).astype(np.float16)
    check(text, expected, halves, "f16")
    bytes_ = np.full((2, 2), 100, np.int8)
    text = '%r = tensor.contract %x, %x {equation = "ij,jk->ik", accumulate = i8} : tensor<2 x 2 x i8>'
    check(text, np.full((2, 2), 20000, np.int32).astype(np.int8), bytes_, "i8")
    wide = text.replace("i8", "i32")
    check(wide, np.full((2, 2), 20000, np.int32), bytes_, "i8")


def test_writing_needs_the_same_shape() -> None:
    with pytest.raises(InterpreterError, match=r"of shape \(1, 4\) into a buffer of shape \(3, 4\)"):
        run(
            "%y = tensor.view %x, [%0, %0], [%1, %d], [%1, %1] {axes = [0, 1]} : tensor<? x ? x f32>\n"
            "tensor.write %y, %p\n%r = tensor.dim %y {axis = 0}".replace("%d", "%n").replace(
                "%y = ", '%n = func.size {symbol = "N"}\n%y = ', 1
            )
        )
