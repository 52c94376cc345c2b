# SPDX-License-Identifier: Apache-2.0
"""Corners of the front end that few kernels reach: each function beside the Python function itself."""

# The functions are Python as it is met, not as it should be written.
# ruff: noqa: B007, B905, E731, RUF005, RUF057, SIM201

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.frontend import KernelSource, parse_signature
from pyasc.ir.diagnostics import CompileError
from tests.unit.frontend_support import check, lower, run

N, M, K, L = asc.dims("N M K L")
SCALE = np.float32(0.25)
SHIFT = np.int64(3)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


# Annotations inside a kernel.


def annotated(n: int):
    a: int = n
    b: float = 2
    c: float = n
    d: bool = True
    e: list[int] = [1, 2]
    f: "a comment" = 3  # noqa: F722
    g: int
    g = e[1]
    return a + b + c / 2 + d + f + g


def annotated_elements(x: asc.float32[4]):
    y: asc.float16 = x[0]
    z: asc.float32 = 1
    x[1] = y + z
    u: "asc.float16" = x[0]  # noqa: UP037
    v: np.float16 = x[0]
    w: "asc.float32[4]" = x * 2  # noqa: UP037
    x[2] = u + v + w[3]


# Tuples and text, which are known when the kernel is compiled.


def tuples(n: int):
    t = (1, 2) + (3,)
    u = [n] * 2
    v = (n, 2) == (n, 2)
    w = (1, 2) == (1, 2, 3)
    x = (n, 1) != (n, 2)
    y = t[1:][0] + t[::-1][0] + u[-1]
    name = "rows"[0]
    z = 1 if t else 2
    empty = 5 if () else 6
    return y + v + 10 * w + 100 * x + z + empty + (1 if name == "r" else 2) + len("four")


def unpacked(n: int):
    first = [0, *(n, 2)]
    return max(*first, 3) + divmod(*(17, 5))[0]


def looped_over_tuples(n: int):
    total = 0
    for a, b in zip((1, 2, 3), (n, n)):
        total += a * b
    for k, item in enumerate((n, 5), 10):
        total += k * item
    for item in reversed((1, 2, n)):
        total = total * 2 + item
    for item in tuple(range(3)):
        total += item
    return total


def choices_between_tuples(n: int):
    t = (1.5, 2)
    u = (n, n) if n is None else (n, 1)
    return t[0] + u[1]


def compared_with_text(n: int):
    mode = "fast"
    return n + 1 if mode == "fast" and mode != "slow" and not mode == 3 else n


# Numbers.


def powers(x: asc.float32[4]):
    for i in range(4):
        x[i] = x[i] ** 0.5 + x[i] ** 1 + x[i] ** -1 + x[i] ** 2 + x[i] ** 3


def powers_of_ints(n: int):
    return n**2 + n**3 + n**-1 + n**0


def unary(n: int, x: asc.float32[2]):
    x[0] = -x[0] + +x[1]
    return -n + +n + ~n + ~5 + +3 - -2


def negated_size(x: asc.float32[N]):
    return -len(x) + (-N) * 2 + 1


def known_numbers(x: asc.float32[6]):
    x[0] = round(2.5) + round(3.14159, 2)
    x[1] = math.floor(-2.5) + math.ceil(2.5) + math.trunc(-2.5)
    x[2] = min(3, 2.5) + max(1, 2, 3)
    x[3] = math.log(8.0, 2.0) + math.log(x[4], 10.0)
    x[4] = math.radians(180.0) + math.radians(x[5])
    x[5] = float("1.5") + int("7") + abs(-3)


def integral_of_ints(n: int):
    return math.floor(n) + math.ceil(n) + round(n) + int(n) + round(n, 0)


def extremes_of_sizes(x: asc.float32[N]):
    return min(N, N - 1) + max(N, N + 2)


def numpy_scalars(x: asc.float32[2]):
    x[0] = x[1] * SCALE + SHIFT


def truth(n: int, x: asc.float32[N]):
    total = 0
    if N:
        total += 1
    if x[:1].sum() > 0:
        total += 2
    if not n:
        total += 4
    return total + bool(n) + builtins.bool(N)


def lambdas_are_true(n: int):
    f = lambda v: v + 1
    return f(n) if f else n


def any_and_all(a: int, b: int):
    return any((a, b)) + 2 * all((a, b)) + 4 * all((1, 2)) + 8 * any(())


def reductions_of_arrays(x: asc.float32[4], y: asc.int32[4]):
    return sum(x) + sum(y, 10) + min(x) + max(y)


def reductions_of_unsigned(x: asc.uint8[4], b: asc.bool_[4]):
    return asc.sum(x), asc.max(b), asc.min(b), asc.all(b), asc.any(b)


def numpy_functions(x: asc.float32[4]):
    x[0] = np.exp(x[0]) + np.arctan2(x[1], x[2])
    x[1] = np.float32(2) * np.sum(x) + np.maximum(x[0], 1)


# Elementwise functions.


def elementwise(x: asc.float32[4], y: asc.int32[4]):
    z = asc.add(x, y) + asc.where(True, x, 0)
    n = asc.logical_not(y)
    return z * asc.floor(y), n, asc.logical_not(x[0] > 0), asc.where(1 > 2, 3, 4)


# Arrays made in a kernel.


def made(x: asc.float32[2, 3]):
    a = asc.ones_like(x) + asc.full_like(x, 2)
    b = asc.empty_like(x)
    b[...] = asc.broadcast_to(x[0, 0], (2, 3))
    c = asc.zeros(())
    return a * b + c


def filled(x: asc.float32[4]):
    x[1:3].fill(7)
    y = x.copy()
    y[0] = 5
    return y, x[0:2].item() if False else x[0].item()


def elements_of_expressions(x: asc.float32[2, 3], i: int):
    y = (x + 1)[i]
    return (x * 2)[i, -1] + y[0] + (x * 3)[1, 2]


def zero_dimensional(x: asc.float32[3]):
    total = asc.sum(x, axis=0)
    return total + x[0] if total > 1 else total


def attributes(x: asc.float32[2, 3]):
    n = x[0, 0]
    total = x.ndim + x.size + x.shape[0] + len(x) + n.ndim + len(n.shape)
    return total if n.dtype == asc.float32 and x.dtype == x[1].dtype else -1


def masked_by_run_time_number(x: asc.float32[4], v: float):
    x[x > 2] = v


def updated_rows(x: asc.float32[2, 3]):
    row = x[1]
    row += x[0]
    row[0] -= 1
    x[0, :2] *= 2


def rebound_tensor(x: asc.float32[3], n: int):
    y = x * 1
    for _ in range(n):
        y = y * 2 + 1
    return y


def late_tensor(x: asc.float32[3]):
    for i in range(2):
        y = x * i
    return y


def counter_after_branch(n: int):
    for i in range(5):
        pass
    if n > 0:
        i = n
    return i


def counter_before_loop(n: int):
    for i in range(3):
        pass
    for _ in range(n):
        i = i * 2
    return i


def arranged(n: int):
    total = 0
    for i in range(10, 0, -3):
        total += i
    for i in range(n, -n, -2):
        total = total * 3 + i
    for i in reversed(range(0, n, 2)):
        total = total * 2 + i
    return total + len(range(n)) + len(range(2, 11, 3))


def same_tuples(x: asc.float32[2], n: int):
    if n > 0:
        t = (x, 1)
    else:
        t = (x, 1)
    return t[0][0] + t[1]


def tensor_of_a_loop_in_a_branch(x: asc.float32[3], n: int):
    y = x * 1
    if n > 1:
        for _ in range(n):
            y = y * 2
    for _ in range(2):
        y = y + 1
    return y


def pair_of(v, flag):
    if flag > 0:
        return v, v + 1
    return v * 2, 5


def early_pairs(n: int):
    a, b = pair_of(n, n)
    return a * 10 + b


def promoted_tensor(x: asc.int32[3], n: int):
    y = x * 1
    for _ in range(n):
        y = y * asc.float32(0.5)
    return y


def stepped(x: asc.float32[N], s: int):
    total = asc.float32(0)
    for k, i in enumerate(reversed(range(0, N, s))):
        total += x[i] * (k + 1)
    return total


def half_sum(x: asc.float16[3], y: asc.float16[1]):
    total = asc.float16(0)
    for i in range(3):
        total += x[i]
        y[0] = total
    return total, total * 2, total + asc.float32(1)


def truth_of_one_element(x: asc.float32[1], n: int):
    return 1 if x[0:1].sum() else 2


def row_truths(x: asc.float32[2, 2]):
    row = x[1]
    y = row * 2 + row
    return y[0] if row.sum() > 0 else y[1]


def keyword_helper(v, *, scale: float = 2.0, offset: asc.float32 = 1):
    return v * scale + offset


def keywords(x: asc.float32[2]):
    x[0] = keyword_helper(x[0]) + keyword_helper(x[1], scale=3, offset=2)


INTEGERS = np.array([3, -1, 2, 0], np.int32)
CASES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, int]]] = [
    (annotated, (3,), {}),
    (tuples, (4,), {}),
    (unpacked, (4,), {}),
    (looped_over_tuples, (4,), {}),
    (choices_between_tuples, (3,), {}),
    (compared_with_text, (3,), {}),
    (powers, (floats(1, 4, 9, 16),), {}),
    (powers_of_ints, (2,), {}),
    (unary, (3, floats(1, 2)), {}),
    (negated_size, (floats(1, 2, 3),), {"N": 3}),
    (known_numbers, (floats(1, 2, 3, 4, 100, 90),), {}),
    (integral_of_ints, (-3,), {}),
    (extremes_of_sizes, (floats(1, 2, 3),), {"N": 3}),
    (numpy_scalars, (floats(1, 2),), {}),
    (truth, (0, floats(1, 2, 3)), {"N": 3}),
    (truth, (2, floats(-1, 2)), {"N": 2}),
    (lambdas_are_true, (2,), {}),
    (any_and_all, (0, 2), {}),
    (reductions_of_arrays, (floats(1, 2, 3, 4), INTEGERS), {}),
    (reductions_of_unsigned, (np.array([1, 2, 250, 3], np.uint8), np.array([True, False] * 2)), {}),
    (numpy_functions, (floats(1, 2, 3, 4),), {}),
    (made, (floats(1, 2, 3, 4, 5, 6).reshape(2, 3),), {}),
    (filled, (floats(1, 2, 3, 4),), {}),
    (elements_of_expressions, (floats(1, 2, 3, 4, 5, 6).reshape(2, 3), 1), {}),
    (elements_of_expressions, (floats(1, 2, 3, 4, 5, 6).reshape(2, 3), -2), {}),
    (zero_dimensional, (floats(1, 2, 3),), {}),
    (masked_by_run_time_number, (floats(1, 2, 3, 4), 9.5), {}),
    (updated_rows, (floats(1, 2, 3, 4, 5, 6).reshape(2, 3),), {}),
    (rebound_tensor, (floats(1, 2, 3), 3), {}),
    (late_tensor, (floats(1, 2, 3),), {}),
    (counter_after_branch, (0,), {}),
    (counter_after_branch, (9,), {}),
    (counter_before_loop, (3,), {}),
    (arranged, (7,), {}),
    (arranged, (0,), {}),
    (same_tuples, (floats(1, 2), 3), {}),
    (tensor_of_a_loop_in_a_branch, (floats(1, 2, 3), 2), {}),
    (tensor_of_a_loop_in_a_branch, (floats(1, 2, 3), 0), {}),
    (early_pairs, (3,), {}),
    (early_pairs, (-3,), {}),
    (promoted_tensor, (INTEGERS[:3].copy(), 2), {}),
    (stepped, (floats(1, 2, 3, 4, 5), 2), {"N": 5}),
    (half_sum, (np.array([1, 2, 3.5], np.float16), np.zeros(1, np.float16)), {}),
    (truth_of_one_element, (floats(0), 1), {}),
    (row_truths, (floats(1, 2, 3, -4).reshape(2, 2),), {}),
    (keywords, (floats(1, 2),), {}),
]


@pytest.mark.parametrize(("function", "args", "sizes"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_as_python(function: Callable[..., Any], args: tuple[Any, ...], sizes: dict[str, int]) -> None:
    check(function, *args, rtol=1e-6, **sizes)


def test_an_annotated_name_holds_a_value_of_that_type() -> None:
    x = floats(0.1, 0, 0, 0)
    run(annotated_elements, x)
    half = np.float16(np.float32(0.1))
    assert x[1] == np.float32(half) + 1
    assert x[2] == half + half


def test_elementwise_functions() -> None:
    x, y = floats(1, -2, 3.5, 0), INTEGERS
    z, n, single, chosen = run(elementwise, x, y)
    np.testing.assert_array_equal(z, (x + y + x) * y)
    np.testing.assert_array_equal(n, y == 0)
    assert (bool(single), int(chosen)) == (False, 4)


def test_attributes() -> None:
    assert run(attributes, np.ones((2, 3), np.float32)) == 2 + 6 + 2 + 2


# What is refused where shapes meet at run time is checked in the interpreter too.


def grid_of(x: asc.float32[N], n: int, m: int):
    return x.reshape(n, m) * 2


def joined(x: asc.float32[N, M], y: asc.float32[K, L]):
    return asc.sum(asc.concatenate((x, y)))


def product(x: asc.float32[N, M], y: asc.float32[K, L]):
    return asc.sum(x @ y)


def widened(x: asc.float32[N], n: int):
    return asc.sum(asc.broadcast_to(x, (2, n)))


ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("function", "fine", "wrong", "message"),
    [
        (joined, (ONES, np.ones((4, 3), np.float32)), (ONES, ONES.T.copy()), "cannot join"),
        (product, (ONES, np.ones((3, 4), np.float32)), (ONES, ONES), "columns"),
        (widened, (floats(1, 2), 2), (floats(1, 2), 3), "cannot broadcast"),
    ],
)
def test_shapes_that_only_the_run_knows(
    function: Callable[..., Any], fine: tuple[Any, ...], wrong: tuple[Any, ...], message: str
) -> None:
    assert run(function, *fine) > 0
    with pytest.raises(ValueError, match=message):
        run(function, *wrong)


# Programs that are given as text.

TEXT = """
import pyasc
from numpy import float32
from math import sqrt, pi
import numpy as np

SHAPE = (2, 3)
ROWS, COLUMNS = SHAPE
NEGATIVE = -ROWS * 2 + 1
HALF = 1 / 2
unknown = open
a.b = 3
PI = np.pi


@pyasc.kernel
def k(x: pyasc.float32[ROWS, -COLUMNS + 6], n: int = ROWS, s: float = HALF, deep: int = np.newaxis):
    x[0, 0] = NEGATIVE + sqrt(4.0) + pi - PI + n * s
"""


def test_the_surroundings_of_a_text() -> None:
    x = np.zeros((2, 3), np.float32)
    kernel = asc.kernel_from_source(TEXT)
    assert [p.default for p in kernel.signature.parameters][1:3] == [2, 0.5]
    kernel(x, deep=0)
    assert x[0, 0] == -3 + 2 + 1


def test_parameters_by_name() -> None:
    signature = parse_signature(KernelSource.from_function(annotated))
    assert signature["n"].name == "n"
    with pytest.raises(KeyError):
        signature["m"]


def test_a_result_annotation_of_several_values() -> None:
    text = "import pyasc as asc\ndef k(x: asc.float32[2]) -> (asc.float32, asc.float32):\n    return x[0], x[1]\n"
    assert len(parse_signature(KernelSource.from_text(text)).returns or ()) == 2


def test_text_that_cannot_be_read() -> None:
    with pytest.raises(CompileError, match="PA0103"):
        KernelSource.from_text("def k():\n    x = '\0'\n")


def test_an_unset_closure_value_is_not_defined() -> None:
    def maker(flag: bool) -> Callable[..., Any]:
        def k(n: int):
            return n + later

        if flag:
            later = 1
        return k

    with pytest.raises(CompileError, match="`later` is not defined"):
        lower(maker(False), 1)
    assert run(maker(True), 1) == 2
