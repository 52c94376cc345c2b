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
from pyasc.ir.dialects import arith, scf, st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.affine import materialise
from pyasc.passes.analysis.phases import takes_detours
from pyasc.passes.analysis.tile_body import element_if_any


def hoist_numbers(kernel: Func) -> None:
    """Move such numbers out of every op of a kernel, in loops of the host too."""
    for op in list(kernel.nests()):
        if isinstance(op, st.Apply) and not any(map(_is_parallel, op.ancestors())):
            _hoist(op)


def _is_parallel(op: Operation) -> bool:
    return isinstance(op, scf.For) and op.kind == "parallel"


def _hoist(apply: st.Apply) -> None:
    block = apply.body.block
    elements = set(_elements(apply))
    numbers: set[Value] = set()
    found: list[Operation] = []
    for op in block:
        if isinstance(op, arith.Constant):
            numbers.add(op.result)
        elif isinstance(op, (arith.Elementwise, arith.Cast)) and all(
            value in elements or value in numbers or value.block is not block for value in op.operands
        ):
            (elements if elements.intersection(op.operands) else numbers).add(op.results[0])
            if op.results[0] in elements and takes_detours(op):
                found.append(op)
    mapping: dict[Value, Value] = {}
    for op in found:
        op.results[0].replace_uses(_outside(op.results[0], apply, Builder.before(apply), mapping))
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


def _outside(value: Value, apply: st.Apply, at: Builder, mapping: dict[Value, Value]) -> Value:
    """A number of the body, computed in front of the op; `mapping` has those that are."""
    block = apply.body.block
    if value.block is not block:
        return value
    if value not in mapping:
        op = value.op
        if op is None:
            at.loc = apply.loc
            number = value.index - apply.rank
            places = [materialise(each, (), apply.symbols, at) for each in apply.input_maps[number].results]
            mapping[value] = element_if_any(at, apply.inputs[number], places, value.name)
        else:
            for operand in op.operands:
                mapping[operand] = _outside(operand, apply, at, mapping)
            at.loc = op.loc
            mapping[value] = at.insert(op.clone(dict(mapping))).results[0]
    return mapping[value]


def _erase_unused(block: Block) -> None:
    for op in reversed(list(block)):
        if op.results and not any(result.uses for result in op.results):
            op.erase()
