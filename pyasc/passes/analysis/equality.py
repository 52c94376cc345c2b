# SPDX-License-Identifier: Apache-2.0
"""When two operations compute the same, and a builder that therefore does not emit the second one."""

from __future__ import annotations

from collections.abc import Hashable

from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.declare import Attr
from pyasc.ir.dialects import arith
from pyasc.ir.dialects.func import Func
from pyasc.ir.dtypes import i64
from pyasc.ir.numbers_table import TABLE
from pyasc.ir.traits import COMMUTATIVE, CONSTANT, PURE

_COMMUTATIVE_FUNCTIONS = frozenset(row.name for row in TABLE.values() if row.commutative)


def key_of(op: Operation) -> Hashable:
    """What makes two operations equal: class, operands, attributes, and result types where these do not follow."""
    operands, spec = op.operands, op.spec
    if len(operands) > 1 and _is_commutative(op):
        operands = sorted(operands, key=id)
    attributes = op.attrs.values()
    return (
        type(op),
        op.segments,
        tuple(operands),
        tuple(attributes) if spec.has_exact_attributes else tuple([_attribute_key(v) for v in attributes]),
        () if spec.infers_all else tuple([value.type for value in op.results]),
        # A constant with a name in capitals is one of its own to the reader of what is emitted.
        op.results[0].name if isinstance(op, arith.Constant) and op.results[0].name.isupper() else "",
    )


def _is_commutative(op: Operation) -> bool:
    if isinstance(op, arith.Elementwise):
        return op.fn in _COMMUTATIVE_FUNCTIONS
    return COMMUTATIVE in op.spec.traits


def _attribute_key(value: Attr) -> Hashable:
    """A float by its text, since zeros of either sign are equal and NaN is not; a bool is not a number."""
    if isinstance(value, (float, bool)):
        return repr(value)
    return tuple([_attribute_key(each) for each in value]) if isinstance(value, tuple) else value


class SharingBuilder(Builder):
    """A builder whose `value` gives the result of an equal pure operation that it or an enclosing one inserted.

    `outer` inserts in an enclosing block, in front of the operation that holds this block. Constants are inserted
    at the start of the function, where all share them.
    """

    __slots__ = ("_constants", "_entry", "_integers", "_known", "_outer")

    def __init__(self, at: Builder, outer: SharingBuilder | None = None) -> None:
        super().__init__(at.block, at.anchor, at.loc)
        self._outer = outer
        self._known: dict[Hashable, Value] = {}
        self._integers: dict[int, Value] = {} if outer is None else outer._integers
        self._constants: dict[Hashable, Value] = {} if outer is None else outer._constants
        self._entry: Block = _entry_of(at.block) if outer is None else outer._entry

    def value(self, op: Operation, name: str = "") -> Value:
        """Insert an operation with one result unless there is an equal one, and return the result."""
        if PURE not in op.spec.traits or op.regions:
            return super().value(op, name)
        key = key_of(op)
        is_constant = CONSTANT in op.spec.traits
        known = self._constants.get(key) if is_constant else self._find(key)
        if known is not None:
            op.drop()
            return known
        if is_constant:
            self._entry.insert_before(self._entry.first, op)
            known = self._constants[key] = op.results[0]
        else:
            known = self._known[key] = super().value(op, name)
        return known

    def integer(self, number: int) -> Value:
        """An i64 constant."""
        known = self._integers.get(number)
        if known is None:
            known = self._integers[number] = self.value(arith.Constant.of(number, i64))
        return known

    def _find(self, key: Hashable) -> Value | None:
        builder: SharingBuilder | None = self
        while builder is not None:
            known = builder._known.get(key)
            if known is not None:
                return known
            builder = builder._outer
        return None


def _entry_of(block: Block) -> Block:
    """The outermost block of the function around a block."""
    parent = block.parent_op
    while parent is not None and parent.parent is not None and not isinstance(parent, Func):
        block = parent.parent
        parent = block.parent_op
    return block
