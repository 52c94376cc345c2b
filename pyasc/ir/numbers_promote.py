# SPDX-License-Identifier: Apache-2.0
"""Which type operands of different types are brought to, and which type comes out.

The rules are NumPy 2's, with the language's one difference: what would be float64 though no operand is float64 is
float32. Python numbers are weak: they take the dtype of what they meet, unless their kind (bool, int, float) is
higher. NumPy has no bfloat16; it follows float16's rule here: 8-bit integers fit it, wider ones give float32.
"""

from __future__ import annotations

from enum import Enum
from functools import reduce

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.ir.numbers_table import TABLE
from pyasc.ir.record import Record


class Weak(Enum):
    """A Python number, a run-time parameter included, whose dtype is open until it meets an element."""

    BOOL = "b"
    INT = "i"
    FLOAT = "f"

    @property
    def kind(self) -> str:
        """The kind in the notation of `DType.kind`."""
        return self.value


Operand = DType | Weak
"""The type of an operand before promotion."""

_RANK = {"b": 0, "u": 1, "i": 1, "f": 2}
_BY_RANK = (Weak.BOOL, Weak.INT, Weak.FLOAT)


class Signature(Record):
    """How a function is applied to operands.

    `fn` is the row to apply (`add` on bools is `or`, as in NumPy), or empty when the operand itself is the result.
    `operand` is the type that all data operands are converted to, `result` the type that comes out.
    """

    fn: str
    operand: Operand
    result: Operand


def default_dtype(operand: Operand) -> DType:
    """The dtype that a Python number is computed in when it meets nothing wider."""
    if isinstance(operand, DType):
        return operand
    return {Weak.BOOL: dtypes.i1, Weak.INT: dtypes.i64, Weak.FLOAT: dtypes.f32}[operand]


def promote(*operands: Operand) -> Operand:
    """The common type of one or more operands; weak when all are. The order does not matter."""
    strong = [operand for operand in operands if isinstance(operand, DType)]
    weak = [operand for operand in operands if isinstance(operand, Weak)]
    highest = max(weak, key=_BY_RANK.index, default=Weak.BOOL)
    if not strong:
        return highest
    common = reduce(_common, strong)
    if _RANK[highest.kind] <= _RANK[common.kind]:
        return common
    return default_dtype(highest)


def _common(left: DType, right: DType) -> DType:
    if left is right:
        return left
    low, high = sorted((left, right), key=lambda dtype: (_RANK[dtype.kind], dtype.bits))
    if low.is_bool:
        return high
    if low.is_float:
        # The 16-bit floats do not contain each other.
        return high if high.bits > 16 else dtypes.f32
    return _integer_and_float(low, high) if high.is_float else _integers(left, right)


def _integers(left: DType, right: DType) -> DType:
    if left.kind == right.kind:
        return left if left.bits >= right.bits else right
    signed, unsigned = (left, right) if left.kind == "i" else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    wider = unsigned.bits * 2
    return dtypes.BY_NAME[f"i{wider}"] if wider <= 64 else dtypes.f32


def _integer_and_float(integer: DType, real: DType) -> DType:
    return real if real.bits > 16 or integer.bits == 8 else dtypes.f32


def float_dtype(operand: Operand) -> Operand:
    """The floating-point type in which a function such as `exp` is computed on this operand."""
    if isinstance(operand, Weak):
        return Weak.FLOAT
    if operand.is_float:
        return operand
    return dtypes.f16 if operand.bits == 8 else dtypes.f32


def signature(fn: str, *operands: Operand) -> Signature:
    """How `fn` is applied to operands of these types. For `select`, give the two data operands.

    Raises KeyError for an unknown function and TypeError where NumPy refuses the types too.
    """
    row = TABLE[fn]
    common = promote(*operands)
    if fn in ("floor", "ceil", "trunc") and common.kind != "f":
        return Signature("", common, common)
    if common.kind == "b" and fn in _ON_BOOLS:
        return _on_bools(fn, common)
    if row.kinds == "f" and common.kind != "f":
        common = _float_for(fn, operands, common)
    _refuse_mixed_64_bits(fn, operands, common)
    if common.kind not in row.kinds:
        raise TypeError(f"{fn} is not defined on {_words(common)}")
    result = dtypes.i1 if row.result == "bool" else common
    return Signature(fn, common, result)


def _float_for(fn: str, operands: tuple[Operand, ...], common: Operand) -> Operand:
    strong = [operand for operand in operands if isinstance(operand, DType)]
    if not strong or promote(*strong) is not common:
        return float_dtype(common)
    return dtypes.f32 if fn == "div" else promote(*map(float_dtype, strong))


_ON_BOOLS = ("add", "sub", "mul", "floordiv", "mod", "fmod", "pow", "neg", "abs", "sign", "shl", "shr", "not")


def _on_bools(fn: str, common: Operand) -> Signature:
    if common is Weak.BOOL:
        return Signature(fn, Weak.INT, Weak.INT)
    if fn == "not":
        return Signature(fn, common, common)
    if fn in ("add", "mul"):
        return Signature("or" if fn == "add" else "and", common, common)
    if fn == "abs":
        return Signature("", common, common)
    if fn in ("sub", "neg", "sign"):
        hint = {"sub": "use ^ or !=", "neg": "use ~ or not"}.get(fn, "convert it first")
        raise TypeError(f"{fn} is not defined on bool: {hint}")
    return Signature(fn, dtypes.i8, dtypes.i8)


def _refuse_mixed_64_bits(fn: str, operands: tuple[Operand, ...], common: Operand) -> None:
    """Comparing int64 with uint64 in float32 would be silently wrong."""
    mixed = common is dtypes.f32 and all(isinstance(o, DType) and not o.is_float for o in operands)
    if mixed and TABLE[fn].result == "bool" and TABLE[fn].arity == 2:
        raise TypeError(f"{fn} between signed and unsigned 64-bit integers: convert one of them first")


def _words(operand: Operand) -> str:
    return operand.numpy if isinstance(operand, DType) else f"a Python {operand.name.lower()}"


def reduction_dtype(fn: str, dtype: DType) -> DType:
    """The dtype of a reduction or a running one (`cumsum`) over elements of `dtype`.

    `fn` is one of add, mul, mean, maximum, minimum, and, or. Sums and products of integers and bools are 64 bits
    wide, a mean of them is float32, and and or give bool.
    """
    if fn in ("and", "or"):
        return dtypes.i1
    if fn == "mean":
        return dtype if dtype.is_float else dtypes.f32
    if fn in ("add", "mul") and not dtype.is_float:
        return dtypes.u64 if dtype.kind == "u" else dtypes.i64
    return dtype
