# SPDX-License-Identifier: Apache-2.0
"""Whole-array functions: creation, products, reductions, activations, rearrangement. NumPy runs them in plain Python.

Floating-point defaults are float32, the type that the hardware has.
"""

from __future__ import annotations

import math
from typing import Any

from pyasc.language.dtypes import ElementType, float32, numpy_type

__all__ = [
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "broadcast_to",
    "clip",
    "concatenate",
    "cumprod",
    "cumsum",
    "dot",
    "einsum",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "gelu",
    "layer_norm",
    "log_softmax",
    "matmul",
    "max",
    "mean",
    "min",
    "ones",
    "ones_like",
    "pad",
    "prod",
    "reciprocal",
    "relu",
    "reshape",
    "rms_norm",
    "sigmoid",
    "silu",
    "softmax",
    "sort",
    "split",
    "square",
    "stack",
    "std",
    "sum",
    "take",
    "topk",
    "transpose",
    "var",
    "where",
    "zeros",
    "zeros_like",
]

Shape = int | tuple[int, ...]
Axis = int | tuple[int, ...] | None


def zeros(shape: Shape, dtype: ElementType = float32) -> Any:
    """An array of zeros."""
    import numpy as np

    return np.zeros(shape, numpy_type(dtype))


def ones(shape: Shape, dtype: ElementType = float32) -> Any:
    """An array of ones."""
    import numpy as np

    return np.ones(shape, numpy_type(dtype))


def full(shape: Shape, value: Any, dtype: ElementType | None = None) -> Any:
    """An array that holds `value` everywhere; its type is that of the value (float32 for a Python float)."""
    import numpy as np

    natural = np.float32 if isinstance(value, float) else None
    return np.full(shape, value, natural if dtype is None else numpy_type(dtype))


def empty(shape: Shape, dtype: ElementType = float32) -> Any:
    """An array with undefined contents."""
    import numpy as np

    return np.empty(shape, numpy_type(dtype))


def zeros_like(array: Any, dtype: ElementType | None = None) -> Any:
    """Zeros of the shape and type of `array`, or of the type `dtype`."""
    import numpy as np

    return np.zeros_like(array, None if dtype is None else numpy_type(dtype))


def ones_like(array: Any, dtype: ElementType | None = None) -> Any:
    """Ones of the shape and type of `array`, or of the type `dtype`."""
    import numpy as np

    return np.ones_like(array, None if dtype is None else numpy_type(dtype))


def full_like(array: Any, value: Any, dtype: ElementType | None = None) -> Any:
    """`value` everywhere, in the shape and type of `array`, or of the type `dtype`."""
    import numpy as np

    return np.full_like(array, value, None if dtype is None else numpy_type(dtype))


def empty_like(array: Any, dtype: ElementType | None = None) -> Any:
    """Undefined contents in the shape and type of `array`, or of the type `dtype`."""
    import numpy as np

    return np.empty_like(array, None if dtype is None else numpy_type(dtype))


def arange(start: int, stop: int | None = None, step: int = 1, dtype: ElementType | None = None) -> Any:
    """`start, start + step, ...` below `stop`; int64 unless `dtype` says otherwise or a bound is a float."""
    import numpy as np

    first, last = (0, start) if stop is None else (start, stop)
    element: Any = np.int64 if _are_integers(first, last, step) else np.float32
    if dtype is not None:
        element = numpy_type(dtype)
    return np.arange(first, last, step, dtype=element)


def _are_integers(*values: Any) -> bool:
    """Whether all values are integers."""
    import numbers

    return not [v for v in values if not isinstance(v, numbers.Integral)]


def eye(n: int, m: int | None = None, dtype: ElementType = float32) -> Any:
    """Ones on the diagonal of an n by m matrix, zeros elsewhere."""
    import numpy as np

    return np.eye(n, m, dtype=numpy_type(dtype))


def matmul(a: Any, b: Any, dtype: ElementType | None = None) -> Any:
    """The matrix product of the last two axes, in NumPy's type or, unrounded, in `dtype`."""
    import numpy as np

    if dtype is not None:
        return np.matmul(np.asarray(a).astype(numpy_type(dtype)), np.asarray(b).astype(numpy_type(dtype)))
    if np.result_type(a, b) == np.float16:
        return np.matmul(np.asarray(a, np.float32), np.asarray(b, np.float32)).astype(np.float16)
    return np.matmul(a, b)


def dot(a: Any, b: Any) -> Any:
    """The inner product of two vectors; for matrices, the matrix product."""
    return matmul(a, b)


def sum(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum over `axis` (all axes by default). Integers are summed in 64 bits, float16 in float32."""
    import numpy as np

    values = np.asarray(array)
    if values.dtype == np.float16:
        return np.sum(values, axis=axis, keepdims=keepdims, dtype=np.float32).astype(np.float16)
    return np.sum(values, axis=axis, keepdims=keepdims)


def prod(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The product over `axis` (all axes by default)."""
    import numpy as np

    return np.prod(array, axis=axis, keepdims=keepdims)


def max(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The largest element over `axis`; NaN propagates."""
    import numpy as np

    return np.max(array, axis=axis, keepdims=keepdims)


def min(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The smallest element over `axis`; NaN propagates."""
    import numpy as np

    return np.min(array, axis=axis, keepdims=keepdims)


def mean(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean over `axis`; of integers, in float32."""
    import numpy as np

    values = np.asarray(array)
    if values.dtype.kind in "iub":
        return np.mean(values, axis=axis, keepdims=keepdims).astype(np.float32)
    return np.mean(values, axis=axis, keepdims=keepdims)


def var(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean squared distance from the mean over `axis`."""
    import numpy as np

    values = np.asarray(array)
    if values.dtype.kind in "iub":
        return np.var(values, axis=axis, keepdims=keepdims).astype(np.float32)
    return np.var(values, axis=axis, keepdims=keepdims)


def std(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The square root of the variance over `axis`."""
    import numpy as np

    return np.sqrt(var(array, axis=axis, keepdims=keepdims))


def argmax(array: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first largest element along `axis` (of the flattened array by default)."""
    import numpy as np

    return np.argmax(array, axis=axis, keepdims=keepdims)


def argmin(array: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first smallest element along `axis` (of the flattened array by default)."""
    import numpy as np

    return np.argmin(array, axis=axis, keepdims=keepdims)


def cumsum(array: Any, axis: int | None = None) -> Any:
    """Running sums along `axis`, each element included."""
    import numpy as np

    return np.cumsum(array, axis=axis)


def cumprod(array: Any, axis: int | None = None) -> Any:
    """Running products along `axis`, each element included."""
    import numpy as np

    return np.cumprod(array, axis=axis)


def any(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether any element over `axis` is nonzero."""
    import numpy as np

    return np.any(array, axis=axis, keepdims=keepdims)


def all(array: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether every element over `axis` is nonzero."""
    import numpy as np

    return np.all(array, axis=axis, keepdims=keepdims)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, `no` elsewhere; both are evaluated."""
    import numpy as np

    return np.where(condition, yes, no)[()]


def transpose(array: Any, axes: tuple[int, ...] | None = None) -> Any:
    """The axes in the order `axes` (reversed by default)."""
    import numpy as np

    return np.transpose(array, axes)


def reshape(array: Any, shape: Shape) -> Any:
    """The same elements in row-major order under another shape; one size may be -1."""
    import numpy as np

    return np.reshape(array, shape)


def broadcast_to(array: Any, shape: Shape) -> Any:
    """The array repeated to `shape` by NumPy's broadcasting."""
    import numpy as np

    return np.broadcast_to(array, shape)


def concatenate(arrays: Any, axis: int = 0) -> Any:
    """Arrays joined along an axis."""
    import numpy as np

    return np.concatenate(arrays, axis=axis)


def clip(x: Any, low: Any, high: Any) -> Any:
    """The nearest number from `low` to `high`; either bound may be None."""
    import numpy as np

    return np.clip(x, low, high)


def square(x: Any) -> Any:
    """The product of x with itself."""
    return x * x


def reciprocal(x: Any) -> Any:
    """The quotient 1 / x, of integers in float32."""
    import numpy as np

    return np.asarray(1.0 / x, _float_type(x))[()]


def _float_type(x: Any) -> Any:
    import numpy as np

    dtype = np.asarray(x).dtype
    return dtype if dtype.kind == "f" else np.float32


def stack(arrays: Any, axis: int = 0) -> Any:
    """Arrays of one shape along a new axis."""
    import numpy as np

    return np.stack(arrays, axis=axis)


def split(array: Any, count: int, axis: int = 0) -> Any:
    """`count` equal parts along an axis, as views."""
    import numpy as np

    return np.split(array, count, axis=axis)


def take(array: Any, indices: Any, axis: int | None = None) -> Any:
    """Elements of the flattened array, or parts along an axis, at computed indices."""
    import numpy as np

    return np.take(array, indices, axis=axis)


def einsum(equation: str, *operands: Any) -> Any:
    """A product-sum of one or two arrays in Einstein notation."""
    import numpy as np

    return np.einsum(equation, *operands)


def relu(x: Any) -> Any:
    """max(x, 0)"""
    import numpy as np

    return np.maximum(x, np.asarray(x).dtype.type(0))


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))"""
    import numpy as np

    return 1 / (1 + np.exp(-x))


def silu(x: Any) -> Any:
    """The product x * sigmoid(x)."""
    return x * sigmoid(x)


def gelu(x: Any) -> Any:
    """The product of x and the normal distribution function: x * (1 + erf(x / sqrt(2))) / 2."""
    from pyasc.language.math import erf

    return x * (1 + erf(x * math.sqrt(0.5))) * 0.5


def softmax(x: Any, axis: int = -1) -> Any:
    """exp(x - max) / sum(exp(x - max)) along `axis`."""
    import numpy as np

    shifted = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return shifted / np.sum(shifted, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of `softmax`, without overflow."""
    import numpy as np

    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def layer_norm(x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """(x - mean) / sqrt(var + eps) over the last axis, times `weight`, plus `bias`."""
    import numpy as np

    centred = x - mean(x, axis=-1, keepdims=True)
    scaled = centred / np.sqrt(mean(centred * centred, axis=-1, keepdims=True) + eps)
    scaled = scaled if weight is None else scaled * weight
    return scaled if bias is None else scaled + bias


def rms_norm(x: Any, weight: Any = None, eps: float = 1e-6) -> Any:
    """The quotient x / sqrt(mean(x * x) + eps) over the last axis, times `weight`."""
    import numpy as np

    scaled = x / np.sqrt(mean(x * x, axis=-1, keepdims=True) + eps)
    return scaled if weight is None else scaled * weight


def sort(array: Any, axis: int | None = -1) -> Any:
    """The elements in ascending order along `axis` (None: of the flattened array), NaN last."""
    import numpy as np

    return np.sort(array, axis=axis, kind="stable")


def argsort(array: Any, axis: int | None = -1) -> Any:
    """The indices that sort along `axis`; equal elements keep their order, NaN is last."""
    import numpy as np

    return np.argsort(array, axis=axis, kind="stable")


def topk(array: Any, k: int, axis: int = -1) -> Any:
    """The `k` largest elements along `axis`, largest first, and their indices; of equal ones the first come first.

    NaN counts as the largest.
    """
    import numpy as np

    values = np.moveaxis(np.asarray(array), axis, -1)
    if not 0 <= k <= values.shape[-1]:
        raise ValueError(f"asc.topk of {k} elements of {values.shape[-1]}")
    from_behind = np.argsort(values[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    order = (values.shape[-1] - 1 - from_behind)[..., :k]
    found = np.take_along_axis(values, order, axis=-1)
    return np.moveaxis(found, -1, axis), np.moveaxis(order, -1, axis)


def pad(array: Any, widths: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    """The array with `widths` elements before and after each axis.

    `widths` is one number for all, a pair (before, after) for all axes, or a pair for each. `mode` is `"constant"`,
    or `"edge"`, `"reflect"`, `"symmetric"` or `"wrap"`, which repeat elements of the axis as NumPy does.
    """
    import numpy as np

    if mode == "constant":
        return np.pad(array, widths, constant_values=constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise ValueError("asc.pad has the modes 'constant', 'edge', 'reflect', 'symmetric', 'wrap'")
    # NumPy declares its modes one by one.
    return np.pad(array, widths, mode=mode)  # pyright: ignore[reportCallIssue, reportArgumentType]
