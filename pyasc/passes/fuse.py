# SPDX-License-Identifier: Apache-2.0
"""Structured ops that meet in memory are brought together, so that what one writes the next finds in cache.

Two steps, on the ops of one block that follow each other:

- merge: two ops over one domain where the second reads what the first writes at the same point become one.
- fuse: ops that share their first parallel iterator, and touch common memory only at equal values of it, move
  into one parallel loop; buffers that only they use lose the dimension of that iterator.

    st.apply [%n, %m], [%x], [%low], [%top] {iterators = ["parallel", "reduction"], ...}
    st.apply [%n, %m], [%x, %top], [], [%y] {iterators = ["parallel", "parallel"], ...}

becomes

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      %t = mem.alloc : ref<f32, local>
      st.apply [%m, %i], [%x], [%low], [%t] {iterators = ["reduction"], ...}
      st.apply [%m, %i], [%x, %t], [], [%y] {iterators = ["parallel"], ...}
    }
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import ALLOCATES, PURE
from pyasc.passes.analysis.affine import Polynomials, index, materialise
from pyasc.passes.analysis.fusion import I64, drop_dimension, merge, mergeable, peel, same_range, separable
from pyasc.passes.base import Context, FunctionPass


class Fuse(FunctionPass):
    """Merges and fuses in every block of a function, innermost results again."""

    name = "fuse"

    def run(self, func: Func, context: Context) -> bool:
        """Work through the blocks that exist, then through those that fusion made."""
        blocks = [
            region.block
            for op in func.nests()
            if not isinstance(op, st.Apply)
            for region in op.regions
            if region.blocks
        ]
        changed = False
        while blocks:
            block = blocks.pop()
            changed |= _merge_block(block, context)
            made = _fuse_block(block, context)
            changed |= bool(made)
            blocks += made
        return changed


def _merge_block(block: Block, context: Context) -> bool:
    changed = False
    previous: st.Apply | None = None
    polynomials = Polynomials()
    for op in block:
        if isinstance(op, st.Apply):
            if previous is not None and mergeable(previous, op, polynomials):
                op = merge(previous, op)
                context.count("merged ops")
                changed = True
            previous = op
        elif not _transparent(op):
            previous = None
    return changed


def _transparent(op: Operation) -> bool:
    """Whether an op between two structured ops touches no memory, so that both may be moved over it."""
    return (PURE in op.spec.traits and not op.regions) or ALLOCATES in op.spec.traits


def _fuse_block(block: Block, context: Context) -> list[Block]:
    made: list[Block] = []
    group: list[st.Apply] = []
    polynomials = Polynomials()
    for op in block:
        if isinstance(op, st.Apply) and _candidate(op):
            if group and not _joins(group, op, polynomials):
                made += _finish(group, context)
                group = []
            group.append(op)
        elif not _transparent(op):
            made += _finish(group, context)
            group = []
    return made + _finish(group, context)


def _candidate(op: st.Apply) -> bool:
    """A first parallel iterator, and no product-sum whose tiles are worth more than meeting in cache."""
    return op.rank > 0 and op.iterators[0] == "parallel" and not (op.rank > 2 and "reduction" in op.iterators)


def _joins(group: Sequence[st.Apply], op: st.Apply, polynomials: Polynomials) -> bool:
    """Whether an op shares the group's first iterator and memory, and meets it only at equal values of it."""
    if not same_range(group[0], op, 0, polynomials):
        return False
    if not all(separable(other, op) for other in group):
        return False
    touched = {ref for other in group for ref in (*other.inputs, *other.outputs)}
    return any(ref in touched for ref in (*op.inputs, *op.outputs))


def _finish(group: Sequence[st.Apply], context: Context) -> list[Block]:
    """Move a group of two or more into one loop; returns the loop's block."""
    if len(group) < 2:
        return []
    first, last = group[0], group[-1]
    at = Builder.before(last)
    lower, upper = (materialise(b, [], first.symbols, at) for b in (first.lower[0], first.upper[0]))
    loop = at.insert(
        scf.For(
            lower=lower,
            upper=upper,
            step=index(at, 1),
            kind="parallel",
            types=[],
            body=block_of([I64], [first.body.block.args[0].name]),
            loc=first.loc,
        )
    )
    inner = Builder(loop.body.block, loc=last.loc)
    locals_ = _private_buffers(group)
    for op in group:
        peel(op, loop.counter, inner)
    inner.insert(scf.Yield())
    for ref in locals_:
        drop_dimension(ref, loop)
    context.count("fused loops")
    return [loop.body.block]


def _private_buffers(group: Sequence[st.Apply]) -> list[Value]:
    """Buffers that only the group uses, each access at the first iterator in its first dimension."""
    members = set(group)
    refs = dict.fromkeys(ref for op in group for ref in op.outputs)
    return [
        ref
        for ref in refs
        if isinstance(ref.op, mem.Alloc)
        and all(user in members for user in ref.uses)
        and all(_leads_with_first(op, ref) for op in group)
    ]


def _leads_with_first(op: st.Apply, ref: Value) -> bool:
    pairs = [*zip(op.inputs, op.input_maps, strict=True), *zip(op.outputs, op.output_maps, strict=True)]
    return all(map_.results and map_.results[0].as_dim == 0 for used, map_ in pairs if used is ref)
