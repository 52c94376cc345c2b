# SPDX-License-Identifier: Apache-2.0
"""DLPack tensors of bfloat16, which NumPy cannot read: their bits as an array that shares their memory."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from pyasc.ir.record import Record

if TYPE_CHECKING:
    import numpy as np

_BFLOAT = 4
"""`kDLBfloat` of dlpack.h."""


class _Tensor(ctypes.Structure):
    """`DLTensor` of dlpack.h, with which a `DLManagedTensor` begins."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Memory(Record):
    """What keeps the memory alive, and the array interface of it."""

    owners: tuple[Any, ...]
    __array_interface__: dict[str, Any]


def bfloat16_bits(value: Any) -> np.ndarray[Any, Any] | None:
    """The elements of a tensor of bfloat16 as uint16, in place; None for a tensor of other elements.

    Raises what the `__dlpack__` of the value raises.
    """
    import numpy as np

    capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    if (tensor.code, tensor.bits, tensor.lanes) != (_BFLOAT, 16, 1):
        return None
    shape = tuple(tensor.shape[: tensor.ndim])
    if 0 in shape:
        return np.empty(shape, np.uint16)
    interface = {
        "version": 3,
        "typestr": np.dtype(np.uint16).str,
        "shape": shape,
        "strides": tuple(2 * n for n in tensor.strides[: tensor.ndim]) if tensor.strides else None,
        "data": (tensor.data + tensor.byte_offset, False),
    }
    return np.asarray(_Memory((value, capsule), interface))
