# SPDX-License-Identifier: Apache-2.0
"""Gives every reduction of a structured op an op of its own, as the vector and cube units do one at a time.

    st.apply [%n], [%a, %b], [%0, %0], [%s, %t] {roles = ["reduce", "reduce"], ...} {
    ^(%i: i64, %x: f32, %y: f32):
      st.yield %x, %y
    } ...

becomes one op that sums `%a` into `%s` and one that sums `%b` into `%t`. Ops that reduce into what they read stay,
since the second one would see what the first has written. Those that also store elements stay too, as these would be
computed twice, unless they reduce over rows: there the op that stores over what all of them read is the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Block, Builder, Region, Value, block_of
from pyasc.ir.dialects import st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.structured import computing
from pyasc.passes.analysis.tile_columns import over_rows
from pyasc.passes.base import Context, FunctionPass


class SplitReductions(FunctionPass):
    """Splits structured ops with several reduced outputs."""

    name = "split-reductions"

    def run(self, func: Func, context: Context) -> bool:
        """Split every op for which that is legal."""
        found = [op for op in func.walk() if isinstance(op, st.Apply) and _may_split(op)]
        for op in found:
            at = Builder.before(op)
            for number in sorted(range(len(op.outputs)), key=lambda each: bool(_reads_of(op, each))):
                at.insert(_one_output(op, number))
            op.erase()
            context.count("ops split")
        return bool(found)


def _may_split(op: st.Apply) -> bool:
    if len(op.outputs) < 2 or op.guarded:
        return False
    roles = set(op.roles)
    known = roles == {"reduce"} or (roles == {"reduce", "write"} and over_rows(op) and _writes_each_once(op))
    return known and _independent(op)


def _writes_each_once(op: st.Apply) -> bool:
    """Whether no two points write one element, as far as the iterators tell that combine."""
    combining = [i for i, kind in enumerate(op.iterators) if kind != "parallel"]
    maps = [map_ for map_, role in zip(op.output_maps, op.roles, strict=True) if role == "write"]
    return all({e.as_dim for e in map_.results} >= set(combining) for map_ in maps)


def _independent(op: st.Apply) -> bool:
    """Whether one output at most is read, which the last op can store over, and combiners keep to themselves."""
    numbers = range(len(op.outputs))
    if any(may_alias(op.outputs[a], op.outputs[b]) for a in numbers for b in range(a)):
        return False
    read = [each for each in numbers if _reads_of(op, each)]
    if len(read) > 1 or not all(_stores_over(op, each) for each in read):
        return False
    count = len(op.combined)
    values = op.combine.block.terminator.operands
    block = op.combine.block
    return all(_arguments(value, block) <= {number, number + count} for number, value in enumerate(values))


def _reads_of(op: st.Apply, number: int) -> list[int]:
    """The inputs that may be of the array of an output."""
    return [each for each, ref in enumerate(op.inputs) if may_alias(op.outputs[number], ref)]


def _stores_over(op: st.Apply, number: int) -> bool:
    """Whether each point stores an element, and reads no other one of that array."""
    own = op.outputs[number], op.output_maps[number]
    reads = [(op.inputs[each], op.input_maps[each]) for each in _reads_of(op, number)]
    return op.roles[number] == "write" and all(each == own for each in reads)


def _arguments(value: Value, block: Block) -> set[int]:
    """The numbers of the arguments of a block that a value is computed from."""
    made = computing([value], block)
    values = [value, *(operand for op in made for operand in op.operands)]
    return {each.index for each in values if each.owner is block}


def _one_output(op: st.Apply, number: int) -> st.Apply:
    """The op for one output, with the inputs that it uses."""
    args = op.body.block.args
    needed = _arguments(op.body.block.terminator.operands[number], op.body.block)
    inputs = [each for each in range(len(op.inputs)) if op.rank + each in needed]
    kept = [*range(op.rank), *(op.rank + each for each in inputs)]
    stores = op.roles[number] == "write"
    place = 0 if stores else op.combined.index(number)
    return st.Apply(
        symbols=op.symbols,
        inputs=[op.inputs[each] for each in inputs],
        inits=[op.inits[place]] if op.inits and not stores else [],
        outputs=[op.outputs[number]],
        iterators=("parallel",) * op.rank if stores else op.iterators,
        lower=op.lower,
        upper=op.upper,
        input_maps=tuple(op.input_maps[each] for each in inputs),
        output_maps=(op.output_maps[number],),
        roles=(op.roles[number],),
        strict=op.strict and not stores,
        body=_narrowed(op.body.block, [args[each] for each in kept], number),
        combine=Region() if stores else _combiner(op, place),
        loc=op.loc,
    )


def _combiner(op: st.Apply, place: int) -> Region:
    args = op.combine.block.args
    return _narrowed(op.combine.block, [args[place], args[place + len(op.combined)]], place)


def _narrowed(block: Block, taken: Sequence[Value], number: int) -> Region:
    """A copy of what a block does for one of its values, with some of its arguments."""
    region = block_of([arg.type for arg in taken], [arg.name for arg in taken])
    mapping: dict[Value, Value] = dict(zip(taken, region.block.args, strict=True))
    at = Builder(region.block, loc=block.terminator.loc)
    value = block.terminator.operands[number]
    for op in computing([value], block):
        at.insert(op.clone(mapping))
    at.insert(st.Yield(values=[mapping.get(value, value)]))
    return region
