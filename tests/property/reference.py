# SPDX-License-Identifier: Apache-2.0
"""CPython as the reference of scalar programs: it runs their text, each operator through a function that defines it.

Statements, order of evaluation, names and jumps are CPython's own. Operators are CPython's on ints and floats too,
except where the language says something else (docs/numbers.md): ints wrap at 64 bits, division by zero gives 0 for
ints and what IEEE 754 says for floats, conversions saturate. With `np.float32` as the type of floats, each operation
is rounded to it.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.property.generate.scalars import MARK

Number = Any

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARE: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FLOAT: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def wrap(value: int) -> int:
    """An int as 64 bits hold it."""
    return (value + 2**63) % 2**64 - 2**63


def saturate(value: float) -> int:
    """A float as an int: truncated, the nearest 64-bit int where none fits, 0 for NaN."""
    if math.isnan(value):
        return 0
    return max(
        -(2**63),
        min(2**63 - 1, math.trunc(value) if math.isfinite(value) else (2**64 if value > 0 else -(2**64))),
    )


def exact(value: int) -> int:
    """An int as Python has it. Raises OverflowError for one that only a loop could have made so large."""
    if value.bit_length() > 4096:
        raise OverflowError("an int of more than 4096 bits")
    return value


def _integers(sign: str, a: int, b: int, kept: Callable[[int], int]) -> Number:
    if sign == "**":
        if b < 0:
            raise ValueError("an integer to a negative power")
        return wrap(pow(int(a), b, 2**64)) if kept is wrap else kept(int(a) ** b)
    if sign in ("<<", ">>"):
        if not 0 <= b < (64 if kept is wrap else 4096):
            return -1 if sign == ">>" and a < 0 else 0
        return kept(a << b if sign == "<<" else a >> b)
    if sign in ("//", "%") and b == 0:
        return 0
    found = _OPERATORS[sign](a, b)
    return found if isinstance(found, bool) else kept(found)


class Semantics:
    """The functions that a rewritten program calls, for one type of floats: `float` or `np.float32`.

    `kept` is what becomes of an int that an operation gives: `wrap` at run time, `exact` where it is a constant.
    `nan_sign` is the sign that a NaN has for `copysign`, in place of its own, which is not defined.
    """

    def __init__(
        self, real: type[Any], kept: Callable[[int], int] = wrap, nan_sign: float | None = None
    ) -> None:
        self.real = real
        self.kept = kept
        self.nan_sign = nan_sign

    def as_real(self, value: Number) -> Number:
        """A number as a float, rounded once; one that is too large becomes an infinity."""
        with np.errstate(all="ignore"):
            # NumPy takes a Python int through float64.
            return self.real(np.int64(value) if isinstance(value, int) and wrap(value) == value else value)

    def binary(self, sign: str, a: Number, b: Number) -> Number:
        """`a sign b`."""
        if isinstance(a, tuple):
            return _OPERATORS[sign](a, b)
        if isinstance(a, int) and isinstance(b, int) and sign != "/":
            return _integers(sign, a, b, self.kept)
        a, b = self.as_real(a), self.as_real(b)
        if sign == "**":
            a, b, sign = a, a, {2: "*"}[int(b)]
        if self.real is float:
            try:
                return _OPERATORS[sign](a, b)
            except ZeroDivisionError:
                pass
        with np.errstate(all="ignore"):
            return self.real(_FLOAT[sign](a, b))

    def unary(self, sign: str, a: Number) -> Number:
        """`-a`, `~a` or `+a`."""
        if isinstance(a, int):
            return self.kept({"-": operator.neg, "~": operator.invert, "+": operator.pos}[sign](int(a)))
        return -a if sign == "-" else a

    def compare(self, function: Callable[[Any, Any], bool], a: Number, b: Number) -> bool:
        """One comparison; an int and a float meet as floats."""
        if isinstance(a, int) != isinstance(b, int):
            a, b = self.as_real(a), self.as_real(b)
        return bool(function(a, b))

    def common(self, *values: Number) -> list[Number]:
        """Numbers in the type that they are compared in."""
        if all(isinstance(value, int) for value in values):
            return list(values)
        return [self.as_real(value) for value in values]

    def smallest(self, *values: Number) -> Number:
        """Python's `min`."""
        return min(self.common(*values))

    def largest(self, *values: Number) -> Number:
        """Python's `max`."""
        return max(self.common(*values))

    def absolute(self, value: Number) -> Number:
        """Python's `abs`; the lowest int stays."""
        return self.kept(abs(value)) if isinstance(value, int) else abs(value)

    def integer(self, value: Number) -> int:
        """Python's `int`."""
        return int(value) if isinstance(value, int) else saturate(float(value))

    def rounded(self, value: Number) -> int:
        """Python's `round`."""
        return int(value) if isinstance(value, int) else saturate(float(np.rint(value)))

    def integral(self, function: Callable[[Any], Any], value: Number) -> int:
        """`math.floor` and its like."""
        return int(value) if isinstance(value, int) else saturate(float(function(value)))

    def power(self, a: Number, b: Number) -> Number:
        """Python's `pow`."""
        return self.binary("**", a, b)

    def total(self, values: tuple[Number, ...]) -> Number:
        """Python's `sum`."""
        return functools.reduce(functools.partial(self.binary, "+"), values, 0)

    def both(self, a: Number, b: Number) -> tuple[Number, Number]:
        """Python's `divmod`."""
        return self.binary("//", a, b), self.binary("%", a, b)

    def real_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A NumPy function of floats."""

        def call(*values: Number) -> Number:
            with np.errstate(all="ignore"):
                return self.real(function(*(self.as_real(value) for value in values)))

        return call

    def copysign(self, size: Any, sign: Any) -> Any:
        """NumPy's `copysign`."""
        is_undefined = self.nan_sign is not None and np.isnan(sign)
        return np.copysign(size, self.nan_sign if is_undefined else sign)

    def namespace(self) -> dict[str, Any]:
        """The globals of a rewritten program."""
        table = self.real_function
        shared: dict[str, Any] = {"sqrt": table(np.sqrt), "copysign": table(self.copysign)}
        tests = {name: getattr(math, name) for name in ("isnan", "isinf", "isfinite")}
        whole = {
            name: functools.partial(self.integral, getattr(np, name)) for name in ("floor", "ceil", "trunc")
        }
        elements = {
            name: table(getattr(np, name))
            for name in ("floor", "ceil", "rint", "trunc", "minimum", "maximum")
        }
        return {
            MARK: self.as_real,
            "_binary": self.binary,
            "_unary": self.unary,
            "_compare": self.compare,
            "_functions": _COMPARE,
            "min": self.smallest,
            "max": self.largest,
            "abs": self.absolute,
            "int": self.integer,
            "float": self.as_real,
            "round": self.rounded,
            "pow": self.power,
            "sum": self.total,
            "divmod": self.both,
            "math": SimpleNamespace(**shared, **tests, **whole),
            "asc": SimpleNamespace(**shared, **elements, where=lambda c, a, b: self.as_real(a if c else b)),
        }


class _Operators(ast.NodeTransformer):
    """Turns operators into calls of the functions of `Semantics`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _call("_binary", ast.Constant(_BINARY[type(node.op)]), node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        signs: dict[type[ast.AST], str] = {ast.USub: "-", ast.Invert: "~", ast.UAdd: "+"}
        if type(node.op) not in signs or isinstance(node.operand, ast.Constant):
            return node
        return _call("_unary", ast.Constant(signs[type(node.op)]), node.operand)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        assert isinstance(node.target, ast.Name)
        old = ast.Name(node.target.id, ast.Load())
        return ast.Assign(
            [node.target], _call("_binary", ast.Constant(_BINARY[type(node.op)]), old, node.value)
        )

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if any(type(each) not in _COMPARE for each in node.ops):
            return node
        operands = [node.left, *node.comparators]
        tests: list[ast.expr] = []
        for k, op in enumerate(node.ops):
            right = operands[k + 1]
            if k + 1 < len(node.ops):  # evaluated once, read again as the left side of the next comparison
                right = ast.NamedExpr(ast.Name(f"_middle{k}", ast.Store()), right)
            left = operands[k] if k == 0 else ast.Name(f"_middle{k - 1}", ast.Load())
            function = ast.Subscript(ast.Name("_functions", ast.Load()), _node_type(op), ast.Load())
            tests.append(_call("_compare", function, left, right))
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _node_type(op: ast.cmpop) -> ast.expr:
    return ast.Attribute(ast.Name("_ast", ast.Load()), type(op).__name__, ast.Load())


def _call(function: str, *args: ast.expr) -> ast.expr:
    callee = function if isinstance(function, ast.expr) else ast.Name(function, ast.Load())
    return ast.Call(callee, list(args), [])


def reference(
    text: str, real: type[Any], kept: Callable[[int], int] = wrap, nan_sign: float | None = None
) -> Callable[..., Any]:
    """The function `k` of a scalar program, as CPython runs it; `kept` and `nan_sign` as for `Semantics`."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for function in tree.body:
        assert isinstance(function, ast.FunctionDef)
        for argument in function.args.args:
            argument.annotation = None
    names = {**Semantics(real, kept, nan_sign).namespace(), "_ast": ast}
    exec(compile(ast.fix_missing_locations(_Operators().visit(tree)), "<program>", "exec"), names)
    return names["k"]
