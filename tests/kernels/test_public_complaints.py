# SPDX-License-Identifier: Apache-2.0
"""What users of other kernel languages have complained about in public, as kernels of our own that must not show it.

Each test names the complaint by its link. In most of them Python code meant one thing in Python and another on the
device; the kernel here is run beside its Python function, or beside NumPy.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import pyasc as asc

N, M = asc.dims("N M")

SIGNED = np.array([-9, -8, -7, -1, 0, 1, 7, 8, 9], np.int32)
ALL_PAIRS = np.array([(a, b) for a in SIGNED for b in (-4, -3, -1, 1, 3, 4)], np.int32)


@asc.kernel
def floor_and_mod(a: asc.int32[N], b: asc.int32[N], q: asc.int32[N], r: asc.int32[N]):
    for i in asc.parallel_for(N):
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]


def test_quotients_round_down_and_remainders_have_the_divisors_sign() -> None:
    """https://github.com/triton-lang/triton/issues/619, https://github.com/taichi-dev/taichi/issues/331 and
    https://github.com/tile-ai/tilelang-ascend/issues/1764
    """
    a, b = (np.ascontiguousarray(column) for column in ALL_PAIRS.T)
    q, r = np.zeros_like(a), np.zeros_like(a)
    floor_and_mod(a, b, q, r)
    assert q.tolist() == [x // y for x, y in ALL_PAIRS.tolist()]
    assert r.tolist() == [x % y for x, y in ALL_PAIRS.tolist()]


@asc.kernel
def halved(x: asc.int32[N]):
    return x // 2, x % -4


def test_floor_division_of_whole_arrays() -> None:
    """https://github.com/triton-lang/triton/issues/955"""
    q, r = halved(SIGNED)
    assert q.tolist() == (SIGNED // 2).tolist() and r.tolist() == (SIGNED % -4).tolist()


@asc.kernel
def ceil_divided(a: int, b: int) -> int:
    return (a + b - 1) // b


def test_ceiling_division_of_negative_numbers() -> None:
    """https://github.com/triton-lang/triton/issues/954"""
    for a in range(-40, 41, 3):
        assert ceil_divided(a, 5) == math.ceil(a / 5)


@asc.kernel
def constant_and_variable(a: int) -> tuple[int, int]:
    return a // 10, -1 // 10


def test_a_constant_divides_as_a_variable_does() -> None:
    """https://github.com/modular/modular/issues/990"""
    assert constant_and_variable(-1) == (-1, -1)


@asc.kernel
def fraction(x: asc.float32[N]):
    return x % 1.0


def test_the_remainder_of_floats() -> None:
    """https://github.com/modular/modular/issues/326"""
    x = np.array([3.14, -3.14, 0.5, -0.25, 7.0], np.float32)
    assert fraction(x).tolist() == (x % np.float32(1.0)).tolist()


@asc.kernel
def inverse_power(n: int) -> float:
    return n**-1 + 2**-2


def test_a_negative_exponent_gives_a_float() -> None:
    """https://github.com/modular/modular/issues/1619"""
    assert inverse_power(2) == 0.75


@asc.kernel
def quotient(a: int, b: int) -> int:
    return a // b


@asc.kernel(debug=True)
def watched_quotient(a: int, b: int) -> int:
    return a // b


def test_division_by_zero_is_defined_and_found_in_debug_builds() -> None:
    """https://github.com/modular/modular/issues/6898"""
    assert [quotient(7, 0) for _ in range(3)] == [0, 0, 0]
    with pytest.raises(ZeroDivisionError):
        watched_quotient(7, 0)


@asc.kernel
def sum_of_range(x: asc.float32[N], start: int, stop: int, step: int) -> asc.float32:
    total = asc.float32(0)
    for i in range(start, stop, step):
        total += x[i]
    return total


def test_a_step_below_zero_that_is_known_at_run_time() -> None:
    """https://github.com/triton-lang/triton/issues/10950"""
    x = np.arange(1, 98, dtype=np.float32)
    for start, stop, step in [(88, -1, -8), (5, 10, -3), (0, 97, 5), (10, 10, 1), (96, 0, -1)]:
        assert sum_of_range(x, start, stop, step) == sum(float(x[i]) for i in range(start, stop, step))


def test_a_step_of_zero_does_not_hang() -> None:
    """https://github.com/triton-lang/triton/pull/11242"""
    with pytest.raises(ValueError, match="must not be zero"):
        sum_of_range(np.ones(4, np.float32), 0, 4, 0)
    with pytest.raises(asc.ShapeError, match="PA0503"):
        asc.kernel_from_source("def k(n: int):\n    for i in range(0, n, 0): pass\n").compile()


FACTOR = 2


def scaled(v):
    return v * FACTOR


@asc.kernel
def by_factor(x: asc.float32[N]):
    for i in range(N):
        x[i] = scaled(x[i]) + FACTOR


def test_a_changed_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """https://github.com/triton-lang/triton/issues/7322, https://github.com/triton-lang/triton/pull/3770 and
    https://github.com/NVIDIA/warp/issues/135
    """
    for factor in (2, 5, 2, 0.5):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        x = np.ones(3, np.float32)
        by_factor(x)
        assert x.tolist() == [2 * factor] * 3


def shadowing_kernel():
    FACTOR = 100

    @asc.kernel
    def shadowing(n: int) -> int:
        return n * FACTOR

    return shadowing


def test_a_closure_value_hides_a_global() -> None:
    """https://github.com/triton-lang/triton/pull/11224"""
    assert shadowing_kernel()(3) == 300


def test_a_closure_value_that_a_loop_changes() -> None:
    """https://github.com/numba/numba/issues/938"""

    def results():
        @asc.kernel
        def product(a: int) -> int:
            return n * a

        for n in range(4):
            yield product(n)

    assert list(results()) == [0, 1, 4, 9]


TABLE = np.zeros(4, np.float32)


@asc.kernel
def reads_table(x: asc.float32[N]):
    x[0] = TABLE[2]


def test_an_array_from_outside_is_no_constant() -> None:
    """https://github.com/taichi-dev/taichi/issues/8224"""
    with pytest.raises(asc.CompileError, match="pass it to the kernel as a parameter"):
        reads_table(np.zeros(1, np.float32))


@asc.kernel
def from_int_to_float(n: int) -> float:
    a = 1
    if n > 0:
        a = 1.5
    b = n
    for _ in range(2):
        b = b + 0.25
    return a + b


def test_a_variable_takes_the_type_of_its_new_value() -> None:
    """https://github.com/taichi-dev/taichi/issues/4678"""
    assert from_int_to_float(3) == from_int_to_float.py_func(3)
    assert from_int_to_float(-3) == from_int_to_float.py_func(-3)


@asc.kernel
def parameter_set(a: int, flag: bool) -> int:
    if flag:
        a = 1
    return a


def test_a_parameter_is_a_variable() -> None:
    """https://github.com/taichi-dev/taichi/issues/5619"""
    assert [parameter_set(0, True), parameter_set(0, False)] == [1, 0]


@asc.kernel
def first_above(x: asc.float32[N], limit: float) -> int:
    for i in range(N):
        if x[i] > limit:
            return i
    return -1


def test_a_return_inside_a_loop() -> None:
    """https://github.com/triton-lang/triton/issues/2567"""
    x = np.array([1, 5, 2, 9], np.float32)
    assert [first_above(x, limit) for limit in (0, 4, 5, 100)] == [0, 1, 3, -1]


@asc.kernel
def sum_before(x: asc.float32[N], stop: asc.int32[1]) -> asc.float32:
    total = asc.float32(0)
    for i in range(N):
        if i == stop[0]:
            break
        if x[i] < 0:
            continue
        total += x[i]
    return total


def test_leaving_a_loop_early() -> None:
    """https://github.com/triton-lang/triton/issues/3157"""
    x = np.array([1, -2, 3, 4], np.float32)
    for stop in (0, 2, 3, 9):
        assert sum_before(x, np.array([stop], np.int32)) == sum(v for v in x[:stop] if v >= 0)


@asc.kernel
def any_of_three(x: asc.float32[3]) -> int:
    a = x[0] != 1.0
    b = x[1] != 0.0
    c = x[2] != 0.0
    use = a or b or c
    return -1 if not use else 1


def test_more_than_two_operands_of_or() -> None:
    """https://github.com/triton-lang/triton-ascend/issues/2333"""
    for values in [(1, 0, 0), (0, 0, 0), (1, 2, 0), (1, 0, 3)]:
        x = np.array(values, np.float32)
        assert any_of_three(x) == any_of_three.py_func(x)


@asc.kernel
def guarded(x: asc.int32[N], i: int) -> int:
    if i >= 0 and i < N and x[i] != 0:
        return 1
    return 2 if i >= N or x[max(i, 0)] == 0 else 3


def test_the_right_side_is_not_looked_at_when_the_left_one_decides() -> None:
    """https://github.com/taichi-dev/taichi/issues/3572 and https://github.com/NVIDIA/warp/issues/1329"""
    x = np.array([0, 7], np.int32)
    assert [guarded(x, i) for i in (0, 1, 2, 10**9, -(10**9))] == [2, 1, 2, 2, 2]


@asc.kernel
def operands(a: int, b: int) -> tuple[int, int]:
    return a and b, a or b


def test_and_and_or_give_an_operand() -> None:
    """https://github.com/taichi-dev/taichi/issues/3635"""
    for a in (0, 2, -1):
        for b in (0, 3):
            assert operands(a, b) == (a and b, a or b)


@asc.kernel
def between(x: asc.int32[N], out: asc.int32[N]):
    for i in range(N):
        out[i] = 1 if 0 < x[i] < 2 != x[i] else 0


def test_a_chain_of_comparisons() -> None:
    """https://github.com/NVIDIA/warp/issues/162"""
    x = np.arange(-2, 5, dtype=np.int32)
    out = np.zeros_like(x)
    between(x, out)
    assert out.tolist() == [int(0 < v < 2 != v) for v in x.tolist()]


@asc.kernel
def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@asc.kernel
def swapped(x: asc.float32[2, N]):
    for i in range(N):
        x[0, i], x[1, i] = x[1, i], x[0, i]


def test_all_right_sides_come_before_the_first_left_side() -> None:
    """https://github.com/taichi-dev/taichi/issues/1237 and https://github.com/tile-ai/tilelang/pull/1185"""
    assert [fibonacci(n) for n in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    swapped(x)
    assert x.tolist() == [[3, 4, 5], [0, 1, 2]]


@asc.kernel
def loops_of_both_kinds(v: asc.float64[3, 3], dim: int):
    for i in range(3):
        for j in range(3):
            v[i, j] = 0.0
    for i in range(dim + 1):
        for j in range(dim + 1):
            v[i, j] = 1.0


def test_a_counter_of_one_loop_is_that_of_another() -> None:
    """https://github.com/NVIDIA/warp/issues/331"""
    v = np.full((3, 3), 7.0)
    loops_of_both_kinds(v, 1)
    assert v.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]


@asc.kernel
def for_then_while(n: int) -> int:
    acc = 0
    for i in range(2):
        acc = acc + i
    i = 0
    while i < n:
        acc = acc + 10
        i = i + 1
    return acc + i


def test_a_counter_is_used_again_by_a_while_loop() -> None:
    """https://github.com/NVIDIA/warp/issues/1534"""
    assert for_then_while(3) == for_then_while.py_func(3) == 34


def overwrite(values):
    values[0] = 10.0
    return 2.0


@asc.kernel
def updated(values: asc.float32[1]):
    values[0] += overwrite(values)


def test_the_target_of_an_update_is_read_first() -> None:
    """https://github.com/NVIDIA/warp/issues/1947"""
    values = np.array([1], np.float32)
    updated(values)
    assert values[0] == 3.0


def counted(counter):
    counter[0] += 1
    return counter[0]


@asc.kernel
def update_with_effect(counter: asc.int32[1], x: asc.int32[4]):
    x[counted(counter)] += counted(counter)
    y = 100
    y += counted(counter)
    x[0] = y


def test_every_part_of_an_update_is_evaluated_once() -> None:
    """https://github.com/NVIDIA/warp/pull/1282"""
    counter, x = np.zeros(1, np.int32), np.zeros(4, np.int32)
    update_with_effect(counter, x)
    assert counter[0] == 3 and x.tolist() == [103, 2, 0, 0]


i = 1000


@asc.kernel
def counters_hide_globals(x: asc.int32[4]):
    for i in asc.unroll(range(2)):
        x[i] = i
    for j in range(2, 4):
        x[j] = sum([i for i in range(3)]) + i


def test_a_counter_hides_a_global_of_its_name() -> None:
    """https://github.com/NVIDIA/warp/issues/1139"""
    x, expected = np.zeros(4, np.int32), np.zeros(4, np.int32)
    counters_hide_globals(x)
    counters_hide_globals.py_func(expected)
    assert x.tolist() == expected.tolist()


@asc.kernel
def far_index(block: asc.int32, size: asc.int32, n: int) -> tuple[int, int]:
    position = int(block) * int(size) + 7
    return position, n * 3


def test_positions_beyond_31_bits() -> None:
    """https://github.com/numba/numba/issues/9229"""
    assert far_index(np.int32(1 << 20), np.int32(4096), 1 << 31) == ((1 << 32) + 7, 3 << 31)


@asc.kernel
def last_column(x: asc.float32[N, M], out: asc.float32[N], back: int):
    for i in asc.parallel_for(N):
        out[i] = x[i, -1] + x[i, back]


def test_negative_indices_count_from_the_end() -> None:
    """https://github.com/NVIDIA/numba-cuda-mlir/issues/322"""
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    out = np.zeros(4, np.float32)
    last_column(x, out, -3)
    assert out.tolist() == (x[:, -1] + x[:, -3]).tolist()


@asc.kernel
def element(x: asc.float32[N], at: int) -> asc.float32:
    return x[at]


def test_an_index_out_of_range_is_an_error() -> None:
    """https://github.com/numba/numba/issues/8028"""
    x = np.zeros(5, np.float32)
    for at in (5, 10, -6):
        with pytest.raises(IndexError, match="out of range"):
            element(x, at)


def test_a_column_out_of_range_is_an_error() -> None:
    """https://github.com/numba/numba/issues/9287"""
    text = "import pyasc as asc\ndef k(x: asc.float32[10, 1]):\n    x[:, 0] = 1.0\n    x[:, 1] = 2.0\n"
    with pytest.raises((IndexError, asc.ShapeError), match="out of range"):
        asc.kernel_from_source(text)(np.zeros((10, 1), np.float32))


@asc.kernel
def picked(x: asc.int32[N], at: asc.uint8[M]):
    return x[at]


@asc.kernel
def picked_in_loop(x: asc.int32[N], at: asc.uint8[M], out: asc.int32[M]):
    for k in range(M):
        out[k] = x[at[k]]


def test_indices_of_an_unsigned_type() -> None:
    """https://github.com/openxla/xla/issues/4491"""
    x, at = np.arange(200, dtype=np.int32), np.array([0, 127, 128, 199], np.uint8)
    out = np.zeros(4, np.int32)
    picked_in_loop(x, at, out)
    assert picked(x, at).tolist() == out.tolist() == [0, 127, 128, 199]


@asc.kernel
def every_second(x: asc.float32[4, 3]):
    return x[:, ::2], x[::-2, 1:]


def test_a_step_that_does_not_divide_the_size() -> None:
    """https://github.com/jax-ml/jax/issues/23532"""
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    a, b = every_second(x)
    assert a.tolist() == x[:, ::2].tolist() and b.tolist() == x[::-2, 1:].tolist()


@asc.kernel
def part_of_part(x: asc.float32[N], i: int, j: int) -> asc.float32:
    return asc.sum(x[i : i + 4][j : j + 2])


def test_slices_end_where_the_array_does() -> None:
    """https://github.com/jax-ml/jax/issues/40849"""
    x = np.arange(10, dtype=np.float32)
    for i in (0, 3, 8, 9, 12, -3):
        for j in (0, 2, 3, 5, -1):
            assert part_of_part(x, i, j) == x[i : i + 4][j : j + 2].sum()


def count_up(counter):
    counter[0] += 1
    return 5.0


def count_down(counter):
    counter[0] -= 1
    return -5.0


@asc.kernel
def one_side(counter: asc.int32[1], n: int) -> float:
    return count_up(counter) if n > 0 else count_down(counter)


def test_a_conditional_expression_evaluates_one_side() -> None:
    """https://github.com/NVIDIA/cutlass/issues/2880"""
    counter = np.zeros(1, np.int32)
    assert (one_side(counter, 1), counter[0]) == (5.0, 1)
    assert (one_side(counter, 0), counter[0]) == (-5.0, 0)


@asc.kernel
def set_inside(b: bool, n: int) -> int:
    a = 0
    if b:
        a = 1
    else:
        a = 2
    for _ in range(n):
        a = a + 1
    return a


def test_variables_set_in_branches_and_loops() -> None:
    """https://github.com/Huawei-CPLLab/PyDSL/issues/33"""
    assert [set_inside(b, n) for b in (True, False) for n in (0, 5)] == [1, 6, 2, 7]


@asc.kernel
def strides_set_in_a_loop(a: asc.int32[N], a0: int, b: asc.int32[N], b0: int, out: asc.int32[N]):
    use_b = False
    for i in range(0, 8, 2):
        out[i] = b[i * a0] if use_b else a[i * a0]
        use_b = True
        a0 = b0


def test_an_argument_of_one_can_be_set_in_a_loop() -> None:
    """https://github.com/triton-lang/triton/issues/9547"""
    a = np.arange(8, dtype=np.int32)
    out, expected = np.zeros(8, np.int32), np.zeros(8, np.int32)
    strides_set_in_a_loop(a, 1, a + 10, 1, out)
    for i in range(0, 8, 2):
        expected[i] = a[i] + (10 if i else 0)
    assert out.tolist() == expected.tolist()


SIZE = 37


@asc.kernel
def halvings() -> int:
    steps, left = 0, SIZE + 1
    while left > 1:
        left = (left + 1) // 2
        steps += 1
    return steps


def test_a_constant_becomes_a_variable_in_a_loop() -> None:
    """https://github.com/triton-lang/triton/issues/2617"""
    assert halvings() == halvings.py_func() == 6


@asc.kernel
def extremes(x: asc.float32[2]):
    return max(x[0], x[1]), min(x[0], x[1]), asc.maximum(x[0], x[1]), asc.minimum(x[0], x[1])


def test_nan_in_min_and_max() -> None:
    """https://github.com/triton-lang/triton/issues/1566"""
    nan = math.nan
    for pair in [(1, nan), (nan, 1), (nan, nan), (2, 1), (1, 2)]:
        x = np.array(pair, np.float32)
        expected = max(*x), min(*x), np.maximum(*x), np.minimum(*x)
        np.testing.assert_array_equal([float(v) for v in extremes(x)], [float(v) for v in expected])


@asc.kernel
def largest_at(x: asc.float32[N]) -> asc.int64:
    return asc.argmax(x)


def test_argmax_stops_at_the_first_nan() -> None:
    """https://github.com/triton-lang/triton/issues/9022"""
    for values in [(math.inf, math.nan), (math.nan, math.inf), (1, math.nan, 9, math.nan), (3, 7, 7)]:
        x = np.array(values, np.float32)
        assert largest_at(x) == np.argmax(x)


@asc.kernel
def rounded(x: asc.float32[N], out: asc.int32[N]):
    for i in range(N):
        out[i] = round(x[i])


def test_rounding_is_to_even_and_never_to_decimal_places_in_silence() -> None:
    """https://github.com/numba/numba/issues/9652 and https://github.com/numba/numba/issues/4668"""
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 2.6, -2.6], np.float32)
    out = np.zeros(8, np.int32)
    rounded(x, out)
    assert out.tolist() == [round(float(v)) for v in x]
    with pytest.raises(asc.UnsupportedError, match="scale, round and scale back"):
        asc.kernel_from_source("def k(x: float):\n    return round(x, 2)\n").compile()


@asc.kernel
def large_constants(n: int) -> tuple[int, int]:
    return n - 2147483648, n * 3000000000 - 1


def test_constants_above_31_bits_stay_signed() -> None:
    """https://github.com/triton-lang/triton/issues/6251"""
    assert large_constants(-5) == (-5 - 2147483648, -5 * 3000000000 - 1)


@asc.kernel
def annotated(n: int) -> asc.float32:
    x: asc.float32 = 0
    for _ in range(n):
        x += 0.5
    return x


def test_a_float_that_starts_as_an_integer_literal() -> None:
    """https://github.com/taichi-dev/taichi/issues/4451"""
    assert annotated(3) == 1.5


@asc.kernel
def thresholded(x: asc.float32[N], limit: float):
    for i in range(N):
        x[i] = 1.0 if x[i] < limit else -1


def test_the_sides_of_a_conditional_expression_differ_in_type() -> None:
    """https://github.com/NVIDIA/warp/issues/500"""
    x = np.array([0.25, 0.75], np.float32)
    thresholded(x, 0.5)
    assert x.tolist() == [1.0, -1.0]


@asc.kernel
def grid_halves(out: asc.int32[N, M]):
    for i, j in asc.parallel_for_grid(N, M):
        out[i, j] = 1 if i // 2 == 0 else j % 3


def test_integer_division_of_counters() -> None:
    """https://github.com/taichi-dev/taichi/issues/1829"""
    out = np.zeros((5, 4), np.int32)
    grid_halves(out)
    assert out.tolist() == [[1 if i // 2 == 0 else j % 3 for j in range(4)] for i in range(5)]


def _annotated_kernels() -> list[asc.Kernel]:
    """The kernels of this file whose types follow from their annotations and that are right as they stand."""
    refused = {"reads_table"}
    return [v for v in globals().values() if isinstance(v, asc.Kernel) and v.__name__ not in refused]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """All kernels in few translation units."""
    asc.compile(_annotated_kernels())


def test_there_are_thirty_of_them() -> None:
    links = [line for test in globals().values() for line in (getattr(test, "__doc__", None) or "").split()]
    assert len({link.strip(",") for link in links if link.startswith("https://github.com/")}) >= 30
