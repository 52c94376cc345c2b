# SPDX-License-Identifier: Apache-2.0
"""Methods that compute for themselves what is cheap, and nothing twice.

    %below = arith.add %row, 1
    asc.Method "CopyIn" { ... %below ... }

An index that methods use is computed in them: they take the counters of the loops around them rather than everything
that is made of these. In a method equal values are one, reinterpretations of a tensor included.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, asc, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import PURE
from pyasc.ir.types import ScalarType
from pyasc.passes.analysis.equality import key_of

_CHEAP = frozenset(("add", "sub", "mul"))
_MOVABLE = (arith.Elementwise, arith.Cast, arith.Constant, asc.ReinterpretCast)
_MOST = 3
"""Operations that are computed again rather than passed."""


def tidy_methods(function: Func) -> None:
    """Tidy all methods of a function at the ascend level."""
    methods = [op for op in function.walk() if isinstance(op, asc.Method)]
    for method in methods:
        for value in list(_free(method)):
            if value.op is not None and 0 < _cost(value) <= _MOST:
                _compute_inside(method, value)
        _hoist(method.body.block)
        _merge(method.body.block, {})
    _merge_arrays(function)
    _drop_unused(function)


def _free(method: asc.Method) -> Iterator[Value]:
    """Values of outside that a method uses."""
    inside = {block for op in method.walk() for region in op.regions for block in region.blocks}
    found = {value: None for op in method.walk() for value in op.operands if value.block not in inside}
    return iter(found)


def _cost(value: Value) -> int:
    """How many operations a cheap value without a name takes; 0 for what has one, or is anything else."""
    op = value.op
    if value.name or not isinstance(value.type, ScalarType):
        return 0
    if isinstance(op, arith.Cast):
        return 1 + _cost(op.value)
    if isinstance(op, arith.Elementwise) and op.fn in _CHEAP:
        return 1 + sum(_cost(arg) for arg in op.args)
    return 0


def _compute_inside(method: asc.Method, value: Value) -> None:
    """Use a copy that the method makes."""
    first = method.body.block.first
    assert first is not None
    made = _copied(Builder.before(first), value)
    for user in list(value.uses):
        if method in user.ancestors():
            user.operands = [made if each is value else each for each in user.operands]


def _copied(at: Builder, value: Value) -> Value:
    op = value.op
    if op is None or not (_cost(value) or isinstance(op, arith.Constant)):
        return value
    mapping = {each: _copied(at, each) for each in op.operands}
    return at.insert(op.clone(mapping)).results[0]


def _hoist(block: Block) -> None:
    """Move numbers that take divisions, and other views of tensors, out of the loops that do not change them."""
    for op in block:
        blocks = [inner for region in op.regions for inner in region.blocks]
        for inner in blocks:
            _hoist(inner)
        if isinstance(op, (scf.For, scf.While)):
            for each in [each for inner in blocks for each in inner if _is_worth_moving(each)]:
                moved = _needed_inside(each, blocks)
                if all(isinstance(every, _MOVABLE) and every.has(PURE) for every in moved):
                    for every in moved:
                        every.unlink()
                        block.insert_before(op, every)


def _is_worth_moving(op: Operation) -> bool:
    """Whether an operation has a place of its own: what is added or multiplied once is written where it is used."""
    if not isinstance(op, arith.Elementwise):
        return isinstance(op, (arith.Cast, asc.ReinterpretCast))
    copied = all(isinstance(user, asc.DataCopyPad) for user in op.result.uses)
    return bool(op.result.name) or copied or op.fn not in _CHEAP


def _needed_inside(op: Operation, blocks: Sequence[Block]) -> list[Operation]:
    """An operation, behind those of some blocks that it needs."""
    found: dict[Operation, None] = {}
    for value in op.operands:
        if value.block in blocks:
            inner = [] if value.op is None else _needed_inside(value.op, blocks)
            if not inner:
                return []
            found.update(dict.fromkeys(inner))
    return [*found, op]


def _merge(block: Block, known: dict[Hashable, Operation]) -> None:
    """Equal pure values of a block, and of those inside of it, become one."""
    for op in block:
        if op.has(PURE) and not op.regions and op.results:
            earlier = known.setdefault(key_of(op), op)
            if earlier is not op:
                op.replace_with(earlier.results)
                continue
        for region in op.regions:
            for inner in region.blocks:
                _merge(inner, dict(known))


def _merge_arrays(function: Func) -> None:
    """One GlobalTensor for all that look at the same part of an array."""
    known: dict[Hashable, Operation] = {}
    for op in function.body.block:
        if isinstance(op, (asc.SetGlobalBuffer, arith.Constant)):
            # What the type says of the shape does not matter to the text.
            part = (op.base, op.offset, *op.length) if isinstance(op, asc.SetGlobalBuffer) else key_of(op)
            earlier = known.setdefault(part, op)
            if earlier is not op:
                op.replace_with(earlier.results)


def _drop_unused(function: Func) -> None:
    for op in reversed(list(function.walk())):
        if op.has(PURE) and op.results and not any(value.uses for value in op.results):
            op.erase()
