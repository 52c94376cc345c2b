# SPDX-License-Identifier: Apache-2.0
"""Mixed and automatic precision: what is rounded, what is kept, and the stated error against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

N, M, K = asc.dims("N M K")


def numbers(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(1).standard_normal(shape) * scale).astype(np.float32)


def wide(a: Any) -> np.ndarray:
    return np.asarray(a).astype(np.float64)


def half(a: Any) -> np.ndarray:
    return a.astype(np.float16)


def relative_error(found: Any, a: Any, b: Any) -> float:
    """The largest error, relative to the product of absolute values."""
    return float((abs(wide(found) - wide(a) @ wide(b)) / (abs(wide(a)) @ abs(wide(b)))).max())


@asc.kernel(precision="mixed")
def mixed(a: asc.float32[N, K], b: asc.float32[K, M]):
    return a @ b, asc.einsum("nk,km->mn", a, b)


@asc.kernel
def in_a_block(a: asc.float32[N, K], b: asc.float32[K, M]):
    with asc.precision("mixed"):
        inside = a @ b
    return inside, a @ b


@asc.kernel
def rounded_factors(a: asc.float32[N, K], b: asc.float32[K, M], out: asc.float32[N, M]):
    for i in range(N):
        for j in range(M):
            total = 0.0
            for k in range(K):
                total += asc.float32(asc.float16(a[i, k])) * asc.float32(asc.float16(b[k, j]))
            out[i, j] = total


@asc.kernel(precision="mixed")
def attention(q: asc.tensor, k: asc.tensor, v: asc.tensor):
    scores = asc.float32(asc.matmul(q, k.transpose()))
    weights = asc.float16(asc.softmax(scores))
    return asc.matmul(weights, v)


@asc.kernel(precision="mixed")
def beyond_float16(a: asc.float16[N, K], b: asc.float16[K, M]):
    return asc.float32(a @ b), (a @ b).astype(asc.float32)


@asc.kernel(precision="auto", tolerance=1e-2)
def loose(a: asc.float32[N, K], b: asc.float32[K, M]):
    return a @ b


@asc.kernel(precision="auto", tolerance=1e-4)
def tight(a: asc.float32[N, K], b: asc.float32[K, M]):
    return a @ b


@asc.kernel(precision="auto", tolerance=1e-6)
def exact_in_float16(a: asc.float16[N, K], b: asc.float16[K, M]):
    return asc.float32(a) @ asc.float32(b)


@asc.kernel
def strict_block(x: asc.float32[N]):
    with asc.precision("strict"):
        total = 0.0
        for i in range(N):
            total += x[i]
    return total


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    arrays = asc.float16[N, K]
    asc.compile([
        mixed, in_a_block, rounded_factors, beyond_float16, loose, tight, exact_in_float16, strict_block,
        (attention, arrays, arrays, arrays),
    ])  # fmt: skip


A, B = numbers(9, 33), numbers(33, 17)


def test_mixed_rounds_the_factors_alone() -> None:
    product, transposed = mixed(A, B)
    expected = wide(half(A)) @ wide(half(B))
    np.testing.assert_allclose(product, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(transposed, expected.T, rtol=1e-5, atol=1e-5)
    assert product.dtype == np.float32
    assert relative_error(product, A, B) > 1e-5


def test_a_block_ends_where_it_ends() -> None:
    inside, outside = in_a_block(A, B)
    np.testing.assert_allclose(inside, wide(half(A)) @ wide(half(B)), rtol=1e-5, atol=1e-5)
    assert relative_error(inside, A, B) > 1e-5 > relative_error(outside, A, B)


def test_conversions_in_a_product_are_made() -> None:
    out = np.zeros((9, 17), np.float32)
    rounded_factors(A, B, out)
    np.testing.assert_allclose(out, wide(half(A)) @ wide(half(B)), rtol=1e-5, atol=1e-5)


def test_attention_as_printed() -> None:
    q, k, v = (half(numbers(16, 32, scale=s)) for s in (1.0, 0.5, 0.25))
    scores = wide(q) @ wide(k).T
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ wide(v)
    found = attention(q, k, v)
    assert found.dtype == np.float16
    np.testing.assert_allclose(wide(found), expected, atol=2e-3)


def test_a_product_that_is_converted_at_once_keeps_its_sum() -> None:
    a, b = half(numbers(4, 64) * 100), half(numbers(64, 4) * 100)
    for found in beyond_float16(a, b):
        assert np.isfinite(found).all() and abs(found).max() > 65504
        assert relative_error(found, a, b) < 1e-6


@pytest.mark.parametrize(("kernel", "bound"), [(loose, 1e-2), (tight, 1e-4)])
def test_auto_keeps_its_bound(kernel: asc.Kernel, bound: float) -> None:
    for scale in (1e-3, 1.0, 1e8):
        a, b = numbers(9, 200, scale=scale), numbers(200, 17)
        assert relative_error(kernel(a, b), a, b) <= bound


def test_auto_reports_its_choices() -> None:
    def remark(kernel: asc.Kernel) -> str:
        return " ".join(each.message for each in kernel.remarks if each.pass_name == "precision")

    assert "computed from bfloat16: estimated error 7.8e-03, allowed 1.0e-02" in remark(loose)
    assert "computed from float32: bfloat16 has an estimated error of 7.8e-03, allowed 1.0e-04" in remark(
        tight
    )
    assert "computed from float16: estimated error 0.0e+00" in remark(exact_in_float16)


def test_auto_leaves_other_operations_as_they_are() -> None:
    def softened(a: asc.float32[N, K], b: asc.float32[K, M]):
        return asc.exp(a @ b).sum(axis=1)

    kernel = asc.kernel(precision="auto", tolerance=1e-2)(softened)
    found = [each.message for each in kernel.compile().remarks if each.pass_name == "precision"]
    assert sum(text.startswith("stays in float32: float16 does not hold its range") for text in found) >= 1
    assert sum("computed from bfloat16" in text for text in found) == 1
    assert asc.kernel(softened).compile().remarks == ()


def test_auto_is_exact_where_the_operands_are() -> None:
    a, b = half(numbers(5, 40)), half(numbers(40, 6))
    assert relative_error(exact_in_float16(a, b), a, b) < 1e-6


def test_a_strict_block_keeps_the_order() -> None:
    x = numbers(5000)
    assert strict_block(x) == np.add.accumulate(x)[-1]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("with asc.precision('fast'):", "PA0408"),
        ("with asc.precision('auto', tolerance=-1.0):", "PA0408"),
        ("with asc.precision('mixed') as p:", "PA0202"),
        ("with open('file'):", "PA0202"),
    ],
)
def test_mistakes(line: str, code: str) -> None:
    kernel = asc.kernel_from_source(
        f"import pyasc as asc\n@asc.kernel\ndef k(x: asc.float32[4]):\n    {line}\n        y = x\n    return x\n"
    )
    with pytest.raises(asc.CompileError) as caught:
        kernel.lower()
    (found,) = caught.value.diagnostics
    assert (found.code, found.loc.line) == (code, 4)
    assert found.hint


def test_options() -> None:
    with pytest.raises(ValueError, match="tolerance"):
        asc.kernel(precision="auto", tolerance=0)
    with pytest.raises(ValueError, match="precision 'fast'"):
        asc.precision("fast")
    with asc.precision("mixed"):
        assert (A @ B).dtype == np.float32
