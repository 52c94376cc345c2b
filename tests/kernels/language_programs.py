# SPDX-License-Identifier: Apache-2.0
"""Programs of the rows of the language page about scalars and control flow: plain Python, run as such and as kernels.

Each takes Python numbers (`int`, `float`, `bool`) or small arrays, by the annotations; the arguments that it is
called with are given beside it. NumPy floats stand for kernels' float32 where a kernel says `asc.float32`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pyasc as asc

PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = []

INTS = (-7, -2, -1, 0, 1, 3, 8)
NONZERO = (-7, -2, -1, 1, 3, 8)
SIGNED = (-7.5, -2.0, -0.5, 0.5, 1.25, 3.0)


def on(*columns: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a program for every combination of its arguments."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, list(itertools.product(*columns))))
        return function

    return register


@on(INTS, NONZERO)
def integers(p: int, q: int):
    return p // q, p % q, -p // q, p % -q, p / q, p + q, p - q, p * q, -p, abs(p), p // 3, p % 5


@on(INTS, (0, 1, 5))
def bits(p: int, q: int):
    return p << q, p >> q, p & q, p | q, p ^ q, ~p, -p >> q, p >> 1, 1 << q, p & -2


@on(INTS, (0, 1, 2, 3))
def powers(p: int, q: int):
    return p**q, p**2, p**3, 2**q, (-2) ** q, p**0


@on(SIGNED, SIGNED)
def floats(x: float, y: float):
    return x // y, x % y, x / y, x * y, x + y, x - y, -x, abs(x), x // 1, x % 1, -x % 2


@on(INTS, SIGNED)
def integer_meets_float(p: int, x: float):
    return p * x, p + x, p / 2, p * 0.5, x // 2, x % 2, p - x, x**2, p // 2.0


@on(SIGNED)
def roundings(x: float):
    return round(x), int(x), math.floor(x), math.ceil(x), math.trunc(x), round(x * 2), int(-x)


@on((0.5, 1.5, 2.5, -0.5, -1.5, 2.4999, 1e6))
def ties(x: float):
    return round(x), round(x + 1), -round(x), round(-x)


@on(INTS, INTS)
def comparisons(p: int, q: int):
    return p < q, p <= q, p > q, p >= q, p == q, p != q, not p, p < q < 5, -3 <= p < q, p < 0 < q


@on(INTS, INTS)
def values_of_and_or(p: int, q: int):
    return p and q, p or q, p and 3, p or 7, 0 or q, 5 and q, not p or q > 0, p and q and 2, p or q or -1


@on(INTS, INTS)
def extremes(p: int, q: int):
    return min(p, q), max(p, q), min(p, q, 2), max(p, 0), min(3, q), abs(p - q), max(p, q) - min(p, q)


@on(SIGNED, SIGNED)
def float_extremes(x: float, y: float):
    return min(x, y), max(x, y), max(x, 0.0), min(x, y, 1.0), abs(x - y)


@on(INTS, NONZERO)
def quotient_and_remainder(p: int, q: int):
    a, b = divmod(p, q)
    c, d = divmod(-p, q)
    return a, b, c, d


@on((True, False), (True, False), INTS)
def truth(p: bool, q: bool, n: int):
    return p and q, p or q, not p, p == q, p + q, p * n, n if p else -n, p != q, p & q, p | q, p ^ q


@on(INTS, INTS)
def choice(p: int, q: int):
    a = p if p > q else q
    b = -1 if p < 0 else 0 if p == 0 else 1
    c = (p if q > 0 else -p) * (2 if p > 0 else 3)
    return a, b, c


@on(INTS, SIGNED)
def joined_types(p: int, x: float):
    if p > 0:
        z = p
    else:
        z = x
    # The page: a name that has numbers of two types is promoted.
    return z + 0.0


@on(INTS)
def ladder(p: int):
    if p < -3:
        r = 1
    elif p < 0:
        r = 2
    elif p == 0:
        r = 3
    elif p < 5 and p != 3:
        r = 4
    else:
        r = 5
    return r


@on(INTS)
def early_returns(p: int):
    if p < 0:
        return -1
    for i in range(10):
        if i * i > p:
            return i
        if i == 7:
            break
    else:
        return 99
    return 50


@on((0, 1, 5), (-1, 0, 3, 10))
def loop_else(n: int, stop: int):
    r = 7
    for i in range(n):
        if i == stop:
            r = i
            break
    else:
        r = -1
    return r


@on((0, 3, 10), (1, 2, 3, -1, -2))
def run_time_steps(n: int, step: int):
    s = 0
    for i in range(0, n, step):
        s = s * 3 + i
    for i in range(n, -n, -abs(step)):
        s = s * 5 - i
    return s


@on((0, 1, 4))
def rebound_loop_variable(n: int):
    s = 0
    for i in range(n):
        i = i * 2 + 1
        s += i
        i = 100
    return s


@on((1, 2, 7))
def loop_variable_afterwards(n: int):
    i = -5
    for i in range(n):
        pass
    for j in range(3):
        k = j * i
    return i, j, k


@on((0, 3), (2, 5))
def nested_jumps(n: int, m: int):
    c = 0
    for i in range(n):
        for j in range(m):
            if (i + j) % 3 == 2:
                continue
            if i * j > 4:
                break
            c += i + 1
        else:
            c += 100
            continue
        c += 1000
    return c


@on((0, 1, 6, 27))
def collatz(n: int):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    else:
        steps += 1000
    return steps


@on((0, 1, 17, 100))
def endless_until_break(n: int):
    i = 0
    while True:
        i += 3
        if i > n:
            break
        if i % 2:
            continue
        i += 1
    return i


@on((0, 1, 10))
def swaps(n: int):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    x = y = a
    x += 1
    (p, q), r = (x, y), b
    return a, b, p, q, r


@on((0, 5))
def counts(n: int):
    s = 0
    for i, (a, b) in enumerate(zip(range(n), reversed(range(n))), 2):  # noqa: B905
        s += i * a - b
    for i in reversed(range(1, n, 2)):
        s = s * 2 + i
    return s


@on((2, 5))
def comprehensions(n: int):
    weights = [k * k - 1 for k in range(5) if k != 2]
    pairs = [(i, j) for i in range(2) for j in range(3)]
    return sum(weights) * n, sum(w * n for w in weights), sum(i * j for i, j in pairs), len(pairs), weights[2]


@on(INTS)
def nested_functions(p: int):
    base = p * 2

    def add(a, b=3, *, c=1):
        return a + b * c + base

    twice = lambda f, v: f(f(v))  # noqa: E731
    base = 10
    return add(p), add(p, 1), add(p, c=5), add(b=2, a=1), twice(add, p)


@on((0, 4))
def unrolled(n: int):
    s = 0
    for k in asc.unroll(range(4)):
        if k == n:
            continue
        s = s * 10 + k
    return s


@on(INTS)
def walrus(p: int):
    if (q := p * 2) > 3:
        return q + 1
    while (q := q + 1) < 2:
        p += q
    return p * 100 + q


@on(INTS)
def chained_once(p: int):
    calls = 0

    def middle(v):
        return v + 1

    if 0 < (calls := middle(p)) < 5:
        calls += 100
    return calls


@on((0, 1, 2, 3))
def rebinding_a_constant(n: int):
    k = 1
    for _ in range(n):
        k = k * 2
    scale = 3
    while scale < n:
        scale += 1
    return k, scale


@on((0, 3))
def two_constants(n: int):
    def scaled(v, by):
        return v * by

    return scaled(n + 1, 2), scaled(n + 1, 3), scaled(n + 1, 0.5)


@on((2**31, -(2**31), 2**40))
def wide_integers(n: int):
    return n + 1, n * 2, n // 3, n - 2**31, (n >> 1) + 5


@on(((1 << 62),))
def large_products(n: int):
    return n // 2**40, n % 1000, n >> 60


@on((0.25, 2.0, 9.0))
def library(x: float):
    return (
        math.sqrt(x),
        math.exp(-x),
        math.log(x),
        math.sin(x),
        math.cos(x),
        math.fabs(-x),
        math.hypot(x, 1.0),
        math.pi * x,
    )


@on((5, 12))
def whole_library(n: int):
    return (
        n if n > 3 else 0,
        sum((n, 1, 2)),
        len((n, n)),
        max((n, 7)),
        min([n, 7]),
        pow(n, 2),
        bool(n),
        float(n),
        int(True),
    )


@on((1, 3))
def annotated(n: int):
    a: int = n * 2
    b: float = n
    c: float = 3
    return a, b / 2, c / 2


@on((0, 2, 5))
def dead_branches(n: int):
    flag = False
    if flag:
        z = undefined_name
    else:
        z = n
    mode = "fast"
    if mode == "slow":
        z = z.no_such_attribute
    return z if not flag else z.nothing


@on((1, 3))
def starred_names(n: int):
    first, *rest = (n, 2, 3)
    *init, last = [n, n + 1]
    a, *nothing, b = n, 7
    return first + rest[1], len(rest), init[0] * last, len(nothing), a + b


@on((0, 5, 30))
def endless_until_return(n: int):
    i = 1
    while True:
        i *= 2
        if i > n:
            return i
        i += 1


@on((0, 3), (2, 3, 9))
def search_with_else(n: int, wanted: int):
    for i in range(n):
        if i * i >= wanted:
            break
    else:
        return -1
    return i
