# SPDX-License-Identifier: Apache-2.0
"""Loops, branches and methods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.cube import cube_struct, invariant_structs
from pyasc.codegen.ascendc.expressions import negated
from pyasc.codegen.ascendc.handlers import copy_structs, filled, invariant_copies
from pyasc.codegen.ascendc.inlining import hint_of
from pyasc.codegen.ascendc.loops import Doubling, doubling
from pyasc.codegen.ascendc.spelling import element
from pyasc.codegen.ascendc.statements import Statements
from pyasc.codegen.cpp.nodes import RELATION, Expr
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, asc, scf
from pyasc.ir.types import OpaqueType, RefType


def for_loop(at: Statements, op: scf.For) -> None:
    """A counted loop; parameter structs that do not change in it are filled before."""
    for call in invariant_structs(op):
        struct = cube_struct(call, at)
        assert struct is not None
        filled(at, struct)
    for copy in invariant_copies(op):
        copy_structs(at, copy)
    carried = _variables(at, op.carried, op.inits)
    for value, variable in zip(op.values, carried, strict=True):
        at.kernel.texts[value] = Expr(variable)
    inner = at.inner()
    name = inner.names.fresh(op.counter.name or "i")
    at.kernel.texts[op.counter] = Expr(name)
    step = str(at.text(op.step))
    advance = f"++{name}" if step == "1" else f"{name} += {step}"
    down = isinstance(op.step.op, arith.Constant) and op.step.op.value < 0
    lower, upper = at.text(op.lower), at.text(op.upper).inside(RELATION + 1)
    _fill(inner, op.body.block, carried)
    test = f"{name} {'>' if down else '<'} {upper}"
    at.nodes.append(nodes.For("int64_t", name, str(lower), test, advance, inner.nodes))


def if_branch(at: Statements, op: scf.If) -> None:
    """A branch; one with nothing to do where its condition holds has the opposite condition."""
    condition = str(at.text(op.condition))
    targets = _variables(at, op.values, ())
    then, otherwise = at.inner(), at.inner()
    _fill(then, op.then.block, targets)
    _fill(otherwise, op.otherwise.block, targets)
    if not then.nodes and not targets:
        condition, then, otherwise = str(negated(op.condition, at.text)), otherwise, then
    at.nodes.append(nodes.If(condition, then.nodes, otherwise.nodes))


def while_loop(at: Statements, op: scf.While) -> None:
    """`before` up to its condition, then `after`, whose arguments are what `before` forwards."""
    counted = doubling(op)
    if counted is not None:
        _doubling(at, counted)
        return
    carried = _variables(at, op.before.block.args, op.inits)
    forwarded = _variables(at, op.values, ())
    for value, name in zip(op.after.block.args, forwarded, strict=True):
        at.kernel.texts[value] = Expr(name)
    inner = at.inner()
    inner.block([each for each in op.before.block if each is not op.before.block.last])
    condition = op.before.block.terminator
    assert isinstance(condition, scf.Condition)
    _assign(inner, forwarded, condition.forwarded)
    leave = nodes.Statement("break")
    inner.nodes.append(nodes.If(str(negated(condition.condition, inner.text)), [leave], []))
    after = inner.inner()
    _fill(after, op.after.block, carried)
    at.nodes.append(nodes.While([*inner.nodes, *after.nodes]))


def _doubling(at: Statements, loop: Doubling) -> None:
    """A counter that doubles."""
    inner = at.inner()
    name = inner.names.fresh(loop.counter.name or "i")
    at.kernel.texts[loop.counter] = Expr(name)
    inner.block([each for each in loop.body if each is not loop.body.terminator.operands[0].op])
    test = f"{name} < {at.text(loop.bound).inside(RELATION + 1)}"
    at.nodes.append(nodes.For("int64_t", name, str(at.text(loop.start)), test, f"{name} *= 2", inner.nodes))


def method(at: Statements, op: asc.Method) -> None:
    """A call of a method, which takes what it uses of the loop around it."""
    used = {value for value in _free(op) if _is_local(at, value)}
    # In the order in which they were declared.
    passed = [value for value in at.kernel.texts if value in used]
    arguments = at.join(passed)
    names = at.kernel.class_names.inner()
    saved = {value: at.kernel.texts[value] for value in passed}
    params: list[nodes.Variable] = []
    for value in passed:
        param = names.fresh(value.name or hint_of(value))
        at.kernel.texts[value] = Expr(param)
        params.append(nodes.Variable(_type(value), param))
    body = Statements(at.kernel, at.handlers, False, names)
    body.block(op.body.block)
    at.kernel.texts.update(saved)
    at.say(f"{at.kernel.method(op.method, tuple(params), body.nodes)}({arguments})")


def _variables(at: Statements, values: Sequence[Value], inits: Sequence[Value]) -> list[str]:
    """Variables that change, for what loops carry and branches give."""
    made: list[str] = []
    starts = [str(at.text(init)) for init in inits] or [""] * len(values)
    for value, start in zip(values, starts, strict=True):
        name = at.names.fresh(value.name or hint_of(value))
        at.kernel.texts[value] = Expr(name)
        made.append(name)
        at.say(f"{element(value)} {name}{f' = {start}' if start else ''}")
    return made


def _fill(at: Statements, block: Block, targets: Sequence[str] = ()) -> None:
    """The statements of a block, and at its end what it hands on."""
    at.block(block)
    if targets:
        _assign(at, targets, block.terminator.operands)


def _assign(at: Statements, targets: Sequence[str], values: Sequence[Value]) -> None:
    """Set all variables at once: a value that reads one that is set before is kept first."""
    texts = [str(at.text(value)) for value in values]
    for number, text in enumerate(texts):
        if any(re.search(rf"\b{target}\b", text) for target in targets[:number]):
            kept = at.names.fresh("next")
            at.say(f"const {element(values[number])} {kept} = {text}")
            texts[number] = kept
    for target, text in zip(targets, texts, strict=True):
        if target != text:
            at.say(f"{target} = {text}")


def _is_local(at: Statements, value: Value) -> bool:
    """Whether a value is a local of the method that calls, so that it has to be passed."""
    known = value in at.kernel.texts and value not in at.kernel.member_values
    return known and not isinstance(value.type, OpaqueType)


def _free(op: Operation) -> Iterator[Value]:
    inside = {block for each in op.walk() for region in each.regions for block in region.blocks}
    seen: dict[Value, None] = {}
    for each in op.walk():
        for value in each.operands:
            if value.block not in inside:
                seen[value] = None
    return iter(seen)


def _type(value: Value) -> str:
    if isinstance(value.type, RefType):
        return f"const LocalTensor<{element(value)}>&"
    return element(value)
