# SPDX-License-Identifier: Apache-2.0
"""Numbers and tensors as operands: their types, their conversion, and the shape they meet in."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import Any

from pyasc.frontend import promotion
from pyasc.frontend.emit import bounds, fits
from pyasc.frontend.promotion import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, NumberType, promote
from pyasc.frontend.values import (
    Array,
    Const,
    Function,
    Method,
    Parts,
    Row,
    Scalar,
    SizeVal,
    Tensor,
    Tuple,
    Val,
    is_array,
    is_number,
)
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.diagnostics import Diagnostic
from pyasc.ir.dialects import arith, mem, py, tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import Dim, SizeExpr, lift, simplify
from pyasc.ir.types import RefType, ScalarType, TensorType, dtype_of
from pyasc.language.math import Elementwise

_GREATEST_FLOAT = int(sys.float_info.max)


def number_type(v: Visitor, value: Val) -> NumberType:
    """The type of an operand in promotion. Refuses what is neither number nor array."""
    match value:
        case Const(value=bool()):
            return WEAK_BOOL
        case Const(value=int()) | SizeVal():
            return WEAK_INT
        case Const(value=float()):
            return weak_float(v)
        case Scalar(rounds_to=DType() as dtype):
            return NumberType(dtype)
        case Scalar():
            return NumberType(value.dtype, value.weak)
        case Tensor() | Array():
            return NumberType(value.dtype)
        case Row():
            return NumberType(value.array.dtype)
        case _:
            raise v.error(None, "PA0402", f"expected a number or an array, found {describe(value)}")


def weak_float(v: Visitor) -> NumberType:
    """The type of a run-time Python float: float64 in kernels with float64 parameters, else float32."""
    return WEAK_FLOAT if v.float_bits == 32 else NumberType(dtypes.f64, True)


def describe(value: Val) -> str:
    """What a value is, in the user's words."""
    match value:
        case Const(value=found):
            return _describe_object(found)
        case SizeVal():
            return "int"
        case Scalar(weak=True):
            return {"f": "float", "i": "int", "b": "bool"}.get(value.dtype.kind, str(value.dtype))
        case Scalar():
            return value.dtype.numpy
        case Tensor() | Array():
            return f"{value.dtype.numpy} array of {plural(len(value.shape), 'dimension')}"
        case Row():
            return f"{value.array.dtype.numpy} array"
        case Tuple(once=True):
            return "an iterator"
        case Tuple(items=items, is_list=is_list):
            return f"a {'list' if is_list else 'tuple'} of {len(items)}"
        case Parts(count=count, is_list=is_list):
            return f"a {'list' if is_list else 'tuple'} of {count}"
        case Function():
            return "a function"
        case Method(name=name):
            return f"the method `{name}`"
        case _:
            return f"a {type(value).__name__.lower()}"


def plural(count: int, what: str) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{count} {what}{'s' if count != 1 else ''}"


def _describe_object(found: Any) -> str:
    if isinstance(found, (bool, int, float)):
        return f"{type(found).__name__} {found!r}"
    if found is None or isinstance(found, str):
        return repr(found)
    if isinstance(found, Elementwise):
        return f"the function asc.{found.name}"
    name = getattr(found, "__name__", None)
    return f"`{name}`" if name else f"an object of type `{type(found).__name__}`"


def scalar(v: Visitor, value: Val, dtype: DType, wraps: bool = False) -> Value:
    """A number as an SSA scalar of `dtype`. Python integers must fit an integer type.

    Debug builds look at those of the run time too, unless the kernel `wraps` them on purpose.
    """
    if v.options.debug and not wraps:
        _check_fits(v, value, dtype)
    match value:
        case Const(value=bool() | int() | float() as number):
            if dtype.is_integer and not isinstance(number, float) and not fits(int(number), dtype):
                low, high = bounds(dtype)
                wider = (
                    "use a wider type, such as asc.int64(...)" if dtype.bits < 64 else "write it as a float"
                )
                raise v.error(
                    None,
                    "PA0403",
                    f"{number} does not fit {dtype.numpy}",
                    hint=f"it holds {low} to {high}; {wider}",
                )
            if abs(number) > _GREATEST_FLOAT and not isinstance(number, float):
                raise v.error(None, "PA0403", "an int that no float holds", hint="write it as a float")
            if dtype.is_integer and isinstance(number, float):
                return v.emit.cast(v.emit.constant(number, dtypes.f64), dtype)
            return v.emit.constant(number, dtype)
        case SizeVal(expr=expr):
            return v.emit.cast(v.emit.size(expr), dtype)
        case Scalar(narrow=Value() as found) if dtype_of(found.type) is dtype and not v.options.debug:
            return found
        case Scalar(value=found, rounds_to=rounded):
            if rounded is not None and dtype is not dtypes.f32:
                found = v.emit.cast(found, rounded)
            return v.emit.cast(found, dtype)
        case _:
            raise v.error(None, "PA0402", f"expected a number, found {describe(value)}")


def _check_fits(v: Visitor, value: Val, dtype: DType) -> None:
    """What NumPy refuses of a Python int that becomes a narrower integer."""
    is_int = isinstance(value, SizeVal) or (
        isinstance(value, Scalar) and value.weak and value.dtype is dtypes.i64
    )
    if not is_int or not dtype.is_integer or dtype is dtypes.i64:
        return
    number = index(v, value)
    low, high = bounds(dtype)
    fine = v.emit.fn("ge", number, v.emit.index(low))
    if high < bounds(dtypes.i64)[1]:
        fine = v.emit.fn("and", fine, v.emit.fn("le", number, v.emit.index(high)))
    check(v, fine, "OverflowError", f"{{}} does not fit {dtype.numpy}", [number])


def index(v: Visitor, value: Val, node: ast.AST | None = None) -> Value:
    """An integer as i64. Refuses floats."""
    number = number_type(v, value) if is_number(value) else None
    if number is None or not (number.dtype.is_integer or (number.weak and number.dtype.is_bool)):
        raise v.error(node, "PA0404", f"expected an integer, found {describe(value)}")
    if isinstance(value, Const):
        if not fits(int(value.value), dtypes.i64):
            hint = "indices and counts have 64 bits"
            raise v.error(node, "PA0403", f"{value.value} does not fit int64", hint=hint)
        return v.emit.index(int(value.value))
    return scalar(v, value, dtypes.i64)


def refuse_bool_index(v: Visitor, value: Val, node: ast.AST | None = None) -> None:
    """Refuse a bool as an index: Python takes it for 0 or 1, NumPy for a mask."""
    if is_number(value) and number_type(v, value).dtype.is_bool:
        hint = "use `if` or asc.where for a choice, int(...) for the index 0 or 1"
        raise v.error(node, "PA0404", f"expected an integer index, found {describe(value)}", hint=hint)


def read_rounded(v: Visitor, value: Val) -> Val:
    """A number as others see it: an accumulation carried wider is rounded."""
    if isinstance(value, Scalar) and value.rounds_to is not None:
        return Scalar(v.emit.cast(value.value, value.rounds_to))
    return value


def operand(v: Visitor, value: Val) -> Val:
    """An operand ready for arithmetic: arrays are read, those without axes give their element."""
    if isinstance(value, Row):
        from pyasc.frontend.subscripts import row_view

        value = row_view(v, value)
    if isinstance(value, Array):
        if not value.shape:
            return Scalar(v.emit.value(py.Load(ref=value.ref, indices=[])))
        return Tensor(v.emit.value(tensor.Read(ref=value.ref)))
    if isinstance(value, Tensor) and not value.shape:
        return Scalar(v.emit.value(tensor.Extract(tensor=value.value, indices=[])))
    return read_rounded(v, value)


def as_tensor(v: Visitor, value: Val) -> Tensor:
    """The elements of an array at this moment."""
    found = operand(v, value)
    if isinstance(found, Tensor):
        return found
    raise v.error(None, "PA0402", f"expected an array, found {describe(value)}")


def shape_of(value: Val) -> tuple[Dim, ...]:
    """The extents of an operand; none for a number."""
    return value.shape if isinstance(value, (Tensor, Array)) else ()


def common_shape(v: Visitor, operands: Sequence[Val]) -> tuple[Dim, ...]:
    """NumPy's broadcast shape. Extents that cannot be told equal are compared at run time."""
    shapes = [shape_of(value) for value in operands]
    rank = max(map(len, shapes), default=0)
    result: list[Dim] = []
    for axis in range(-rank, 0):
        extent: Dim = 1
        holder: Val | None = None
        for value, shape in zip(operands, shapes, strict=True):
            if len(shape) >= -axis:
                extent, holder = meet(v, (extent, holder), (shape[axis], value), axis)
        result.append(extent)
    return tuple(result)


def meet(v: Visitor, a: tuple[Dim, Val | None], b: tuple[Dim, Val], axis: int) -> tuple[Dim, Val | None]:
    """What two extents become together, and the array that has it; `axis` counts from the end of both arrays.

    Sizes of other names are taken to be equal.
    """
    first, second = simplify(a[0]), simplify(b[0])
    if first == 1:
        return second, b[1]
    if second == 1 or (first == second and first is not None):
        return first, a[1]
    if isinstance(first, int) and isinstance(second, int):
        raise v.error(
            None,
            "PA0502",
            f"shapes {shape_text(shape_of(a[1]) if a[1] else ())} and {shape_text(shape_of(b[1]))} do not fit together",
            f"{first} against {second}",
        )
    assert a[1] is not None
    if first is not None and second is not None:
        v.equal.setdefault((lift(first), lift(second)))
    sizes = [extent(v, value, axis + len(shape_of(value))) for value in (a[1], b[1])]
    check(
        v,
        v.emit.fn("eq", *sizes),
        "ValueError",
        "operands could not be broadcast together: sizes {} and {} differ",
        sizes,
    )
    return (second, b[1]) if first is None or isinstance(second, int) else (first, a[1])


def shape_text(shape: Sequence[Dim]) -> str:
    """A shape as the user writes it."""
    inner = ", ".join("?" if d is None else str(d) for d in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def check(v: Visitor, condition: Value, error: str, message: str, values: Sequence[Value] = ()) -> None:
    """Stop the kernel with a Python exception unless the condition holds."""
    if isinstance(condition.op, arith.Constant) and condition.op.value is True:
        return
    v.emit.insert(py.Check(condition=condition, values=values, error=error, message=message))


def extent(v: Visitor, value: Val, axis: int) -> Value:
    """The run-time extent of one axis."""
    return size_value(v, length(v, value, axis))


def length(v: Visitor, value: Val, axis: int) -> Val:
    """The extent of one axis as the user sees it: known where the type knows it."""
    found = simplify(shape_of(value)[axis])
    if isinstance(found, int):
        return Const(found)
    if isinstance(found, SizeExpr):
        return SizeVal(found)
    if isinstance(value, Tensor):
        return Scalar(v.emit.value(tensor.Dim(tensor=value.value, axis=axis)), weak=True)
    assert isinstance(value, Array)
    return Scalar(v.emit.value(mem.Dim(ref=value.ref, axis=axis)), weak=True)


def size_value(v: Visitor, size: Val) -> Value:
    """An extent as i64."""
    return index(v, size)


def dim_of(size: Val) -> Dim:
    """What a type can say about an extent."""
    match size:
        case Const(value=int(number)):
            return number
        case SizeVal(expr=expr):
            return simplify(expr)
        case _:
            return None


def open_sizes(v: Visitor, shape: Sequence[Dim], sizes: Sequence[Val]) -> list[Value]:
    """The run-time extents for the open entries of a shape."""
    return [size_value(v, size) for dim, size in zip(shape, sizes, strict=True) if dim is None]


def shape_values(v: Visitor, shape: Sequence[Dim], operands: Sequence[Val]) -> list[Value]:
    """Run-time extents for the open entries of a broadcast shape, taken from operands that have them."""
    found: list[Value] = []
    for axis, dim in enumerate(shape):
        if dim is not None:
            continue
        behind = len(shape) - axis
        holder = next(o for o in operands if len(shape_of(o)) >= behind and shape_of(o)[-behind] is None)
        found.append(extent(v, holder, len(shape_of(holder)) - behind))
    return found


def elements(v: Visitor, value: Val, dtype: DType, shape: tuple[Dim, ...], others: Sequence[Val]) -> Value:
    """An operand as a tensor of this dtype and shape, or as a scalar when the shape has no axes."""
    if not shape:
        return scalar(v, value, dtype)
    type_ = TensorType(shape, dtype)
    if is_number(value):
        if isinstance(value, Const) and None not in shape:
            return v.emit.constant(_checked(v, value, dtype), type_)
        sizes = shape_values(v, shape, others)
        return v.emit.value(tensor.Splat(value=scalar(v, value, dtype), sizes=sizes, types=[type_]))
    assert isinstance(value, Tensor)
    found = v.emit.cast(value.value, dtype)
    if found.type == type_:
        return found
    return v.emit.value(tensor.Broadcast(value=found, sizes=shape_values(v, shape, others), types=[type_]))


def _checked(v: Visitor, value: Const, dtype: DType) -> bool | int | float:
    scalar(v, value, dtype)
    return value.value


def wrap(value: Value, weak: bool) -> Scalar | Tensor:
    """An SSA value as a number or a tensor."""
    return Scalar(value, weak) if isinstance(value.type, ScalarType) else Tensor(value)


def apply(v: Visitor, fn: str, operands: Sequence[Val], number: NumberType) -> Val:
    """An elementwise function of operands that are computed in the type `number`, broadcast together."""
    shape = common_shape(v, operands)
    if shape:
        remark_width(v, number.dtype)
    args = [elements(v, each, number.dtype, shape, operands) for each in operands]
    return wrap(v.emit.fn(fn, *args), number.weak)


def remark_width(v: Visitor, dtype: DType) -> None:
    """Say that automatic precision leaves an operation on arrays of float32 as it is, and why."""
    if v.precision.mode == "auto" and dtype is dtypes.f32:
        message = (
            "stays in float32: float16 does not hold its range, and vector units do not compute in bfloat16"
        )
        v.remarks.append(Diagnostic("", message, v.emit.builder.loc, severity="remark"))


def cast_to(v: Visitor, value: Val, dtype: DType, weak: bool = False) -> Val:
    """An explicit conversion of a number or an array."""
    found = operand(v, value)
    if isinstance(found, Tensor):
        return Tensor(v.emit.cast(found.value, dtype))
    if isinstance(found, Const) and is_number(found):
        from pyasc.frontend.emit import convert_number

        return Scalar(v.emit.constant(convert_number(found.value, dtype), dtype), weak)
    return Scalar(scalar(v, found, dtype, wraps=True), weak)


def promoted(v: Visitor, operands: Sequence[Val]) -> NumberType:
    """The type that all operands meet in."""
    result = number_type(v, operands[0])
    for value in operands[1:]:
        result = promote(result, number_type(v, value))
    return result


def application(v: Visitor, fn: str, operands: Sequence[Val]) -> tuple[str, NumberType]:
    """The row of the number table that computes `fn`, and the type that its operands are converted to."""
    try:
        row, number = promotion.application(fn, *(number_type(v, each) for each in operands))
    except TypeError as error:
        raise _no_operation(v, fn, operands, str(error)) from None
    # A Python float that comes out of Python ints has no operand that says how wide it is.
    return row, weak_float(v) if number == WEAK_FLOAT else number


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>", "neg": "-", "not": "~",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_OF_INTEGERS = frozenset({"and", "or", "xor", "shl", "shr", "not"})


def _no_operation(v: Visitor, fn: str, operands: Sequence[Val], reason: str) -> Exception:
    """The refusal of an operation on these types; what stands behind a colon in the reason is advice."""
    of_floats = fn in _OF_INTEGERS and any(number_type(v, each).dtype.is_float for each in operands)
    hint = "convert to an integer first: int(...), asc.int32(...)" if of_floats else reason.partition(": ")[2]
    types = " and ".join(describe(each) for each in operands)
    return v.error(None, "PA0407", f"`{_SIGNS.get(fn, f'asc.{fn}')}` does not take {types}", hint=hint)


def refuse_other_kind(v: Visitor, node: ast.AST, result: DType, array: DType) -> None:
    """Refuse an update in place that NumPy refuses: a kind of number never becomes a lesser one."""
    if "buif".index(result.kind) > "buif".index(array.kind):
        message = f"the result is {result.numpy}, which does not go into an array of {array.numpy}"
        raise v.error(node, "PA0409", message)


def truth(v: Visitor, value: Val, node: ast.AST | None = None) -> Value | bool:
    """Python's truth value: known, or as i1. Refuses arrays of several elements."""
    match value:
        case Const(value=found):
            return bool(found)
        case Tuple(items=items):
            return bool(items)
        case Function() | Method():
            return True
        case _ if is_array(value):
            single = operand(v, value)
            if isinstance(single, Tensor):
                raise v.error(
                    node,
                    "PA0405",
                    "the truth value of an array is ambiguous",
                    hint="use asc.any(...) or asc.all(...), or asc.where for a choice by element",
                )
            return truth(v, single)
        case SizeVal(expr=expr):
            return v.emit.nonzero(v.emit.size(expr))
        case Scalar():
            return v.emit.nonzero(
                value.value if value.rounds_to is None else v.emit.cast(value.value, value.rounds_to)
            )
        case _:
            raise v.error(node, "PA0402", f"expected a truth value, found {describe(value)}")


def size_polynomial(value: Val) -> SizeExpr | None:
    """The polynomial that an integer is, when it is one."""
    match value:
        case SizeVal(expr=expr):
            return expr
        case Const(value=int(number)) if not isinstance(number, bool):
            return lift(number)
        case _:
            return None


def element_ref(value: Value) -> RefType:
    """The type of a ref value."""
    assert isinstance(value.type, RefType)
    return value.type
