# SPDX-License-Identifier: Apache-2.0
"""A buffer that only holds a copy of another one is not needed: the source is read instead.

    %buf = mem.alloc {purpose = "shared"} : ref<64 x f32, local>
    %row = mem.view %x, [%i, %0], [%1, %64], [%1, %1] {axes = [1]} : ref<64 x f32>
    mem.copy %row, %buf
    scf.for %0, %64, %1, [] {
    ^(%j: i64):
      %e = mem.load %buf, [%j]
      ...
    }

becomes

    %row = mem.view %x, [%i, %0], [%1, %64], [%1, %1] {axes = [1]} : ref<64 x f32>
    scf.for %0, %64, %1, [] {
    ^(%j: i64):
      %e = mem.load %row, [%j]
      ...
    }

The copy may be a `mem.copy` or a structured op that copies every element. It has to be all that is written to
the buffer, to come before every read, and nothing may write to the source until the last of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir import affine
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import mem, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.sizes import constant, lift
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import Polynomials, materialise
from pyasc.passes.analysis.effects import EffectTable, root_of
from pyasc.passes.analysis.raising_order import map_each, renumber_symbols
from pyasc.passes.base import Context, FunctionPass


class ElideCopies(FunctionPass):
    """Reads the sources of copies."""

    name = "elide-copies"

    def run(self, func: Func, context: Context) -> bool:
        """Look at every buffer of the function."""
        return elide_copies(func, context)


def elide_copies(root: Operation, context: Context) -> bool:
    """Elide what can be elided of the buffers allocated under an operation."""
    found = False
    for op in root.nested():
        if isinstance(op, mem.Alloc) and op.parent is not None:
            found |= _elide(op, context)
    return found


@dataclass(frozen=True)
class _Copy:
    """The operation that fills a buffer; element `[d0, d1, ...]` of it is element `map_` of `source`."""

    op: mem.Copy | st.Apply
    source: Value
    map_: AffineMap
    symbols: tuple[Value, ...]


def _elide(alloc: mem.Alloc, context: Context) -> bool:
    copy = _copy_into(alloc.ref)
    if copy is None or not _stays_equal(alloc.ref, copy):
        return False
    if alloc.purpose == "shared":
        name, source = alloc.ref.name or "the buffer", root_of(copy.source).name or "its source"
        context.remark(alloc.loc, f"{name!r} only holds a copy: {source!r} is read instead")
    for user in list(alloc.ref.uses):
        if user is copy.op:
            continue
        if isinstance(user, mem.Load):
            _redirect_load(user, copy)
        else:
            assert isinstance(user, st.Apply)
            _redirect_inputs(user, alloc.ref, copy)
    copy.op.drop()
    copy.op.unlink()
    alloc.erase()
    context.count("copies")
    return True


def _copy_into(ref: Value) -> _Copy | None:
    """The copy that is all that writes the buffer, if everything else reads single elements."""
    writers = [op for op in ref.uses if not isinstance(op, mem.Load) and not _only_reads(op, ref)]
    if len(writers) != 1:
        return None
    (op,) = writers
    if isinstance(op, mem.Copy) and op.source is not ref and isinstance(ref.type, RefType):
        return _Copy(op, op.source, affine.identity(len(ref.type.shape)), ())
    return _copying_apply(op, ref) if isinstance(op, st.Apply) else None


def _only_reads(op: Operation, ref: Value) -> bool:
    return isinstance(op, st.Apply) and ref not in op.outputs and ref in op.inputs


def _copying_apply(op: st.Apply, ref: Value) -> _Copy | None:
    """A structured op whose points are the elements of the buffer, each taken as it is."""
    block = op.body.block
    plain = op.roles == ("write",) and not op.guarded and len(op.inputs) == 1 and op.inputs[0] is not ref
    if not plain or op.output_maps[0] != affine.identity(op.rank):
        return None
    if block.first is not block.last or block.terminator.operands[0] is not block.args[-1]:
        return None
    polynomials = Polynomials()
    for axis in range(op.rank):
        upper = op.upper[axis]
        extent = polynomials.extent(ref, axis)
        total = constant(upper.constant)
        for symbol, factor in zip(op.symbols, upper.symbols, strict=False):
            total = total + polynomials.of(symbol) * factor
        if op.lower[axis] != AffineExpr() or upper.dims or extent is None or total != lift(extent):
            return None
    return _Copy(op, op.inputs[0], op.input_maps[0], tuple(op.symbols))


def _stays_equal(ref: Value, copy: _Copy) -> bool:
    """Whether the source still holds what was copied at every read of the buffer."""
    readers = [op for op in ref.uses if op is not copy.op]
    if not all(_stands_before(copy.op, op) for op in readers):
        return False
    block = copy.op.parent
    assert block is not None
    last = {_in_block(op, block) for op in readers}
    table = EffectTable()
    following = copy.op.next
    while following is not None and last:
        if table.of(following).may_write(copy.source):
            return False
        last.discard(following)
        following = following.next
    return not last


def _stands_before(op: Operation, other: Operation) -> bool:
    """Whether `op` has run whenever `other` runs, because it stands before it in a block around it."""
    ancestor: Operation | None = other
    while ancestor is not None and ancestor.parent is not op.parent:
        ancestor = ancestor.parent_op
    while ancestor is not None and ancestor is not op:
        ancestor = ancestor.prev
    return ancestor is op


def _in_block(op: Operation, block: Block) -> Operation:
    """The operation of `block` that is or holds another one."""
    while op.parent is not block:
        assert op.parent_op is not None
        op = op.parent_op
    return op


def _redirect_load(load: mem.Load, copy: _Copy) -> None:
    at = Builder.before(load)
    indices = [materialise(expr, load.indices, copy.symbols, at) for expr in copy.map_.results]
    load.set_operands("ref", [copy.source])
    load.set_operands("indices", indices)


def _redirect_inputs(op: st.Apply, ref: Value, copy: _Copy) -> None:
    shift = len(op.symbols)
    op.set_operands("symbols", [*op.symbols, *copy.symbols])
    maps = list(op.input_maps)
    for k, used in enumerate(op.inputs):
        if used is ref:
            at = maps[k].results
            maps[k] = map_each(copy.map_, lambda expr, at=at: _compose(expr, at, shift))
    op.set_operands("inputs", [copy.source if used is ref else used for used in op.inputs])
    op.input_maps = tuple(maps)
    renumber_symbols(op)


def _compose(expr: AffineExpr, at: tuple[AffineExpr, ...], shift: int) -> AffineExpr:
    """An expression over the buffer's dimensions at the given indices; its symbols are numbered `shift` higher."""
    total = AffineExpr((), (0,) * shift + expr.symbols, expr.constant)
    for dimension, factor in enumerate(expr.dims):
        if factor:
            total = total + at[dimension] * factor
    return total
