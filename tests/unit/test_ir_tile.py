# SPDX-License-Identifier: Apache-2.0
"""The tile level: text, rules and meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyasc.ir.interpreter import InterpreterError, interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify

SAXPY = """\
func.module {
  func.func {symbol = "saxpy", sizes = ["N"], written = [1]} {
  ^(%x: ref<N x f32>, %y: ref<N x f32>, %a: f32):
    %n = func.size {symbol = "N"}
    %one = arith.constant {value = 1} : i64
    %piece = arith.constant {value = 8} : i64
    %seven = arith.constant {value = 7} : i64
    %up = arith.add %n, %seven
    %count = arith.floordiv %up, %piece
    tile.cores %count {cores = 4, order = "cyclic"} {
    ^(%i: i64):
      %from = arith.mul %i, %piece
      %left = arith.sub %n, %from
      %len = arith.minimum %left, %piece
      %xs = mem.view %x, [%from], [%len], [%one] {axes = [0]} : ref<? x f32>
      %ys = mem.view %y, [%from], [%len], [%one] {axes = [0]} : ref<? x f32>
      tile.loop %len {tile = [4]} {
      ^(%o: i64, %s: i64):
        %xt = mem.view %xs, [%o], [%s], [%one] {axes = [0]} : ref<? x f32>
        %yt = mem.view %ys, [%o], [%s], [%one] {axes = [0]} : ref<? x f32>
        %u = tile.buffer {depth = 2} : ref<4 x f32, ub>
        %v = tile.buffer {depth = 2} : ref<4 x f32, ub>
        tile.copy %xt, %u, [%s]
        tile.copy %yt, %v, [%s]
        tile.mul [%u, %a], %u, [%s]
        tile.add [%u, %v], %v, [%s]
        tile.copy %v, %yt, [%s]
        tile.yield
      }
      tile.yield
    }
    func.return
  }
}"""


@pytest.mark.parametrize("reverse", [False, True])
def test_a_streaming_kernel(reverse: bool) -> None:
    module = parse(SAXPY)
    assert str(module) == SAXPY
    assert verify(module, "tile") == []
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(21).astype(np.float32) for _ in range(2))
    expected = np.float32(0.5) * x + y
    interpret(module, "saxpy", [x, y, 0.5], reverse_parallel=reverse)
    np.testing.assert_array_equal(y, expected)


def run(body: str, params: str, *args: Any) -> None:
    text = f"""\
func.module {{
func.func {{symbol = "f"}} {{
^({params}):
%0 = arith.constant {{value = 0}} : i64
%1 = arith.constant {{value = 1}} : i64
%2 = arith.constant {{value = 2}} : i64
%3 = arith.constant {{value = 3}} : i64
%yes = arith.constant {{value = true}} : i1
%no = arith.constant {{value = false}} : i1
{body}
func.return
}}
}}"""
    module = parse(text)
    assert verify(module, "tile") == []
    assert str(parse(str(module))) == str(module)
    interpret(module, "f", list(args))


def f32(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


IN = "%t = tile.buffer : ref<4 x 4 x f32, ub>\ntile.copy %x, %t, [%2, %3]\n"


def test_reductions_keep_an_axis_of_one_and_may_continue() -> None:
    body = (
        IN
        + """\
%r = tile.buffer : ref<4 x 1 x f32, ub>
tile.reduce %t, %r, [%2, %3], [] {fn = "maximum", axis = 1, form = "tree"}
tile.sub [%t, %r], %t, [%2, %3]
tile.copy %t, %y, [%2, %3]
tile.reduce %t, %r, [%2, %3], [] {fn = "add", axis = 1, continued = true}
tile.copy %r, %z, [%2, %1]"""
    )
    x, y, z = f32(2, 3), np.zeros((2, 3), np.float32), np.zeros((2, 1), np.float32)
    run(body, "%x: ref<2 x 3 x f32>, %y: ref<2 x 3 x f32>, %z: ref<2 x 1 x f32>", x, y, z)
    top = x.max(axis=1, keepdims=True)
    np.testing.assert_array_equal(y, x - top)
    np.testing.assert_allclose(z, top + y.sum(axis=1, keepdims=True), rtol=1e-6)


def test_extremes_with_their_numbers() -> None:
    body = (
        IN
        + """\
%r = tile.buffer : ref<4 x 1 x f32, ub>
%i = tile.buffer : ref<4 x 1 x i32, ub>
tile.argreduce %t, %r, %i, [%2, %3] {fn = "minimum", axis = 1}
tile.copy %i, %y, [%2, %1]"""
    )
    x, y = f32(2, 3), np.zeros((2, 1), np.int32)
    run(body, "%x: ref<2 x 3 x f32>, %y: ref<2 x 1 x i32>", x, y)
    np.testing.assert_array_equal(y, x.argmin(axis=1, keepdims=True))


def test_padding_casts_and_atomic_copies() -> None:
    body = """\
%t = tile.buffer : ref<2 x 4 x f32, ub>
%h = tile.buffer : ref<2 x 4 x i32, ub>
%four = arith.constant {value = 4} : i64
tile.copy %x, %t, [%2, %3] {pad = -1.5}
tile.cast %t, %h, [%2, %four] {rounding = "floor"}
tile.copy %h, %y, [%2, %four] {accumulate = "add"}"""
    x, y = f32(2, 3) * 10, np.full((2, 4), 100, np.int32)
    run(body, "%x: ref<2 x 3 x f32>, %y: ref<2 x 4 x i32>", x, y)
    np.testing.assert_array_equal(y, 100 + np.floor(np.pad(x, ((0, 0), (0, 1)), constant_values=-1.5)))


def test_fill_iota_broadcast_transpose_and_gather() -> None:
    body = """\
%row = tile.buffer : ref<1 x 4 x f32, ub>
%t = tile.buffer : ref<4 x 4 x f32, ub>
%u = tile.buffer : ref<4 x 4 x f32, ub>
%i = tile.buffer : ref<1 x 4 x i32, ub>
%start = arith.constant {value = 5.0} : f32
%k = arith.constant {value = 0} : i32
tile.iota %start, %row, [%1, %3]
tile.broadcast %row, %t, [%2, %3]
tile.transpose %t, %u, [%2, %3] {axes = [1, 0]}
tile.copy %u, %y, [%3, %2]
tile.iota %k, %i, [%1, %3]
tile.fill %start, %t, [%2, %3]
tile.gather %row, %i, %t, [%1, %3]
tile.copy %t, %z, [%2, %3]"""
    y, z = np.zeros((3, 2), np.float32), np.zeros((2, 3), np.float32)
    run(body, "%y: ref<3 x 2 x f32>, %z: ref<2 x 3 x f32>", y, z)
    assert y.tolist() == [[5, 5], [6, 6], [7, 7]]
    assert z.tolist() == [[5, 6, 7], [5, 5, 5]]


def test_matmul_accumulates_and_drains_through_relu() -> None:
    body = """\
%a = tile.buffer : ref<16 x 16 x f16, l0a, zz>
%b = tile.buffer : ref<16 x 16 x f16, l0b, zn>
%c = tile.buffer : ref<16 x 16 x f32, l0c, nz>
tile.copy %x, %a, [%2, %3]
tile.copy %w, %b, [%3, %2]
tile.matmul %a, %b, %c, %yes, [%2, %2, %3]
tile.matmul %a, %b, %c, %no, [%2, %2, %3]
tile.copy %c, %y, [%2, %2] {relu = true}
tile.barrier"""
    x, w = f32(2, 3).astype(np.float16), f32(3, 2).astype(np.float16)
    y = np.zeros((2, 2), np.float16)
    run(body, "%x: ref<2 x 3 x f16>, %w: ref<3 x 2 x f16>, %y: ref<2 x 2 x f16>", x, w, y)
    expected = np.maximum(2 * (x.astype(np.float32) @ w.astype(np.float32)), 0)
    np.testing.assert_allclose(y, expected, rtol=1e-3)


def test_work_outside_a_tile_is_found() -> None:
    body = "%t = tile.buffer : ref<2 x 2 x f32, ub>\ntile.copy %x, %t, [%2, %3]"
    with pytest.raises(InterpreterError, match=r"sizes \(2, 3\) leave a tile of shape \(2, 2\)"):
        run(body, "%x: ref<2 x 3 x f32>", f32(2, 3))


WRONG = [
    ("%t = tile.buffer : ref<? x f32, ub>", "0 sizes for the 1 open extents of ref<? x f32, ub>"),
    ("%t = tile.buffer : ref<4 x f32>", "result 'tile' must be a ref on chip, got ref<4 x f32>"),
    ("%t = tile.buffer {depth = 0} : ref<4 x f32, ub>", "depth is at least 1, got 0"),
    ("tile.add [%u, %h], %u, [%k]", "add is not defined on ref<4 x f32, ub>, ref<4 x f16, ub>"),
    ("tile.lt [%u, %u], %u, [%k]", "lt gives i1, not f32"),
    ("tile.add [%u], %u, [%k]", "add takes 2 operands, got 1"),
    ("tile.copy %u, %h, [%k]", "element types differ: ref<4 x f32, ub> and ref<4 x f16, ub>"),
    ("tile.copy %u, %u, [%k] {relu = true}", "relu is applied on the way out of l0c alone"),
    (
        'tile.copy %u, %u, [%k] {accumulate = "add"}',
        "accumulating needs a target in gm, got ref<4 x f32, ub>",
    ),
    ("tile.fill %k, %u, [%k]", "element types differ: i64 and ref<4 x f32, ub>"),
    ("tile.loop %k {tile = [0]} {\n^(%o: i64, %s: i64):\ntile.yield\n}", "tile [0] does not fit 1 extents"),
    ("tile.loop %k {tile = [8]} {\n^(%o: i64):\ntile.yield\n}", "the block takes 2 i64 values, got i64"),
    ("tile.matmul %u, %u, %u, %c, [%k, %k, %k]", "expected a tile in l0a, got ref<4 x f32, ub>"),
    ("tile.transpose %u, %u, [%k] {axes = [1]}", "axes [1] do not permute those of ref<4 x f32, ub>"),
]


@pytest.mark.parametrize(("body", "message"), WRONG, ids=[message for _, message in WRONG])
def test_each_rule_is_named(body: str, message: str) -> None:
    text = f"""\
func.module {{
func.func {{symbol = "f"}} {{
^(%u: ref<4 x f32, ub>, %h: ref<4 x f16, ub>, %k: i64, %c: i1):
{body}
func.return
}}
}}"""
    assert message in [problem.message for problem in verify(parse(text), "tile")]
