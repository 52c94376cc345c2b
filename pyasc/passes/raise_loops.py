# SPDX-License-Identifier: Apache-2.0
"""Loops over elements become structured ops, from the innermost outwards.

    scf.for %0, %m, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      %sum = scf.for %0, %n, %1, [%zero] : f32 {
      ^(%j: i64, %acc: f32):
        %e = mem.load %x, [%i, %j]
        %next = arith.add %acc, %e
        scf.yield %next
      }
      mem.store %sum, %y, [%i]
      scf.yield
    }

becomes

    st.apply [%m, %n], [%x], [%zero], [%y] {iterators = ["parallel", "reduction"], lower = [(0), (0)],
        upper = [(s0), (s1)], input_maps = [affine<d0, d1>], output_maps = [affine<d0>], roles = ["reduce"]} {
    ^(%i: i64, %j: i64, %e: f32):
      st.yield %e
    } {
    ^(%a: f32, %b: f32):
      %0 = arith.add %a, %b
      st.yield %0
    }

A loop that does not fit stays, and a remark says which line keeps it, why, and what to write instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import mem, py, scf, st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.dependence import find_conflict
from pyasc.passes.analysis.effects import EffectTable
from pyasc.passes.analysis.raising import CannotRaise, Proofs, is_plain
from pyasc.passes.analysis.raising_absorb import Absorption
from pyasc.passes.analysis.raising_distribute import split
from pyasc.passes.analysis.raising_fills import fold_fills
from pyasc.passes.analysis.raising_flatten import refusal
from pyasc.passes.analysis.raising_halves import widen_halves
from pyasc.passes.analysis.raising_order import join_blocks, order_iterators
from pyasc.passes.analysis.raising_reroll import reroll
from pyasc.passes.analysis.raising_seed import seed
from pyasc.passes.analysis.raising_views import look_through_views
from pyasc.passes.analysis.structure import discard
from pyasc.passes.base import Context, FunctionPass
from pyasc.passes.elide_copies import elide_copies

SHARED_HINT = "add with asc.atomic_add, or write to an element of the iteration's own"
"""What to do about a parallel loop whose iterations write the same elements."""


@dataclass(frozen=True)
class RaiseLoops(FunctionPass):
    """Raises every loop nest of a function that has the form. `strict` keeps the written order of sums."""

    name = "raise-loops"
    strict: bool = False

    def run(self, func: Func, context: Context) -> bool:
        """Work from the innermost loops outwards, then put the iterators of what was made in order."""
        proofs = Proofs(func)
        views = look_through_views(func)
        raised = 0
        for op in func.nests_inner_first():
            if isinstance(op, scf.For) and op.parent is not None and not _only_checks(op):
                raised += self._try(op, proofs, context)
        fold_fills(func.body.block, proofs.polynomials)
        for op in [op for op in func.nests() if isinstance(op, st.Apply)] if raised or views else ():
            context.count("products rolled up", reroll(op))
            while join_blocks(op):
                context.count("joined iterators")
            order_iterators(op)
            context.count("widened sums", widen_halves(op))
        context.count("raised loops", raised)
        context.count("views seen through", views)
        return raised + views > 0

    def _try(self, loop: scf.For, proofs: Proofs, context: Context) -> int:
        """Raise a loop, or its parts one by one; returns how many loops that were."""
        if sum(isinstance(op, st.Apply) for op in loop.body.block) > 1:
            elide_copies(loop, context)
            fold_fills(loop.body.block, proofs.polynomials)
        stays = self._replace(loop, proofs)
        if stays is None:
            return 1
        parts = split(loop)
        if parts is not None:
            if self._replace(parts.main, proofs) is None:
                if loop.results:
                    _hand_over(loop.results, parts.loops[-1].results)
                discard(loop)
                context.count("split loops")
                return 1 + sum(
                    self._try(part, proofs, context) for part in parts.loops if part is not parts.main
                )
            for part in parts.loops:
                discard(part)
        if loop.kind == "parallel" and stays.meets:
            loop.kind = "sequential"
            context.remark(stays.loc, f"runs in order: {stays.reason}", SHARED_HINT)
        elif not stays.quiet:
            context.remark(stays.loc, f"stays a loop: {stays.reason}", stays.hint)
        if loop.kind == "sequential" and _is_independent(loop, proofs):
            loop.kind = "parallel"
            context.count("independent loops")
        return 0

    def _replace(self, loop: scf.For, proofs: Proofs) -> CannotRaise | None:
        """Work on a copy, which takes the loop's place or is thrown away."""
        stays = _hindrance(loop)
        if stays is not None:
            return stays
        copy = loop.clone()
        assert isinstance(copy, scf.For)
        Builder.before(loop).insert(copy)
        _hand_over(loop.results, copy.results)
        try:
            applies = [op for op in copy.body.block if isinstance(op, st.Apply)]
            op = applies[0] if applies else seed(copy, proofs, self.strict)
            values = Absorption(copy, op, proofs).run()
        except CannotRaise as stays:
            _hand_over(copy.results, loop.results)
            discard(copy)
            return stays
        _hand_over(copy.results, values)
        discard(copy)
        discard(loop)
        return None


def _only_checks(loop: scf.For) -> bool:
    """Whether a loop does nothing but look for what is wrong."""
    kinds = (scf.For, scf.Yield, mem.Load, py.Check)
    return not loop.results and all(isinstance(op, kinds) or is_plain(op) for op in loop.walk())


def _hindrance(loop: scf.For) -> CannotRaise | None:
    """What a look at the body shows to be in the way."""
    applies = 0
    for op in loop.body.block:
        applies += isinstance(op, st.Apply)
        known = isinstance(op, (st.Apply, mem.Load, mem.Store, mem.Alloc, scf.If)) or is_plain(op)
        if not known and op is not loop.body.block.last:
            return refusal(op)
    if applies > 1:
        return CannotRaise(loop.loc, "several inner loops stay together in it", quiet=True)
    return None


def _is_independent(loop: scf.For, proofs: Proofs) -> bool:
    """Whether a loop that stays has iterations that do not meet, and none that may stop or print."""
    if loop.inits or any(isinstance(op, st.Apply) for op in loop.nests()):
        return False
    effects = EffectTable().of(loop)
    if effects.checks or effects.effect or effects.opaque:
        return False
    return find_conflict(loop, proofs.ranges) is None


def _hand_over(old: Sequence[Value], new: Sequence[Value]) -> None:
    for a, b in zip(old, new, strict=True):
        a.replace_uses(b)
