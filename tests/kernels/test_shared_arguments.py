# SPDX-License-Identifier: Apache-2.0
"""Arguments that share memory: what the function does on it in Python, or a LaunchError that changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pyasc as asc

Array = np.ndarray


@asc.kernel
def shifted(x: asc.float32[N], y: asc.float32[N]):
    y[1:] = x[:-1]
    y[0] = x[-1]


@asc.kernel
def running(x: asc.float32[N], y: asc.float32[M]):
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]
    return y * x


@asc.kernel
def doubled(x: asc.float32[N], y: asc.float32[N]):
    for i in range(len(x)):
        y[i] = x[i] * 2


@asc.kernel
def tables(x: asc.float32[N], y: asc.float32[N], k: asc.int64[N]):
    for i in range(len(x)):
        y[k[i]] = x[k[i]] + 1


@asc.kernel
def both(x: asc.float32[N], y: asc.float32[N]):
    for i in range(len(x)):
        x[i] += y[len(y) - 1 - i]
        y[i] -= x[i]


@asc.kernel
def product(x: asc.float32[N, N], y: asc.float32[N, N], z: asc.float32[N, N]):
    z += x @ y


def numbers() -> Array:
    return np.arange(1, 7, dtype=np.float32)


def in_python(kernel: asc.Kernel, *args: Array) -> object:
    assert kernel.py_func is not None
    return kernel.py_func(*args)


@pytest.mark.parametrize("kernel", [shifted, doubled, both], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.usefixtures("model_library")
def test_the_same_array_twice(kernel: asc.Kernel, device: str) -> None:
    found, wanted = numbers(), numbers()
    with asc.device(device):
        kernel(found, found)
        in_python(kernel, wanted, wanted)
        np.testing.assert_array_equal(found, wanted)
        # What was made for one array is not taken for two.
        other, expected = numbers(), numbers()
        kernel(other, found)
        in_python(kernel, expected, wanted)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(other, expected)


def test_the_same_array_for_sizes_of_two_names() -> None:
    def plain(x: Array) -> Array:
        for i in range(1, len(x)):
            x[i] = x[i - 1] + x[i]
        return x * x

    found, wanted = numbers(), numbers()
    np.testing.assert_array_equal(running(found, found), plain(wanted))
    np.testing.assert_array_equal(found, wanted)


def test_an_element_that_two_iterations_meet() -> None:
    found, places = numbers(), np.array([0, 0, 0, 3, 3, 0])
    tables(found, found, places)
    np.testing.assert_array_equal(found, np.float32([5, 2, 3, 6, 5, 6]))


def test_a_product_into_its_operand() -> None:
    found, wanted = np.arange(9, dtype=np.float32).reshape(3, 3), np.arange(9, dtype=np.float32).reshape(3, 3)
    product(found.T, found, found)
    wanted += wanted.T @ wanted
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kernel", [shifted, doubled, both], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.usefixtures("model_library")
def test_overlaps_in_part(kernel: asc.Kernel, device: str) -> None:
    found = numbers()
    with asc.device(device):
        for x, y in ((found[:-1], found[1:]), (found, found[::-1])):
            with pytest.raises(asc.LaunchError, match="overlap; pass a copy"):
                kernel(x, y)
    np.testing.assert_array_equal(found, numbers())


def test_a_kernel_object_knows_what_it_may_not_take(tmp_path: Path) -> None:
    from pyasc.cli import main

    source = tmp_path / "k.py"
    source.write_text(
        "import pyasc as asc\n\nN, M = asc.dims('N M')\n\n\n"
        "@asc.kernel\ndef shifted(x: asc.float32[N], y: asc.float32[N]):\n"
        "    y[1:] = x[:-1]\n    y[0] = x[-1]\n"
    )
    assert main(["compile", str(source), "-o", str(tmp_path / "k.o")]) == 0
    kernel = asc.load(tmp_path / "k.o").shifted
    found = numbers()
    with pytest.raises(asc.LaunchError, match="`x` is read after `y` is written"):
        kernel(found, found)
    np.testing.assert_array_equal(found, numbers())
