# SPDX-License-Identifier: Apache-2.0
"""Forms of Python that few kernels use and random programs do not make, each as in Python and NumPy.

What of these a kernel cannot have is in `tests/errors`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc

CASES: list[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = []

NAN, INF = np.nan, np.inf
SINGLE, DOUBLE = np.float32(0.1), np.float64(0.1)
FACTORS = (np.float64(0.5), 0.5)
BYTES = np.array([100, 100, 100], np.int8)


def on(*arguments: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a program with the arguments that it is called with, as a kernel and in Python."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments))
        return function

    return register


@on((np.float32([1, NAN, 2]),), (np.float32([NAN, 1, 2]),), (np.float32([1, 2, NAN]),))
def builtin_extremes_of_an_array(x: asc.float32[3]):
    return max(x), min(x)


@on((BYTES,), (np.int8([1, -2, 3]),))
def a_builtin_sum_keeps_the_type_of_elements(x: asc.int8[3]):
    return sum(x), sum(x, 1), sum(x > 1)


@on((BYTES, 300), (BYTES, -300), (BYTES, 7))
def an_int_beyond_the_elements_stays_on_its_side(x: asc.int8[3], n: int):
    return int(min(x[0], max(n, 0))), int(max(x[0], min(n, 0))), int(min(max(n, 0), x[1])), int(max(n, x[2]))


@on((np.uint32([1, 2, 0]),), (np.uint32([0, 0, 0]),), (np.uint32([3, 1, 2]),))
def functions_of_bools(x: asc.uint32[3]):
    largest = np.any(np.max(x))
    return np.rint(largest), np.sqrt(np.all(x[0])), np.exp(not x[1]), np.any(x[0] > 1), np.sqrt(x[0] > x[1])


@on((np.float32([1.5, 2.5]),))
def like_in_another_type(x: asc.float32[2]):
    return np.zeros_like(x, dtype=np.int16), np.ones_like(x, np.int8), np.full_like(x, 3, dtype=np.float16)


@on((np.float32([-INF, -0.0, 4.0, 2.0]),))
def half_a_power(x: asc.float32[4]):
    return x**0.5, x[0] ** 0.5, x[1] ** 0.5, x[2] ** 0.5, x[3] ** 0.5


@on((True,), (False,))
def bools_that_become_ints(b: bool):
    return round(b), +b, -b, abs(b), b + b


@on((2,))
def lists_are_no_tuples(n: int):
    return (1, n) == [1, n], (1, n) != [1, n], [1, n] == [1, n], [*(1, n)] == list((1, n))


@on((np.float32([3, -1]),))
def numbers_of_numpy_that_are_globals(x: asc.float32[2]):
    return x * SINGLE, x * DOUBLE, x[0] * DOUBLE, x * FACTORS[0], x * FACTORS[1]


@on((3,), (-2,))
def iterators_where_they_stand(n: int):
    total = 0
    for a, b in zip((1, 2, 3), reversed((n, 5, 7))):  # noqa: B905
        total += a * b
    for k, each in enumerate(zip((1, n), (n, 2)), n):  # noqa: B905
        total += k * each[0] - each[1]
    parts = tuple(zip((1, 2), (3, n)))  # noqa: B905
    return total + sum(i * n for i in range(3)), list(reversed([n, 1]))[-1], len(parts)


@on((np.float32([3, -1]),))
def element_types_as_numpy_names_them(x: asc.float32[2]):
    return (
        asc.zeros(2, np.int32),
        asc.ones((2,), "int8"),
        asc.full(2, 3, np.float16),
        asc.empty(2, bool) & False,
        asc.arange(3, dtype=np.int16),
        asc.eye(2, dtype=np.int8),
        asc.zeros(2, x.dtype),
        asc.matmul(asc.eye(2, dtype=asc.int8), asc.eye(2, dtype="int8"), dtype=np.int32),
    )


TABLE = np.array([[True, False], [True, True]])


@on((TABLE, np.int8([[100, 100], [3, 4]])), (TABLE.T, np.int8([[0, 1], [-1, 2]])))
def products_of_bools(a: asc.bool_[2, 2], b: asc.int8[2, 2]):
    return a @ a, a @ b, a[0] @ a[1], asc.dot(a, a[0])


KERNELS = [(asc.kernel(function), function, arguments) for function, arguments in CASES]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile([kernel for kernel, _, _ in KERNELS])


def as_in_python(found: Any, wanted: Any) -> bool:
    """The same value in the same type; Python's numbers in their kind."""
    a, b = np.asarray(found), np.asarray(wanted)
    if isinstance(wanted, np.ndarray | np.generic) and a.dtype != b.dtype:
        return False
    with np.errstate(all="ignore"):
        signs = a.dtype.kind != "f" or (np.signbit(a) == np.signbit(b)) | np.isnan(b)
        same = (a == b) | (a != a) & (b != b)
    return a.shape == b.shape and a.dtype.kind == b.dtype.kind and bool(np.all(same & signs))


def check(kernel: asc.Kernel, function: Callable[..., Any], arguments: tuple[tuple[Any, ...], ...]) -> None:
    for each in arguments:
        with np.errstate(all="ignore"):
            found, wanted = kernel(*each), function(*each)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        assert all(as_in_python(a, b) for a, b in pairs), (each, found, wanted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("kernel", "function", "arguments"), KERNELS, ids=[function.__name__ for _, function, _ in KERNELS]
)
def test_as_in_python(
    kernel: asc.Kernel, function: Callable[..., Any], arguments: tuple[tuple[Any, ...], ...]
) -> None:
    check(kernel, function, arguments)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("number", [0, 2, 3])
def test_on_the_model(number: int) -> None:
    with asc.device("model"):
        check(*KERNELS[number])


def test_a_python_number_is_no_numpy_number_of_an_earlier_call() -> None:
    @asc.kernel
    def k(s, x: asc.float32[2]):
        return x * s, s + s

    x = np.float32([3, -1])
    for number in (np.float16(3), 0.1, np.int8(100), 100, np.True_, True, np.float16(3), np.float64(0.1)):
        found, twice = k(number, x)
        with np.errstate(all="ignore"):
            wanted, sum_ = x * number, number + number
        assert found.dtype == wanted.dtype, number
        np.testing.assert_array_equal(found, wanted)
        if isinstance(number, np.generic):
            assert twice.dtype == sum_.dtype
        assert np.isclose(twice, sum_, rtol=1e-6), number


@asc.kernel
def begun(x: asc.int8[3]):
    return sum(x, 0.0), sum(x > 1, 0.0), sum((x[0], x[1]), 0.0), sum((), 0.0), sum(x, False)


def test_a_builtin_sum_begins_with_what_it_is_given() -> None:
    found = begun(BYTES)
    assert [each.dtype.kind for each in found] == list("ffffi")
    assert found == (300, 3, 200, 0, 44)


def test_a_debug_build_reports_an_int_that_an_element_cannot_hold() -> None:
    @asc.kernel(debug=True)
    def k(x: asc.uint8[2], n: int):
        x[0] = n
        return x + n, asc.uint8(n - 300), min(x[0], n)

    found = k(np.uint8([1, 2]), 200)
    np.testing.assert_array_equal(found[0], np.uint8([144, 202]))
    assert found[1] == np.uint8(156)
    for number in (300, -1):
        with pytest.raises(OverflowError, match=f"{number} does not fit uint8"):
            k(np.uint8([1, 2]), number)


@asc.kernel
def shifted(n: int, by: int):
    return n << by, n >> by


@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("device", ["cpu", "model"])
def test_shifts_by_a_count_below_zero(device: str) -> None:
    with asc.device(device):
        for by in (-1, 64, -(2**63)):
            assert shifted(5, by) == (0, 0)
            assert shifted(-5, by) == (0, -1)


@asc.kernel(debug=True)
def watched(n: int, by: int):
    return -n, abs(n), n << by, n >> by, n // -by


@pytest.mark.parametrize(
    ("n", "by", "error", "message"),
    [
        (-(2**63), 0, OverflowError, "the negative of -9223372036854775808 does not fit into 64 bits"),
        (5, -1, ValueError, "negative shift count"),
        (1, 63, OverflowError, "1 << 63 does not fit into 64 bits"),
        (3, 62, OverflowError, "3 << 62 does not fit into 64 bits"),
    ],
)
def test_a_debug_build_reports_ints_that_wrap(n: int, by: int, error: type[Exception], message: str) -> None:
    assert watched(-5, 2) == (5, 5, -20, -2, 2)
    assert watched(1, 62) == (-1, 1, 2**62, 0, -1)
    with pytest.raises(error, match=message):
        watched(n, by)


@asc.kernel
def sums_of_products(a: asc.bool_[2, 300], b: asc.float16[2, 300], c: asc.float32[300]):
    return (
        asc.einsum("ij,kj->ik", a, a),
        asc.einsum("ij->i", a),
        asc.einsum("ij,kj->ik", a, b),
        asc.einsum("ij,k->ik", b, c),
    )


def test_einsum_of_bools_and_of_two_types() -> None:
    a, b, c = np.ones((2, 300), bool), np.full((2, 300), 0.1, np.float16), np.ones(300, np.float32)
    a[1] = False
    found = sums_of_products(a, b, c)
    np.testing.assert_array_equal(found[0], a @ a.T, strict=True)
    np.testing.assert_array_equal(found[1], [True, False], strict=True)
    np.testing.assert_allclose(found[2], a.astype(np.float16) @ b.T, rtol=2e-3)
    # What is summed first is summed in float32, the type of the product.
    exact = b.astype(np.float64).sum(1, keepdims=True) * np.ones(300)
    np.testing.assert_allclose(found[3], exact, rtol=1e-6)
    assert found[3].dtype == np.float32
