# SPDX-License-Identifier: Apache-2.0
"""Loops and branches in C++: carried values become variables, threaded loops become functions of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyasc.codegen.cpp import functions, nodes
from pyasc.codegen.cpp.hoist import hoist_buffers
from pyasc.codegen.cpp.lower import FunctionLowering
from pyasc.codegen.cpp.nodes import RELATION, Expr
from pyasc.codegen.cpp.outline import captures, identifiers, referenced_names
from pyasc.codegen.cpp.values import add, multiply, size_expression
from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, scf
from pyasc.ir.dtypes import i1
from pyasc.ir.types import VectorType, dtype_of

REDUCTIONS = {"add": "+", "mul": "*", "fma": "+", "and": "&", "or": "|", "xor": "^"} | {
    fn: f"pa_{fn}" for fn in ("maximum", "minimum", "pymax", "pymin")
}
"""How OpenMP names the combination that a reduction loop makes with its carried value."""


def _for(state: FunctionLowering, op: scf.For) -> None:
    lower, upper, step = state.all((op.lower, op.upper, op.step))
    state.flush()
    if op.kind == "parallel" and op.grain > 0:
        _fork(state, op, lower, upper, step)
        return
    upper = _evaluated_once(state, op.upper, upper)
    variables = _carry(state, op.inits, op.carried, op.values)
    counter = _counter(state, op)
    pragmas = _pragmas(op, variables)
    if op.simd and op.kind == "scan":
        state.scanned.update(op.body.block.terminator.operands)
    body = _body(state, op.body.block, op.carried, variables)
    if op.simd and op.kind == "scan":
        body = _named_in_both_halves(body)
    test = _test(counter, upper, step, op.step)
    state.emit(nodes.For(counter, lower.text, test, _advance(counter, step), body, pragmas), op)
    for value, name in zip(op.values, variables, strict=True):
        state.exprs[value] = Expr(name)


def _named_in_both_halves(body: list[nodes.Node]) -> list[nodes.Node]:
    """Declare again, behind the directive of a scan, what stands before it and is used behind it.

    OpenMP makes a scope of each half. What is declared before the directive depends neither on the running value nor
    on anything that the loop stores (`schedule-loops` sees to it), so that it is the same again.
    """
    cut = next(i for i, node in enumerate(body) if isinstance(node, nodes.Pragma)) + 1
    used = referenced_names(body[cut:]).keys()
    again: list[nodes.Node] = []
    for node in reversed(body[:cut]):
        if isinstance(node, nodes.Declare) and node.name in used:
            again.insert(0, nodes.Declare(node.type, node.name, node.value, node.const))
            used = used | identifiers(node.value)
    return [*body[:cut], *again, *body[cut:]]


def _evaluated_once(state: FunctionLowering, value: Value, bound: Expr) -> Expr:
    """A bound that calls a function gets a name, so that the loop tests against a variable."""
    if "(" not in bound.text:
        return bound
    name = state.names.fresh(value.name or "stop")
    state.declare("int64_t", name, bound.text)
    return Expr(name)


def _counter(state: FunctionLowering, op: scf.For) -> str:
    name = state.names.fresh(op.counter.name or "i")
    state.exprs[op.counter] = Expr(name)
    state.variables[name] = nodes.Variable("int64_t", name)
    return name


def _test(counter: str, upper: Expr, step: Expr, step_value: Value) -> str:
    bound = upper.inside(RELATION + 1)
    if isinstance(step_value.op, arith.Constant):
        return f"{counter} {'<' if step_value.op.value > 0 else '>'} {bound}"
    return f"{step.inside(RELATION + 1)} > 0 ? {counter} < {bound} : {counter} > {bound}"


def _advance(counter: str, step: Expr) -> str:
    if step.text == "1":
        return f"{counter}++"
    if step.text.startswith("-") and step.text[1:].isdigit():
        return f"{counter} -= {step.text[1:]}"
    return f"{counter} += {step.text}"


def _pragmas(op: scf.For, variables: Sequence[str]) -> tuple[str, ...]:
    made: list[str] = []
    if op.unroll > 1:
        made.append(f"GCC unroll {op.unroll}")
    if op.simd:
        mode = "inscan, " if op.kind == "scan" else ""
        clauses = [f"reduction({mode}{_reduction(op, i)} : {name})" for i, name in enumerate(variables)]
        made.append(" ".join(["omp simd", *clauses]))
    return tuple(made)


def _reduction(op: scf.For, number: int) -> str:
    combined = op.body.block.terminator.operands[number].op
    if not isinstance(combined, arith.Elementwise) or combined.fn not in REDUCTIONS:
        raise TypeError(f"{op.name} at {op.loc} is marked simd but carries something that is no reduction")
    return REDUCTIONS[combined.fn]


def _carry(
    state: FunctionLowering, inits: Sequence[Value], carried: Sequence[Value], results: Sequence[Value] = ()
) -> list[str]:
    """A variable for each carried value, holding its init; an enclosing loop's own variable where that serves."""
    names: list[str] = []
    for i, (init, arg) in enumerate(zip(inits, carried, strict=True)):
        if results and _continues(init, results[i]):
            state.exprs[arg] = state.exprs[init]
            names.append(state.exprs[init].text)
        else:
            names.append(state.name_value(arg, state.expr(init), const=False))
    return names


def _continues(init: Value, result: Value) -> bool:
    """Whether a loop only carries an enclosing loop's value on: nothing else reads the value it started from."""
    block, loop = init.owner, result.op
    if not isinstance(block, Block) or loop is None or loop.parent is not block or init.index == 0:
        return False
    if not isinstance(block.parent_op, scf.For) or list(init.uses) != [loop] or init.uses[loop] != 1:
        return False
    terminator = block.terminator
    return list(result.uses) == [terminator] and terminator.operands[init.index - 1] is result


def _body(
    state: FunctionLowering,
    block: Block,
    carried: Sequence[Value],
    variables: Sequence[str],
    goes_on: Value | None = None,
) -> list[nodes.Node]:
    """A loop body and the assignments that make the next iteration's carried values; it ends unless `goes_on`."""
    outer, state.out = state.out, []
    readers = _readers(state, block) if carried else {}
    if goes_on:
        state.ahead[goes_on] = "left"
    for value, name in zip(block.terminator.operands, variables, strict=False):
        if carried and _updates_in_place(readers.get(name, ()), value, block):
            state.targets[value] = name
        elif carried and isinstance(value.type, VectorType):
            state.ahead[value] = f"next_{name}"
    for op in block:
        if op is not block.last:
            state.operation(op)
    following = block.terminator.operands[: -1 if goes_on else None]
    values = state.all(following)
    state.flush()
    _assign(state, variables, values, following)
    if goes_on:
        state.emit(nodes.Break(_negated(state.expr(goes_on)).text))
    inner, state.out = state.out, outer
    return inner


def _readers(state: FunctionLowering, block: Block) -> dict[str, list[Value]]:
    """The arguments that each variable is read through: a `while` may hand one on twice, or in another order."""
    readers: dict[str, list[Value]] = {}
    for arg in block.args:
        readers.setdefault(state.exprs[arg].text, []).append(arg)
    return readers


def _updates_in_place(readers: Sequence[Value], value: Value, block: Block) -> bool:
    """Whether the next value may overwrite the variable where it is computed: nothing reads the old one later."""
    op = value.op
    if op is None or op.parent is not block or op.regions:
        return False
    return all(arg.uses.keys() <= {op} for arg in readers)


def _assign(
    state: FunctionLowering, targets: Sequence[str], values: Sequence[Expr], sources: Sequence[Value]
) -> None:
    """Assign all at once: a value that mentions a variable assigned before it is first kept in a constant."""
    moves = [(t, v, s) for t, v, s in zip(targets, values, sources, strict=True) if v.text != t]
    ready: list[tuple[str, str]] = []
    for i, (target, value, source) in enumerate(moves):
        earlier = [t for t, _, _ in moves[:i]]
        if any(re.search(rf"\b{name}\b", value.text) for name in earlier):
            name = state.names.fresh(f"next_{target}")
            state.declare(functions.value_type(source.type), name, value.text)
            ready.append((target, name))
        else:
            ready.append((target, value.text))
    # The kept constants were declared in order, before any assignment below.
    if len(ready) == 1 and sum(moves[0][2].uses.values()) == 1:
        ready = [(ready[0][0], _just_declared(state, ready[0][1]))]
    for target, text in ready:
        state.emit(nodes.Assign(target, text))


def _just_declared(state: FunctionLowering, text: str) -> str:
    """What the last statement declares under this name, in place of that statement."""
    last = state.out[-1] if state.out else None
    if not isinstance(last, nodes.Declare) or last.name != text:
        return text
    state.out.pop()
    return last.value


def _fork(state: FunctionLowering, op: scf.For, lower: Expr, upper: Expr, step: Expr) -> None:
    simple = lower.text == "0" and step.text == "1"
    count = upper if simple else _trip_count(lower, upper, step)
    state.depth += 1
    counter = _counter(state, op)
    function = state.names.fresh(f"{state.func.symbol}_loop")
    body = _body(state, op.body.block, (), ())
    if simple:
        loop = nodes.For(counter, "begin", f"{counter} < end", f"{counter}++", body, _pragmas(op, ()))
    else:
        turn = state.names.fresh("k")
        first = nodes.Declare("int64_t", counter, add(lower, multiply(Expr(turn), step)).text, const=True)
        loop = nodes.For(turn, "begin", f"{turn} < end", f"{turn}++", [first, *body], _pragmas(op, ()))
    state.depth -= 1
    mentioned = referenced_names([loop])
    fails = "failure" in mentioned
    fields = captures([loop], mentioned, state.variables, {counter})
    given = [field.name for field in fields]
    if fails:
        fields.append(nodes.Variable("pa_failure*", "failure"))
        given.append("failure" if state.depth else "&failure")
    context = state.names.fresh(f"{function}_context")
    state.outlined.append(nodes.Outlined(context, function, tuple(fields), hoist_buffers([loop])))
    left = (
        ("if (failure->site) return;" if state.depth else "if (failure.site) return failure.site;")
        if fails
        else ""
    )
    state.emit(nodes.Fork(function, context, tuple(given), count.text, _grain(state, op), left), op)


def _grain(state: FunctionLowering, op: scf.For) -> str:
    """Iterations of a chunk: a number where the work of one is known, else computed from the sizes."""
    known = op.work.as_constant
    if known is not None:
        return str(max(1, op.grain // max(1, known)))
    return f"pa_grain({op.grain}, {size_expression(op.work, state.sizes)})"


def _trip_count(lower: Expr, upper: Expr, step: Expr) -> Expr:
    return Expr(f"pa_trip_count({lower}, {upper}, {step})")


def _if(state: FunctionLowering, op: scf.If) -> None:
    condition = state.expr(op.condition)
    state.flush()
    names: list[str] = []
    for value in op.values:
        name = state.names.fresh(value.name or "t")
        state.declare(functions.value_type(value.type), name, "", const=False)
        names.append(name)
    then = _body(state, op.then.block, (), names)
    otherwise = _body(state, op.otherwise.block, (), names)
    for value, name in zip(op.values, names, strict=True):
        state.exprs[value] = Expr(name)
    if not then and otherwise:
        condition, then, otherwise = _negated(condition), otherwise, []
    state.emit(nodes.If(condition.text, then, otherwise), op)


def _negated(condition: Expr) -> Expr:
    return Expr(f"!{condition}" if condition.text.isidentifier() else f"!({condition})")


def _while(state: FunctionLowering, op: scf.While) -> None:
    state.flush()
    before, after = op.before.block, op.after.block
    flag = _flag_of_end(op)
    carried = before.args[: -1 if flag else None]
    variables = _carry(state, op.inits[: len(carried)], carried)
    outer, state.out = state.out, []
    for inner in before:
        if inner is not before.last and flag not in inner.operands:
            state.operation(inner)
    condition = _condition(state, before.terminator.operands[0], flag)
    forwarded = state.all(before.terminator.operands[1:])
    state.flush()
    results = _forward(state, op, forwarded, variables)
    head, state.out = state.out, []
    tail = _body(state, after, after.args, variables, after.terminator.operands[-1] if flag else None)
    state.out = outer
    for name, value, is_new in results:
        state.exprs[value] = Expr(name)
        if is_new:
            state.emit(nodes.Declare(functions.value_type(value.type), name, "", const=False))
    if head:
        state.emit(nodes.While("true", [*head, nodes.Break(_negated(condition).text), *tail]), op)
    else:
        state.emit(nodes.While(condition.text, tail), op)


def _flag_of_end(op: scf.While) -> Value | None:
    """The last carried value, if all it does is to end the loop where an iteration has made it false."""
    before, after = op.before.block, op.after.block
    flag = before.args[-1] if before.args else None
    if flag is None or dtype_of(flag.type) is not i1:
        return None
    init, following = op.inits[-1].op, after.terminator.operands[-1].op
    starts = isinstance(init, arith.Constant) and init.value is True
    changes = following is not None and following.parent is after
    asked = _only_asked(flag, before.terminator.operands[0], before)
    return flag if starts and changes and asked else None


def _only_asked(flag: Value, condition: Value, block: Block) -> bool:
    """Whether a value is used for a condition alone, as it is or with something that has to hold besides."""
    if not flag.uses.keys() <= {condition.op, block.last} or sum(flag.uses.values()) != 1:
        return False
    joins = isinstance(condition.op, arith.Elementwise) and condition.op.fn == "and"
    return flag is condition or (joins and list(condition.uses.values()) == [1])


def _condition(state: FunctionLowering, condition: Value, flag: Value | None) -> Expr:
    """The condition of a loop without its flag."""
    if flag is None:
        return state.expr(condition)
    rest = [value for value in condition.op.operands if value is not flag] if condition.op else []
    return state.expr(rest[0]) if rest else Expr("true")


def _forward(
    state: FunctionLowering, op: scf.While, forwarded: Sequence[Expr], variables: Sequence[str]
) -> list[tuple[str, Value, bool]]:
    """Bind what the condition forwards: a carried variable as it is, anything else through one more variable."""
    results: list[tuple[str, Value, bool]] = []
    for expr, inner, value in zip(forwarded, op.after.block.args, op.values, strict=True):
        if expr.text in variables:
            state.exprs[inner] = expr
            results.append((expr.text, value, False))
            continue
        name = state.names.fresh(value.name or inner.name or "t")
        state.variables[name] = nodes.Variable(functions.value_type(value.type), name)
        state.emit(nodes.Assign(name, expr.text))
        state.exprs[inner] = Expr(name)
        results.append((name, value, True))
    return results


CONTROL = {scf.For: _for, scf.If: _if, scf.While: _while}
