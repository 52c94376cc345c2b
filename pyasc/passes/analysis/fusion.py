# SPDX-License-Identifier: Apache-2.0
"""When structured ops may share a loop or a point, and the surgery that makes them do so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyasc.ir.affine import AffineExpr, AffineMap, symbol
from pyasc.ir.core import Builder, Region, Value
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.dtypes import i64
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import Polynomials
from pyasc.passes.analysis.effects import may_alias

I64 = ScalarType(i64)


def bound_polynomial(op: st.Apply, bound: AffineExpr, polynomials: Polynomials) -> SizeExpr | None:
    """A bound as a polynomial of sizes and opaque values, or None when it depends on an iterator."""
    if bound.dims:
        return None
    total = constant(bound.constant)
    for number, coefficient in enumerate(bound.symbols):
        if coefficient:
            total = total + polynomials.of(op.symbols[number]) * coefficient
    return total


def same_range(a: st.Apply, b: st.Apply, iterator: int, polynomials: Polynomials) -> bool:
    """Whether one iterator runs over the same provably equal range in both."""
    for left, right in ((a.lower[iterator], b.lower[iterator]), (a.upper[iterator], b.upper[iterator])):
        p = bound_polynomial(a, left, polynomials)
        if p is None or p != bound_polynomial(b, right, polynomials):
            return False
    return True


def accesses(op: st.Apply) -> Iterator[tuple[Value, AffineMap | None, bool]]:
    """Everything an op touches: ref, map (None: computed indices), and whether it is written."""
    for ref, map_ in zip(op.inputs, op.input_maps, strict=True):
        yield ref, map_, False
    for ref, map_ in zip(op.outputs, op.output_maps, strict=True):
        yield ref, map_, True
    for inner in op.walk():
        if isinstance(inner, mem.Load):
            yield inner.ref, None, False
        elif inner is not op and isinstance(inner, st.Apply):
            yield from ((ref, None, written) for ref, _, written in accesses(inner))


def separable(a: st.Apply, b: st.Apply) -> bool:
    """Whether common memory that either writes is only touched at equal values of both first iterators."""
    for ref_a, map_a, writes_a in accesses(a):
        for ref_b, map_b, writes_b in accesses(b):
            if (writes_a or writes_b) and may_alias(ref_a, ref_b):
                if ref_a is not ref_b or map_a is None or map_b is None:
                    return False
                if not _split_by_first(map_a, map_b):
                    return False
    return True


def _split_by_first(a: AffineMap, b: AffineMap) -> bool:
    """Whether some dimension is indexed by exactly the first iterator in both maps."""
    return any(x.as_dim == 0 and y.as_dim == 0 for x, y in zip(a.results, b.results, strict=True))


def mergeable(a: st.Apply, b: st.Apply, polynomials: Polynomials) -> bool:
    """Whether each point of `b` may run right after the same point of `a`."""
    if (
        a.rank != b.rank
        or a.guarded
        or b.guarded
        or set(a.roles) != {"write"}
        or set(a.iterators) - {"parallel"}
    ):
        return False
    if set(b.iterators) - {"parallel", "reduction"} or a.strict != b.strict:
        return False
    if not all(same_range(a, b, i, polynomials) for i in range(a.rank)):
        return False
    shared = False
    for ref_a, map_a, writes_a in accesses(a):
        for ref_b, map_b, writes_b in accesses(b):
            if ref_a is ref_b:
                shared = True
            if (writes_a or writes_b) and may_alias(ref_a, ref_b):
                if ref_a is not ref_b or map_a is None or map_b is None or (writes_a and writes_b):
                    return False
                if not _equal_maps(a, map_a, b, map_b, polynomials) or not _injective(map_a, a.rank):
                    return False
    return shared


def _injective(map_: AffineMap, rank: int) -> bool:
    """Whether different points touch different elements: every iterator is an index of its own."""
    return {e.as_dim for e in map_.results} >= set(range(rank))


def _equal_maps(a: st.Apply, x: AffineMap, b: st.Apply, y: AffineMap, polynomials: Polynomials) -> bool:
    for e, f in zip(x.results, y.results, strict=True):
        if e.dims != f.dims:
            return False
        left = bound_polynomial(a, AffineExpr((), e.symbols, e.constant), polynomials)
        if left != bound_polynomial(b, AffineExpr((), f.symbols, f.constant), polynomials):
            return False
    return True


def merge(a: st.Apply, b: st.Apply) -> st.Apply:
    """One op that does both at each point, in the place of `b`."""
    shift = len(a.symbols)
    needed = _continue_body(a, b)
    made = st.Apply(
        symbols=[*a.symbols, *b.symbols],
        inputs=[*a.inputs, *(b.inputs[i] for i in needed)],
        inits=b.inits,
        outputs=[*a.outputs, *b.outputs],
        iterators=b.iterators,
        lower=a.lower,
        upper=a.upper,
        input_maps=(*a.input_maps, *(shift_symbols(b.input_maps[i], shift) for i in needed)),
        output_maps=(*a.output_maps, *(shift_symbols(m, shift) for m in b.output_maps)),
        roles=(*a.roles, *b.roles),
        strict=b.strict,
        body=_take_region(a, 0),
        combine=_take_region(b, 1),
        loc=b.loc,
    )
    Builder.before(b).insert(made)
    for old in (a, b):
        old.drop()
        old.unlink()
    share_inputs(made)
    return made


def _continue_body(a: st.Apply, b: st.Apply) -> list[int]:
    """Let the body of `a` go on with that of `b`; the inputs of `b` that this takes, since `a` does not write them."""
    block, other = a.body.block, b.body.block
    end = block.terminator
    yielded = list(end.operands)
    written = dict(zip(a.outputs, yielded, strict=True))
    mapping: dict[Value, Value] = dict(zip(other.args[: b.rank], block.args[: a.rank], strict=True))
    needed: list[int] = []
    for number, (ref, arg) in enumerate(zip(b.inputs, other.args[b.rank :], strict=True)):
        if ref in written:
            mapping[arg] = written[ref]
        else:
            mapping[arg] = block.add_arg(ScalarType(dtype_of(ref.type)), arg.name)
            needed.append(number)
    end.erase()
    inner = Builder(block, loc=b.loc)
    for op in other:
        if op is not other.last:
            inner.insert(op.clone(mapping))
    inner.insert(st.Yield(values=[*yielded, *(mapping.get(v, v) for v in other.terminator.operands)]))
    return needed


def _take_region(op: st.Apply, number: int) -> Region:
    region = op.regions[number]
    op.regions[number] = Region()
    op.regions[number].parent = op
    return region


def share_inputs(op: st.Apply) -> None:
    """Inputs that read one ref through one map become one."""
    block = op.body.block
    kept: list[tuple[Value, AffineMap]] = []
    for i in reversed(range(len(op.inputs))):
        key = (op.inputs[i], op.input_maps[i])
        first = next(j for j in range(len(op.inputs)) if (op.inputs[j], op.input_maps[j]) == key)
        if first != i:
            block.args[op.rank + i].replace_uses(block.args[op.rank + first])
            block.remove_arg(op.rank + i)
        else:
            kept.append(key)
    kept.reverse()
    op.set_operands("inputs", [ref for ref, _ in kept])
    op.input_maps = tuple(map_ for _, map_ in kept)


def shift_symbols(map_: AffineMap, by: int) -> AffineMap:
    """The same map with its symbols numbered `by` higher."""
    return AffineMap(tuple(_shift(e, by) for e in map_.results))


def _shift(expr: AffineExpr, by: int) -> AffineExpr:
    return AffineExpr(expr.dims, (0,) * by + expr.symbols if expr.symbols else (), expr.constant)


def peel(op: st.Apply, counter: Value, into: Builder) -> st.Apply:
    """Bind the first iterator to a loop counter and move the op to `into`."""
    number = len(op.symbols)

    def bind(expr: AffineExpr) -> AffineExpr:
        rest = AffineExpr(expr.dims[1:], expr.symbols, expr.constant)
        return rest + symbol(number) * expr.coefficient(0) if expr.coefficient(0) else rest

    def bind_all(exprs: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
        return tuple(bind(e) for e in exprs)

    block = op.body.block
    block.args[0].replace_uses(counter)
    block.remove_arg(0)
    op.set_operands("symbols", [*op.symbols, counter])
    op.iterators = op.iterators[1:]
    op.lower, op.upper = bind_all(op.lower[1:]), bind_all(op.upper[1:])
    op.input_maps = tuple(AffineMap(bind_all(m.results)) for m in op.input_maps)
    op.output_maps = tuple(AffineMap(bind_all(m.results)) for m in op.output_maps)
    return into.insert(op)


def drop_dimension(ref: Value, loop: scf.For) -> None:
    """Move a buffer into the loop that is its only user and give it no dimension for the loop's counter."""
    alloc = ref.op
    type_ = ref.type
    assert isinstance(alloc, mem.Alloc) and isinstance(type_, RefType)
    if type_.shape[0] is None:
        alloc.set_operands("sizes", alloc.sizes[1:])
    ref.type = RefType(type_.shape[1:], type_.dtype, type_.space, type_.layout)
    first = loop.body.block.first
    assert first is not None
    loop.body.block.insert_before(first, alloc)
    for user in ref.uses:
        assert isinstance(user, st.Apply)
        user.input_maps = _without_first(user.inputs, user.input_maps, ref)
        user.output_maps = _without_first(user.outputs, user.output_maps, ref)


def _without_first(refs: Sequence[Value], maps: Sequence[AffineMap], ref: Value) -> tuple[AffineMap, ...]:
    return tuple(
        AffineMap(map_.results[1:]) if used is ref else map_ for used, map_ in zip(refs, maps, strict=True)
    )
