# SPDX-License-Identifier: Apache-2.0
"""Kernels an expert would write beside the reference ones: right against NumPy and without a finding."""

from __future__ import annotations

from math import erf

import numpy as np
import pytest

from pyasc.model.build import BuiltKernel
from pyasc.model.driver import Array, Scalar, Workspace, run
from tests.compilers import needs_compiler
from tests.unit.model_support import REFERENCE, built, clean, poisoned, source

pytestmark = needs_compiler
F16, F32, U32 = np.float16, np.float32, np.uint32


def expert(name: str) -> BuiltKernel:
    return built(REFERENCE / "expert" / f"{name}.cpp")


def u32(*values: int) -> list[Scalar]:
    return [Scalar(U32(value)) for value in values]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(21)


@pytest.mark.parametrize("n", [1, 17, 4096, 50001])
def test_static_tensors_and_flags(rng: np.random.Generator, n: int) -> None:
    x, y = rng.standard_normal((2, n)).astype(F32)
    out = clean(
        run(expert("static_add"), [source(x), source(y), poisoned(n, F32), *u32(n)], blocks=2)
    ).outputs[0]
    assert (out == x + y).all()


def test_sort(rng: np.random.Generator) -> None:
    x = rng.integers(0, 40, 128).astype(F32)
    value, index = clean(
        run(expert("sort128"), [source(x), poisoned(128, F32), poisoned(128, np.int32)])
    ).outputs
    order = np.argsort(-x, kind="stable")
    assert (value == x[order]).all()
    assert (index == order).all()


def test_quantised_fixpipe(rng: np.random.Generator) -> None:
    a, b = (
        rng.integers(-128, 128, (32, 64)).astype(np.int8),
        rng.integers(-128, 128, (48, 64)).astype(np.int8),
    )
    scales = np.zeros(64, F32)
    scales[:48] = 2.0 ** rng.integers(-12, -8, 48)
    packed = scales.view(U32).astype(np.uint64)
    outputs = [poisoned((32, 48), t) for t in (np.int32, F16, np.int8)]
    args = [source(a), source(b), source(packed), *outputs, Scalar(F32(0.0078125))]
    raw, halves, quantised = clean(run(expert("quant_matmul"), args)).outputs
    exact = a.astype(np.int32) @ b.astype(np.int32).T
    assert (raw == exact).all()
    assert (halves == (exact.astype(F32) * F32(0.0078125)).astype(F16)).all()
    assert (quantised == np.clip(np.rint(np.maximum(exact, 0) * scales[:48]), -128, 127)).all()


def test_convolution_by_load_3d(rng: np.random.Generator) -> None:
    image = rng.standard_normal((16, 16, 16)).astype(F16)
    weights = rng.standard_normal((3, 3, 16, 16)).astype(F16)
    out = clean(
        run(expert("conv3x3"), [source(image), source(weights), poisoned((16, 16, 16), F32)])
    ).outputs[0]
    padded = np.pad(image.astype(np.float64), ((1, 1), (1, 1), (0, 0)))
    expected = sum(
        padded[dy : dy + 16, dx : dx + 16] @ weights[dy, dx].astype(np.float64)
        for dy in range(3)
        for dx in range(3)
    )
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 3])
def test_atomics(rng: np.random.Generator, seed: int) -> None:
    x = rng.integers(-9, 9, (37, 64)).astype(F32)
    args = [source(x), Array(np.zeros(64, F32)), *u32(37)]
    assert (clean(run(expert("atomic_sum"), args, blocks=5, seed=seed)).outputs[0] == x.sum(0)).all()


@pytest.mark.parametrize(("n", "blocks"), [(1, 3), (100, 3), (30000, 48)])
@pytest.mark.parametrize("seed", [0, 9])
def test_sync_all(rng: np.random.Generator, n: int, blocks: int, seed: int) -> None:
    x = rng.uniform(1, 2, n).astype(F32)
    args = [source(x), poisoned(n, F32), Workspace(blocks * 32), *u32(n)]
    out = clean(run(expert("two_phase"), args, blocks=blocks, seed=seed)).outputs[0]
    np.testing.assert_allclose(out, x / x.astype(np.float64).sum(), rtol=1e-5)


def test_transposes(rng: np.random.Generator) -> None:
    x = rng.standard_normal((16, 16)).astype(F16)
    for plain in (0, 1):
        args = [source(x), poisoned((16, 16), F16), *u32(plain)]
        assert (clean(run(expert("transpose"), args, entry="transpose_half")).outputs[0] == x.T).all()
    y = rng.standard_normal((16, 8)).astype(F32)
    args = [source(y), poisoned((8, 16), F32)]
    assert (clean(run(expert("transpose"), args, entry="transpose_float")).outputs[0] == y.T).all()


def test_scalar_unit(rng: np.random.Generator) -> None:
    x = rng.integers(0, 64, 500).astype(np.int32)
    args = [source(x), Array(np.zeros((3, 64), np.int32)), *u32(500)]
    out = clean(run(expert("scalar_histogram"), args, blocks=3)).outputs[0]
    assert (out.sum(0) == np.bincount(x, minlength=64)).all()


@pytest.mark.parametrize(
    ("entry", "dtype", "bound"), [("activate_float", F32, 1e-6), ("activate_half", F16, 1e-3)]
)
def test_activations(rng: np.random.Generator, entry: str, dtype: type, bound: float) -> None:
    x = rng.standard_normal(1001).astype(dtype)
    wide = x.astype(np.float64)
    expected = [
        np.tanh(wide),
        0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3))),
        1 / (1 + np.exp(-wide)),
        np.vectorize(erf)(wide),
    ]
    for which, values in enumerate(expected):
        args = [source(x), poisoned(1001, dtype), *u32(1001, which)]
        out = clean(run(expert("activations"), args, entry=entry)).outputs[0]
        np.testing.assert_allclose(out, values, rtol=bound, atol=bound)


def test_softmax_and_layer_norm(rng: np.random.Generator) -> None:
    x = rng.standard_normal((12, 104)).astype(F32)
    wide = x.astype(np.float64)
    out = clean(
        run(expert("normalise"), [source(x), poisoned(x.shape, F32), *u32(12, 104)], entry="softmax_api")
    ).outputs[0]
    e = np.exp(wide - wide.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)
    gamma, beta = rng.standard_normal((2, 104)).astype(F32)
    args = [source(x), source(gamma), source(beta), poisoned(x.shape, F32), *u32(12, 104)]
    out = clean(run(expert("normalise"), args, entry="layer_norm_api")).outputs[0]
    normal = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out, normal * gamma + beta, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [1, 4096, 10001])
def test_queue_without_vector_unit(rng: np.random.Generator, n: int) -> None:
    x = rng.integers(-99, 99, n).astype(np.int16)
    args = [source(x), poisoned(n, np.int16), *u32(n)]
    assert (clean(run(expert("pass_through"), args, entry="copy_bind")).outputs[0] == x).all()


def test_strided_and_gathered_blocks(rng: np.random.Generator) -> None:
    x = rng.standard_normal((100, 8)).astype(F32)
    args = [source(x), poisoned(x.shape, F32), *u32(100)]
    out = clean(run(expert("pass_through"), args, entry="even_odd")).outputs[0]
    assert (out == np.concatenate([x[::2], x[1::2]])).all()
    bits, idx = x.view(U32), rng.integers(0, 100, 8).astype(U32)
    args = [source(bits), source(idx), poisoned((8, 8), U32), *u32(100)]
    assert (clean(run(expert("pass_through"), args, entry="pick_blocks")).outputs[0] == bits[idx]).all()


def test_compare_register(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal((2, 640)).astype(F32)
    out = clean(run(expert("clamp_select"), [source(x), source(y), poisoned(640, F32), *u32(10)])).outputs[0]
    assert (out == np.where(x < y, x, F32(-1))).all()


@pytest.mark.parametrize("blockwise", [0, 1])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (17, 33, 100), (100, 129, 65)])
def test_matmul_object(rng: np.random.Generator, m: int, n: int, k: int, blockwise: int) -> None:
    a, b = rng.standard_normal((m, k)).astype(F16), rng.standard_normal((n, k)).astype(F16)
    bias = rng.standard_normal(n).astype(F32)
    args = [source(a), source(b), source(bias), poisoned((m, n), F32), *u32(m, n, k, blockwise)]
    result = clean(run(expert("matmul_object"), args, blocks=2))
    assert result.kernel_type == "MIX_AIC_1_2"
    exact = a.astype(np.float64) @ b.astype(np.float64).T + bias
    np.testing.assert_allclose(result.outputs[0], exact, rtol=1e-4, atol=1e-4)


def test_operators_and_bit_masks(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal((2, 64)).astype(F32)
    out, bits = clean(
        run(expert("operators"), [source(x), source(y), poisoned(192, F32), poisoned(8, np.uint8)])
    ).outputs
    assert (out[:64] == np.where(np.arange(64) % 2 == 0, (x + y) * x, F32(-1))).all()
    assert (out[64:128] == np.arange(64) + 0.5).all()
    assert (out[128:].reshape(8, 8) == x[:8]).all()
    assert (bits == np.packbits(x < y, bitorder="little")).all()
