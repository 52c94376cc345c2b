# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes of a kernel made known before it is lowered (`--shape N=1024`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, func
from pyasc.ir.sizes import Dim, SizeExpr, simplify
from pyasc.ir.types import RefType, ScalarType, TensorType, Type


def fix_sizes(function: func.Func, sizes: Mapping[str, int]) -> frozenset[str]:
    """Replace the named sizes by numbers, in place, in types, attributes and `func.size`; the names that it had.

    Names that the function does not have are passed over. For the py level.
    """
    known = {name: value for name, value in sizes.items() if name in function.sizes}
    if not known:
        return frozenset()
    for op in list(function.walk()):
        if isinstance(op, func.Size) and op.symbol in known:
            number = arith.Constant(value=known[op.symbol], types=[ScalarType(dtypes.i64)])
            op.replace_with([Builder.before(op).value(number)])
            continue
        for name, value in op.attrs.items():
            op.attrs[name] = _fixed(value, known)
        for value in _values(op):
            value.type = cast(Type, _fixed(value.type, known))
    function.attrs["sizes"] = tuple(name for name in function.sizes if name not in known)
    return frozenset(known)


def _values(op: Operation) -> Iterator[Value]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _fixed(value: Any, known: Mapping[str, int]) -> Any:
    match value:
        case SizeExpr():
            return value.substitute(known)
        case RefType() | TensorType():
            return replace(value, shape=tuple(_fixed_dim(dim, known) for dim in value.shape))
        case tuple():
            return tuple(_fixed(each, known) for each in cast("tuple[Any, ...]", value))
        case _:
            return value


def _fixed_dim(dim: Dim, known: Mapping[str, int]) -> Dim:
    return simplify(dim.substitute(known)) if isinstance(dim, SizeExpr) else dim
