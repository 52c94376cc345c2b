# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Interpretation of functions, loops, branches, checks and printing."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyasc.ir.core import Operation
from pyasc.ir.diagnostics import LaunchError
from pyasc.ir.dialects import func, py, scf
from pyasc.ir.interpreter_state import Frame, Handler, InterpreterError


def _call(frame: Frame, op: func.Call) -> Sequence[Any]:
    callee = frame.runtime.module.function(op.callee)
    return Frame(frame.runtime).run(callee.body.block, frame.all(op.args))


def _launch(frame: Frame, op: func.Launch) -> Sequence[Any]:
    if frame.runtime.launch is None:
        raise InterpreterError("func.launch where nothing takes launches")
    frame.runtime.launch(op.callee, frame[op.blocks], frame.all(op.args))
    return ()


def _size(frame: Frame, op: func.Size) -> Sequence[Any]:
    if op.symbol not in frame.runtime.sizes:
        raise ValueError(f"size {op.symbol!r} is not bound")
    return (frame.runtime.sizes[op.symbol],)


def _for(frame: Frame, op: scf.For) -> Sequence[Any]:
    lower, upper, step = frame.all((op.lower, op.upper, op.step))
    if step == 0:
        raise InterpreterError("scf.for has step 0")
    counters = range(lower, upper, step)
    if op.kind == "parallel" and not op.ordered and frame.runtime.reverse_parallel:
        counters = reversed(counters)
    carried: Sequence[Any] = frame.all(op.inits)
    for counter in counters:
        carried = frame.run(op.body.block, [counter, *carried])
    return carried


def _while(frame: Frame, op: scf.While) -> Sequence[Any]:
    carried: Sequence[Any] = frame.all(op.inits)
    while True:
        condition, *forwarded = frame.run(op.before.block, carried)
        if not condition:
            return forwarded
        carried = frame.run(op.after.block, forwarded)


def _if(frame: Frame, op: scf.If) -> Sequence[Any]:
    return frame.run((op.then if frame[op.condition] else op.otherwise).block)


def _check(frame: Frame, op: py.Check) -> Sequence[Any]:
    if not frame[op.condition]:
        if frame.runtime.failed is not None:
            frame.runtime.failed(op, list(frame.all(op.values)))
        raise exception_class(op.error)(op.message.format(*frame.all(op.values)))
    return ()


def exception_class(name: str) -> type[Exception]:
    """The builtin exception of that name, or LaunchError. Raises InterpreterError for any other name."""
    found = LaunchError if name == LaunchError.__name__ else getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, Exception):
        return found
    raise InterpreterError(f"{name!r} is not a builtin exception")


def _print(frame: Frame, op: py.Print) -> Sequence[Any]:
    values = [value.copy() if isinstance(value, np.ndarray) else value for value in frame.all(op.values)]
    frame.runtime.emit(op.format.format(*values))
    return ()


HANDLERS: dict[type[Operation], Handler] = {
    func.Call: _call,
    func.Launch: _launch,
    func.Size: _size,
    scf.For: _for,
    scf.While: _while,
    scf.If: _if,
    py.Check: _check,
    py.Print: _print,
}
