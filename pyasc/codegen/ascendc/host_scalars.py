# SPDX-License-Identifier: Apache-2.0
"""Numbers that the host computes for a kernel, since the scalar unit of a core has no instruction for them."""

from __future__ import annotations

from pyasc.codegen.ascendc.expressions import Inner, NotScalar, scalar
from pyasc.codegen.ascendc.spelling import CTYPES
from pyasc.codegen.cpp.nodes import Expr
from pyasc.ir import dtypes
from pyasc.ir.core import Operation
from pyasc.ir.dialects import arith
from pyasc.ir.types import dtype_of

_FUNCTIONS = {
    **{
        name: f"{name}f"
        for name in (
            "sqrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan "
            "asinh acosh atanh erf erfc pow atan2 floor ceil trunc hypot exp2 fmod"
        ).split()
    },
    "rint": "rintf",
}

HOST_FUNCTIONS = frozenset(_FUNCTIONS.values())
"""Functions of C that the expressions may call."""

HOST_HELPERS = {
    "Truncated": """// A conversion to integers that saturates; NaN becomes 0.
template <typename T>
static inline T Truncated(float value)
{
    const T low = static_cast<T>(-1) < 0 ? static_cast<T>(static_cast<T>(1) << (8 * sizeof(T) - 1)) : 0;
    const T high = static_cast<T>(~low);
    if (!(value == value)) {
        return 0;
    }
    return value <= static_cast<float>(low) ? low : value >= static_cast<float>(high) ? high : static_cast<T>(value);
}""",
}
"""Functions that the expressions may call besides those of the cores."""


def host_scalar(op: Operation, inner: Inner) -> Expr:
    """The expression of a pure scalar operation on the host. Raises NotScalar."""
    if isinstance(op, arith.Cast):
        source, target = dtype_of(op.value.type), dtype_of(op.result.type)
        if source is dtypes.f32 and target.is_integer:
            return Expr(f"Truncated<{CTYPES[target]}>({inner(op.value)})")
        if dtypes.f16 in (source, target) or dtypes.bf16 in (source, target):
            raise NotScalar(f"a cast of one {source} number to {target} on the host")
    if isinstance(op, arith.Elementwise) and dtype_of(op.args[-1].type) is dtypes.f32:
        args = ", ".join(str(inner(arg)) for arg in op.args)
        if op.fn in _FUNCTIONS:
            return Expr(f"{_FUNCTIONS[op.fn]}({args})")
        if op.fn == "rsqrt":
            return Expr(f"1.0f / sqrtf({args})")
    return scalar(op, inner)
