# SPDX-License-Identifier: Apache-2.0
"""Every declared operation is printed and read back, whatever its fields hold."""

from __future__ import annotations

from typing import Any

import pytest

from pyasc.ir.affine import AffineMap, dim, symbol
from pyasc.ir.core import Block, Operation, Region
from pyasc.ir.declare import MISSING, AttributeField, Constraint
from pyasc.ir.dialects import func, operations
from pyasc.ir.parse_types import parse_type
from pyasc.ir.parser import parse_op
from pyasc.ir.printer import print_op
from pyasc.ir.sizes import parse_size
from pyasc.ir.traits import SINGLE_BLOCK
from pyasc.ir.types import Type

TYPES = [
    parse_type(text)
    for text in (
        "f32 i64 i1|ref<N x f32>|tensor<2 x N x f16>|tensor<4 x i64>|vec<8 x f32>|tile<2 x 3 x 8 x f32>|"
        "ref<16 x f32, ub>|!pipe|!queue<VECIN, 1>|!buffer<VECCALC>|!event<V_S>|!handle<1>"
    )
    .replace(" i64 i1", "|i64|i1")
    .split("|")
]

VALUES: dict[str, list[Any]] = {
    "bool": [True, False],
    "int": [3, -1],
    "float": [0.5, float("inf")],
    "str": ["add", 'a "b"\n'],
    "None": [None],
    "Type": [parse_type("f32")],
    "AffineExpr": [dim(1) * 2 - symbol(0)],
    "AffineMap": [AffineMap((dim(0), symbol(1) + 3))],
    "SizeExpr": [parse_size("2*N - 1")],
    "Attr": [None, (1, 2.0)],
}


def accepted(constraint: Constraint) -> list[Type]:
    types = [type_ for type_ in TYPES if constraint.accepts(type_)]
    assert types, constraint.words
    return types


def values(part: AttributeField) -> list[Any]:
    if part.choices:
        return list(part.choices)
    if part.annotation.startswith("tuple["):
        inner = VALUES[part.annotation[len("tuple[") : -len(", ...]")]]
        return [(), tuple(inner)]
    return [value for name in part.annotation.split(" | ") for value in VALUES[name]]


def build(cls: type[Operation], choice: int) -> Operation:
    """A function around one operation; `choice` picks among types, attribute values and lengths."""
    spec = cls.spec
    fields: dict[str, Any] = {}
    outer = Block()
    for part in spec.operands:
        types = accepted(part.constraint)
        # Functions of the number table look at their arguments to infer the result type.
        length = 3 if spec.named_by == "fn" else (choice + part.position) % 3
        count = length if part.variadic else 1
        made = [outer.add_arg(types[(choice + i) % len(types)], "x" if i else "") for i in range(count)]
        fields[part.name] = made if part.variadic else made[0]
    for part in spec.attributes:
        given = values(part)
        if part.default is MISSING or choice % 2:
            fields[part.name] = given[choice % len(given)]
    for part in spec.regions:
        filled = SINGLE_BLOCK in spec.traits or (choice + part.position) % 2
        fields[part.name] = Region([Block([TYPES[0]], ["a"])] if filled else [])
    types = None if spec.infers_all else [accepted(part.constraint)[0] for part in spec.results]
    return cls(types=types, **fields)


@pytest.mark.parametrize("name", operations())
def test_every_operation_is_read_back(name: str) -> None:
    cls = operations()[name]
    for choice in range(max(4, *(len(part.choices) for part in cls.spec.attributes), 0)):
        op = build(cls, choice)
        body = Block()
        for value in dict.fromkeys(op.operands):
            value.replace_uses(body.add_arg(value.type, value.name))
        op.attach(body)
        frame = func.Func(symbol="f", body=Region([body]))
        text = print_op(frame)
        back = parse_op(text)
        assert print_op(back) == text
        copy = back.regions[0].block.first
        assert copy is not None
        assert type(copy) is cls
        assert copy.attrs == op.attrs
        assert copy.segments == op.segments
        assert [v.type for v in copy.results] == [v.type for v in op.results]
