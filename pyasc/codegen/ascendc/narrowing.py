# SPDX-License-Identifier: Apache-2.0
"""Values that calls take in a narrower type than they are computed in."""

from __future__ import annotations

from collections.abc import Iterator

from pyasc.codegen.ascendc.calls import stride_types
from pyasc.codegen.ascendc.spelling import NAMED_CTYPES
from pyasc.ir import dtypes
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, asc, asc_vector

_STRIDED = (asc_vector.Unary, asc_vector.Binary, asc_vector.TensorScalar, asc_vector.Cast)
_MOST = {NAMED_CTYPES[d.name]: 2**d.bits - 1 for d in (dtypes.u8, dtypes.u16, dtypes.u32)}


def fits(value: Value, type_: str) -> bool:
    """Whether a value is a number that a narrower type has, so that it converts by itself."""
    owner = value.owner
    return isinstance(owner, arith.Constant) and not value.name.isupper() and 0 <= owner.value <= _MOST[type_]


def narrow_type(value: Value) -> str:
    """The one narrower type that all users of a value ask for, or nothing.

    Calls that take the value as wide as it is do not matter: a value that does not fit was wrong before.
    """
    if value.op is None or any(method_of(user) is not method_of(value.op) for user in value.uses):
        return ""
    types = {type_ for user in value.uses for type_ in _asked(user, value)}
    (type_,) = types if len(types) == 1 else ("",)
    return type_


def _asked(user: Operation, value: Value) -> Iterator[str]:
    if isinstance(user, _STRIDED) and value not in user.amount:
        for stride, type_ in zip(user.strides, stride_types(user), strict=True):
            if stride is value:
                yield type_
    elif not isinstance(user, asc_vector.WholeReduce):
        yield ""


def method_of(op: Operation) -> Operation | None:
    """The method that an operation stands in."""
    return next((each for each in op.ancestors() if isinstance(each, asc.Method)), None)
