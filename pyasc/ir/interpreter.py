# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Runs the IR of every level above ascend on NumPy arrays, one operation at a time: the meaning of each operation.

It shares nothing with the passes or the emitters, so that it can tell whether they are right. Clear, not fast.

Values at run time: a scalar is a Python bool, int or float that its dtype holds exactly; a tensor or vector is an
array; a ref is an array whose memory it names, so that views alias. bfloat16 is carried as uint16 bits. Fresh
buffers hold a pattern that shows when it is read (NaN for floats).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from pyasc.ir import (
    interpreter_arith,
    interpreter_memory,
    interpreter_structured,
    interpreter_tensor,
    interpreter_tile,
)
from pyasc.ir.core import Operation
from pyasc.ir.dialects.func import Module
from pyasc.ir.dtypes import i1
from pyasc.ir.interpreter_control import HANDLERS as CONTROL
from pyasc.ir.interpreter_state import Frame, Handler, InterpreterError, Runtime
from pyasc.ir.numbers_half import carrier
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType, ScalarType, Type

__all__ = ["InterpreterError", "interpret"]


@cache
def _handlers() -> dict[type[Operation], Handler]:
    tables: tuple[dict[type[Operation], Handler], ...] = (
        CONTROL,
        interpreter_arith.HANDLERS,
        interpreter_memory.HANDLERS,
        interpreter_tensor.HANDLERS,
        interpreter_structured.HANDLERS,
        interpreter_tile.HANDLERS,
    )
    return {op: handler for table in tables for op, handler in table.items()}


def interpret(
    module: Module,
    symbol: str,
    args: Sequence[Any],
    sizes: Mapping[str, int] | None = None,
    *,
    emit: Callable[[str], None] = print,
    reverse_parallel: bool = False,
    launch: Callable[[str, int, list[Any]], None] | None = None,
    observe: Callable[[Frame, Operation], None] | None = None,
    failed: Callable[[Operation, list[Any]], None] | None = None,
) -> tuple[Any, ...]:
    """Run a function of the module; returns what its `func.return` lists, which is nothing for a lowered kernel.

    `args` has one entry a parameter, outputs included: an array carried in the parameter's dtype for a ref, which is
    read and written in place, and a number for a scalar. `sizes` binds symbolic sizes; those that are left out are
    taken from the shapes of the arguments. `emit` receives each printed text. `reverse_parallel` runs parallel
    loops backwards, which must not change any result. `launch` receives the kernel, the number of cores and the
    scalars of each `func.launch` of a host function. `observe` is called before each operation. `failed` receives each
    check that fails and its values, and may raise what it likes.

    Raises ValueError or TypeError for arguments that do not fit, the Python exception that a check in the kernel
    asks for, and InterpreterError when the IR itself does what no valid IR does.
    """
    func = module.function(symbol)
    runtime = Runtime(
        module,
        _bind_sizes(func.params, args, sizes or {}),
        _handlers(),
        emit,
        reverse_parallel,
        launch,
        observe,
        failed,
    )
    if len(args) != len(func.params):
        raise TypeError(f"{symbol} takes {len(func.params)} arguments, got {len(args)}")
    values = [
        _argument(i, p.type, a, runtime) for i, (p, a) in enumerate(zip(func.params, args, strict=True))
    ]
    return Frame(runtime).run(func.body.block, values)


def _bind_sizes(params: Sequence[Any], args: Sequence[Any], sizes: Mapping[str, int]) -> dict[str, int]:
    bound = {name: int(value) for name, value in sizes.items()}
    for param, arg in zip(params, args, strict=False):
        if isinstance(param.type, RefType):
            for extent, actual in zip(param.type.shape, np.shape(arg), strict=False):
                if isinstance(extent, SizeExpr) and extent.as_name is not None:
                    bound.setdefault(extent.as_name, actual)
    return bound


def _argument(number: int, type_: Type, arg: Any, runtime: Runtime) -> Any:
    if isinstance(type_, ScalarType):
        return bool(arg) if type_.dtype is i1 else arg.item() if isinstance(arg, np.generic) else arg
    if not isinstance(type_, RefType):
        raise TypeError(f"argument {number}: a parameter of type {type_} cannot be passed")
    if not isinstance(arg, np.ndarray) or arg.dtype != carrier(type_.dtype):
        found = arg.dtype if isinstance(arg, np.ndarray) else type(arg).__name__
        raise TypeError(f"argument {number}: expected an array of {carrier(type_.dtype)}, got {found}")
    expected = runtime.shape(type_.shape, arg.shape)
    if arg.shape != expected:
        raise ValueError(f"argument {number}: expected shape {expected}, got {arg.shape}")
    return arg
