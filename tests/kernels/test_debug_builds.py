# SPDX-License-Identifier: Apache-2.0
"""Debug builds: what fails shows the line, the place in the loops and the values, and raises Python's exception."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")

N, M = asc.dims("N M")
HERE = Path(__file__).name


@asc.kernel(debug=True)
def asserted(x: asc.float32[N], low: float):
    for i in range(N):
        for j in range(2):
            assert x[i] > low


@asc.kernel(debug=True)
def asserted_with_message(x: asc.float32[N]):
    for i in asc.parallel_for(N):
        assert x[i] >= 0, f"x[{i}] is {x[i]:.2f} {{}}"


@asc.kernel(debug=True)
def gathered(x: asc.float32[N], index: asc.int32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = x[index[i]]


@asc.kernel(debug=True)
def scattered(x: asc.float32[N], index: asc.int32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[index[i]] = x[i]


@asc.kernel(debug=True)
def shifted(x: asc.float32[N], by: int):
    for i in asc.parallel_for(N - by):
        x[i] = x[i + by] + 1


@asc.kernel(debug=True)
def transposed_in_place(x: asc.float32[N, N]):
    for i, j in asc.parallel_for_grid(N, N):
        if i != j:
            x[i, j] = x[j, i] + 1


@asc.kernel(debug=True)
def rows_scattered(x: asc.float32[N, M], index: asc.int32[N], y: asc.float32[N, M]):
    for i in asc.parallel_for(N):
        row = y[index[i]]
        for j in range(M):
            row[j] = x[i, j]


@asc.kernel(debug=True)
def independent(x: asc.float32[N, M], y: asc.float32[N], total: asc.float32[1]):
    for i in asc.parallel_for(N):
        own = asc.zeros(3)
        own[i % 3] = x[i, 0]
        for j in range(M):
            y[i] += x[i, j] + own[0] * 0
        total[0] += x[i, 0]


@asc.kernel(debug=True)
def quotient(a: int, b: int) -> int:
    return a // b


@asc.kernel(debug=True)
def remainder(a: asc.int32, b: asc.int32) -> asc.int32:
    return a % b


@asc.kernel(debug=True)
def combined(a: int, b: int, op: int) -> int:
    return a + b if op == 0 else a - b if op == 1 else a * b


@asc.kernel(debug=True)
def half_written(x: asc.float32[N]):
    for i in asc.parallel_for(N):
        tile = asc.shared_memory(4, asc.float32)
        for k in range(3):
            tile[k] = x[i]
        for k in range(4):
            x[i] += tile[k]


@asc.kernel(debug=True)
def all_written(x: asc.float32[N], y: asc.float32[N]):
    tile = asc.empty(N)
    asc.copy(x, tile)
    pair = asc.empty((N, 2))
    pair[:, 0] = tile
    pair[:, 1] = tile * 2
    y[...] = asc.sum(pair, axis=1) + asc.softmax(x)


@asc.kernel(debug=True)
def printing(x: asc.float32[2, 2], y: asc.float32[N]):
    asc.print("x", x, (1, x[0, 1]), y[1:3] * 2)
    for i in range(2):
        asc.print(f"{i}: {y[i]:.1f}")
    for i in asc.parallel_for(N):
        asc.print(y[i] > 1)


@asc.kernel
def release(a: int, b: int, x: asc.float32[N]) -> int:
    assert x[0] > 100
    asc.print("never")
    asc.assert_shape(x, (17,))
    return a // b + a * 4


KERNELS = [
    asserted,
    asserted_with_message,
    gathered,
    scattered,
    shifted,
    transposed_in_place,
    rows_scattered,
    independent,
    quotient,
    remainder,
    combined,
    half_written,
    all_written,
    printing,
    release,
]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile(KERNELS)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def failure(error: type[Exception], kernel: asc.Kernel, *args: object) -> list[str]:
    """The lines of the message of a launch that fails."""
    with pytest.raises(error) as caught:
        kernel(*args)
    return str(caught.value).splitlines()


def line_of(text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)


def test_a_failed_assertion_shows_line_place_and_values() -> None:
    message, place, source = failure(AssertionError, asserted, floats(3.5, -2.5), -1.25)
    assert message == "assertion failed: x[i] > low (x[i] = -2.5, low = -1.25, i = 1) [j = 0]"
    assert place.startswith("  in kernel `asserted` on core 0, ")
    assert place.endswith(f"{HERE}:{line_of('assert x[i] > low')}")
    assert source == "    assert x[i] > low"


def test_a_message_of_the_user() -> None:
    message, *_ = failure(AssertionError, asserted_with_message, floats(1, 2, -0.5))
    assert message == "x[2] is -0.50 {}"


def test_an_index_shows_its_place() -> None:
    index = np.array([0, 1, 9, 2], np.int32)
    message, *_ = failure(IndexError, gathered, np.ones(4, np.float32), index, np.zeros(4, np.float32))
    assert message == "index 9 is out of range for axis 0 of x with extent 4 [i = 2]"


def test_two_writers_of_one_element() -> None:
    index = np.array([3, 1, 1, 2], np.int32)
    message, _, source = failure(
        RuntimeError, scattered, np.ones(4, np.float32), index, np.zeros(4, np.float32)
    )
    assert message == "iterations 1 and 2 of the parallel loop write the same element of y [i = 2]"
    assert source == "    y[index[i]] = x[i]"


def test_a_permutation_is_no_race() -> None:
    x, y = floats(1, 2, 3, 4), np.zeros(4, np.float32)
    scattered(x, np.array([3, 1, 0, 2], np.int32), y)
    assert y.tolist() == [3, 2, 4, 1]


def test_a_reader_of_what_another_iteration_writes() -> None:
    message, *_ = failure(RuntimeError, shifted, np.ones(4, np.float32), 1)
    assert message == "iteration 1 of the parallel loop writes an element of x that another one reads [i = 1]"
    x = np.ones(4, np.float32)
    shifted(x, 2)
    assert x.tolist() == [2, 2, 1, 1]


def test_a_grid_counts_its_points() -> None:
    message, *_ = failure(RuntimeError, transposed_in_place, np.ones((3, 3), np.float32))
    assert (
        message
        == "iteration 3 of the parallel loop reads an element of x that iteration 1 writes [i = 1, j = 0]"
    )


def test_rows_that_meet() -> None:
    x, y = np.ones((3, 2), np.float32), np.zeros((3, 2), np.float32)
    rows_scattered(x, np.array([2, 0, 1], np.int32), y)
    assert y.tolist() == x.tolist()
    message, *_ = failure(RuntimeError, rows_scattered, x, np.array([2, 0, 2], np.int32), y)
    assert "iterations 0 and 2 of the parallel loop write the same element of y" in message


def test_own_elements_buffers_and_sums_are_no_races() -> None:
    y, total = np.zeros(5, np.float32), np.zeros(1, np.float32)
    independent(np.ones((5, 3), np.float32), y, total)
    assert y.tolist() == [3] * 5 and total.tolist() == [5]


@pytest.mark.parametrize("kernel", [quotient, remainder])
def test_division_by_zero(kernel: asc.Kernel) -> None:
    message, *_ = failure(
        ZeroDivisionError,
        kernel,
        np.int32(7) if kernel is remainder else 7,
        np.int32(0) if kernel is remainder else 0,
    )
    assert message == "integer division or modulo by zero"


EDGE = 2**63 - 1


@pytest.mark.parametrize(
    ("a", "b", "op", "fits"),
    [
        (EDGE, 1, 0, False),
        (EDGE, 0, 0, True),
        (-EDGE - 1, -1, 0, False),
        (-EDGE - 1, EDGE, 0, True),
        (-EDGE - 1, 1, 1, False),
        (-1, EDGE, 1, True),
        (0, -EDGE - 1, 1, False),
        (2**62, 2, 2, False),
        (2**62, -2, 2, True),
        (-EDGE - 1, -1, 2, False),
        (-1, -EDGE - 1, 2, False),
        (EDGE, 0, 2, True),
        (3037000500, 3037000500, 2, False),
        (3037000499, 3037000499, 2, True),
    ],
)
def test_overflow_of_ints(a: int, b: int, op: int, fits: bool) -> None:
    exact = [a + b, a - b, a * b][op]
    if fits:
        assert combined(a, b, op) == exact
    else:
        message, *_ = failure(OverflowError, combined, a, b, op)
        assert message == f"{a} {'+-*'[op]} {b} does not fit into 64 bits"


@asc.kernel(debug=True)
def power(a: int, b: int) -> int:
    return a**b


@asc.kernel(debug=True)
def square_and_cube(a: int):
    return a**2, a**3


POWERS = [
    *(
        (base, exponent)
        for base in (0, 1, -1, 2, -2, 3, -3, 10, EDGE, -EDGE - 1)
        for exponent in (0, 1, 2, 62, 63, 64, 99)
    ),
    *((base, 3) for base in (2097151, 2097152, -2097151, -2097152, -2097153)),
    *((base, 2) for base in (3037000499, 3037000500, -3037000499, -3037000500)),
    *((base, 21) for base in (7, 8, -7, -8, -9)),
    *((base, 40) for base in (2, 3, -3)),
]


def test_overflow_of_powers() -> None:
    for a, b in POWERS:
        exact = a**b
        if -EDGE - 1 <= exact <= EDGE:
            assert power(a, b) == exact
        else:
            message, *_ = failure(OverflowError, power, a, b)
            assert message == f"{a} ** {b} does not fit into 64 bits"
    assert square_and_cube(-2000000) == (4 * 10**12, -8 * 10**18)
    message, *_ = failure(OverflowError, square_and_cube, 3000000)
    assert message == "3000000 ** 3 does not fit into 64 bits"


def test_reading_what_was_never_written() -> None:
    message, _, source = failure(RuntimeError, half_written, np.ones(2, np.float32))
    assert message == "an element of tile is read before it is written [i = 0, k = 3]"
    assert source == "    x[i] += tile[k]"


def test_buffers_that_are_written() -> None:
    x, y = floats(0, 0, 0, 0), np.zeros(4, np.float32)
    all_written(x, y)
    assert y.tolist() == [0.25] * 4


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    printing(np.arange(4, dtype=np.float32).reshape(2, 2), floats(0.5, 1.5, 2.5))
    assert capsys.readouterr().out.splitlines() == [
        "x [[0.0, 1.0], [2.0, 3.0]] (1, 1.0) [3.0, 5.0]",
        "0: 0.5",
        "1: 1.5",
        "[i = 0] False",
        "[i = 1] True",
        "[i = 2] True",
    ]


def test_without_debug_nothing_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert release(2**62, 0, np.zeros(3, np.float32)) == 0
    assert capsys.readouterr().out == ""
    text = release.lower()["cpp"]
    assert "pa_fail" not in text and "pa_print" not in text


@asc.kernel(debug=True)
def printing_on_cores(x: asc.float32[N]):
    for i in range(N):
        asc.print("100%", i, f"{x[i]:.2f}", x[i] > 1, x[i])


@asc.kernel(debug=True)
def only_checking(x: asc.float32[N]):
    asc.assert_shape(x, (3,))


@asc.kernel(debug=True)
def printing_between(x: asc.float32[N], n: int):
    asc.print("before", n)
    for i in range(N):
        x[i] = x[i] + 1.0
    asc.print("between", f"{x[1]:.1f}")
    total = asc.sum(x)
    for i in asc.parallel_for(N):
        x[i] = x[i] * 2.0
    if n > 3:
        asc.print("total", f"{total:.1f}", f"{x[1]:.1f}")


@pytest.mark.parametrize(("device", "core"), [("cpu", ""), ("model", "[core 0] ")])
def test_prints_between_loops(device: str, core: str, capsys: pytest.CaptureFixture[str]) -> None:
    x = floats(0.5, 1.5)
    with asc.device(device):
        printing_between(x, 5)
    assert capsys.readouterr().out.splitlines() == [
        f"{core}before 5",
        f"{core}between 2.5",
        f"{core}total 4.0 5.0",
    ]
    assert x.tolist() == [3.0, 5.0]


def test_the_model_prints_through_the_devices_print_buffer(capsys: pytest.CaptureFixture[str]) -> None:
    with asc.device("model"):
        printing_on_cores(floats(0.5, 1.5))
    assert capsys.readouterr().out.splitlines() == [
        "[core 0] 100% 0 0.50 0 0.500000",
        "[core 0] 100% 1 1.50 1 1.500000",
    ]
    source = printing_on_cores.source("ascend910b1")
    assert 'AscendC::printf("[core %lld] 100%% %lld %.2f %lld %f\\n"' in source


def test_failures_on_the_model() -> None:
    with asc.device("model"):
        message, place, source = failure(AssertionError, only_checking, floats(1, 2))
        assert message == "axis 0: expected size 3, got 2"
        assert place == f"  in kernel `only_checking`, {__file__}:{line_of(source.strip())}"
        assert source == "    asc.assert_shape(x, (3,))"
        only_checking(floats(1, 2, 3))
        message, place, _ = failure(AssertionError, asserted, floats(3, -2.5), -1.25)
        assert message.startswith("assertion failed: x[i] > low (x[i] = -2.5, low = -1.25, i = 1)")
        assert place.startswith("  in kernel `asserted` on core 0, ")


@asc.kernel(debug=True, watch=("nan", "overflow"))
def watched(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N):
        y[i] = asc.sqrt(x[i]) / (x[i] - 4)


@asc.kernel(debug=True, watch="nan")
def watched_arrays(x: asc.float32[N], h: asc.float16[N]):
    z = asc.log(x) * h
    return z - z


@asc.kernel(debug=True, watch="overflow")
def watched_casts(x: asc.float32[N]):
    return x.astype(asc.float16)


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_the_first_nan_and_the_first_infinity(device: str) -> None:
    y, h = np.zeros(2, np.float32), np.ones(2, np.float16)
    with asc.device(device):
        asc.compile([watched, watched_arrays, watched_casts])
        watched(floats(1, 9), y)
        assert y.tolist() == [pytest.approx(-1 / 3), pytest.approx(3 / 5)]
        watched(floats(np.nan, 9), y)  # not made here
        for kernel, arguments, message in (
            (watched, (floats(1, -1.5), y), "sqrt(-1.5) is NaN [i = 1]"),
            (watched, (floats(1, 4), y), "2.0 / 0.0 is infinite [i = 1]"),
            (watched_arrays, (floats(1, -2), h), "log(-2.0) is NaN"),
            (watched_arrays, (floats(0, 1), h), "-inf - -inf is NaN"),
            (watched_casts, (floats(1, 1e5),), "float16(100000.0) is infinite"),
        ):
            first, place, _ = failure(FloatingPointError, kernel, *arguments)
            assert first.startswith(message)
            assert f"`{kernel.__name__}` on core 0, " in place
        watched_casts(floats(np.inf, 60000))


def test_watching_is_for_debug_builds() -> None:
    with pytest.raises(ValueError, match="watch= needs debug=True"):
        asc.kernel(watch="nan")
    with pytest.raises(ValueError, match="watch='inf': expected 'nan' or 'overflow'"):
        asc.kernel(debug=True, watch="inf")
