# SPDX-License-Identifier: Apache-2.0
"""Modules, functions and what a function knows about its launch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir import dtypes
from pyasc.ir.constraints import I64
from pyasc.ir.core import Operation, Region, Value
from pyasc.ir.declare import attribute, operand, operands, region, result, results
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.traits import EFFECT, ISOLATED, NO_TERMINATOR, PURE, SINGLE_BLOCK, TERMINATOR
from pyasc.ir.types import RefType, ScalarType, TensorType, Type

ADDED = "pyasc."
"""How names of parameters start that passes add for themselves. Python has no such names, so nothing clashes."""


class Module(Operation, name="func.module", traits=[ISOLATED, SINGLE_BLOCK, NO_TERMINATOR]):
    """The unit of compilation: a list of functions."""

    body: Region = region(default=None)

    @property
    def functions(self) -> tuple[Func, ...]:
        """The functions in order."""
        return tuple(op for op in self.body.block if isinstance(op, Func))

    def function(self, symbol: str) -> Func:
        """The function of that name. Raises KeyError when there is none."""
        for func in self.functions:
            if func.symbol == symbol:
                return func
        raise KeyError(symbol)


class Func(Operation, name="func.func", traits=[ISOLATED, SINGLE_BLOCK, EFFECT]):
    """A kernel (`kernel` true) or a helper. The block's arguments are the parameters.

    `sizes` names the symbolic sizes in launch order. `written` lists the numbers of the ref parameters that the
    function may write. `outputs` lists those that are not parameters of the Python function but hold its
    returned values; they stand last.
    """

    symbol: str = attribute()
    kernel: bool = attribute(default=True)
    sizes: tuple[str, ...] = attribute(default=())
    written: tuple[int, ...] = attribute(default=())
    outputs: tuple[int, ...] = attribute(default=())
    body: Region = region(default=None)

    @property
    def params(self) -> list[Value]:
        """The parameters."""
        return self.body.block.args

    def verify_op(self) -> Iterable[str]:
        """Sizes that parameter types mention are declared; parameter numbers exist and name refs."""
        for param in self.params:
            unknown = size_names(param.type) - set(self.sizes)
            yield from (f"{param.type} mentions {name!r}, which is not in sizes" for name in sorted(unknown))
        for field, numbers in (("written", self.written), ("outputs", self.outputs)):
            for number in numbers:
                if not 0 <= number < len(self.params) or not isinstance(self.params[number].type, RefType):
                    yield f"{field} lists parameter {number}, which is not a ref parameter"


class Return(Operation, name="func.return", traits=[TERMINATOR]):
    """Ends a function. Below the py level kernels return nothing: results are output parameters."""

    values: Sequence[Value] = operands(default=())


class Call(Operation, name="func.call", traits=[EFFECT]):
    """Calls a function of the module."""

    callee: str = attribute()
    args: Sequence[Value] = operands(default=())
    values: Sequence[Value] = results()

    def verify_op(self) -> Iterable[str]:
        """The callee is a function of the enclosing module that takes these arguments."""
        module = next((op for op in self.ancestors() if isinstance(op, Module)), None)
        if module is None:
            return
        callee = next((func for func in module.functions if func.symbol == self.callee), None)
        if callee is None:
            yield f"the module has no function {self.callee!r}"
            return
        if len(self.args) != len(callee.params):
            yield f"{self.callee!r} takes {len(callee.params)} arguments, got {len(self.args)}"


class Launch(Operation, name="func.launch", traits=[EFFECT]):
    """What a host does: starts a kernel function of the module on `blocks` cores (0: it is left out).

    Everything launched before is complete when it starts. Its arrays are known by name; `args` are its scalar
    parameters in order.
    """

    callee: str = attribute()
    blocks: Value = operand(I64)
    args: Sequence[Value] = operands(default=())

    def verify_op(self) -> Iterable[str]:
        """The callee is a kernel function that takes as many scalars."""
        module = next((op for op in self.ancestors() if isinstance(op, Module)), None)
        if module is None:
            return
        callee = next((func for func in module.functions if func.symbol == self.callee), None)
        if callee is None or not callee.kernel:
            yield f"the module has no kernel {self.callee!r}"
            return
        scalars = [param for param in callee.params if isinstance(param.type, ScalarType)]
        if len(self.args) != len(scalars):
            yield f"{self.callee!r} takes {len(scalars)} scalars, got {len(self.args)}"


class Size(Operation, name="func.size", traits=[PURE]):
    """The value that a symbolic size has in this launch."""

    symbol: str = attribute()
    value: Value = result(lambda _: ScalarType(dtypes.i64))

    def verify_op(self) -> Iterable[str]:
        """The size must be one of the function's."""
        func = next((op for op in self.ancestors() if isinstance(op, Func)), None)
        if func is not None and self.symbol not in func.sizes:
            yield f"{self.symbol!r} is not a size of function {func.symbol!r}"


def size_names(type_: Type) -> set[str]:
    """The symbolic sizes that occur in the shape of a type."""
    shape = type_.shape if isinstance(type_, (RefType, TensorType)) else ()
    return {name for extent in shape if isinstance(extent, SizeExpr) for name in extent.names}
