# SPDX-License-Identifier: Apache-2.0
"""The language in plain Python: what `kernel.py_func` calls when a kernel is debugged without a device."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pyasc as asc
from pyasc.ir.sizes import parse_size
from pyasc.language import MODULES, dtypes


class TestElementTypes:
    @pytest.mark.parametrize("element", dtypes.ALL, ids=str)
    def test_converts_numbers_and_arrays(self, element: dtypes.ElementType) -> None:
        assert element(1) == 1
        assert list(element(np.array([0, 1]))) == [0, 1]

    def test_conversions_are_numpy_scalars(self) -> None:
        assert type(asc.float32(1)) is np.float32
        assert type(asc.uint8(3)) is np.uint8

    @pytest.mark.parametrize("element", [e for e in dtypes.ALL if e.ir.is_integer], ids=str)
    @pytest.mark.parametrize("source", [np.float16, np.float32, np.float64, float])
    def test_floats_that_do_not_fit_become_the_nearest_integer(
        self, element: dtypes.ElementType, source: type
    ) -> None:
        info = np.iinfo(element.dtype)
        ends = [(math.inf, info.max), (-math.inf, info.min), (math.nan, 0), (3.9, 3), (-0.9, 0)]
        if source is not np.float16:
            ends += [(1e30, info.max), (-1e30, info.min)]
        for value, expected in ends:
            assert element(source(value)) == expected and type(element(source(value))) is element.dtype.type
        if source is not float:
            array = np.array([value for value, _ in ends], source)
            assert element(array).tolist() == [expected for _, expected in ends]

    def test_bfloat16_keeps_eight_bits_of_significand(self) -> None:
        assert asc.bfloat16(1 + 2**-7) == 1 + 2**-7
        assert asc.bfloat16(1 + 2**-8) == 1
        assert asc.bfloat16(1 + 3 * 2**-8) == 1 + 2**-6
        assert math.isnan(asc.bfloat16(math.nan))

    def test_shapes(self) -> None:
        rows, columns = asc.dims("rows, columns")
        annotation = asc.float32[rows, 2 * columns - 1, 3]
        assert str(annotation) == "asc.float32[rows, 2*columns - 1, 3]"
        assert asc.int8[..., 4].shape == (..., 4)

    @pytest.mark.parametrize("shape", [1.5, "N", True, None])
    def test_what_is_not_a_size(self, shape: object) -> None:
        with pytest.raises(TypeError, match="is not a size"):
            asc.float32[shape]  # pyright: ignore[reportArgumentType]

    def test_an_element_type_is_not_iterable(self) -> None:
        with pytest.raises(TypeError, match=r"asc.float32\[...\] is an array"):
            iter(asc.float32)


class TestDims:
    def test_arithmetic(self) -> None:
        (n, m) = asc.dims("N M")
        found = (n + 1, 1 + n, n - m, 3 - n, n * 2, 2 * n, n * m)
        words = ("N + 1", "N + 1", "N - M", "3 - N", "2*N", "2*N", "N*M")
        assert [each.expr for each in found] == [parse_size(text) for text in words]

    def test_one_name_is_no_tuple(self) -> None:
        assert str(asc.dims("N")) == "N"

    def test_a_bad_name(self) -> None:
        with pytest.raises(ValueError, match="'1N' is not a name for a size"):
            asc.dims("1N")

    def test_a_size_has_no_value_outside(self) -> None:
        with pytest.raises(TypeError, match="known only inside a launched kernel"):
            range(asc.dims("N"))


class TestLoops:
    def test_parallel_for_counts_as_range_does(self) -> None:
        assert list(asc.parallel_for(4)) == [0, 1, 2, 3]
        assert list(asc.parallel_for(1, 8, 3)) == [1, 4, 7]

    def test_grid(self) -> None:
        assert list(asc.parallel_for_grid(2, 2)) == [(0, 0), (0, 1), (1, 0), (1, 1)]

    def test_unroll(self) -> None:
        assert list(asc.unroll(range(3))) == [0, 1, 2]


class TestFunctions:
    def test_elementwise_keeps_float32(self) -> None:
        x = np.array([0.5, 2.0], np.float32)
        for function in (asc.exp, asc.erf, asc.rsqrt, asc.sqrt):
            assert function(x).dtype == np.float32

    def test_the_number_of_arguments(self) -> None:
        with pytest.raises(TypeError, match=r"asc\.maximum takes 2 arguments, got 1"):
            asc.maximum(1)

    def test_float_defaults_are_float32(self) -> None:
        assert asc.zeros(3).dtype == asc.ones((2, 2)).dtype == asc.eye(2).dtype == np.float32
        assert asc.full(2, 1.5).dtype == np.float32
        assert asc.full(2, 1).dtype == np.int64
        assert asc.arange(3).dtype == np.int64

    def test_means_of_integers_are_float32(self) -> None:
        assert asc.mean(np.arange(4)).dtype == np.float32
        assert asc.var(np.arange(4)).dtype == np.float32

    def test_float16_products_are_rounded_once(self) -> None:
        a = np.full((1, 4096), 0.1, np.float16)
        assert asc.matmul(a, a.T).dtype == np.float16
        assert asc.matmul(a, a.T)[0, 0] == np.float16(
            np.dot(a.astype(np.float32), a.T.astype(np.float32))[0, 0]
        )

    def test_an_int8_product_can_keep_its_accumulator(self) -> None:
        a = np.full((1, 8), 100, np.int8)
        assert asc.matmul(a, a.T, dtype=asc.int32)[0, 0] == 80_000

    def test_softmax_rows_sum_to_one(self) -> None:
        found = asc.softmax(np.array([[1e4, 1e4, 0.0]], np.float32))
        np.testing.assert_allclose(found, [[0.5, 0.5, 0.0]])

    def test_buffers_and_updates(self) -> None:
        buffer = asc.shared_memory((2, 3), asc.float32)
        asc.copy(np.ones((2, 3), np.float32), buffer)
        asc.atomic_add(buffer, (0, 1), 2)
        asc.atomic_max(buffer, (1, 1), 9)
        asc.atomic_min(buffer, (1, 2), -9)
        np.testing.assert_array_equal(buffer, [[1, 3, 1], [1, 9, -9]])
        with pytest.raises(ValueError, match="a power of two"):
            asc.aligned_alloc(4, asc.float32, 48)

    def test_debug_statements_act_at_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        asc.print(1, 2.5)
        assert capsys.readouterr().out == "1 2.5\n"
        asc.assert_shape(np.zeros((2, 3)), [2, 3])
        with pytest.raises(AssertionError, match=r"expected shape \(2, 4\), got \(2, 3\)"):
            asc.assert_shape(np.zeros((2, 3)), (2, 4))
        with pytest.raises(AssertionError, match="too small"):
            asc.assert_(False, "too small")


def test_every_public_name_is_documented() -> None:
    bare = [
        f"{module.__name__}.{name}"
        for module in MODULES
        for name in module.__all__
        if not getattr(getattr(module, name), "__doc__", None)
    ]
    assert bare == []


def test_every_public_name_is_a_name_of_the_package() -> None:
    missing = [
        name
        for module in MODULES
        for name in module.__all__
        if name not in ("ArrayAnnotation", "Dim", "ElementType", "SizeSymbol") and not hasattr(asc, name)
    ]
    assert missing == []
