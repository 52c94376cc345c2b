# SPDX-License-Identifier: Apache-2.0
"""Kernels of scalars called with arrays: mapped over them with NumPy's broadcasting, as a ufunc is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pyasc.frontend.signature import Parameter, ScalarKind
from pyasc.ir import dtypes
from pyasc.ir.diagnostics import KernelTypeError, LaunchError
from pyasc.runtime.abi import bfloat16_of, numpy_dtype
from pyasc.runtime.arguments import elements_of
from pyasc.runtime.binding import is_array_like, widens

if TYPE_CHECKING:
    from pyasc.runtime.arguments import Array
    from pyasc.runtime.kernel import Kernel


def launch_mapped(kernel: Kernel, bound: Mapping[str, Any]) -> Any:
    """Map the kernel over the array arguments; the results have the shape that they broadcast to.

    Raises KernelTypeError for an array of another dtype and LaunchError for shapes that do not broadcast.
    """
    arrays = {
        p.name: _array(kernel.__name__, p, bound[p.name])
        for p in kernel.signature.parameters
        if is_array_like(bound[p.name])
    }
    shape = _broadcast(kernel.__name__, arrays)
    arguments = dict(bound) | {
        name: _flat(array, kernel.signature[name], shape) for name, array in arrays.items()
    }
    results = kernel.launch_bound(arguments)
    if not shape or results is None:
        return results
    if isinstance(results, tuple | list):
        return type(results)(each.reshape(shape) for each in results)
    return results.reshape(shape)


def _array(name: str, param: Parameter, value: Any) -> Array:
    where = f"{name}: parameter `{param.name}`"
    found = elements_of(value, where)
    assert found is not None
    array, given = found
    if not isinstance(param.kind, ScalarKind):
        raise KernelTypeError(
            f"{where} takes a {param.kind}, which is the same for all elements, got an array"
        )
    dtype = param.kind.dtype
    if dtype is dtypes.bf16 and given in (dtypes.bf16, dtypes.u16):
        return array.view(np.uint16)
    if not widens(given, dtype):
        raise KernelTypeError(
            f"{where} takes asc.{dtype.numpy} or arrays of it, got an array of {array.dtype}; "
            f"convert it with .astype({dtype.numpy!r}) first"
        )
    return array.astype(numpy_dtype(dtype), copy=False)


def _broadcast(name: str, arrays: Mapping[str, Array]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"`{key}` {array.shape}" for key, array in arrays.items())
        raise LaunchError(f"{name}: the shapes of {shapes} do not broadcast together") from None


def _flat(array: Array, param: Parameter, shape: tuple[int, ...]) -> Any:
    """The array's elements for every element of the result, in a row; a number if they are all the same one."""
    if array.ndim == 0:
        is_bits = isinstance(param.kind, ScalarKind) and param.kind.dtype is dtypes.bf16
        return bfloat16_of(array) if is_bits else array[()]
    return np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1)
