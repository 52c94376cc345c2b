# SPDX-License-Identifier: Apache-2.0
"""Arguments of a launch as they come: what each of them is, and arrays of every origin as NumPy arrays."""

from __future__ import annotations

from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from pyasc.ir import dtypes
from pyasc.ir.diagnostics import KernelTypeError, LaunchError
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_CPU_DEVICES = frozenset({1, 3, 11, 13})
"""DLPack's numbers of memories that the host can read: plain, pinned by CUDA or ROCm, managed."""


class ArrayType(Record):
    """An array argument: its element type and number of dimensions."""

    dtype: DType
    rank: int

    def __str__(self) -> str:
        return f"{self.dtype.numpy} array of {self.rank} dimension{'' if self.rank == 1 else 's'}"


class NumberType(Record):
    """A number with an element type: a NumPy scalar, or what an `asc.float32` parameter takes."""

    dtype: DType

    def __str__(self) -> str:
        return self.dtype.numpy


class WeakType(Record):
    """A Python number: `"int"`, `"float"` or `"bool"`."""

    name: str

    def __str__(self) -> str:
        return self.name


class ConstantType(Record):
    """A compile-time value. Equal constants have equal keys, and `1`, `True` and `1.0` differ."""

    key: str
    value: Any

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstantType) and self.key == other.key

    def __str__(self) -> str:
        return repr(self.value)


ArgumentType = ArrayType | NumberType | WeakType | ConstantType


def constant_key(value: Any) -> str:
    """A text that is the same for constants that compile alike.

    Of objects with a state nothing tells that they do, so that each has a key of its own.
    """
    from pyasc.frontend.dependencies import fingerprint, is_plain

    return f"{fingerprint(value)}{_worlds(value) if is_plain(value) else f'@{_identities(value)}'}"


def _identities(value: Any) -> str:
    return ",".join(map(_identities, value)) if isinstance(value, tuple) else hex(id(value))


def _worlds(value: Any) -> str:
    """What tells functions of one text apart: the globals that each sees."""
    if isinstance(value, tuple):
        return "".join(map(_worlds, value))
    return f"@{id(value.__globals__):x}" if isinstance(value, FunctionType) else ""


def type_of(value: Any, where: str) -> tuple[ArgumentType, Any]:
    """What an argument is, and the argument as an array or number of NumPy or Python.

    `where` names the parameter in errors. Raises KernelTypeError for what no kernel takes.
    """
    import numpy as np

    if isinstance(value, bool | np.bool_):
        return WeakType("bool") if isinstance(value, bool) else NumberType(dtypes.i1), value
    if isinstance(value, np.generic):
        return NumberType(ir_dtype(value.dtype, where)), value
    if isinstance(value, int | float):
        return WeakType("int" if isinstance(value, int) else "float"), value
    found = elements_of(value, where)
    if found is None:
        raise KernelTypeError(f"{where} takes arrays and numbers, got {type_name(value)}{_help(value)}")
    array, dtype = found
    return ArrayType(dtype, array.ndim), array


def _help(value: Any) -> str:
    if isinstance(value, list | tuple | range):
        return "; make an array of it first, with numpy.array(..., dtype=...)"
    if hasattr(value, "__array__"):
        return "; it offers only __array__, which may copy: pass numpy.asarray(...) of it"
    return ""


def type_name(value: Any) -> str:
    """The class of a value as messages show it."""
    return "None" if value is None else type(value).__name__


def elements_of(value: Any, where: str) -> tuple[Array, DType] | None:
    """The array that shares memory with `value` and the type of its elements, or None if it is not one.

    Takes NumPy arrays, `__array_interface__` and DLPack; elements of bfloat16 may come as uint16. Raises LaunchError
    for memory that the host cannot read, and KernelTypeError for a masked array and for elements of no known type.
    """
    import numpy as np

    if isinstance(value, np.ndarray):
        if isinstance(value, np.ma.MaskedArray):
            raise KernelTypeError(f"{where} is a masked array, and kernels know no masks; pass its .data")
        if isinstance(value, np.matrix):
            raise KernelTypeError(f"{where} is a matrix, whose `*` is no product of elements; pass its .A")
        array = value if type(value) is np.ndarray else value.view(np.ndarray)
    elif isinstance(value, type):
        return None
    elif hasattr(value, "__array_interface__"):
        array = _from_interface(value, where)
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(value, where)
        if isinstance(array, tuple):
            return array
    else:
        return None
    return array, ir_dtype(array.dtype, where)


def _from_interface(value: Any, where: str) -> Array:
    import numpy as np

    try:
        return np.asarray(value)
    except Exception as error:
        raise KernelTypeError(
            f"{where}: the __array_interface__ of {type_name(value)} cannot be read: {error}"
        ) from error


def _from_dlpack(value: Any, where: str) -> Array | tuple[Array, DType]:
    """The array, or the bits of one of bfloat16 together with their type."""
    try:
        kind, number = value.__dlpack_device__()
        if int(kind) not in _CPU_DEVICES:
            raise LaunchError(
                f"{where} lives on another device (DLPack device {int(kind)}, number {number}); "
                "move it to the host first"
            )
        array = _read_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise KernelTypeError(
            f"{where}: {type_name(value)} cannot be read through DLPack: {error}"
        ) from error
    if isinstance(array, tuple):
        return array
    return array if array.flags.writeable or _says_read_only(value) else _writable(array)


def _read_dlpack(value: Any) -> Array | tuple[Array, DType]:
    import numpy as np

    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError):
        from pyasc.runtime.dlpack import bfloat16_bits

        bits = bfloat16_bits(value)
        if bits is None:
            raise
        return bits, dtypes.bf16


def _says_read_only(value: Any) -> bool:
    """Whether the producer speaks a version of DLPack that can mark memory as read-only."""
    try:
        value.__dlpack__(max_version=(1, 0))
    except TypeError:
        return False
    except BufferError:
        return True
    return True


class _Memory(Record):
    """Someone else's memory with the array interface of it."""

    owner: Array
    __array_interface__: dict[str, Any]


def _writable(array: Array) -> Array:
    """The same memory without the read-only mark that NumPy puts on what an old DLPack producer gives."""
    import numpy as np

    interface = dict(array.__array_interface__)
    address, _ = interface["data"]
    return np.asarray(_Memory(array, interface | {"data": (address, False)}))


def ir_dtype(dtype: np.dtype[Any], where: str) -> DType:
    """The element type of a NumPy dtype of any byte order. Raises KernelTypeError when there is none."""
    found = _ir_dtype(dtype)
    if found is None:
        raise KernelTypeError(
            f"{where} has elements of {dtype}, which no kernel takes; "
            f"there are {', '.join(d.numpy for d in dtypes.ALL)}"
        )
    return found


@lru_cache(maxsize=256)
def _ir_dtype(dtype: np.dtype[Any]) -> DType | None:
    if dtype.name == "bfloat16" and dtype.itemsize == 2:
        return dtypes.bf16
    if dtype.kind not in "fiub" or dtype.subdtype is not None:
        return None
    return next((d for d in dtypes.ALL if d.kind == dtype.kind and _same_size(d, dtype)), None)


def _same_size(candidate: DType, dtype: np.dtype[Any]) -> bool:
    return candidate.bytes == dtype.itemsize and candidate is not dtypes.bf16
