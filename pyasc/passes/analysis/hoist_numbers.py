# SPDX-License-Identifier: Apache-2.0
"""Numbers out of structured ops: what one element of an array gives by vector calls is computed once, before the op.

    st.apply [%n], [%x, %s], [], [%y] {input_maps = [affine<d0>, affine<0>], ...} {
    ^(%i: i64, %2: f32, %3: f32):
      %4 = arith.exp %3
      %5 = arith.mul %2, %4
      st.yield %5
    }

becomes the same with `%4` computed in front of it from a load of `%s`. An array may lack the element where the op has
no iteration, and the number is that of 0 then.
"""

from __future__ import annotations

from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.affine import materialise
from pyasc.passes.analysis.phases import takes_detours
from pyasc.passes.analysis.tile_body import element_if_any


def hoist_numbers(kernel: Func) -> None:
    """Move such numbers out of every op of a kernel, in loops too."""
    for op in list(kernel.nests()):
        if isinstance(op, st.Apply):
            _hoist(op)


def _hoist(apply: st.Apply) -> None:
    block = apply.body.block
    numbers = set(_elements(apply))
    found: list[Operation] = []
    for op in block:
        if not isinstance(op, (arith.Constant, arith.Elementwise, arith.Cast)):
            continue
        if all(value in numbers or value.block is not block for value in op.operands):
            numbers.add(op.results[0])
            if takes_detours(op) and any(value.block is block for value in op.operands):
                found.append(op)
    at = Builder.before(apply)
    for op in found:
        op.results[0].replace_uses(_outside(op.results[0], apply, at))
    if found:
        _erase_unused(block)


def _elements(apply: st.Apply) -> list[Value]:
    """The arguments that are the same element of an array for all points, which the op does not write."""
    arguments = apply.body.block.args[apply.rank :]
    return [
        arg
        for ref, map_, arg in zip(apply.inputs, apply.input_maps, arguments, strict=True)
        if not any(each.dims for each in map_.results) and ref not in apply.outputs
    ]


def _outside(value: Value, apply: st.Apply, at: Builder) -> Value:
    """A number of the body, computed in front of the op."""
    block = apply.body.block
    if value.block is not block:
        return value
    op = value.op
    at.loc = apply.loc if op is None else op.loc
    if op is not None:
        mapping = {each: _outside(each, apply, at) for each in op.operands}
        at.loc = op.loc
        return at.insert(op.clone(mapping)).results[0]
    number = value.index - apply.rank
    places = [materialise(each, (), apply.symbols, at) for each in apply.input_maps[number].results]
    return element_if_any(at, apply.inputs[number], places, value.name)


def _erase_unused(block: Block) -> None:
    for op in reversed(list(block)):
        if op.results and not any(result.uses for result in op.results):
            op.erase()
