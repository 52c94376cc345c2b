# SPDX-License-Identifier: Apache-2.0
"""Turns accesses under Python's index rules into plain ones, by proof where possible, else by a check.

An index proved to lie in `[0, extent)` stays as it is, and one proved negative counts from the end for good. An
affine index that every run of the function reaches gets one check at the start, before anything has run, which
holds as well when a loop around the access has no iterations. Any other index is checked in place, unless
`unchecked`. An index that may be negative gets the extent added where it is.

Before:

    func.func {symbol = "shift", sizes = ["N"], written = [0]} {
    ^(%y: ref<N x f32>, %x: ref<N x f32>, %k: i64):
      %0 = arith.constant {value = 0} : i64
      %1 = arith.constant {value = 1} : i64
      scf.for %0, %k, %1, [] {
      ^(%i: i64):
        %2 = py.load %x, [%i]
        py.store %2, %y, [%i]
        scf.yield
      }
      func.return
    }

After:

    func.func {symbol = "shift", sizes = ["N"], written = [0]} {
    ^(%y: ref<N x f32>, %x: ref<N x f32>, %k: i64):
      %N = func.size {symbol = "N"}
      %0 = arith.constant {value = 0} : i64
      ...
      %6 = arith.le %k, %N
      %7 = arith.or %empty, %6
      py.check %7, [%0, %5, %N] {error = "IndexError", launch = true,
        message = "indices {} to {} are out of range for axis 0 of x with extent {}"}
      %1 = arith.constant {value = 1} : i64
      scf.for %0, %k, %1, [] {
      ^(%i: i64):
        %2 = mem.load %x, [%i]
        mem.store %2, %y, [%i]
        scf.yield
      }
      func.return
    }
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, func, mem, py, scf
from pyasc.ir.sizes import SizeExpr
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.launch import Extremes, LaunchBlock
from pyasc.passes.analysis.ranges import Ranges
from pyasc.passes.analysis.structure import encloses, is_inside
from pyasc.passes.base import Context, FunctionPass

Access = py.Load | py.Store | py.Atomic


class ResolveIndices(FunctionPass):
    """Index resolution; `unchecked` trusts what cannot be proved, and an index out of range then does anything."""

    name = "resolve-indices"
    unchecked: bool = False

    def run(self, func: func.Func, context: Context) -> bool:
        """Resolve every access of one function."""
        return resolve_indices(func, context, self.unchecked)


def resolve_indices(function: func.Func, context: Context, unchecked: bool = False) -> bool:
    """Replace each `py.load`, `py.store` and `py.atomic` by its counterpart on memory."""
    accesses = [op for op in function.nested() if isinstance(op, (py.Load, py.Store, py.Atomic))]
    if accesses:
        resolver = _Resolver(function, context, unchecked)
        for op in accesses:
            made = _on_memory(op, [resolver.resolve(op, axis) for axis in range(len(op.indices))])
            resolver.launch.gives_way(op, made)
            op.replace_with(made.results)
    return bool(accesses)


def _on_memory(op: Access, indices: list[Value]) -> Operation:
    """The counterpart of an access, put in front of it."""
    at = Builder.before(op)
    match op:
        case py.Load():
            return at.insert(mem.Load(ref=op.ref, indices=indices))
        case py.Store():
            return at.insert(mem.Store(value=op.value, ref=op.ref, indices=indices))
        case py.Atomic():
            return at.insert(mem.Atomic(value=op.value, ref=op.ref, indices=indices, fn=op.fn))


@dataclass
class _Site:
    """One index of one access. `extent` is a polynomial; `shifted` says that it was negative throughout."""

    op: Access
    axis: int
    value: Value
    expr: SizeExpr
    extent: SizeExpr
    shifted: bool = False

    @property
    def given(self) -> Value:
        """The index as the program wrote it."""
        return self.op.indices[self.axis]

    @property
    def block(self) -> Block:
        assert self.op.parent is not None
        return self.op.parent

    @property
    def where(self) -> str:
        """The axis and the variable, for messages."""
        return f"axis {self.axis} of {self.op.ref.name or 'the array'}"


class _Resolver:
    def __init__(self, function: func.Func, context: Context, unchecked: bool) -> None:
        self.context = context
        self.unchecked = unchecked
        self.ranges = Ranges(function)
        self.launch = LaunchBlock(function, self.ranges)
        self.hoisted: set[tuple[object, ...]] = set()
        self.done: dict[tuple[Value, SizeExpr], list[tuple[Block, Value]]] = {}

    def resolve(self, op: Access, axis: int) -> Value:
        """The index to use instead of the one for `axis`, with what is needed to trust it."""
        site = self._site(op, axis)
        if self._proved(site):
            return site.value
        if site.shifted and self.unchecked:
            return site.value
        return self._resolve_unproved(site)

    def _site(self, op: Access, axis: int) -> _Site:
        value = op.indices[axis]
        expr = self.ranges.polynomials.of(value)
        extent = self.launch.extent(op.ref, axis, op)
        site = _Site(op, axis, value, expr, extent)
        if self.ranges.nonnegative(self.ranges.exact(value) * -1 - 1, site.block):
            site.value = self._plus_extent(site)
            site.expr = expr + extent
            site.shifted = True
            self.context.count("indices that count from the end")
        return site

    def _plus_extent(self, site: _Site) -> Value:
        extent = self.launch.value_at(site.extent, site.op)
        return Builder.before(site.op).value(arith.Elementwise(fn="add", args=[site.value, extent]))

    def _proved(self, site: _Site) -> bool:
        # A polynomial proved to lie in the range is the value itself, whether or not a part of it has wrapped.
        for expr in (site.expr, self.ranges.exact(site.value)):
            above = self.ranges.nonnegative(expr, site.block)
            if above and self.ranges.nonnegative(site.extent - expr - 1, site.block):
                self.context.count("indices proved in range")
                return True
        return False

    def _resolve_unproved(self, site: _Site) -> Value:
        for block, value in self.done.get((site.value, site.extent), ()):
            if encloses(block, site.block):
                return value
        hoisted = not self.unchecked and self._hoist_check(site)
        value = self._wrapped(site)
        if self.unchecked:
            self.context.count("indices trusted")
        elif hoisted:
            self.context.count("indices checked at launch")
        else:
            self._check_in_place(site, value)
            self.context.count("indices checked in place")
        self.done.setdefault((site.value, site.extent), []).append((site.block, value))
        return value

    def _wrapped(self, site: _Site) -> Value:
        if site.shifted or self.ranges.nonnegative(self.ranges.exact(site.value), site.block):
            return site.value
        if site.expr == site.extent - 1:
            # Negative only where the axis is empty, and then no index is in range.
            return site.value
        first = self._outermost(site)
        at = Builder.before(first)
        extent = self.launch.value_at(site.extent, first)
        negative = at.value(arith.Elementwise(fn="lt", args=[site.value, index(at, 0)]))
        from_end = at.value(arith.Elementwise(fn="add", args=[site.value, extent]))
        self.context.count("indices that may be negative")
        return at.value(arith.Elementwise(fn="select", args=[negative, from_end, site.value]))

    def _outermost(self, site: _Site) -> Operation:
        """In front of what an index may be counted from the front: the loops in which it stays the same."""
        first: Operation = site.op
        if not any(name in self.ranges.polynomials.atoms for name in site.extent.names):
            for loop in site.op.ancestors():
                if not isinstance(loop, scf.For) or is_inside(site.value, loop):
                    break
                first = loop
        return first

    def _hoist_check(self, site: _Site) -> bool:
        """Check the extremes of an affine index at the function's start. False when that cannot be said there."""
        extremes = self.launch.extremes(site.expr, site.op)
        computed = any(name in self.ranges.polynomials.atoms for name in site.extent.names)
        if extremes is None or (computed and not self.launch.available(site.extent)):
            return False
        needed = self._needed(site, extremes)
        key = (*needed, *extremes.guards)
        if key in self.hoisted:
            return True
        condition = self.launch.all_or_empty(needed, extremes.guards)
        if condition is None:
            return False
        self.hoisted.add(key)
        single = extremes.lowest == extremes.highest
        shown = [extremes.lowest] if single else [extremes.lowest, extremes.highest]
        if site.shifted:
            shown = [each - site.extent for each in shown]
        what = "index {} is" if single else "indices {} to {} are"
        self.launch.insert(
            py.Check(
                condition=condition,
                values=[self.launch.value(each) for each in (*shown, site.extent)],
                error="IndexError",
                message=f"{what} out of range for {site.where} with extent {{}}",
                launch=True,
                loc=site.op.loc,
            )
        )
        return True

    def _needed(self, site: _Site, extremes: Extremes) -> list[SizeExpr]:
        """What has to be at least 0 for all indices to be valid."""
        lowest = extremes.lowest if site.shifted else extremes.lowest + site.extent
        needed: list[SizeExpr] = []
        if not self.ranges.nonnegative(site.expr, site.block):
            needed.append(lowest)
        if not self.ranges.nonnegative(site.extent - site.expr - 1, site.block):
            needed.append(site.extent - extremes.highest - 1)
        return needed

    def _check_in_place(self, site: _Site, value: Value) -> None:
        """Check `value`, the index as counted from the front, where it is."""
        at = Builder.before(site.op)
        extent = self.launch.value_at(site.extent, site.op)
        exact = self.ranges.exact(site.value)
        left, right = value, extent
        if site.shifted or not self.ranges.nonnegative(exact, site.block):
            # As unsigned numbers, negative ones are beyond any extent: one comparison says both.
            left, right = (at.value(arith.Cast.to(each, dtypes.u64)) for each in (value, extent))
        condition = at.value(arith.Elementwise(fn="lt", args=[left, right]))
        message = f"index {{}} is out of range for {site.where} with extent {{}}"
        at.insert(
            py.Check(condition=condition, values=[site.given, extent], error="IndexError", message=message)
        )
