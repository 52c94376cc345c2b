# SPDX-License-Identifier: Apache-2.0
"""What compilers of Python kernels have been reported to get wrong, often without a word: each is right here.

The first part is about front ends for the same hardware. The second names the public report that a case is from;
the kernels are written anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc

CASES: list[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = []
SCALE = 2


def on(*arguments: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a program with the arguments that it is called with, as a kernel and in Python."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments))
        return function

    return register


# Front ends for the same hardware.


@on((3,), (-3,), (7,))
def an_int_times_a_half_is_no_zero(n: int):
    return n * 0.5, 0.5 * n, n * -0.5


@on((3, 2.75), (-3, 0.5))
def an_int_plus_a_float_keeps_the_fraction(n: int, x: float):
    return n + x, x + n, n - x, x - n, n + 0.25


@on((7, 2), (-7, 2), (1, 4))
def a_quotient_of_ints_is_a_float(a: int, b: int):
    return a / b, a / 2, 1 / b


@on((-7, 2), (7, -2), (-7, -2), (-1, 3))
def floor_division_and_modulo_floor(a: int, b: int):
    return a // b, a % b, a // 2, a % 3, -a // b, -a % b


@on((10, -3), (-10, 3), (10, 3), (0, -1))
def a_negative_step_runs(n: int, step: int):
    s = 0
    for i in range(n, 0, step):
        s = s * 7 + i
    for i in range(5, -1, -2):
        s += i
    return s


def scaled(x, by):
    return x * by


@on((5,), (0,))
def a_helper_called_with_two_constants_uses_both(n: int):
    return scaled(n, 2), scaled(n, 3), scaled(n, 0.5), scaled(scaled(n, 2), 5)


@on((0,), (1,), (6,))
def a_constant_rebound_in_a_loop(n: int):
    k = 1
    total = 0
    for i in range(n):
        k = k + i
        total += k
    c = 10
    while c > n:
        c = c - 3
    return k, total, c


@on((2**31 - 1, 3), (2**31, 2**20), (-(2**31), 5))
def index_arithmetic_has_64_bits(i: int, stride: int):
    return i * stride, i + i, (i * stride) // stride, i * 4 + stride


@on((0, 5), (3, 0), (3, 5), (-1, -2))
def and_and_or_yield_values_and_stop_early(a: int, b: int):
    return a and b, a or b, (a and 10 // a) or -1, a and b and 7, b == 0 or a // b > 0


# Public reports.


@on((-7,), (7,), (-1,))
def triton_619_floor_division_by_a_negative_constant(a: int):
    return a // -2, a % -2


@on((-1,), (-5,), (5,))
def triton_955_floor_division_of_a_negative_number(a: int):
    return a // 2, (-1) // 2


@on((-36, 5), (36, 5), (-7, 2))
def triton_954_ceiling_division(a: int, b: int):
    return -(-a // b), (a + b - 1) // b


@on((32, 5), (3, 7))
def triton_598_a_constant_divided_by_a_value(a: int, b: int):
    return 32 // a, a % (32 // b), 100 % b


@on((-2,), (-1,))
def codon_226_artiq_830_modulo_of_negative_numbers(a: int):
    return a % 5, a % 8, -2 % 5


@on((1.0, -3.0), (-1.0, 3.0), (5.5, -2.0))
def tinygrad_2119_modulo_of_floats_has_the_divisors_sign(x: float, y: float):
    return x % y, x // y


@on((0,), (4,))
def triton_10672_a_name_set_in_a_loop_of_one_iteration(n: int):
    for _ in range(1):
        value = n + 1.5
    return value


@on((1,), (5,))
def triton_11439_the_loop_variable_after_the_loop(n: int):
    i = -1
    for i in range(n):
        pass
    return i


@on((3, 1, 2), (0, 1, 2))
def triton_9547_an_argument_rebound_in_a_loop(n: int, a: int, b: int):
    s = 0
    for i in range(n):
        s += i * a
        a = b
    return s, a


@on((1,), (2,), (3,))
def triton_2672_the_result_does_not_depend_on_how_a_loop_is_compiled(n: int):
    num, out = 1.0, 12.0
    for _ in range(n):
        out = num / 12.0
    return out


@on((1,), (0,), (5,))
def taichi_327_the_middle_of_a_comparison_is_evaluated_once(n: int):
    count = 0
    if 0 <= (count := count + 1) < n:
        count += 100
    return count


@on((0.5,), (1.0,), (-1.0,), (2.0,))
def tilelang_845_chained_comparisons(x: float):
    return 0.0 < x < 1.0, 0.0 < x < 1, 0 < x <= 1 != 5


@on((2, 3), (2, 0), (0, 3))
def taichi_3635_values_of_and_and_or(a: int, b: int):
    return a and b, a or b, 2.0 or 0


@on((0,), (5,))
def klr_255_a_chain_stops_at_the_first_false(n: int):
    seen = 0
    if 1 < n < (seen := 10):
        seen += 1
    return seen


@on((1, 2), (2, 1), (2, 2))
def taichi_5746_comparisons_are_one_or_zero(a: int, b: int):
    return (a < b) + (a == b), (a < b) * 10, -(a > b)


@on((2,), (-4,))
def numba_8169_a_negative_power(n: int):
    return n**-1, n**-2, 10**-3 * n, 2.0**-n


@on((94906267,), (3037000499,))
def numba_9931_squares_are_exact(n: int):
    return n**2, n * n


@on((1.5,), (2.5,), (-0.5,), (3.7,))
def numba_561_round_gives_an_int(x: float):
    return round(x), round(x) // 2


@on((2,), (0,))
def warp_331_one_loop_variable_in_constant_and_run_time_loops(n: int):
    s = 0
    for i in range(3):
        for j in range(3):
            s += i * j
    for i in range(n + 1):
        for j in range(n + 1):
            s += 100 * i + j
    return s


@on((3,), (0,))
def warp_1534_a_loop_variable_used_again_by_while(n: int):
    acc = 0
    for i in range(2):
        acc = acc + i
    i = 0
    while i < n:
        acc = acc + 10
        i = i + 1
    return acc, i


@on((33,), (32,), (1000,))
def warp_1980_trip_counts_that_steps_do_not_divide(n: int):
    count = 0
    for _ in range(0, n, 2):
        count += 1
    for _ in range(0, 33, 2):
        count += 1000
    for _ in range(5, 5):
        count += 10**6
    return count


@on((4,), (2,))
def warp_692_unrolled_loops_with_a_start_and_continue(n: int):
    s = 0
    for i in asc.unroll(range(-5, 5)):
        if i < n - 3:
            continue
        s = s * 3 + i
    return s


@on((0,), (3,))
def warp_1139_the_variable_of_an_unrolled_loop(n: int):
    i = 100
    s = i
    for i in asc.unroll(range(4)):
        s = s * 2 + i * n
    return s, i


def without_arguments():
    return 41 + 1


@on((0,), (1,))
def triton_1973_a_helper_without_arguments(n: int):
    return without_arguments() + n


@on((-2, 5), (5, 2))
def pytorch_21692_break_and_else(n: int, m: int):
    r = 0
    for i in range(6):
        if i == n:
            r = i
            break
        if i == m:
            continue
        r += 10
    else:
        r += 1000
    return r


@on((3,), (4,))
def triton_11088_lambdas_with_captures_and_defaults(n: int):
    add = lambda a, b=10, *, c=1: a + b * c + n  # noqa: E731
    return add(1), add(1, 2), add(1, c=5)


KERNELS = [(asc.kernel(function), function, arguments) for function, arguments in CASES]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile([kernel for kernel, _, _ in KERNELS])


def close(found: Any, wanted: Any) -> bool:
    """Python's value in its kind; floats in float32."""
    if isinstance(wanted, bool | int):
        return found.dtype.kind == ("b" if isinstance(wanted, bool) else "i") and found == wanted
    return found.dtype == np.float32 and math.isclose(found, wanted, rel_tol=1e-6)


def check(kernel: asc.Kernel, function: Callable[..., Any], arguments: tuple[tuple[Any, ...], ...]) -> None:
    for each in arguments:
        found, wanted = kernel(*each), function(*each)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        assert all(close(a, b) for a, b in pairs), (each, found, wanted)


@pytest.mark.parametrize(
    ("kernel", "function", "arguments"), KERNELS, ids=[function.__name__ for _, function, _ in KERNELS]
)
def test_as_in_python(
    kernel: asc.Kernel, function: Callable[..., Any], arguments: tuple[tuple[Any, ...], ...]
) -> None:
    check(kernel, function, arguments)


@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("number", [0, 5, 8])
def test_on_the_model(number: int) -> None:
    with asc.device("model"):
        check(*KERNELS[number])


def test_a_module_constant_edited_after_the_first_run() -> None:
    @asc.kernel
    def k(n: int):
        return n * SCALE

    names = globals()
    try:
        for value in (2, 3, 2):
            names["SCALE"] = value
            assert k(5) == 5 * value
    finally:
        names["SCALE"] = 2


def test_an_object_built_for_one_chip_is_not_taken_for_another() -> None:
    @asc.kernel
    def k(x: asc.float32[N], y: asc.float32[N]):
        y[:] = x * 2

    texts = {target: k.source(target) for target in ("cpu", "ascend910b1")}
    assert texts["cpu"] != texts["ascend910b1"]
    with pytest.raises((asc.CompileError, ValueError)):
        k.source("ascend0000")
    with pytest.raises((asc.LaunchError, asc.CompileError, ValueError)):
        asc.kernel(target="ascend0000")(k.py_func).source()


def test_a_sum_with_its_own_conversion_converts() -> None:
    """`a + cast(a, float16)` is no `a + a`."""

    @asc.kernel
    def k(a: asc.float32[N]):
        return a + asc.float16(a), asc.float32(asc.float16(a)), a.astype(asc.int8) + a

    a = np.float32([1 / 3, 300.7, -0.1])
    found = k(a)
    np.testing.assert_array_equal(found[0], a + a.astype(np.float16))
    np.testing.assert_array_equal(found[1], a.astype(np.float16).astype(np.float32))
    assert not np.array_equal(found[0], a + a)


def test_triton_4676_division_by_zero_is_the_same_in_any_company() -> None:
    @asc.kernel
    def k(a: asc.int32[N], b: asc.int32[N]):
        return a // b, a % b

    @asc.kernel
    def alone(a: asc.int32[N], b: asc.int32[N]):
        return a % b

    a, b = np.int32([2, -2, 0]), np.int32([0, 0, 0])
    for each in (*k(a, b), alone(a, b)):
        np.testing.assert_array_equal(each, np.zeros(3, np.int32))


def test_taichi_3572_the_right_side_is_not_evaluated() -> None:
    @asc.kernel
    def k(x: asc.float32[N], i: int):
        return i < len(x) and x[i] > 0

    x = np.float32([1, -1, 1])
    assert [bool(k(x, i)) for i in (0, 1, 2, 3, 10**6)] == [True, False, True, False, False]


def test_warp_1230_the_right_side_of_an_update_is_evaluated_once() -> None:
    @asc.kernel
    def k(counter: asc.int32[1], n: int):
        def counted(v):
            counter[0] += 1
            return v

        total = 0
        total += counted(n)
        total *= counted(3)
        counter[0] += counted(10)
        return total

    counter = np.zeros(1, np.int32)
    assert k(counter, 5) == 15
    assert k.py_func is not None
    expected = np.zeros(1, np.int32)
    k.py_func(expected, 5)
    assert counter[0] == expected[0]


def test_triton_4051_a_function_chosen_by_a_constant() -> None:
    def add(x, y):
        return x + y

    def sub(x, y):
        return x - y

    @asc.kernel
    def k(x: asc.float32[N], y: asc.float32[N], name: asc.constexpr):
        if name == "add":
            combine = add
        else:
            combine = sub
        return combine(x, y)

    x, y = np.float32([1, 2]), np.float32([5, 7])
    np.testing.assert_array_equal(k(x, y, "add"), x + y)
    np.testing.assert_array_equal(k(x, y, "sub"), x - y)

    def add(x, y):  # noqa: F811
        return x * y

    np.testing.assert_array_equal(k(x, y, "add"), x * y)


def test_triton_3918_a_function_as_an_argument() -> None:
    @asc.kernel
    def k(x: asc.float32[N], f: asc.constexpr):
        return f(x)

    x = np.float32([1, -2])
    np.testing.assert_array_equal(k(x, abs), abs(x))
    np.testing.assert_array_equal(k(x, lambda v: v * 3), x * 3)


def test_jax_triton_21_a_function_of_the_closure() -> None:
    def made(f: Callable[..., Any]) -> asc.Kernel:
        @asc.kernel
        def k(x: asc.float32[N]):
            return f(x + 1)

        return k

    x = np.float32([1, 2])
    np.testing.assert_array_equal(made(lambda v: 2 * v)(x), 2 * (x + 1))
    np.testing.assert_array_equal(made(lambda v: v * v)(x), (x + 1) ** 2)


def test_numba_7012_numexpr_240_integers_to_negative_powers() -> None:
    @asc.kernel
    def number(n: int):
        return 2**n

    @asc.kernel
    def arrays(a: asc.int32[N], b: asc.int32[N]):
        return a**b

    assert number(3) == 8
    with pytest.raises(ValueError, match="negative power"):
        number(-2)
    a = np.int32([1, 2, 3])
    np.testing.assert_array_equal(arrays(a, np.int32([0, 2, 3])), [1, 4, 27])
    with pytest.raises(ValueError, match="negative integer powers"):
        arrays(a, np.int32([0, -1, 3]))


def test_triton_832_offsets_beyond_32_bits() -> None:
    @asc.kernel
    def k(out: asc.int64[N], stride: int):
        for i in asc.parallel_for(N):
            out[i] = i * stride + (i + 2**31) % 7

    out = np.zeros(100, np.int64)
    k(out, 2**28)
    i = np.arange(100, dtype=np.int64)
    np.testing.assert_array_equal(out, i * 2**28 + (i + 2**31) % 7)
