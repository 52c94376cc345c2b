# SPDX-License-Identifier: Apache-2.0
"""The fifteen reference kernels run unchanged on the model, right at awkward sizes and without a finding."""

from __future__ import annotations

import numpy as np
import pytest

from pyasc.model.driver import Array, Scalar, Struct, Workspace, run
from tests.compilers import needs_compiler
from tests.unit.model_support import clean, poisoned, reference, source

pytestmark = needs_compiler
SIZES = (1, 15, 16, 17, 100, 127, 1000, 4097, 50001)
F32, F16 = np.float32, np.float16


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("n", [0, *SIZES])
def test_add_half(rng: np.random.Generator, n: int, blocks: int) -> None:
    x, y = rng.standard_normal((2, n)).astype(F16)
    args = [source(x), source(y), poisoned(n, F16), Scalar(np.uint64(n))]
    assert (clean(run(reference("add_half"), args, blocks=blocks)).outputs[0] == x + y).all()


@pytest.mark.parametrize("n", SIZES)
def test_fused_chain(rng: np.random.Generator, n: int) -> None:
    x, y = rng.standard_normal((2, n)).astype(F32)
    args = [source(x), source(y), poisoned(n, F32), Scalar(np.uint64(n))]
    out = clean(run(reference("fused_chain"), args, blocks=3)).outputs[0]
    assert (out == np.maximum(x * y + F32(2.5) * x, 0) * (x - y)).all()


@pytest.mark.parametrize("n", SIZES)
def test_cast_int(rng: np.random.Generator, n: int) -> None:
    x = rng.integers(-(2**31), 2**31, n).astype(np.int32)
    args = [source(x), poisoned(n, np.int32), Scalar(F32(0.37)), Scalar(F32(1.5)), Scalar(np.uint64(n))]
    out = clean(run(reference("cast_int"), args, blocks=3)).outputs[0]
    assert (out == np.floor(x.astype(F32) * F32(0.37) + F32(1.5)).astype(np.int32)).all()


@pytest.mark.parametrize("n", SIZES)
def test_where_mask(rng: np.random.Generator, n: int) -> None:
    x, y = rng.standard_normal((2, n)).astype(F32)
    args = [source(x), source(y), poisoned(n, F32), Scalar(F32(0.1)), Scalar(np.uint64(n))]
    out = clean(run(reference("where_mask"), args, blocks=3)).outputs[0]
    np.testing.assert_allclose(out, np.where(x > F32(0.1), np.exp(x), y), rtol=2e-7)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", [1, 100, 30464])
def test_strided_gather(rng: np.random.Generator, n: int, m: int) -> None:
    x, idx = rng.standard_normal(m).astype(F32), rng.integers(0, m, n).astype(np.int32)
    args = [source(x), source(idx), poisoned(n, F32), Scalar(np.uint32(m)), Scalar(np.uint64(n))]
    assert (clean(run(reference("strided_gather"), args, blocks=3)).outputs[0] == x[idx]).all()


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (17, 33), (100, 127), (5, 1000), (4097, 3), (129, 4100)])
def test_column_sum(rng: np.random.Generator, rows: int, cols: int) -> None:
    x = rng.standard_normal((rows, cols)).astype(F32)
    args = [source(x), poisoned(cols, F32), Scalar(np.uint32(rows)), Scalar(np.uint32(cols))]
    out = clean(run(reference("column_sum"), args, blocks=3)).outputs[0]
    np.testing.assert_allclose(out, x.astype(np.float64).sum(0), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("rows", "cols"),
    [(1, 1), (3, 8), (17, 33), (300, 64), (7, 65), (100, 127), (5, 1000), (3, 2041), (2, 10240)],
)
def test_row_softmax(rng: np.random.Generator, rows: int, cols: int) -> None:
    x = rng.standard_normal((rows, cols)).astype(F32)
    args = [source(x), poisoned((rows, cols), F32), Scalar(np.uint32(rows)), Scalar(np.uint32(cols))]
    out = clean(run(reference("row_softmax"), args, blocks=3)).outputs[0]
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(
    ("rows", "cols"),
    [(1, 1), (3, 16), (17, 33), (300, 64), (7, 65), (100, 127), (5, 1000), (3, 2040), (2, 7168)],
)
def test_row_layer_norm(rng: np.random.Generator, rows: int, cols: int) -> None:
    x = rng.standard_normal((rows, cols)).astype(F16)
    gamma, beta = rng.standard_normal((2, cols)).astype(F16)
    tiling = Struct((np.uint32(rows), np.uint32(cols), F32(1e-5)))
    args = [source(x), source(gamma), source(beta), poisoned((rows, cols), F16), tiling]
    out = clean(run(reference("row_layer_norm"), args, blocks=3)).outputs[0]
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out, expected * gamma + beta, rtol=2e-3, atol=4e-3)


@pytest.mark.parametrize(
    ("rows", "cols"), [(1, 1), (3, 8), (17, 33), (300, 64), (7, 65), (100, 127), (5, 1000), (2, 10240)]
)
def test_row_argmax(rng: np.random.Generator, rows: int, cols: int) -> None:
    x = rng.integers(-50, 50, (rows, cols)).astype(F32)
    args = [
        source(x),
        poisoned(rows, F32),
        poisoned(rows, np.int32),
        Scalar(np.uint32(rows)),
        Scalar(np.uint32(cols)),
    ]
    value, index = clean(run(reference("row_argmax"), args, blocks=3)).outputs
    assert (value == x.max(1)).all()
    assert (index == x.argmax(1)).all()


@pytest.mark.parametrize(("h", "w"), [(1, 5), (3, 3), (17, 33), (100, 127), (5, 3000), (1000, 4)])
def test_stencil5(rng: np.random.Generator, h: int, w: int) -> None:
    x = rng.standard_normal((h, w)).astype(F32)
    blocks = 3
    tile_cols = max(1, min(w - 2, 1024))
    strips = -(-(w - 2) // tile_cols)
    tile_rows = max(1, min(-(-(h - 2) * strips // blocks), 4096 // (-(-tile_cols // 8) * 8)))
    fields = np.uint32(h), np.uint32(w), np.uint32(tile_rows), np.uint32(tile_cols), F32(0.5), F32(0.125)
    out = clean(
        run(reference("stencil5"), [source(x), Array(x.copy()), Struct(fields)], blocks=blocks)
    ).outputs[0]
    expected = x.copy()
    if h > 2 and w > 2:
        around = ((x[:-2, 1:-1] + x[2:, 1:-1]) + (x[1:-1, :-2] + x[1:-1, 2:])) * F32(0.125)
        expected[1:-1, 1:-1] = around + x[1:-1, 1:-1] * F32(0.5)
    assert (out == expected).all()


CUBE_SIZES = [
    (1, 1, 1),
    (15, 16, 17),
    (17, 15, 100),
    (33, 130, 129),
    (130, 300, 65),
    (100, 1, 1000),
    (129, 257, 300),
]


def _sizes(m: int, n: int, k: int) -> list[Scalar]:
    return [Scalar(np.uint32(m)), Scalar(np.uint32(n)), Scalar(np.uint32(k))]


@pytest.mark.parametrize(("m", "n", "k"), CUBE_SIZES)
@pytest.mark.parametrize(
    ("file", "entry", "dtype", "out_dtype"),
    [
        ("matmul_f16", "matmul_f16_f32", F16, F32),
        ("matmul_f16", "matmul_f16_f16", F16, F16),
        ("matmul_f32", "matmul_f32", F32, F32),
        ("matmul_nt", "matmul_nt_f32", F16, F32),
        ("matmul_nt", "matmul_nt_f16", F16, F16),
    ],
)
def test_matmul(
    rng: np.random.Generator, file: str, entry: str, dtype: type, out_dtype: type, m: int, n: int, k: int
) -> None:
    a = rng.standard_normal((m, k)).astype(dtype)
    b = rng.standard_normal((k, n)).astype(dtype)
    stored = np.ascontiguousarray(b.T) if file == "matmul_nt" else b
    args = [source(a), source(stored), poisoned((m, n), out_dtype), *_sizes(m, n, k)]
    out = clean(run(reference(file), args, entry=entry, blocks=2)).outputs[0]
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = 2e-2 if out_dtype is F16 else 1e-4
    np.testing.assert_allclose(out, exact, rtol=1e-3, atol=bound)


@pytest.mark.parametrize(("batch", "m", "n", "k"), [(1, 1, 1, 1), (3, 17, 33, 100), (2, 130, 300, 300)])
def test_batch_matmul_bias_relu(rng: np.random.Generator, batch: int, m: int, n: int, k: int) -> None:
    a = rng.standard_normal((batch, m, k)).astype(F16)
    b = rng.standard_normal((batch, k, n)).astype(F16)
    bias = rng.standard_normal(n).astype(F32)
    args = [
        source(a),
        source(b),
        source(bias),
        poisoned((batch, m, n), F32),
        Scalar(np.uint32(batch)),
        *_sizes(m, n, k),
    ]
    out = clean(run(reference("batch_matmul_bias_relu"), args, blocks=2)).outputs[0]
    exact = np.maximum(a.astype(np.float64) @ b.astype(np.float64) + bias, 0)
    np.testing.assert_allclose(out, exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (17, 33, 100), (300, 700, 129)])
def test_mixed_matmul_axpy(rng: np.random.Generator, m: int, n: int, k: int, seed: int) -> None:
    a = rng.standard_normal((m, k)).astype(F16)
    b = rng.standard_normal((k, n)).astype(F16)
    x = rng.standard_normal((m, n)).astype(F32)
    blocks = 2
    workspace = Workspace(blocks * 2 * 128 * 256 * 4)
    args = [
        source(a),
        source(b),
        source(x),
        poisoned((m, n), F32),
        workspace,
        *_sizes(m, n, k),
        Scalar(F32(1.5)),
    ]
    result = clean(run(reference("mixed_matmul_axpy"), args, blocks=blocks, seed=seed))
    assert result.kernel_type == "MIX_AIC_1_2"
    exact = 1.5 * (a.astype(np.float64) @ b.astype(np.float64)) + x
    np.testing.assert_allclose(result.outputs[0], exact, rtol=1e-4, atol=2e-4)
