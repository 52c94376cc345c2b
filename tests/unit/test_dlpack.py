# SPDX-License-Identifier: Apache-2.0
"""DLPack tensors of bfloat16, which NumPy's reader refuses, and producers that fail."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.ir import dtypes
from pyasc.ir.diagnostics import KernelTypeError
from pyasc.runtime.arguments import ArrayType, elements_of, type_of
from pyasc.runtime.binding import scalar_of
from pyasc.runtime.dlpack import _BFLOAT, _Tensor, bfloat16_bits


class Brain:
    """A producer of bfloat16, as PyTorch is one: the bits of an array under another type code."""

    def __init__(self, bits: np.ndarray[Any, Any]) -> None:
        self.bits = bits

    def __dlpack__(self, **options: Any) -> Any:
        if options:
            raise TypeError("an old producer")
        capsule = self.bits.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.argtypes, pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
        _Tensor.from_address(pointer(capsule, b"dltensor")).code = _BFLOAT
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class Broken(Brain):
    def __dlpack_device__(self) -> tuple[int, int]:
        raise ValueError("no such device")


def bits_of(*values: float) -> np.ndarray[Any, Any]:
    return (np.array(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


@asc.kernel
def double(x: asc.bfloat16[N], y: asc.bfloat16[N]):  # noqa: F821
    for i in range(N):  # noqa: F821
        y[i] = x[i] + x[i]


def test_elements_are_shared_whatever_their_layout() -> None:
    whole = np.arange(12, dtype=np.uint16).reshape(3, 4)
    for view in (whole, whole[::2, ::-1], whole.T, whole[1:1], whole[2, 3]):
        found = elements_of(Brain(np.asarray(view)), "x")
        assert found is not None and found[1] is dtypes.bf16
        np.testing.assert_array_equal(found[0], view)
    shared = bfloat16_bits(Brain(whole))
    assert shared is not None
    shared[0, 0] = 7
    assert whole[0, 0] == 7


def test_a_kernel_reads_and_writes_them() -> None:
    x, y = bits_of(1.5, -2.0, 0.25), np.zeros(3, np.uint16)
    double(Brain(x), Brain(y))
    np.testing.assert_array_equal(y, bits_of(3.0, -4.0, 0.5))


def test_they_are_no_integers() -> None:
    found, array = type_of(Brain(bits_of(2.5)), "x")
    assert found == ArrayType(dtypes.bf16, 1)
    assert scalar_of("x", dtypes.f32, ArrayType(dtypes.bf16, 0), array.reshape(())) == 2.5


def test_other_elements_are_left_to_numpy() -> None:
    assert bfloat16_bits(np.ones(2, np.float32)) is None


def test_a_producer_that_fails_names_the_parameter() -> None:
    with pytest.raises(KernelTypeError, match="double: parameter `x`: Broken cannot be read through DLPack"):
        double(Broken(bits_of(1.0)), bits_of(1.0))


@pytest.mark.parametrize("interface", ["nonsense", {"shape": (4,)}, {"shape": (4,), "typestr": "<f4", "version": 3, "data": (0, False)}])  # fmt: skip # noqa: E501
def test_a_broken_array_interface_names_the_parameter(interface: object) -> None:
    value = type("Fake", (), {"__array_interface__": interface})()
    with pytest.raises(KernelTypeError, match="double: parameter `x`: the __array_interface__ of Fake"):
        double(value, bits_of(1.0))
