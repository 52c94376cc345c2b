# SPDX-License-Identifier: Apache-2.0
"""Layers of neural networks: conv2d_bias, mlp, lenet, resnet."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case


def _random(rng, *shape, low=-1.0, high=1.0):
    return rng.uniform(low, high, shape).astype(np.float32)


@asc.func
def _conv(x, w, out):
    """Valid convolution of [N, H, W, C] with [K, K, C, F] into [N, H - K + 1, W - K + 1, F]."""
    for n, i, j, f in asc.parallel_for_grid(out.shape[0], out.shape[1], out.shape[2], out.shape[3]):
        total = 0.0
        for a in range(w.shape[0]):
            for b in range(w.shape[1]):
                for c in range(w.shape[2]):
                    total += x[n, i + a, j + b, c] * w[a, b, c, f]
        out[n, i, j, f] = total


@asc.kernel
def conv2d_bias(x: asc.float32[N, H, W, C], w: asc.float32[K, K, C, F], bias: asc.float32[F]):
    out = asc.empty((N, H - K + 1, W - K + 1, F), asc.float32)
    _conv(x, w, out)
    return out + bias


def _numpy_conv(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], axis=(1, 2))
    return np.einsum("nijcab,abcf->nijf", windows, w)


def _conv2d_bias_data():
    rng = np.random.default_rng(42)
    return {"x": _random(rng, 2, 9, 11, 3), "w": _random(rng, 3, 3, 3, 8), "bias": _random(rng, 8)}


def _conv2d_bias(x, w, bias):
    return {"out": _numpy_conv(x, w) + bias}


@asc.kernel
def mlp(
    x: asc.float32[B, I],
    w1: asc.float32[I, H],
    b1: asc.float32[H],
    w2: asc.float32[H, J],
    b2: asc.float32[J],
    w3: asc.float32[J, K],
    b3: asc.float32[K],
):
    first = asc.relu(x @ w1 + b1)
    second = asc.relu(first @ w2 + b2)
    return asc.softmax(second @ w3 + b3)


def _mlp_data():
    rng = np.random.default_rng(42)
    sizes = (33, 40, 31, 10)
    given = {"x": _random(rng, 8, sizes[0])}
    for number, (rows, columns) in enumerate(pairwise(sizes), 1):
        given[f"w{number}"] = _random(rng, rows, columns) / 8
        given[f"b{number}"] = _random(rng, columns)
    return given


def _mlp(x, w1, b1, w2, b2, w3, b3):
    hidden = np.maximum(np.maximum(x @ w1 + b1, 0) @ w2 + b2, 0) @ w3 + b3
    powers = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return {"out": powers / powers.sum(axis=-1, keepdims=True)}


@asc.func
def _pooled(x, out):
    """The maximum of each two by two square, after a clamp at zero."""
    for n, i, j, c in asc.parallel_for_grid(out.shape[0], out.shape[1], out.shape[2], out.shape[3]):
        first = max(x[n, 2 * i, 2 * j, c], x[n, 2 * i, 2 * j + 1, c])
        second = max(x[n, 2 * i + 1, 2 * j, c], x[n, 2 * i + 1, 2 * j + 1, c])
        out[n, i, j, c] = max(max(first, second), 0.0)


@asc.kernel
def lenet(
    x: asc.float32[N, 28, 28, 1],
    conv1: asc.float32[5, 5, 1, 6],
    conv1_bias: asc.float32[6],
    conv2: asc.float32[5, 5, 6, 16],
    conv2_bias: asc.float32[16],
    fc1_w: asc.float32[256, 120],
    fc1_b: asc.float32[120],
    fc2_w: asc.float32[120, 84],
    fc2_b: asc.float32[84],
    fc3_w: asc.float32[84, 10],
    fc3_b: asc.float32[10],
):
    first = asc.empty((N, 24, 24, 6), asc.float32)
    _conv(x, conv1, first)
    half = asc.empty((N, 12, 12, 6), asc.float32)
    _pooled(first + conv1_bias, half)
    second = asc.empty((N, 8, 8, 16), asc.float32)
    _conv(half, conv2, second)
    quarter = asc.empty((N, 4, 4, 16), asc.float32)
    _pooled(second + conv2_bias, quarter)
    flat = quarter.reshape((N, 256))
    hidden = asc.relu(asc.relu(flat @ fc1_w + fc1_b) @ fc2_w + fc2_b)
    return hidden @ fc3_w + fc3_b


def _lenet_data():
    rng = np.random.default_rng(42)
    return {
        "x": _random(rng, 2, 28, 28, 1),
        "conv1": _random(rng, 5, 5, 1, 6),
        "conv1_bias": _random(rng, 6),
        "conv2": _random(rng, 5, 5, 6, 16) / 8,
        "conv2_bias": _random(rng, 16),
        "fc1_w": _random(rng, 256, 120) / 16,
        "fc1_b": _random(rng, 120),
        "fc2_w": _random(rng, 120, 84) / 8,
        "fc2_b": _random(rng, 84),
        "fc3_w": _random(rng, 84, 10) / 8,
        "fc3_b": _random(rng, 10),
    }


def _numpy_pooled(x):
    n, h, w, c = x.shape
    return np.maximum(x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4)), 0)


def _lenet(x, conv1, conv1_bias, conv2, conv2_bias, fc1_w, fc1_b, fc2_w, fc2_b, fc3_w, fc3_b):
    half = _numpy_pooled(_numpy_conv(x, conv1) + conv1_bias)
    quarter = _numpy_pooled(_numpy_conv(half, conv2) + conv2_bias)
    hidden = np.maximum(quarter.reshape(len(x), -1) @ fc1_w + fc1_b, 0)
    return {"out": np.maximum(hidden @ fc2_w + fc2_b, 0) @ fc3_w + fc3_b}


@asc.func
def _batch_norm(x):
    mean = asc.mean(x, axis=0, keepdims=True)
    spread = asc.sqrt(asc.mean((x - mean) * (x - mean), axis=0, keepdims=True) + 1e-5)
    return (x - mean) / spread


@asc.kernel
def resnet(
    x: asc.float32[N, H, W, C],
    conv1: asc.float32[1, 1, C, D],
    conv2: asc.float32[3, 3, D, D],
    conv3: asc.float32[1, 1, D, C],
):
    padded = asc.zeros((N, H + 2, W + 2, D), asc.float32)
    first = asc.empty((N, H, W, D), asc.float32)
    _conv(x, conv1, first)
    padded[:, 1 : H + 1, 1 : W + 1, :] = asc.relu(_batch_norm(first))
    second = asc.empty((N, H, W, D), asc.float32)
    _conv(padded, conv2, second)
    third = asc.empty((N, H, W, C), asc.float32)
    _conv(asc.relu(_batch_norm(second)), conv3, third)
    return asc.relu(_batch_norm(third) + x)


def _resnet_data():
    rng = np.random.default_rng(42)
    return {
        "x": _random(rng, 4, 6, 7, 12),
        "conv1": _random(rng, 1, 1, 12, 5),
        "conv2": _random(rng, 3, 3, 5, 5),
        "conv3": _random(rng, 1, 1, 5, 12),
    }


def _resnet(x, conv1, conv2, conv3):
    def normalised(y):
        return (y - y.mean(axis=0)) / np.sqrt(y.var(axis=0) + 1e-5)

    first = np.maximum(normalised(_numpy_conv(x, conv1)), 0)
    padded = np.pad(first, ((0, 0), (1, 1), (1, 1), (0, 0)))
    second = np.maximum(normalised(_numpy_conv(padded, conv2)), 0)
    return {"out": np.maximum(normalised(_numpy_conv(second, conv3)) + x, 0)}


CASES = (
    Case(conv2d_bias, _conv2d_bias_data, _conv2d_bias, chain=30),
    Case(mlp, _mlp_data, _mlp, chain=120),
    Case(lenet, _lenet_data, _lenet, chain=600),
    Case(resnet, _resnet_data, _resnet, chain=200, amplification=30),
)
