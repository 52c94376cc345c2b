# SPDX-License-Identifier: Apache-2.0
"""Carrying one element of memory through a loop in a register."""

from __future__ import annotations

from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, mem, scf
from pyasc.ir.record import Record
from pyasc.ir.traits import CHECKS
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.dependence import Access, accesses_inside, accesses_of
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.ranges import Ranges
from pyasc.passes.analysis.structure import is_inside


class Promotable(Record):
    """An element that a loop stores in each iteration, and every access of the loop to it, in order."""

    access: Access
    uses: tuple[mem.Load | mem.Store, ...]


def find_promotable(loop: scf.For, ranges: Ranges) -> Promotable | None:
    """An element at indices from outside of the loop that each iteration stores, and nothing else may touch.

    A check in the loop may be what keeps the indices in range; then they have to be so by proof.
    """
    step = integer_of(loop.step)
    stores = [op for op in loop.body.block if isinstance(op, mem.Store)]
    if step is None or not stores:
        return None
    accesses = accesses_inside(loop)
    for store in stores:
        if not any(is_inside(value, loop) for value in (store.ref, *store.indices)):
            found = _uses_of_element(store, loop, accesses)
            if found is not None and (not _has_checks(loop) or _is_in_range(found.access, loop, ranges)):
                return found
    return None


def _has_checks(loop: scf.For) -> bool:
    return any(CHECKS in op.spec.traits for op in loop.walk())


def _uses_of_element(store: mem.Store, loop: scf.For, accesses: list[Access]) -> Promotable | None:
    (element,) = accesses_of(store)
    uses: list[mem.Load | mem.Store] = []
    for access in accesses:
        if not may_alias(access.ref, element.ref):
            continue
        if not _same_indices(access, element):
            if _constantly_apart(access, element):
                continue
            return None
        if access.op.parent is not loop.body.block or not isinstance(access.op, (mem.Load, mem.Store)):
            return None
        uses.append(access.op)
    return Promotable(element, tuple(uses))


def _same_indices(access: Access, element: Access) -> bool:
    return access.ref is element.ref and access.indices == element.indices


def _constantly_apart(access: Access, element: Access) -> bool:
    """Whether some axis has two different constants for index."""
    if access.ref is not element.ref or access.indices is None or element.indices is None:
        return False
    for left, right in zip(access.indices, element.indices, strict=True):
        first, second = integer_of(left), integer_of(right)
        if first is not None and second is not None and first != second:
            return True
    return False


def promote(loop: scf.For, found: Promotable, ranges: Ranges) -> None:
    """Load the element before the loop, carry it, and store it after the loop.

    Where the loop may have no iteration and the element may not exist then, all of that goes into a branch that
    is taken when there is one.
    """
    if not (_runs(loop, ranges) or _may_touch_anyway(loop, found.access, ranges)):
        _guard(loop)
    element = found.access
    assert element.indices is not None
    first, store = found.uses[0], found.access.op
    loaded = Builder(_block(loop), loop, first.loc).value(mem.Load(ref=element.ref, indices=element.indices))
    argument = _add_carried(loop, loaded)
    current: Value = argument
    for op in found.uses:
        if isinstance(op, mem.Load):
            op.replace_with([current])
        else:
            current = op.value
            op.erase()
    _replace_last_yield(loop, current)
    after = Builder(_block(loop), loop.next, store.loc)
    after.insert(mem.Store(value=loop.results[-1], ref=element.ref, indices=element.indices))


def _block(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent


def _add_carried(loop: scf.For, init: Value) -> Value:
    loop.set_operands("inits", [*loop.inits, init])
    argument = loop.body.block.add_arg(init.type)
    loop.results = (*loop.results, Value(init.type, loop, len(loop.results)))
    terminator = loop.body.block.terminator
    terminator.set_operands("values", [*terminator.operands, argument])
    return argument


def _replace_last_yield(loop: scf.For, value: Value) -> None:
    terminator = loop.body.block.terminator
    terminator.set_operands("values", [*terminator.operands[:-1], value])


def _runs(loop: scf.For, ranges: Ranges) -> bool:
    """Whether the loop has an iteration in any case."""
    step = integer_of(loop.step)
    assert step is not None and loop.parent is not None
    distance = ranges.exact(loop.upper) - ranges.exact(loop.lower)
    return ranges.nonnegative((distance if step > 0 else distance * -1) - 1, loop.parent)


def _may_touch_anyway(loop: scf.For, element: Access, ranges: Ranges) -> bool:
    """Whether the element exists even if the loop has no iteration, and nobody else may write it then.

    Within a parallel loop another iteration may, unless the loop runs in all iterations or in none.
    """
    parallel = [op for op in loop.ancestors() if isinstance(op, scf.For) and op.kind == "parallel"]
    if parallel and any(is_inside(value, parallel[-1]) for value in loop.operands[:2]):
        return False
    return _is_in_range(element, loop, ranges)


def _is_in_range(element: Access, loop: scf.For, ranges: Ranges) -> bool:
    """Whether the indices are in range in front of the loop."""
    assert element.indices is not None and loop.parent is not None
    for axis, index in enumerate(element.indices):
        expr, extent = ranges.polynomials.of(index), ranges.polynomials.extent(element.ref, axis)
        if extent is None or not ranges.nonnegative(expr, loop.parent):
            return False
        if not ranges.nonnegative(extent - expr - 1, loop.parent):
            return False
    return True


def _guard(loop: scf.For) -> None:
    """Put the loop into a branch that is taken when it has an iteration."""
    step = integer_of(loop.step)
    assert step is not None
    at = Builder.before(loop)
    fn = "lt" if step > 0 else "gt"
    condition = at.value(arith.Elementwise(fn=fn, args=[loop.lower, loop.upper]))
    branch = at.insert(
        scf.If(
            condition=condition, then=block_of(), otherwise=block_of(), types=[v.type for v in loop.results]
        )
    )
    for old, new in zip(loop.results, branch.results, strict=True):
        new.name = old.name
        old.replace_uses(new)
    inside, outside = (
        Builder(branch.then.block, None, loop.loc),
        Builder(branch.otherwise.block, None, loop.loc),
    )
    inside.insert(loop)
    inside.insert(scf.Yield(values=loop.results))
    outside.insert(scf.Yield(values=loop.inits))
