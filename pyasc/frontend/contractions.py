# SPDX-License-Identifier: Apache-2.0
"""Matrix products."""

from __future__ import annotations

from pyasc.frontend import numeric
from pyasc.frontend.precision import product_operands
from pyasc.frontend.reductions import unwrap
from pyasc.frontend.values import NONE, Tensor, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.dialects import tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import Dim
from pyasc.ir.types import ScalarType, TensorType

_BATCH = "abcdefgh"


def matmul(v: Visitor, a: Val, b: Val, dtype: Val = NONE) -> Val:
    """`a @ b`, `asc.matmul(a, b, dtype=...)`: the last two axes are multiplied, the others broadcast."""
    from pyasc.frontend.memory import element_type

    left, right = (_operand(v, each) for each in (a, b))
    _check_inner(v, left, right)
    natural = numeric.promoted(v, (left, right)).dtype
    result = natural if dtype == NONE else element_type(v, dtype)
    if natural is dtypes.i1:
        # True where any product is: as numbers, of which enough for any axis do not wrap.
        left, right = (Tensor(v.emit.cast(each.value, dtypes.i64)) for each in (left, right))
        return numeric.cast_to(v, _contract(v, left, right, dtypes.i64, dtypes.i64), result)
    return _contract(v, left, right, natural, result)


def _operand(v: Visitor, value: Val) -> Tensor:
    found = numeric.operand(v, value)
    if not isinstance(found, Tensor):
        raise v.error(
            None, "PA0402", f"a matrix product takes arrays, found {numeric.describe(value)}", hint="use `*`"
        )
    return found


def _check_inner(v: Visitor, left: Tensor, right: Tensor) -> None:
    axis = max(len(right.shape) - 2, 0)
    inner = (left.shape[-1], right.shape[axis])
    if inner[0] == inner[1] and inner[0] is not None:
        return
    if isinstance(inner[0], int) and isinstance(inner[1], int):
        raise v.error(
            None,
            "PA0502",
            f"matrices of shapes {numeric.shape_text(left.shape)} and {numeric.shape_text(right.shape)} "
            "cannot be multiplied",
            f"{inner[0]} columns against {inner[1]} rows",
            "transpose one of them, such as a @ b.T",
        )
    sizes = [numeric.extent(v, left, len(left.shape) - 1), numeric.extent(v, right, axis)]
    message = "matmul: the left operand has {} columns, the right one {} rows"
    numeric.check(v, v.emit.fn("eq", *sizes), "ValueError", message, sizes)


def _contract(v: Visitor, left: Tensor, right: Tensor, natural: DType, result: DType) -> Val:
    accumulate = dtypes.f32 if result.is_float and result.bits < 32 else result
    operands = [Tensor(each) for each in product_operands(v, left, right, natural)]
    batch = _batch_shape(v, operands)
    if batch:
        operands = [_with_batch(v, each, batch) for each in operands]
    letters = _BATCH[: len(batch)]
    rows = "i" if len(left.shape) > 1 else ""
    columns = "j" if len(right.shape) > 1 else ""
    lead = [letters if len(each.shape) > 2 else "" for each in operands]
    equation = f"{lead[0]}{rows}k,{lead[1]}k{columns}->{letters}{rows}{columns}"
    shape = (*batch, *left.shape[-2:-1], *(right.shape[-1:] if columns else ()))
    op = tensor.Contract(
        lhs=operands[0].value,
        rhs=operands[1].value,
        equation=equation,
        accumulate=ScalarType(accumulate),
        types=[TensorType(shape, result)],
    )
    return unwrap(v, v.emit.value(op))


def _batch_shape(v: Visitor, operands: list[Tensor]) -> tuple[Dim, ...]:
    """The broadcast shape of the leading axes."""
    leading = [each.shape[:-2] for each in operands]
    if not any(leading):
        return ()
    if len(leading[0]) == len(leading[1]) and leading[0] == leading[1] and None not in leading[0]:
        return leading[0]
    rank = max(map(len, leading))
    result: list[Dim] = []
    for axis in range(-rank, 0):
        extent: Dim = 1
        holder: Val | None = None
        for lead, operand in zip(leading, operands, strict=True):
            if len(lead) >= -axis:
                extent, holder = numeric.meet(v, (extent, holder), (lead[axis], operand), axis - 2)
        result.append(extent)
    return tuple(result)


def _with_batch(v: Visitor, value: Tensor, batch: tuple[Dim, ...]) -> Tensor:
    if len(value.shape) == 1:
        return value
    shape = (*batch, *value.shape[-2:])
    if shape == value.shape:
        return value
    if len(value.shape) == 2:
        return value
    op = tensor.Broadcast(value=value.value, sizes=[], types=[TensorType(shape, value.dtype)])
    return Tensor(v.emit.value(op))


def dot(v: Visitor, a: Val, b: Val) -> Val:
    """`asc.dot`, which is the matrix product as long as the second array has at most two dimensions."""
    if len(_operand(v, b).shape) > 2:
        hint = "use asc.matmul for a batch of products, or asc.einsum"
        raise v.error(None, "PA0402", "asc.dot of an array of more than two dimensions", hint=hint)
    return matmul(v, a, b)
