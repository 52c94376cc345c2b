# SPDX-License-Identifier: Apache-2.0
"""The interpreter on the structured op: every role, guards, inits, and the programs that motivated it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyasc.ir.interpreter import InterpreterError, interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify


def run(params: str, sizes: str, apply: str, *args: np.ndarray[Any, Any], **options: Any) -> None:
    """Run one structured op over the parameters; `%n`, `%m` are the sizes, `%zero`, `%low` f32 constants."""
    names = ", ".join(f'"{name}"' for name in sizes.split())
    values = "".join(f'%{name.lower()} = func.size {{symbol = "{name}"}}\n' for name in sizes.split())
    text = f"""\
func.module {{
func.func {{symbol = "f", sizes = [{names}]}} {{
^({params}):
{values}%zero = arith.constant {{value = 0.0}} : f32
%low = arith.constant {{value = -inf}} : f32
%0 = arith.constant {{value = 0}} : i64
{apply}
func.return
}}
}}"""
    module = parse(text)
    assert verify(module, "loop") == []
    assert interpret(module, "f", list(args), **options) == ()


def f32(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


ADD = "{\n^(%a: f32, %b: f32):\n  %s = arith.add %a, %b\n  st.yield %s\n}"
PASS = "{\n^(%i: i64, %e: f32):\n  st.yield %e\n}"


@pytest.mark.parametrize("reverse", [False, True])
def test_write_with_a_broadcast_and_a_stencil(reverse: bool) -> None:
    apply = """\
st.apply [%m, %n], [%x, %x, %b], [], [%y] {iterators = ["parallel", "parallel"], lower = [(0), (1)], \
upper = [(s0), (s1)], input_maps = [affine<d0, d1>, affine<d0, d1 - 1>, affine<d0>], output_maps = [affine<d0, d1>], \
roles = ["write"]} {
^(%i: i64, %j: i64, %here: f32, %left: f32, %bias: f32):
  %d = arith.sub %here, %left
  %e = arith.add %d, %bias
  st.yield %e
}"""
    x, b, y = f32(3, 4), f32(3), np.zeros((3, 4), np.float32)
    run(
        "%x: ref<M x N x f32>, %b: ref<M x f32>, %y: ref<M x N x f32>",
        "M N",
        apply,
        x,
        b,
        y,
        reverse_parallel=reverse,
    )
    np.testing.assert_array_equal(y[:, 1:], x[:, 1:] - x[:, :-1] + b[:, None])
    assert (y[:, 0] == 0).all()


def test_triangular_domain() -> None:
    apply = """\
st.apply [%n], [], [], [%y] {iterators = ["parallel", "parallel"], lower = [(0), (d0)], upper = [(s0), (s0)], \
input_maps = [], output_maps = [affine<d0, d1>], roles = ["write"]} {
^(%i: i64, %j: i64):
  %k = arith.add %i, %j
  st.yield %k
}"""
    y = np.zeros((4, 4), np.int64)
    run("%y: ref<N x N x i64>", "N", apply, y)
    np.testing.assert_array_equal(y, np.triu(np.add.outer(np.arange(4), np.arange(4))))


REDUCE = """\
st.apply [%m, %n], [%x], [%zero], [%y] {{iterators = ["{0}", "{1}"], lower = [(0), (0)], upper = [(s0), (s1)], \
input_maps = [affine<d0, d1>], output_maps = [affine<{2}>], roles = ["reduce"]}} {{
^(%i: i64, %j: i64, %e: f32):
  st.yield %e
}} """


@pytest.mark.parametrize(
    ("kinds", "axis"), [(("parallel", "reduction", "d0"), 1), (("reduction", "parallel", "d1"), 0)]
)
def test_reductions_along_either_axis(kinds: tuple[str, ...], axis: int) -> None:
    x = f32(3, 5)
    y = np.full(x.shape[1 - axis], 7, np.float32)
    size = "N" if axis == 0 else "M"
    run(f"%x: ref<M x N x f32>, %y: ref<{size} x f32>", "M N", REDUCE.format(*kinds) + ADD, x, y)
    np.testing.assert_allclose(y, x.sum(axis=axis), rtol=1e-6)


def test_a_reduction_of_nothing_gives_its_init() -> None:
    y = np.full(2, 7, np.float32)
    run(
        "%x: ref<M x N x f32>, %y: ref<M x f32>",
        "M N",
        REDUCE.format("parallel", "reduction", "d0") + ADD,
        np.zeros((2, 0), np.float32),
        y,
    )
    assert y.tolist() == [0, 0]


def test_without_inits_a_reduction_continues_what_the_output_holds() -> None:
    x, y = f32(3), np.array([10, 20], np.float32)
    apply = """\
st.apply [%n], [%x], [], [%y] {iterators = ["reduction"], lower = [(0)], upper = [(s0)], input_maps = [affine<d0>], \
output_maps = [affine<1>], roles = ["reduce"]} """
    run("%x: ref<N x f32>, %y: ref<2 x f32>", "N", apply + PASS + " " + ADD, x, y)
    np.testing.assert_allclose(y, [10, 20 + x.sum()], rtol=1e-6)


SCAN = """\
st.apply [%n], [%x], [%zero], [%y] {iterators = ["scan"], lower = [(0)], upper = [(s0)], input_maps = [affine<d0>], \
output_maps = [affine<d0>], roles = ["scan"]} """


def test_prefix_sum_in_place() -> None:
    x = f32(6)
    expected = np.cumsum(x)
    run("%x: ref<N x f32>", "N", (SCAN + PASS + " " + ADD).replace("[%y]", "[%x]"), x)
    np.testing.assert_allclose(x, expected, rtol=1e-6)


def test_a_scan_without_inits_is_refused() -> None:
    x = f32(3)
    with pytest.raises(InterpreterError, match="has no init"):
        run(
            "%x: ref<N x f32>, %y: ref<N x f32>",
            "N",
            (SCAN + PASS + " " + ADD).replace("[%zero]", "[]"),
            x,
            x.copy(),
        )


def test_a_guard_keeps_points_out() -> None:
    apply = """\
st.apply [%n], [%x], [%zero], [%y, %z] {iterators = ["reduction"], lower = [(0)], upper = [(s0)], \
input_maps = [affine<d0>], output_maps = [affine<d0>, affine<>], roles = ["write", "reduce"], guarded = true} {
^(%i: i64, %e: f32):
  %c = arith.gt %e, %zero
  st.yield %e, %e, %c
} """
    x = np.array([1, -2, 3, -4], np.float32)
    y, z = np.zeros(4, np.float32), np.zeros((), np.float32)
    run("%x: ref<N x f32>, %y: ref<N x f32>, %z: ref<f32>", "N", apply + ADD, x, y, z)
    assert y.tolist() == [1, 0, 3, 0]
    assert z == 4


ARGMAX = """\
st.apply [%m, %n], [%x], [%low, %0], [%best, %where] {iterators = ["parallel", "reduction"], lower = [(0), (0)], \
upper = [(s0), (s1)], input_maps = [affine<d0, d1>], output_maps = [affine<d0>, affine<d0>], \
roles = ["reduce", "reduce"]} {
^(%i: i64, %j: i64, %e: f32):
  st.yield %e, %j
} {
^(%a: f32, %p: i64, %b: f32, %q: i64):
  %c = arith.gt %b, %a
  %v = arith.select %c, %b, %a
  %k = arith.select %c, %q, %p
  st.yield %v, %k
}"""


def test_argmax_has_two_results() -> None:
    x = f32(3, 7)
    best, where = np.zeros(3, np.float32), np.zeros(3, np.int64)
    run("%x: ref<M x N x f32>, %best: ref<M x f32>, %where: ref<M x i64>", "M N", ARGMAX, x, best, where)
    np.testing.assert_array_equal(where, x.argmax(axis=1))
    np.testing.assert_array_equal(best, x.max(axis=1))


SOFTMAX = """\
st.apply [%m, %n], [%x], [%low, %zero], [%top, %sum] {iterators = ["parallel", "reduction"], lower = [(0), (0)], \
upper = [(s0), (s1)], input_maps = [affine<d0, d1>], output_maps = [affine<d0>, affine<d0>], \
roles = ["reduce", "reduce"]} {
^(%i: i64, %j: i64, %e: f32):
  %one = arith.constant {value = 1.0} : f32
  st.yield %e, %one
} {
^(%a: f32, %p: f32, %b: f32, %q: f32):
  %t = arith.maximum %a, %b
  %da = arith.sub %a, %t
  %db = arith.sub %b, %t
  %ea = arith.exp %da
  %eb = arith.exp %db
  %pa = arith.mul %p, %ea
  %qb = arith.mul %q, %eb
  %r = arith.add %pa, %qb
  st.yield %t, %r
}"""


def test_online_softmax_statistics() -> None:
    x = f32(4, 9)
    top, total = np.zeros(4, np.float32), np.zeros(4, np.float32)
    run("%x: ref<M x N x f32>, %top: ref<M x f32>, %sum: ref<M x f32>", "M N", SOFTMAX, x, top, total)
    np.testing.assert_array_equal(top, x.max(axis=1))
    np.testing.assert_allclose(total, np.exp(x - top[:, None]).sum(axis=1), rtol=1e-5)


def test_running_values_may_be_wider_than_the_output() -> None:
    apply = """\
st.apply [%n], [%x], [%zero], [%y] {iterators = ["reduction"], lower = [(0)], upper = [(s0)], \
input_maps = [affine<d0>], output_maps = [affine<>], roles = ["reduce"]} {
^(%i: i64, %e: f16):
  %w = arith.cast %e : f32
  st.yield %w
} """
    x, y = np.full(3000, 1, np.float16), np.zeros((), np.float16)
    run("%x: ref<N x f16>, %y: ref<f16>", "N", apply + ADD, x, y)
    assert y == 3000


def test_a_gather_reads_outside_memory() -> None:
    apply = """\
st.apply [%n], [%idx], [], [%y] {iterators = ["parallel"], lower = [(0)], upper = [(s0)], input_maps = [affine<d0>], \
output_maps = [affine<d0>], roles = ["write"]} {
^(%i: i64, %k: i64):
  %e = mem.load %x, [%k]
  st.yield %e
}"""
    x, idx, y = f32(5), np.array([4, 0, 2]), np.zeros(3, np.float32)
    run("%x: ref<M x f32>, %idx: ref<N x i64>, %y: ref<N x f32>", "M N", apply, x, idx, y)
    np.testing.assert_array_equal(y, x[idx])


def test_maps_that_leave_their_buffer_are_found() -> None:
    apply = """\
st.apply [%n], [%x], [], [%y] {iterators = ["parallel"], lower = [(0)], upper = [(s0)], \
input_maps = [affine<d0 + 1>], output_maps = [affine<d0>], roles = ["write"]} """
    with pytest.raises(InterpreterError, match=r"index \(3,\) is not in a buffer of shape \(3,\)"):
        run("%x: ref<N x f32>, %y: ref<N x f32>", "N", apply + PASS, f32(3), f32(3))
