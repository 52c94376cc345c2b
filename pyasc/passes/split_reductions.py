# SPDX-License-Identifier: Apache-2.0
"""Gives every reduction of a structured op an op of its own, as the vector and cube units do one at a time.

    st.apply [%n], [%a, %b], [%0, %0], [%s, %t] {roles = ["reduce", "reduce"], ...} {
    ^(%i: i64, %x: f32, %y: f32):
      st.yield %x, %y
    } ...

becomes one op that sums `%a` into `%s` and one that sums `%b` into `%t`. Ops whose outputs are also inputs stay, since
the second one would see what the first has written, and so do those that also store elements, which would be computed
twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Block, Builder, Region, Value, block_of
from pyasc.ir.dialects import st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.structured import computing
from pyasc.passes.base import Context, FunctionPass


class SplitReductions(FunctionPass):
    """Splits structured ops with several reduced outputs."""

    name = "split-reductions"

    def run(self, func: Func, context: Context) -> bool:
        """Split every op for which that is legal."""
        found = [op for op in func.walk() if isinstance(op, st.Apply) and _may_split(op)]
        for op in found:
            at = Builder.before(op)
            for number in range(len(op.outputs)):
                at.insert(_one_output(op, number))
            op.erase()
            context.count("ops split")
        return bool(found)


def _may_split(op: st.Apply) -> bool:
    several = len(op.outputs) > 1 and not op.guarded
    return several and set(op.roles) == {"reduce"} and _independent(op)


def _independent(op: st.Apply) -> bool:
    """Whether no output is read, or written twice, and combiners keep to themselves."""
    if set(op.outputs) & set(op.inputs) or len(set(op.outputs)) < len(op.outputs):
        return False
    count = len(op.outputs)
    values = op.combine.block.terminator.operands
    block = op.combine.block
    return all(_arguments(value, block) <= {number, number + count} for number, value in enumerate(values))


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
    return st.Apply(
        symbols=op.symbols,
        inputs=[op.inputs[each] for each in inputs],
        inits=[op.inits[number]] if op.inits else [],
        outputs=[op.outputs[number]],
        iterators=op.iterators,
        lower=op.lower,
        upper=op.upper,
        input_maps=tuple(op.input_maps[each] for each in inputs),
        output_maps=(op.output_maps[number],),
        roles=("reduce",),
        strict=op.strict,
        body=_narrowed(op.body.block, [args[each] for each in kept], number),
        combine=_combiner(op, number),
        loc=op.loc,
    )


def _combiner(op: st.Apply, number: int) -> Region:
    args = op.combine.block.args
    return _narrowed(op.combine.block, [args[number], args[number + len(op.outputs)]], number)


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
