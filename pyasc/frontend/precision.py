# SPDX-License-Identifier: Apache-2.0
"""Which types matrix products of float32 arrays are computed from, in `mixed` and `auto` precision.

The sum is float32 in every case. The error that rounding the operands makes is estimated relative to the product
of the operands' absolute values: with unit roundoffs e and f of the two, it is e + f + e * f (Higham, "Accuracy and
Stability of Numerical Algorithms", section 3.5), and 0 for an operand that the narrow type holds exactly.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from pyasc.frontend.values import Const, Tensor, Val
from pyasc.frontend.visitor import Precision, Refused, Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.diagnostics import Diagnostic
from pyasc.ir.dialects import arith, tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.types import TensorType, dtype_of
from pyasc.language.precision import MODES
from pyasc.language.precision import precision as precision_block

_ROUNDOFF = {dtypes.f16: 2.0**-11, dtypes.bf16: 2.0**-8}
_EXACT_IN = {
    dtypes.f16: (dtypes.f16, dtypes.i8, dtypes.u8, dtypes.i1),
    dtypes.bf16: (dtypes.bf16, dtypes.i8, dtypes.u8, dtypes.i1),
}


def with_statement(v: Visitor, node: ast.With) -> None:
    """`with asc.precision(...):`."""
    call = node.items[0].context_expr
    found = _function_of(v, call)
    plain = len(node.items) == 1 and node.items[0].optional_vars is None
    if not plain or not isinstance(found, Const) or found.value is not precision_block:
        message, why = "`with` is not supported in a kernel", "kernels know asc.precision(...) alone"
        raise v.error(node, "PA0202", message, why, "leave it out")
    assert isinstance(call, ast.Call)
    with _inside(v, _chosen(v, call)):
        v.body(node.body)


def _function_of(v: Visitor, node: ast.expr) -> Val | None:
    """What a context calls, None for anything that is no call or has no value: both are refused alike."""
    try:
        return v.expr(node.func) if isinstance(node, ast.Call) else None
    except Refused:
        return None


def _chosen(v: Visitor, call: ast.Call) -> Precision:
    mode = v.expr(call.args[0]) if len(call.args) == 1 else None
    given = {each.arg: v.expr(each.value) for each in call.keywords}
    tolerance = given.pop("tolerance", Const(None))
    known = isinstance(mode, Const) and mode.value in MODES
    if not known or given or not isinstance(tolerance, Const) or not _is_tolerance(tolerance.value):
        raise v.error(
            call, "PA0408", "asc.precision takes a mode, and a tolerance that is a positive number",
            hint='write asc.precision("mixed"), or asc.precision("auto", tolerance=1e-2)',
        )  # fmt: skip
    assert isinstance(mode, Const)
    if mode.value == "strict":
        v.strict = True
    allowed = v.precision.tolerance if tolerance.value is None else tolerance.value
    return Precision(mode.value, allowed)


def _is_tolerance(value: object) -> bool:
    return value is None or (isinstance(value, float) and value > 0)


@contextmanager
def _inside(v: Visitor, chosen: Precision) -> Iterator[None]:
    outer, v.precision = v.precision, chosen
    try:
        yield
    finally:
        v.precision = outer


def product_operands(v: Visitor, left: Tensor, right: Tensor, dtype: DType) -> tuple[Value, Value]:
    """The operands of a product-sum that NumPy computes in `dtype`."""
    narrow = None
    if dtype is dtypes.f32 and v.precision.mode == "mixed":
        narrow = dtypes.f16
    elif dtype is dtypes.f32 and v.precision.mode == "auto":
        narrow = _lowest(v, left, right)
    if narrow is None:
        return v.emit.cast(left.value, dtype), v.emit.cast(right.value, dtype)
    return _narrowed(v, left.value, narrow), _narrowed(v, right.value, narrow)


def _source(value: Value) -> Value:
    """What a value was widened from."""
    op = value.op
    return op.value if isinstance(op, arith.Cast) else value


def _narrowed(v: Visitor, value: Value, dtype: DType) -> Value:
    source = _source(value)
    return v.emit.cast(source if dtype_of(source.type) is dtype else value, dtype)


def _is_exact(value: Tensor, dtype: DType) -> bool:
    return dtype_of(_source(value.value).type) in _EXACT_IN[dtype]


def _lowest(v: Visitor, left: Tensor, right: Tensor) -> DType | None:
    """The narrow type whose estimated error is allowed, the more exact one first; None for float32.

    float16 is taken only where both operands are exact in it: values from elsewhere may be beyond its range.
    """
    allowed = v.precision.tolerance
    estimates: list[str] = []
    for dtype in (dtypes.f16, dtypes.bf16):
        first, second = (0.0 if _is_exact(each, dtype) else _ROUNDOFF[dtype] for each in (left, right))
        error = first + second + first * second
        if dtype is dtypes.f16 and error:
            continue
        if error <= allowed:
            _remark(v, f"computed from {dtype.numpy}: estimated error {error:.1e}, allowed {allowed:.1e}")
            return dtype
        estimates.append(f"{dtype.numpy} has an estimated error of {error:.1e}")
    _remark(v, f"computed from float32: {'; '.join(estimates)}, allowed {allowed:.1e}")
    return None


def _remark(v: Visitor, what: str) -> None:
    v.remarks.append(Diagnostic("", f"matrix product {what}", v.emit.builder.loc, severity="remark"))


def unrounded(v: Visitor, value: Val, dtype: DType) -> Val | None:
    """In mixed precision, a half-precision product that is converted to float32 at once: its float32 sum itself."""
    found = value if isinstance(value, Tensor) else None
    op = None if found is None else found.value.op
    if v.precision.mode not in ("mixed", "auto") or dtype is not dtypes.f32:
        return None
    if not isinstance(op, tensor.Contract) or dtype_of(op.accumulate) is not dtypes.f32:
        return None
    assert found is not None
    again = tensor.Contract(
        lhs=op.lhs, rhs=op.rhs, equation=op.equation, accumulate=op.accumulate,
        types=[TensorType(found.shape, dtypes.f32)],
    )  # fmt: skip
    return Tensor(v.emit.value(again))
