# SPDX-License-Identifier: Apache-2.0
"""Python's `math` in kernels: exact for numbers that are known, the number table or loops for others."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyasc.frontend import arithmetic, contractions, elementwise, numeric, reductions
from pyasc.frontend.composed import call_composed
from pyasc.frontend.iteration import known_items
from pyasc.frontend.values import NONE, ONE, ZERO, Const, Scalar, Tuple, Val, is_array, is_number
from pyasc.frontend.visitor import Visitor
from pyasc.language import math as names
from pyasc.language import math_parts

Lowering = Callable[..., Val]
_ADD, _SUB, _MUL, _DIV, _POW = (
    arithmetic.BINARY[op] for op in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
)
_REL_TOL, _ABS_TOL = Const(1e-9), Const(0.0)


def folded(v: Visitor, function: Any, args: Sequence[Val], keywords: Mapping[str, Val]) -> Val | None:
    """The value of a function of `math` for arguments that are known; None where one is not.

    Refuses what Python raises an exception for.
    """
    if getattr(function, "__module__", None) != "math":
        return None
    plain = [_plain(each) for each in (*args, *keywords.values())]
    if _UNKNOWN in plain:
        return None
    if _factors(function.__name__, plain) > _MOST_FACTORS:
        raise v.error(None, "PA0406", "this constant has too many digits")
    positional, named = plain[: len(args)], dict(zip(keywords, plain[len(args) :], strict=True))
    try:
        return _value(function(*positional, **named))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        name = function.__name__
        raise v.error(None, "PA0406", f"math.{name} cannot be computed: {error.args[-1]}") from None


_UNKNOWN: Any = object()
_MOST_FACTORS = 10_000
"""How many numbers a factorial or binomial that is known may be the product of, which takes a blink."""


def _factors(fn: str, args: Sequence[Any]) -> int:
    """How many numbers `factorial`, `comb` or `perm` multiplies; 0 for arguments that it does not take."""
    if not args or not all(isinstance(each, int) for each in args):
        return 0
    match fn, args:
        case ("factorial" | "perm", [n]):
            return n
        case "perm", [n, k]:
            return min(n, k)
        case "comb", [n, k]:
            return min(n - k, k)
        case _:
            return 0


def _plain(value: Val) -> Any:
    """A Python object, or _UNKNOWN."""
    if isinstance(value, Tuple):
        items = [_plain(each) for each in value.items]
        return _UNKNOWN if any(each is _UNKNOWN for each in items) else items
    if isinstance(value, Const) and (is_number(value) or value.value is None):
        return value.value
    return _UNKNOWN


def _value(found: Any) -> Val:
    return Tuple(tuple(map(_value, found))) if isinstance(found, tuple) else Const(found)


def _number(v: Visitor, fn: str, value: Val) -> Val:
    if is_array(value) and numeric.shape_of(value):
        hint = f"use asc.{fn} for every element" if fn in names.__all__ else "use a loop"
        raise v.error(None, "PA0402", f"math.{fn} takes numbers, found {numeric.describe(value)}", hint=hint)
    found = numeric.operand(v, value)
    # Refuses text, which `float` would read.
    numeric.number_type(v, found)
    return found


def _unary(fn: str) -> Lowering:
    return lambda v, x: elementwise.table_function(v, fn, (_real(v, fn, x),))


def _binary(fn: str) -> Lowering:
    return lambda v, x, y: elementwise.table_function(v, fn, (_real(v, fn, x), _real(v, fn, y)))


def _integral(fn: str) -> Lowering:
    return lambda v, x: elementwise.integral(v, fn, x)


def _integer(v: Visitor, fn: str, value: Val) -> Val:
    """An argument that has to be an int, as one."""
    found = _number(v, fn, value)
    if numeric.number_type(v, found).dtype.is_float:
        raise v.error(None, "PA0404", f"math.{fn} takes integers, found {numeric.describe(found)}")
    return Scalar(numeric.index(v, found), weak=True)


def _real(v: Visitor, fn: str, value: Val) -> Val:
    """An argument as a Python float, which is what functions of `math` take and give whatever it came from."""
    return elementwise.to_float(v, _number(v, fn, value))


def _not_negative(v: Visitor, fn: str, value: Val) -> Val:
    """An argument that has to be an int and not negative."""
    found = _integer(v, fn, value)
    number = numeric.index(v, found)
    fine = v.emit.fn("ge", number, v.emit.index(0))
    numeric.check(v, fine, "ValueError", f"math.{fn} of the negative number {{}}", [number])
    return found


def _of_integers(fn: str, empty: int) -> Lowering:
    """`gcd` and `lcm` of any number of ints."""
    function = getattr(math_parts, fn)

    def lowering(v: Visitor, *args: Val) -> Val:
        result: Val = Const(empty)
        for each in args:
            result = call_composed(v, function, result, _integer(v, fn, each))
        return result

    return lowering


def _counting(fn: str) -> Lowering:
    function = getattr(math_parts, fn)
    return lambda v, n: call_composed(v, function, _not_negative(v, fn, n))


def _comb(v: Visitor, n: Val, k: Val) -> Val:
    return call_composed(v, math_parts.comb, _not_negative(v, "comb", n), _not_negative(v, "comb", k))


def _perm(v: Visitor, n: Val, k: Val = NONE) -> Val:
    if k == NONE:
        return call_composed(v, math_parts.factorial, _not_negative(v, "perm", n))
    return call_composed(v, math_parts.perm, _not_negative(v, "perm", n), _not_negative(v, "perm", k))


def _parts(fn: str) -> Lowering:
    function = getattr(math_parts, fn)
    return lambda v, x: call_composed(v, function, _real(v, fn, x))


def _remainder(v: Visitor, x: Val, y: Val) -> Val:
    return call_composed(v, math_parts.remainder, _real(v, "remainder", x), _real(v, "remainder", y))


def _ldexp(v: Visitor, x: Val, i: Val) -> Val:
    return call_composed(v, math_parts.ldexp, _real(v, "ldexp", x), _integer(v, "ldexp", i))


def _isclose(v: Visitor, a: Val, b: Val, rel_tol: Val = _REL_TOL, abs_tol: Val = _ABS_TOL) -> Val:
    numbers = [_real(v, "isclose", each) for each in (a, b, rel_tol, abs_tol)]
    return call_composed(v, math_parts.isclose, *numbers)


def _log(v: Visitor, x: Val, base: Val = NONE) -> Val:
    natural = elementwise.table_function(v, "log", (_real(v, "log", x),))
    if base == NONE:
        return natural
    return arithmetic.binary(v, _DIV, natural, elementwise.table_function(v, "log", (_real(v, "log", base),)))


def _hypot(v: Visitor, *coordinates: Val) -> Val:
    numbers = [_real(v, "hypot", each) for each in coordinates]
    result: Val = Const(0.0) if not numbers else elementwise.absolute(v, numbers[0])
    for each in numbers[1:]:
        result = elementwise.table_function(v, "hypot", (result, each))
    return result


def _pairs(v: Visitor, fn: str, p: Val, q: Val) -> list[tuple[Val, Val]]:
    left, right = known_items(v, p, None), known_items(v, q, None)
    if len(left) != len(right):
        raise v.error(None, "PA0408", f"math.{fn} of {len(left)} numbers and of {len(right)}")
    return list(zip(left, right, strict=True))


def _dist(v: Visitor, p: Val, q: Val) -> Val:
    if is_array(p) and is_array(q):
        difference = arithmetic.binary(v, _SUB, p, q)
        squares = arithmetic.binary(v, _MUL, difference, difference)
        return elementwise.table_function(v, "sqrt", (reductions.sum_(v, squares),))
    return _hypot(v, *(arithmetic.binary(v, _SUB, a, b) for a, b in _pairs(v, "dist", p, q)))


def _sumprod(v: Visitor, p: Val, q: Val) -> Val:
    if is_array(p) and is_array(q):
        return contractions.dot(v, p, q)
    total: Val = ZERO
    for a, b in _pairs(v, "sumprod", p, q):
        total = arithmetic.binary(v, _ADD, total, arithmetic.binary(v, _MUL, a, b))
    return total


def _prod(v: Visitor, iterable: Val, start: Val = ONE) -> Val:
    if is_array(iterable):
        return arithmetic.binary(v, _MUL, start, reductions.prod(v, iterable))
    for each in known_items(v, iterable, None):
        start = arithmetic.binary(v, _MUL, start, each)
    return start


def _scaled(factor: float) -> Lowering:
    return lambda v, x: arithmetic.binary(v, _MUL, _real(v, "radians", x), Const(factor))


def _power(v: Visitor, x: Val, y: Val) -> Val:
    return arithmetic.binary(v, _POW, _real(v, "pow", x), _real(v, "pow", y))


def _refused(fn: str, hint: str) -> Lowering:
    def lowering(v: Visitor, *args: Val) -> Val:
        raise v.error(None, "PA0209", f"math.{fn} of numbers that only the run time knows", hint=hint)

    return lowering


_BITS = "it depends on how many bits a float has, and those of a kernel have 32"
_TABLE_1 = (
    "exp expm1 exp2 log2 log10 log1p sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
    "isnan isinf isfinite"
).split()

_BY_NAME: dict[str, Lowering] = {
    **{name: _unary(name) for name in _TABLE_1},
    **{name: _binary(name) for name in ("atan2", "copysign", "fmod")},
    **{name: _integral(name) for name in ("floor", "ceil", "trunc")},
    **{name: _parts(name) for name in ("frexp", "modf")},
    **{name: _counting(name) for name in ("factorial", "isqrt")},
    "gcd": _of_integers("gcd", 0),
    "lcm": _of_integers("lcm", 1),
    "comb": _comb,
    "perm": _perm,
    "remainder": _remainder,
    "ldexp": _ldexp,
    "isclose": _isclose,
    "log": _log,
    "hypot": _hypot,
    "dist": _dist,
    "sumprod": _sumprod,
    "prod": _prod,
    "pow": _power,
    "fabs": lambda v, x: elementwise.absolute(v, _real(v, "fabs", x)),
    "radians": _scaled(math.pi / 180),
    "degrees": _scaled(180 / math.pi),
    "fsum": _refused("fsum", "use sum or asc.sum, whose error is bounded"),
    "fma": _refused("fma", "write x * y + z, which is rounded twice"),
    "gamma": _refused("gamma", "compute a table of it before the launch"),
    "lgamma": _refused("lgamma", "compute a table of it before the launch"),
    "nextafter": _refused("nextafter", _BITS),
    "ulp": _refused("ulp", _BITS),
}

MATH: dict[Any, Lowering] = {
    getattr(math, name): lowering for name, lowering in _BY_NAME.items() if hasattr(math, name)
}
"""What each function of `math` becomes; later Pythons have more of them."""
