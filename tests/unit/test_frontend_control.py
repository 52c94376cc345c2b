# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F821, B007, B905
"""Control flow: each kernel gives in the interpreter what the same function gives in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.unit.frontend_support import check, lower, the_function

CASES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, int]]] = []


def case(*args: Any, **sizes: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function with arguments and the values of its sizes."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, args, sizes))
        return function

    return register


def ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


def zeros(n: int, dtype: str = "int64") -> np.ndarray[Any, Any]:
    return np.zeros(n, dtype)


@case(3)
@case(-3)
@case(0)
def if_elif_else(n: int):
    if n > 0:
        r = 1
    elif n < 0:
        r = -1
    else:
        r = 0
    return r


@case(5)
@case(0)
def early_return(n: int):
    if n == 0:
        return 7
    x = n * 2
    if x > 100:
        return x
    return x + 1


@case(1, 2)
@case(2, 1)
@case(2, 3)
def nested_returns(a: int, b: int):
    if a > 1:
        if b > 2:
            return 10
        a = a + 5
    else:
        if b > 1:
            return 20
    return a + b


@case(10)
@case(0)
def break_in_range(n: int):
    s = 0
    for i in range(n):
        if i == 5:
            break
        s += i
    return s


@case(10)
def continue_in_range(n: int):
    s = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        s += i
    return s


@case(10, 3)
@case(10, 30)
def loop_else(n: int, wanted: int):
    found = -1
    for i in range(n):
        if i == wanted:
            found = i
            break
    else:
        found = 100
    return found


@case(10, 3)
@case(10, 30)
def while_else(n: int, wanted: int):
    i = 0
    while i < n:
        if i == wanted:
            break
        i += 1
    else:
        i = -1
    return i


@case(27)
@case(1)
def collatz(n: int):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case(10)
def return_from_loop(n: int):
    for i in range(n):
        if i * i > 20:
            return i
    return -1


@case(4)
def return_from_nested_loops(n: int):
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                return i * 10 + j
    return -1


@case(6)
def break_of_the_inner_loop(n: int):
    s = 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            s += j
    return s


@case(6)
def continue_after_inner_loop(n: int):
    s = 0
    for i in range(n):
        for j in range(n):
            if j == 3:
                break
        else:
            continue
        s += i
    return s


@case(3, 1)
@case(3, 9)
@case(0, 1)
def set_behind_a_break(n: int, limit: int):
    z = 7
    while n > 0:
        n -= 1
        for i in range(n):
            if i > limit:
                break
            z = i * 2
        if n == limit:
            break
        z = n + 100
    return z


@case(4, 2)
@case(4, 9)
def set_behind_a_continue(n: int, odd: int):
    z = 1
    w = 0
    for i in range(n):
        for j in range(i):
            if j == odd:
                continue
            z = j + i
        if i == odd:
            continue
        w += z
        z = 5
    return z * 100 + w


@case(7)
def while_true(n: int):
    s = 0
    while True:
        n -= 1
        if n < 0:
            break
        if n == 3:
            continue
        s += n
    return s


@case(5)
def for_with_steps(n: int):
    s = 0
    for i in range(10, n, -2):
        s = s * 10 + i
    for i in range(0, 20, n):
        s = s * 3 + i
    return s


@case(10, 3)
@case(10, -3)
def run_time_step(n: int, step: int):
    s = 0
    for i in range(0, n, step):
        s += i
    for i in range(n, 0, step):
        s += 100 * i
    return s


@case(1.5)
def promotes_in_a_branch(x: float):
    r = 1
    if x > 1:
        r = 2.5
    return r


@case(3)
def swap(n: int):
    a, b = 1, 2
    for _ in range(n):
        a, b = b, a + b
    return a, b


@case(4)
def counter_after_loop(n: int):
    i = 100
    for i in range(n):
        pass
    return i


@case(0)
def counter_after_empty_loop(n: int):
    i = 100
    for i in range(n):
        pass
    return i


@case(1)
def counter_of_a_certain_loop(n: int):
    for i in range(3):
        t = i + n
    return i, t


@case(3, 4)
def and_or_values(a: int, b: int):
    return a and b, a or b, (a - 3) and b, (a - 3) or b, not a


@case(0, 4)
def short_circuit(a: int, b: int):
    x = a != 0 and b // a > 1
    y = a == 0 or b // a > 1
    return int(x), int(y)


@case(1, 2, 3)
@case(3, 2, 1)
@case(1, 3, 2)
def chains(a: int, b: int, c: int):
    return int(a < b < c), int(a < b > c), int(a == b != c <= 3)


@case(ints(3, -1, 4, 1, -5), zeros(5, "int32"), N=5)
def zip_and_enumerate(x: asc.int32[N], y: asc.int32[N]):
    for k, v in enumerate(x):
        y[k] = v * 2
    for i, j in zip(range(N), reversed(range(N))):
        y[i] += x[j]


@case(ints(3, -1, 4, 1, -5), N=5)
def iterate_an_array(x: asc.int32[N]):
    s = 0
    for v in x:
        if v < 0:
            continue
        s += v
    for v in reversed(x):
        s = s * 2 + v
    return s


@case(ints(3, -1, 4, 1, -5), N=5)
def enumerate_start(x: asc.int32[N]):
    s = 0
    for k, v in enumerate(x, 10):
        s += k * v
    for k, (a, b) in enumerate(zip(x, range(N))):
        s += k * a - b
    return s


@case(2)
def unrolled(n: int):
    s = 0
    for i in asc.unroll(range(4)):
        if i == n:
            continue
        if i == 3:
            break
        s += i + 1
    else:
        s += 1000
    for t in (1, 2.5, 3):
        s += t
    return s


@case(2)
def unrolled_break(n: int):
    s = 0
    for i in asc.unroll(range(5)):
        if i > n:
            break
        s += i * i
    else:
        s = -1
    return s


@case(10)
def unrolled_break_never_taken(n: int):
    s = 0
    for i in asc.unroll(range(5)):
        if i > n:
            break
        s += i * i
    else:
        s = -s
    return s


@case(5)
def walrus(n: int):
    s = 0
    while (m := n - s) > 0:
        s += 1
    return s, m


@case(4)
def inner_function(n: int):
    scale = 3

    def f(x, y=2):
        if x > 2:
            return x * scale
        return y

    s = 0
    for i in range(n):
        s += f(i) + f(i, y=i)
    return s


@case(4)
def lambdas(n: int):
    g = lambda t: t * t + n  # noqa: E731
    return g(3) + g(n)


def helper(x, k=1):
    for i in range(10):
        if i > x:
            return i * k
    return -1


@case(4)
def module_helper(n: int):
    return helper(n) + helper(n, k=3) + helper(20)


@case(7, 2)
@case(-7, 2)
@case(7, -2)
def integer_arithmetic(a: int, b: int):
    q, r = divmod(a, b)
    return (
        a // b,
        a % b,
        q,
        r,
        a * b,
        a - b,
        -a,
        +b,
        abs(a),
        a & b,
        a | b,
        a ^ b,
        ~a,
        a << 2,
        a >> 1,
        a**2,
        a**3,
    )


@case(7.5, 2.0)
@case(-7.5, 2.0)
def float_arithmetic(a: float, b: float):
    return (
        a // b,
        a % b,
        a / b,
        a * b,
        -a,
        abs(a),
        a**2,
        min(a, b),
        max(a, b, 1),
        int(a),
        float(int(a)),
        round(a),
    )


@case(3)
def true_division(n: int):
    return n / 2, 1 / n


@case(5)
def sums_of_tuples(n: int):
    values = [n * k for k in range(4)]
    return sum(values), min(values), max(values), len(values), any([n > 4, False]), all([n > 4, False])


@case(5)
def generator_expressions(n: int):
    pairs = [(i, j) for i in range(3) for j in range(i) if i + j != 2]
    return (
        sum(n * k for k in range(4)),
        max(abs(n - k) for k in (3, 9)),
        len(pairs),
        any(n == k for k in range(3)),
    )


@case(3)
def comprehensions_in_branches_and_loops(n: int):
    s = 0
    for i in range(n):
        if i > 0:
            s += sum([i * k for k in range(3)])
        else:
            s += max(k for k in range(4))
    return s


@case(2.0)
def math_functions(x: float):
    return (
        math.floor(x + 0.5),
        math.ceil(x + 0.5),
        math.trunc(-x - 0.5),
        math.pi,
        math.fabs(-x),
        math.isnan(x),
    )


@case(5)
def conditional_with_side(n: int):
    return (n if n > 3 else 0) + (1.5 if n < 3 else 2)


@case(ints(1, 2, 3), 5)
def lazy_conditional(x: asc.int32[3], i: int):
    return x[i] if i < 3 else -1


@case(ints(1, 2, 3), 5)
def lazy_and(x: asc.int32[3], i: int):
    return 1 if i < 3 and x[i] > 0 else 0


@case(ints(0, 0, 5, 0), 9)
def while_with_guarded_test(x: asc.int32[4], n: int):
    i = 0
    while i < 4 and x[i] == 0:
        i += 1
        if i == n:
            break
    return i


@case(ints(0, 0, 0, 0), 4)
def break_before_the_test(x: asc.int32[4], n: int):
    i = 0
    while x[i] == 0:
        i += 1
        if i == n:
            break
    return i


@case(3)
def value_from_one_side_only(n: int):
    for i in range(5):
        if i == n:
            t = 10
        else:
            continue
        n += t
        break
    return n


@case(4)
def deep_flags(n: int):
    s = 0
    for i in range(n):
        if i > 0:
            if i == 2:
                continue
            s += 10
        s += i
    return s


@case(6)
def return_inside_while_inside_for(n: int):
    for i in range(n):
        k = i
        while k > 0:
            k -= 2
            if k * i == 9:
                return 100 * k + i
    return n


@case(ints(4, 2, 7, 1), N=4)
def selection_sort(x: asc.int32[N]):
    for i in range(N):
        small = i
        for j in range(i + 1, N):
            if x[j] < x[small]:
                small = j
        x[i], x[small] = x[small], x[i]


@case(ints(1, 3, 5, 7, 9), 7, N=5)
@case(ints(1, 3, 5, 7, 9), 4, N=5)
def binary_search(x: asc.int32[N], wanted: int):
    low, high = 0, N
    while low < high:
        mid = (low + high) // 2
        if x[mid] == wanted:
            return mid
        if x[mid] < wanted:
            low = mid + 1
        else:
            high = mid
    return -1


@case(zeros(12), N=12)
def sieve(flags: asc.int64[N]):
    for i in range(2, N):
        flags[i] = 1
    i = 2
    while i * i < N:
        if flags[i]:
            for j in range(i * i, N, i):
                flags[j] = 0
        i += 1


@case(ints(1, 2, 3), ints(10, 20, 30), zeros(3, "int32"), N=3)
def parallel_reduction(x: asc.int32[N], y: asc.int32[N], out: asc.int32[N]):
    total = 0
    for i in asc.parallel_for(N):
        total += x[i] * y[i]
    for i in asc.parallel_for(N):
        if x[i] == 2:
            continue
        out[i] = total


@pytest.mark.parametrize(
    ("function", "args", "sizes"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _, _) in enumerate(CASES)]
)
def test_as_python(function: Callable[..., Any], args: tuple[Any, ...], sizes: dict[str, int]) -> None:
    check(function, *args, rtol=1e-6, **sizes)


def operations(function: Callable[..., Any]) -> list[str]:
    return [op.name for op in the_function(lower(function).module).walk()]


def test_a_continue_costs_no_flag() -> None:
    names = operations(continue_in_range)
    assert "scf.while" not in names
    assert not {"arith.not", "arith.or", "arith.and"} & set(names)


def test_cheap_choices_are_selects() -> None:
    names = operations(if_elif_else)
    assert "scf.if" not in names
    assert names.count("arith.select") == 2


def test_known_conditions_leave_no_trace() -> None:
    def known(n: int):
        if asc.__version__ >= "0":
            return n
        return undefined_name

    assert "scf.if" not in operations(known)
