# SPDX-License-Identifier: Apache-2.0
"""Products whose factors are more than elements of arrays: each such factor gets a buffer that is filled before.

    st.apply [%M, %N, %K], [%a, %b], [], [%c]            %factor = mem.alloc : ref<M x K x f32, local>
      {... roles = ["reduce"]} {                   =>    st.apply [%M, %N, %K], [%a], [], [%factor] {alpha * a}
      (alpha * a) * b                                    st.apply [%M, %N, %K], [%factor, %b], [], [%c] {factor * b}

What is rounded stays as it is written. A factor of another dtype than the sums' is widened in the same way where the
other factor has that dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir import affine
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Builder, Operation, Region, Value, block_of
from pyasc.ir.dialects import arith, mem, st
from pyasc.ir.sizes import Dim
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import materialise
from pyasc.passes.analysis.not_vector import NotVector
from pyasc.passes.analysis.product import match_product
from pyasc.passes.analysis.raising_expand import extent_of
from pyasc.passes.analysis.structured import I64, combining_function


@dataclass(frozen=True)
class _Side:
    """One factor: the operations that compute it, the inputs they read, and the iterators that walk those."""

    value: Value
    ops: tuple[Operation, ...]
    inputs: tuple[int, ...]
    iterators: tuple[int, ...]


def split_factors(op: st.Apply) -> st.Apply | None:
    """Fill a buffer with each factor that has to be computed; the product of what they hold, or None."""
    sides = _sides(op)
    if sides is None:
        return None
    total = dtype_of(op.outputs[0].type)
    plain = [len(side.inputs) == 1 and _is_element(op, side.value, total) for side in sides]
    if all(plain):
        return None
    shapes = [_shape(op, side) for side in sides]
    if any(shape is None for shape, fine in zip(shapes, plain, strict=True) if not fine):
        return None
    buffers = [
        None if fine else mem.Alloc(types=[RefType(shape or (), total, "local")])
        for shape, fine in zip(shapes, plain, strict=True)
    ]
    product = _product(op, sides, buffers)
    try:
        match_product(product, product.output_maps[0])
    except NotVector:
        product.drop()
        return None
    at = Builder.before(op)
    at.loc = op.loc
    for side, buffer in zip(sides, buffers, strict=True):
        if buffer is not None:
            at.value(buffer, "factor")
            _fill(op, side, buffer.ref, at)
    at.insert(product)
    op.drop()
    op.unlink()
    return product


def _sides(op: st.Apply) -> tuple[_Side, _Side] | None:
    """Both factors, when they read different inputs and the op is a sum of their products."""
    if op.roles != ("reduce",) or op.guarded or op.strict or combining_function(op) != "add":
        return None
    (value,) = op.body.block.terminator.operands
    if not isinstance(value.op, arith.Elementwise) or value.op.fn != "mul":
        return None
    if any(kind not in ("parallel", "reduction") for kind in op.iterators):
        return None
    if any(ref in op.outputs for ref in op.inputs):
        return None
    first, second = (_side(op, arg) for arg in value.op.args)
    if first is None or second is None or set(first.inputs) & set(second.inputs):
        return None
    return first, second


def _side(op: st.Apply, value: Value) -> _Side | None:
    """How a factor is computed from inputs and from values outside; None where counters are part of it."""
    block = op.body.block
    ops: dict[Operation, None] = {}
    inputs: dict[int, None] = {}

    def visit(each: Value) -> bool:
        if each.owner is block:
            if each.index < op.rank:
                return False
            inputs[each.index - op.rank] = None
            return True
        inner = each.op
        if inner is None or inner.parent is not block or inner in ops:
            return True
        if not inner.has(PURE) or inner.regions or not all(visit(operand) for operand in inner.operands):
            return False
        ops[inner] = None
        return True

    if not visit(value) or not inputs:
        return None
    maps = [op.input_maps[number] for number in inputs]
    walked = tuple(i for i in range(op.rank) if any(map_.uses(i) for map_ in maps))
    return _Side(value, tuple(ops), tuple(inputs), _in_order(maps, walked))


def _in_order(maps: Sequence[AffineMap], walked: Sequence[int]) -> tuple[int, ...]:
    """The iterators as the widest of the inputs has them on its axes."""
    widest = max(maps, key=lambda map_: len(map_.results))
    place = {i: axis for axis, expr in enumerate(widest.results) for i in walked if expr.coefficient(i)}
    return tuple(sorted(walked, key=lambda i: place.get(i, -1)))


def _is_element(op: st.Apply, value: Value, total: object) -> bool:
    """Whether a factor is an element of an array that the unit may take, as it is or widened."""
    inner = value.op.value if isinstance(value.op, arith.Cast) else value
    if inner.owner is not op.body.block:
        return False
    kinds = {dtype_of(ref.type) for ref in op.inputs}
    return len(kinds) == 1 or dtype_of(inner.type) is total


def _shape(op: st.Apply, side: _Side) -> tuple[Dim, ...] | None:
    """The extents of a buffer for a factor, which is no larger than the arrays that the factor comes from."""
    rank = max(len(op.input_maps[number].results) for number in side.inputs)
    if len(side.iterators) > rank or any(
        op.upper[i].dims or op.lower[i] != AffineExpr() for i in side.iterators
    ):
        return None
    made: list[Dim] = []
    for i in side.iterators:
        scratch = Builder(Block())
        extent = extent_of(materialise(op.upper[i], (), op.symbols, scratch))
        for each in reversed(list(scratch.block)):
            each.erase()
        if extent is None:
            return None
        made.append(extent)
    return tuple(made)


def _product(op: st.Apply, sides: Sequence[_Side], buffers: Sequence[mem.Alloc | None]) -> st.Apply:
    """The op with buffers in place of the factors that are computed."""
    inputs: list[Value] = []
    maps: list[AffineMap] = []
    types = [I64] * op.rank
    names = [arg.name for arg in op.body.block.args[: op.rank]]
    for side, buffer in zip(sides, buffers, strict=True):
        number = side.inputs[0]
        inputs.append(op.inputs[number] if buffer is None else buffer.ref)
        maps.append(op.input_maps[number] if buffer is None else _walk(side.iterators))
        types.append(ScalarType(dtype_of(inputs[-1].type)))
        names.append(op.body.block.args[op.rank + number].name)
    region = block_of(types, names)
    inner = Builder(region.block, loc=op.loc)
    wanted = ScalarType(dtype_of(op.outputs[0].type))
    factors = [
        arg if arg.type == wanted else inner.value(arith.Cast.to(arg, wanted.dtype))
        for arg in region.block.args[op.rank :]
    ]
    inner.insert(st.Yield(values=[inner.value(arith.Elementwise(fn="mul", args=factors))]))
    combine = Region()
    op.regions[1].clone_into(combine, {})
    return st.Apply(
        symbols=op.symbols,
        inputs=inputs,
        inits=op.inits,
        outputs=op.outputs,
        iterators=op.iterators,
        lower=op.lower,
        upper=op.upper,
        input_maps=tuple(maps),
        output_maps=op.output_maps,
        roles=op.roles,
        body=region,
        combine=combine,
        loc=op.loc,
    )


def _walk(iterators: Sequence[int]) -> AffineMap:
    return AffineMap(tuple(affine.dim(i) for i in iterators))


def _fill(op: st.Apply, side: _Side, target: Value, at: Builder) -> None:
    """The elementwise op that computes a factor."""
    rank = len(side.iterators)
    place = {old: new for new, old in enumerate(side.iterators)}
    inputs = [op.inputs[number] for number in side.inputs]
    types = [I64] * rank + [ScalarType(dtype_of(ref.type)) for ref in inputs]
    region = block_of(types, [op.body.block.args[i].name for i in side.iterators])
    old = [op.body.block.args[op.rank + number] for number in side.inputs]
    mapping: dict[Value, Value] = dict(zip(old, region.block.args[rank:], strict=True))
    inner = Builder(region.block, loc=op.loc)
    for each in side.ops:
        inner.insert(each.clone(mapping))
    inner.insert(st.Yield(values=[mapping.get(side.value, side.value)]))
    at.insert(
        st.Apply(
            symbols=op.symbols,
            inputs=inputs,
            inits=(),
            outputs=[target],
            iterators=("parallel",) * rank,
            lower=(AffineExpr(),) * rank,
            upper=tuple(op.upper[i] for i in side.iterators),
            input_maps=tuple(_moved(op.input_maps[number], place) for number in side.inputs),
            output_maps=(_walk(range(rank)),),
            roles=("write",),
            body=region,
            combine=Region(),
        )
    )


def _moved(map_: AffineMap, place: dict[int, int]) -> AffineMap:
    """A map over some of the iterators, which are numbered anew."""
    results: list[AffineExpr] = []
    for expr in map_.results:
        dims = [0] * len(place)
        for old, new in place.items():
            dims[new] = expr.coefficient(old)
        results.append(AffineExpr(tuple(dims), expr.symbols, expr.constant))
    return AffineMap(tuple(results))
