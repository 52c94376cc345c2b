# SPDX-License-Identifier: Apache-2.0
"""Python numbers that meet elements with nothing computed (a choice, a branch, `min`, `or`) stay what they are.

Types narrower than the numbers would change them: 1000 is no int8, 0.1 no float16.
"""

from __future__ import annotations

import inspect
import types

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]


def by_branch(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        v = n
        if c > i:
            v = x[i]
        y[i] = v


def by_choice(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        y[i] = x[i] if c > i else n


def by_or(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        y[i] = x[i] or n


def by_and(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        y[i] = x[i] and n


def larger(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        y[i] = max(x[i], n)


def smaller(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        y[i] = min(n, x[i], c)


def largest(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        if x[i] > n:
            n = x[i]
    y[0] = n


def largest_by_max(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        n = max(n, x[i])
    y[0] = n


def from_two_places(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    m = 0
    for i in range(x.shape[0]):
        if c == i:
            m = n
        elif x[i] > 3:
            m = x[i]
        y[i] = m


def nested(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    m = 0
    for i in range(3):
        for j in range(x.shape[0]):
            if x[j] > m:
                m = x[j]
        if i == c:
            m = n
        y[i] = m


def by_break(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        if x[i] == 5:
            found = x[i]
            break
        if i == c:
            found = n
            break
    else:
        found = 1
    y[0] = found


def by_return(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    def first(k):
        if c > k:
            return x[k]
        return n

    for i in range(x.shape[0]):
        y[i] = first(i)


def one_behind(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    for i in range(x.shape[0]):
        y[i] = n
        n = x[i]


def last(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    m = n
    for i in range(c):
        m = x[i % 7]
    y[0] = m


def counted_down(x: asc.tensor, y: asc.tensor, n: asc.tensor, c: int):
    k = 0
    while n != x[k]:
        y[k] = n
        n = x[k + 1]
        k += 1


KERNELS = (
    by_branch,
    by_choice,
    by_or,
    by_and,
    larger,
    smaller,
    largest,
    largest_by_max,
    from_two_places,
    nested,
    by_break,
    by_return,
    one_behind,
    last,
    counted_down,
)
NUMBERS = {
    "int8": (1000, -70000, 5),
    "int16": (100_000, 7),
    "int32": (2**40, -3),
    "float16": (0.1, 60001.0, 0.5),
}
WIDE = {"int8": np.int64, "int16": np.int64, "int32": np.int64, "float16": np.float32}


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_as_in_python(function: types.FunctionType, dtype: str) -> None:
    for known in (False, True):
        for n in NUMBERS[dtype]:
            for c in (0, 2, 9):
                agree(function, dtype, n, c, known)


def agree(function: types.FunctionType, dtype: str, n: float, c: int, known: bool) -> None:
    """Whether a kernel does as CPython; of a number that is `known` when it is compiled, too."""
    x = np.array([0, -2, 4, 5, 0, 9, 1], dtype)
    results = []
    for call in (function, kernel_of(function, type(n), n if known else None)):
        y = np.zeros(7, WIDE[dtype])
        call(x, y, *(() if known and call is not function else (n,)), c)
        results.append(y)
    assert np.array_equal(*results), (n, c, known, results)


_MADE: dict[object, asc.Kernel] = {}


def kernel_of(function: types.FunctionType, kind: type, n: float | None) -> asc.Kernel:
    """The kernel of a function whose `n` is a run-time number, or a known one."""
    key = (function, kind, n)
    if key not in _MADE:
        lines = [f"def k(x: asc.tensor, y: asc.tensor, n: {kind.__name__}, c: int):", *body_of(function)]
        if n is not None:
            lines[0] = "def k(x: asc.tensor, y: asc.tensor, c: int):"
            lines.insert(1, f"    n = {n!r}")
        _MADE[key] = asc.kernel_from_source("\n".join(["import pyasc as asc", *lines]))
    return _MADE[key]


def body_of(function: types.FunctionType) -> list[str]:
    return inspect.getsource(function).split("\n")[1:]


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_on_the_model(function: types.FunctionType) -> None:
    with asc.device("model"):
        agree(function, "int8", 1000, 2, False)
        agree(function, "float16", 0.1, 2, False)


@asc.kernel
def clip_ints(x: asc.int32[N], y: asc.int32[N], low: int, high: int):
    for i in range(N):
        y[i] = min(max(x[i], low), high)


@asc.kernel
def clip_halves(x: asc.float16[N], y: asc.float16[N], low: float, high: float):
    for i in range(N):
        y[i] = min(max(x[i], low), high)


@asc.kernel
def filled(x: asc.int32[N], y: asc.int32[N], otherwise: int):
    for i in range(N):
        y[i] = x[i] if x[i] > 0 else otherwise


@asc.kernel
def greatest(x: asc.int32[N]):
    most = 0
    for i in range(N):
        most = max(most, x[i])
    return most


def test_results_that_elements_hold_are_computed_in_their_type() -> None:
    """Clamping and filling in are vector work in the elements' own type, on both devices."""
    for kernel in (clip_ints, clip_halves, filled, greatest):
        remarks = kernel.specialise(kernel.types_of(())).lowered("ascend").remarks
        assert not [each for each in remarks if "scalar unit" in each.message], kernel
    assert "pa_vec<int64_t" not in clip_ints.source("cpu") + filled.source("cpu") + greatest.source("cpu")


@asc.kernel
def greatest_from(x: asc.int32[N], most: int):
    for i in range(N):
        most = max(most, x[i])
    return most


@asc.kernel
def greatest_from_narrow(x: asc.int32[N], start: int):
    most = asc.int32(start)
    for i in range(N):
        most = max(most, x[i])
    return most


def test_a_wide_running_value_says_how_to_make_it_narrow() -> None:
    (remark,) = greatest_from.specialise(greatest_from.types_of(())).lowered("ascend").remarks[-1:]
    assert "64 bits" in remark.message and "asc.int32(" in (remark.hint or "")
    remarks = greatest_from_narrow.specialise(greatest_from_narrow.types_of(())).lowered("ascend").remarks
    assert not [each for each in remarks if "scalar unit" in each.message]


def test_clipping() -> None:
    x = np.arange(-40, 40, dtype=np.int32)
    y = np.zeros_like(x)
    for low, high in ((-3, 5), (-(2**40), 2**40), (-(2**31), 2**31 - 1)):
        clip_ints(x, y, low, high)
        assert np.array_equal(y, np.clip(x.astype(np.int64), low, high))
    h = np.linspace(-2, 2, 80, dtype=np.float16)
    z = np.zeros_like(h)
    clip_halves(h, z, -0.1, 0.3)
    assert np.array_equal(z, [min(max(v, np.float16(-0.1)), np.float16(0.3)) for v in h])
