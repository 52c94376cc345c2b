# SPDX-License-Identifier: Apache-2.0
"""An op that sets what the next one adds to becomes the start of the sums.

    st.apply [%n], [], [], [%y] {iterators = ["parallel"], roles = ["write"], ...} { st.yield %zero }
    st.apply [%n, %m], [%x], [], [%y] {iterators = ["parallel", "reduction"], roles = ["reduce"], ...}

becomes

    st.apply [%n, %m], [%x], [%zero], [%y] {iterators = ["parallel", "reduction"], roles = ["reduce"], ...}
"""

from __future__ import annotations

from pyasc.ir.affine import AffineExpr
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import st
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.passes.analysis.affine import Polynomials
from pyasc.passes.analysis.effects import EffectTable, may_alias
from pyasc.passes.analysis.raising import reads_of
from pyasc.passes.analysis.raising_order import order_iterators


def fold_fills(block: Block, polynomials: Polynomials) -> int:
    """Fold every fill in a block; returns how many there were."""
    folded = 0
    for op in list(block):
        if isinstance(op, st.Apply) and _is_fill(op):
            sum_ = _next_sum(op)
            if sum_ is not None and _covers(op, sum_, polynomials):
                sum_.set_operands("inits", op.body.block.terminator.operands)
                op.drop()
                op.unlink()
                folded += 1
    return folded


def _is_fill(op: st.Apply) -> bool:
    """Whether an op sets elements to one value from outside."""
    block = op.body.block
    plain = op.roles == ("write",) and not op.guarded and not op.inputs
    return plain and block.first is block.last and block.terminator.operands[0].block is not block


def _next_sum(fill: st.Apply) -> st.Apply | None:
    """The first op behind the fill that touches its memory, if that is a reduction into the same buffer."""
    table = EffectTable()
    ref = fill.outputs[0]
    following: Operation | None = fill.next
    while following is not None:
        effects = table.of(following)
        if effects.may_read(ref) or effects.may_write(ref):
            break
        following = following.next
    if not isinstance(following, st.Apply) or following.roles != ("reduce",) or following.inits:
        return None
    reads_it = any(may_alias(ref, read) for read, _ in reads_of(following))
    return None if reads_it or following.guarded or following.outputs[0] is not ref else following


def _covers(fill: st.Apply, sum_: st.Apply, polynomials: Polynomials) -> bool:
    """Whether the fill sets exactly the elements that the reduction has running values for."""
    order_iterators(fill)
    order_iterators(sum_)
    rank = fill.rank
    if sum_.iterators[:rank] != fill.iterators or "parallel" in sum_.iterators[rank:]:
        return False
    pairs = [(fill.lower[i], sum_.lower[i]) for i in range(rank)]
    pairs += [(fill.upper[i], sum_.upper[i]) for i in range(rank)]
    pairs += zip(fill.output_maps[0].results, sum_.output_maps[0].results, strict=True)
    return all(_form(fill, a, polynomials) == _form(sum_, b, polynomials) for a, b in pairs)


def _form(op: st.Apply, expr: AffineExpr, polynomials: Polynomials) -> tuple[tuple[int, ...], SizeExpr]:
    """An expression as its iterators' factors and the polynomial of the rest."""
    total = constant(expr.constant)
    values: tuple[Value, ...] = tuple(op.symbols)
    for number, factor in enumerate(expr.symbols):
        if factor:
            total = total + polynomials.of(values[number]) * factor
    return expr.dims, total
