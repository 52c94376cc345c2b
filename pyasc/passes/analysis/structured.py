# SPDX-License-Identifier: Apache-2.0
"""Building and reshaping structured ops: what the passes that make, merge and tile them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pyasc.ir import affine, dtypes
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Builder, Operation, Region, Value, block_of
from pyasc.ir.dialects import arith, func, mem, st
from pyasc.ir.record import Record
from pyasc.ir.sizes import Dim, SizeExpr, lift
from pyasc.ir.types import ScalarType, Type, dtype_of
from pyasc.passes.analysis.affine import Nest, index, materialise

I64 = ScalarType(dtypes.i64)

Body = Callable[[Builder, list[Value]], list[Value]]
"""Emits the body of a structured op from its iterator values and returns what it yields."""


class Output(Record):
    """One output of a structured op to be built. `axes` lists the iterator that walks each dimension,
    or -1 for a dimension of size 1."""

    ref: Value
    role: str
    axes: tuple[int, ...]
    init: Value | None = None


def apply_over(
    at: Builder,
    extents: Sequence[Value],
    iterators: Sequence[str],
    outputs: Sequence[Output],
    body: Body,
    combine: Region | None = None,
    guarded: bool = False,
) -> st.Apply:
    """A structured op over `[0, extent)` for each iterator. Loads in its body become inputs where they are affine."""
    region = block_of([I64] * len(extents), [f"i{i}" for i in range(len(extents))])
    inner = Builder(region.block, loc=at.loc)
    inner.insert(st.Yield(values=body(inner, list(region.block.args))))
    rank = len(extents)
    op = st.Apply(
        symbols=list(extents),
        inputs=(),
        inits=[output.init for output in outputs if output.init is not None],
        outputs=[output.ref for output in outputs],
        iterators=tuple(iterators),
        lower=(AffineExpr(),) * rank,
        upper=tuple(affine.symbol(i) for i in range(rank)),
        input_maps=(),
        output_maps=tuple(_axes_map(output.axes) for output in outputs),
        roles=tuple(output.role for output in outputs),
        guarded=guarded,
        body=region,
        combine=combine or Region(),
    )
    at.insert(op)
    loads_to_inputs(op)
    return op


def loads_to_inputs(op: st.Apply) -> bool:
    """Turn loads at affine indices in the body into inputs with maps; equal ones share an input."""
    block = op.body.block
    nest = Nest(block.args[: op.rank], op)
    nest.adopt(op.symbols)
    made: dict[tuple[Value, AffineMap], Value] = {}
    for ref, map_, arg in zip(op.inputs, op.input_maps, block.args[op.rank :], strict=True):
        made.setdefault((ref, map_), arg)
    before = len(made)
    for inner in block:
        if isinstance(inner, mem.Load) and nest.is_invariant(inner.ref):
            map_ = nest.map(inner.indices)
            if map_ is not None:
                key = (inner.ref, map_)
                if key not in made:
                    made[key] = block.add_arg(ScalarType(dtype_of(inner.ref.type)), inner.value.name)
                inner.replace_with([made[key]])
    if len(made) == before:
        return False
    op.set_operands("inputs", [ref for ref, _ in made])
    op.input_maps = tuple(map_ for _, map_ in made)
    # The op's own symbols come first among those of the nest, so its maps and bounds stay as they are.
    op.set_operands("symbols", list(nest.symbols))
    return True


def combiner(
    types: Sequence[Type], emit: Callable[[Builder, list[Value], list[Value]], list[Value]]
) -> Region:
    """A combiner region: `emit` gets the running values and the new ones and returns the next running ones."""
    region = block_of([*types, *types])
    args = region.block.args
    inner = Builder(region.block)
    inner.insert(st.Yield(values=emit(inner, args[: len(types)], args[len(types) :])))
    return region


def simple_combiner(fn: str, type_: Type) -> Region:
    """The combiner that is one elementwise function."""
    return combiner([type_], lambda at, a, b: [at.value(arith.Elementwise(fn=fn, args=[a[0], b[0]]))])


def extent_value(at: Builder, dim: Dim, given: Value | None = None) -> Value:
    """An extent as a value: a constant, a polynomial of sizes, or the value given for an open one."""
    if dim is None:
        assert given is not None
        return given
    return size_value(at, lift(dim))


def size_value(at: Builder, size: SizeExpr) -> Value:
    """Operations that compute a polynomial of sizes."""
    total: Value | None = None
    for monomial, coefficient in size.terms:
        term: Value | None = None
        for name in monomial:
            factor = at.value(func.Size(symbol=name))
            term = factor if term is None else at.value(arith.Elementwise(fn="mul", args=[term, factor]))
        if term is None:
            term = index(at, coefficient)
        elif coefficient != 1:
            term = at.value(arith.Elementwise(fn="mul", args=[term, index(at, coefficient)]))
        total = term if total is None else at.value(arith.Elementwise(fn="add", args=[total, term]))
    return index(at, 0) if total is None else total


def _axes_map(axes: Sequence[int]) -> AffineMap:
    return AffineMap(tuple(affine.const(0) if axis < 0 else affine.dim(axis) for axis in axes))


def instantiate(op: st.Apply, point: Sequence[Value], at: Builder) -> list[Value]:
    """A copy of the body at a point, with its inputs loaded; returns what it yields."""
    block = op.body.block
    mapping: dict[Value, Value] = dict(zip(block.args[: op.rank], point, strict=True))
    for ref, map_, arg in zip(op.inputs, op.input_maps, block.args[op.rank :], strict=True):
        if arg.uses:
            indices = [materialise(e, point, op.symbols, at) for e in map_.results]
            mapping[arg] = at.value(mem.Load(ref=ref, indices=indices), arg.name)
    return copy_block(block, mapping, at)


def combine(op: st.Apply, running: Sequence[Value], new: Sequence[Value], at: Builder) -> list[Value]:
    """A copy of the combiner; returns the next running values."""
    block = op.combine.block
    return copy_block(block, dict(zip(block.args, [*running, *new], strict=True)), at)


def copy_block(block: Block, mapping: dict[Value, Value], at: Builder) -> list[Value]:
    """Copy the operations of a block; returns what its terminator passes on."""
    for inner in block:
        if inner is not block.last:
            at.insert(inner.clone(mapping))
    return [mapping.get(value, value) for value in block.terminator.operands]


def computing(roots: Iterable[Value], block: Block) -> list[Operation]:
    """The operations of a block that values are computed by, in order."""
    found: set[Operation] = set()
    pending = list(roots)
    while pending:
        op = pending.pop().op
        if op is not None and op.parent is block and op not in found:
            found.add(op)
            pending += op.operands
    return [op for op in block if op in found]


def combining_function(op: st.Apply) -> str | None:
    """The elementwise function that the combiner is, when it is just one."""
    return combining_functions(op)[0] if len(op.combined) == 1 else None


def combining_functions(op: st.Apply) -> list[str | None]:
    """For each combined output the elementwise function of its old and its new value that the combiner is, if so."""
    if not op.combined:
        return []
    block, count = op.combine.block, len(op.combined)
    made: list[str | None] = []
    for number, result in enumerate(block.terminator.operands):
        value = result.op
        pair = {block.args[number], block.args[number + count]}
        known = (
            isinstance(value, arith.Elementwise) and len(value.operands) == 2 and set(value.operands) == pair
        )
        made.append(value.fn if isinstance(value, arith.Elementwise) and known else None)
    return made
