# SPDX-License-Identifier: Apache-2.0
"""Replaces calls of helper functions by copies of their bodies, and drops the helpers.

Before:

    func.func {symbol = "twice", kernel = false} {
    ^(%a: f32):
      %0 = arith.add %a, %a
      func.return %0
    }
    func.func {symbol = "k", written = [0]} {
    ^(%y: ref<f32>, %x: f32):
      %0 = func.call %x {callee = "twice"} : f32
      py.store %0, %y, []
      func.return
    }

After:

    func.func {symbol = "k", written = [0]} {
    ^(%y: ref<f32>, %x: f32):
      %0 = arith.add %x, %x
      py.store %0, %y, []
      func.return
    }
"""

from __future__ import annotations

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects.func import Call, Func, Module
from pyasc.passes.base import Context, Pass
from pyasc.passes.registry import PassError


class Inline(Pass):
    """Inlining of every call."""

    name = "inline"

    def apply(self, module: Module, context: Context) -> bool:
        """Inline all calls in the module."""
        return inline_calls(module, context)


def inline_calls(module: Module, context: Context) -> bool:
    """Inline every call and erase the helpers that were called.

    Raises PassError for a recursive call and for one whose operands differ in type from the parameters.
    """
    inlined: dict[Func, None] = {}
    for func in module.functions:
        for op in func.walk():
            if isinstance(op, Call):
                _inline(op, module, (func,), inlined)
                context.count("calls")
    for func in inlined:
        if not func.kernel:
            func.erase()
    return bool(inlined)


def _inline(call: Call, module: Module, active: tuple[Func, ...], inlined: dict[Func, None]) -> None:
    callee = module.function(call.callee)
    if callee in active:
        raise PassError(f"{call.loc}: recursive call of {call.callee!r}")
    if [arg.type for arg in call.args] != [param.type for param in callee.params]:
        raise PassError(f"{call.loc}: the arguments of {call.callee!r} differ in type from its parameters")
    inlined[callee] = None
    nested, results = _copy_body(call, callee)
    call.replace_with(results)
    for inner in nested:
        _inline(inner, module, (*active, callee), inlined)


def _copy_body(call: Call, callee: Func) -> tuple[list[Call], list[Value]]:
    """Copy the callee before the call; the calls in the copy, and the values that it returns."""
    assert call.parent is not None
    mapping: dict[Value, Value] = dict(zip(callee.params, call.args, strict=True))
    body = callee.body.block
    copies: list[Operation] = []
    for op in body:
        if op is not body.last:
            copy = op.clone(mapping)
            call.parent.insert_before(call, copy)
            copies.append(copy)
    returned = [mapping.get(value, value) for value in body.terminator.operands]
    return [op for copy in copies for op in copy.walk() if isinstance(op, Call)], returned
