# SPDX-License-Identifier: Apache-2.0
"""From the scalar body of a structured op to vector instructions of arch 2201.

What the vector unit has is taken as it is; for the rest the best exact route:

- Python's `max(a, b)` keeps `a` unless `b` is larger: a compare and a select, or one Max where `b` is a number,
  since Max and the rule agree on NaN then.
- Order of integers is told by `max(a, b) == a`, since Compare knows equality of int32 alone.
- 8-bit integers are computed as int16, bfloat16 as float32, unsigned ones as signed where bits are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith
from pyasc.ir.dtypes import DType
from pyasc.ir.location import UNKNOWN
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import constant_of
from pyasc.passes.analysis.not_vector import TAKES_CALLS, refuse
from pyasc.passes.analysis.scalar_instructions import HALVES, has_instruction
from pyasc.passes.analysis.tile_casts import cast
from pyasc.passes.analysis.tile_division import quotient
from pyasc.passes.analysis.tile_names import extended
from pyasc.passes.analysis.tile_program import COLUMN, FULL, Instruction, Operand, Program, Register, covers
from pyasc.passes.analysis.zero_signs import zeros_are_alike

COMPARISONS = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
"""Every comparison, and the one that says the same with its operands exchanged."""

_NEGATED = {"lt": "ge", "gt": "le", "le": "gt", "ge": "lt", "eq": "ne", "ne": "eq"}
_FLOATS = (dtypes.f16, dtypes.f32)
_ARITHMETIC = (*_FLOATS, dtypes.i16, dtypes.i32)
ADVANCED = ("tanh", "erf", "erfc")
SCRATCHED = (*ADVANCED, "fmod")
"""Functions that take several calls and bytes to work in."""
_BROADCASTING = ("add", "sub", "mul", "div", "maximum", "minimum")
_COMPARED_AS = {dtypes.i8: dtypes.f16, dtypes.u8: dtypes.f16, dtypes.i16: dtypes.f32}
"""Floats that hold every integer of a dtype."""
_ROUNDED = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint"}

if TYPE_CHECKING:
    from pyasc.passes.analysis.tile_counters import Wide


def number_of(value: float, dtype: DType) -> arith.Constant:
    """A constant; for an infinity, the integer that stands nearest to it."""
    if dtype.is_float:
        return arith.Constant.of(value, dtype)
    if not math.isinf(value):
        return arith.Constant.of(int(value), dtype)
    lowest = -(1 << dtype.bits - 1) if dtype.is_signed else 0
    return arith.Constant.of(lowest if value < 0 else lowest + (1 << dtype.bits) - 1, dtype)


class Legaliser:
    """Translates bodies into one program.

    `at` stands where scalars are computed once, before the loop over tiles; `operands` maps values of the body.
    """

    def __init__(self, program: Program, at: Builder) -> None:
        self.program = program
        self.at = at
        self.operands: dict[Value, Operand] = {}
        self.loc = UNKNOWN
        self.current: Operation | None = None
        self.wide: Wide | None = None
        self.lines = False
        self._masks: dict[Register, tuple[str, tuple[Operand, ...]]] = {}
        self._known: dict[tuple[str, str, str, tuple[Operand, ...]], Register] = {}

    def operand(self, value: Value) -> Operand:
        """The register or scalar that a value of the body has become."""
        known = self.operands.get(value)
        if known is None and self.wide is not None:
            known = self.wide.operand(value)
        return value if known is None else known

    def index(self, mode: str, cover: str, name: str) -> Register:
        """A loop counter as int32; `mode` is `"walk"` or `"fill"` and its number in the nest."""
        key = ("index", cover, mode, ())
        if key not in self._known:
            target = Register(dtypes.i32, name, cover)
            self.program.instructions.append(Instruction("index", target, (), mode, self.loc))
            self._known[key] = target
        return self._known[key]

    def run(self, op: Operation) -> None:
        """Translate one operation of a body. Raises NotVector."""
        self.loc = op.loc
        self.current = op
        args = [self.operand(value) for value in op.operands]
        if not any(isinstance(arg, Register) for arg in args):
            self._scalar(op)
            return
        if self.wide is not None and self.wide.takes(op, args):
            self.operands[op.results[0]] = self.wide.run(op, args)
            return
        match op:
            case arith.Elementwise():
                self._refuse_halves(op, args)
                made = self.elementwise(op.fn, args)
            case arith.Cast():
                made = self.cast(self.register(args[0]), dtype_of(op.result.type))
            case _:
                raise refuse(f"{op.name} on elements", op.loc)
        if isinstance(made, Register) and not made.name:
            made.name = op.results[0].name
        self.operands[op.results[0]] = made

    def _refuse_halves(self, op: arith.Elementwise, args: Sequence[Operand]) -> None:
        """Registers of 32 bits stand for integers of 64 in what `wide` takes alone."""
        for value, arg in zip(op.args, args, strict=True):
            dtype = dtype_of(value.type)
            if isinstance(arg, Register) and not arg.is_mask and arg.dtype.bits < dtype.bits == 64:
                raise refuse(f"`{op.fn}` of {dtype} elements", op.loc)

    def _scalar(self, op: Operation) -> None:
        if not isinstance(op, (arith.Constant, arith.Elementwise, arith.Cast)):
            raise refuse(f"{op.name} in a loop over elements", op.loc)
        if isinstance(op, arith.Elementwise) and op.fn != "select":
            dtype = dtype_of(op.args[-1].type)
            if not has_instruction(op.fn, dtypes.f32 if dtype in HALVES else dtype):
                raise refuse(TAKES_CALLS, op.loc)
        mapping = {value: arg for value in op.operands if isinstance(arg := self.operand(value), Value)}
        made = self._by_way_of_float(op, [mapping.get(value, value) for value in op.operands])
        self.operands[op.results[0]] = made or self.at.insert(op.clone(dict(mapping))).results[0]

    def _by_way_of_float(self, op: Operation, args: Sequence[Value]) -> Value | None:
        """A number that is computed from halves, which the scalar unit computes in float32; None for any other.

        Arithmetic in float32 that is rounded once more is that of halves; a choice computes nothing.
        """
        result = dtype_of(op.results[0].type)
        halves = any(dtype_of(arg.type) in HALVES for arg in args)
        if not halves or not isinstance(op, arith.Elementwise) or op.fn == "select":
            return None
        return self._number(op.fn, args, result)

    def _number(self, fn: str, args: Sequence[Value], result: DType) -> Value:
        """A function of numbers; halves are computed in float32."""
        made = self.at.value(arith.Elementwise(fn=fn, args=[self._float(arg) for arg in args]))
        return made if dtype_of(made.type) is result else self.at.value(arith.Cast.to(made, result))

    def _float(self, number: Value) -> Value:
        return self.at.value(arith.Cast.to(number, dtypes.f32)) if dtype_of(number.type) in HALVES else number

    def register(self, operand: Operand, cover: str = FULL) -> Register:
        """The operand as a register; a scalar is spread over one."""
        if isinstance(operand, Register):
            return operand
        if cover == FULL:
            return self.emit("fill", dtype_of(operand.type), operand)
        key = ("fill", dtype_of(operand.type).name, cover, (operand,))
        if key not in self._known:
            target = Register(dtype_of(operand.type), "", cover)
            self.program.instructions.append(Instruction("fill", target, (operand,), loc=self.loc))
            self._known[key] = target
        return self._known[key]

    def emit(self, fn: str, dtype: DType, *args: Operand, mode: str = "", name: str = "") -> Register:
        """Append an instruction, unless an equal one has been, and return its result."""
        if fn not in _BROADCASTING and len({a.cover for a in args if isinstance(a, Register)}) > 1:
            args = tuple(self.full(arg) for arg in args)
        key = (fn, dtype.name, mode, args)
        if key not in self._known:
            cover = covers(args) if any(isinstance(a, Register) for a in args) else FULL
            target = Register(dtype, name, cover)
            self.program.instructions.append(Instruction(fn, target, args, mode, self.loc))
            self._known[key] = target
            if target.is_mask:
                self._masks[target] = fn, args
        return self._known[key]

    def entered(self) -> dict[tuple[str, str, str, tuple[Operand, ...]], Register]:
        """What is known where a loop begins; `left` takes it back, since the loop may overwrite what it made."""
        return dict(self._known)

    def left(self, known: dict[tuple[str, str, str, tuple[Operand, ...]], Register]) -> None:
        """Forget what is known from inside a loop."""
        self._known = known

    def full(self, operand: Operand) -> Operand:
        """A register that covers all of the tile: one value a row, or one row for all, is repeated."""
        if not isinstance(operand, Register) or operand.cover == FULL:
            return operand
        if operand.is_mask:
            # Bits are not repeated; what they say is asked of full operands.
            fn, args = self._masks[operand]
            return self.emit(fn, dtypes.i1, *(self.full(arg) for arg in args))
        if operand.dtype.bits not in (16, 32):
            raise refuse(f"one {operand.dtype} element repeated", self.loc)
        key = ("repeat", operand.dtype.name, "", (operand,))
        if key not in self._known:
            target = Register(operand.dtype, extended(operand.name, "Repeated") if operand.name else "")
            self.program.instructions.append(Instruction("move", target, (operand,), loc=self.loc))
            self._known[key] = target
        return self._known[key]

    def reduce(self, fn: str, operand: Operand) -> Register:
        """One value a row, combined by add, maximum or minimum."""
        source = self.full(self.register(operand))
        assert isinstance(source, Register)
        known = source.dtype in _FLOATS or (source.dtype is dtypes.i32 and self.lines)
        if not known or fn not in ("add", "maximum", "minimum"):
            raise refuse(f"a reduction of {source.dtype} elements by `{fn}`", self.loc)
        target = Register(source.dtype, "", COLUMN)
        scratch = Register(source.dtype, "fold")
        self.program.instructions.append(Instruction("reduce", target, (source,), fn, self.loc, scratch))
        return target

    def pack(self, source: Register) -> Register:
        """Values side by side that arrived in a block of 32 bytes each."""
        if source.dtype.bits not in (16, 32):
            raise refuse(f"one {source.dtype} element of each row, rows apart", self.loc)
        key = ("pack", source.dtype.name, "", (source,))
        if key not in self._known:
            target = Register(source.dtype, extended(source.name, "Packed"), COLUMN)
            # Reductions know floats alone; the others are gathered.
            offsets = None if source.dtype in _FLOATS else Register(dtypes.i32, "offsets", COLUMN)
            packed = Instruction("reduce", target, (source,), "maximum", self.loc, offsets)
            self.program.instructions.append(packed)
            self._known[key] = target
        return self._known[key]

    def number(self, value: float, dtype: DType) -> Value:
        """A scalar constant; for an infinity, the integer that stands nearest to it."""
        return self.at.value(number_of(value, dtype))

    def elementwise(self, fn: str, args: Sequence[Operand]) -> Operand:
        """A function of the number table on operands of which at least one is a register."""
        dtype = _dtype(args[-1])
        if dtype is dtypes.bf16 and fn != "select":
            return self._through_float(fn, args)
        if fn in COMPARISONS:
            return self.compare(fn, args)
        if dtype in (dtypes.i8, dtypes.u8) and fn != "select":
            return self._through_int16(fn, args, dtype)
        handler = _HANDLERS.get(fn)
        if handler is not None:
            return handler(self, args)
        if fn in ADVANCED and dtype in _FLOATS:
            return self.emit(fn, dtype, self.register(args[0]))
        raise refuse(f"`{fn}` of {dtype} elements", self.loc)

    def _through_float(self, fn: str, args: Sequence[Operand]) -> Operand:
        """A function of bfloat16: that of float32, rounded once more."""
        made = self.elementwise(fn, [self.convert(arg, dtypes.f32) for arg in args])
        return made if isinstance(made, Register) and made.is_mask else self.convert(made, dtypes.bf16)

    def _through_int16(self, fn: str, args: Sequence[Operand], dtype: DType) -> Operand:
        """A function of 8-bit integers: that of int16, of which the low byte is kept."""
        made = self.elementwise(fn, [self.convert(arg, dtypes.i16) for arg in args])
        if isinstance(made, Value) or made.is_mask:
            return made
        return self.cast(made, dtype)

    def low_byte(self, wide: Register, dtype: DType) -> Register:
        """The low byte of an int16 as the number that an int8 or uint8 makes of it."""
        if dtype is dtypes.u8:
            return self.emit("and", dtypes.i16, wide, self.register(self.number(255, dtypes.i16)))
        eight = self.number(8, dtypes.i16)
        return self.emit("shr", dtypes.i16, self.emit("shl", dtypes.i16, wide, eight), eight)

    def arithmetic(self, fn: str, args: Sequence[Operand]) -> Register:
        """add, sub, mul, maximum, minimum: on two registers, or on one and a scalar that stands last."""
        left, right = args
        dtype = self._computed(_dtype(left), fn)
        if isinstance(left, Register) and isinstance(right, Register):
            return self.emit(fn, dtype, left, right)
        if fn == "sub":
            return self._difference(left, right, dtype)
        vector, scalar = (left, right) if isinstance(left, Register) else (right, left)
        return self.emit(fn, dtype, vector, scalar)

    def _difference(self, left: Operand, right: Operand, dtype: DType) -> Register:
        if isinstance(right, Value):
            return self.emit("add", dtype, left, self._negated(right))
        return self.emit("add", dtype, self.emit("mul", dtype, right, self.number(-1, dtype)), left)

    def _negated(self, scalar: Value) -> Value:
        known = constant_of(scalar)
        if known is not None and not isinstance(known, bool):
            return self.number(-known, dtype_of(scalar.type))
        return self._number("neg", [scalar], dtype_of(scalar.type))

    def _computed(self, dtype: DType, fn: str) -> DType:
        if dtype not in _ARITHMETIC:
            raise refuse(f"`{fn}` of {dtype} elements", self.loc)
        return dtype

    def floating(self, fn: str, args: Sequence[Operand]) -> Register:
        """A function of registers alone that exists for float16 and float32."""
        dtype = _dtype(args[0])
        if dtype not in _FLOATS:
            raise refuse(f"`{fn}` of {dtype} elements", self.loc)
        # A number beside one value a row is needed once a row, not once an element.
        cover = COLUMN if covers(args) == COLUMN else FULL
        return self.emit(fn, dtype, *(self.register(arg, cover) for arg in args))

    def remainder(self, args: Sequence[Operand]) -> Register:
        """What a division of float32 leaves, by a function of the file."""
        if _dtype(args[0]) is not dtypes.f32:
            raise refuse(f"`fmod` of {_dtype(args[0])} elements", self.loc)
        return self.floating("fmod", args)

    def divide(self, args: Sequence[Operand]) -> Register:
        """A quotient; by a power of two it is a product, which is exact."""
        divisor = constant_of(args[1]) if isinstance(args[1], Value) else None
        if isinstance(divisor, float) and _exact_reciprocal(divisor):
            return self.emit("mul", _dtype(args[0]), args[0], self.number(1.0 / divisor, _dtype(args[0])))
        return self.floating("div", args)

    def compare(self, fn: str, args: Sequence[Operand]) -> Register:
        """A mask. Integers are ordered through equality, the one comparison that they have."""
        left, right = args
        if not isinstance(left, Register):
            fn, left, right = COMPARISONS[fn], right, left
        dtype = _dtype(left)
        if dtype in _FLOATS or (dtype is dtypes.i32 and fn == "eq"):
            return self.emit(fn, dtypes.i1, left, right)
        if dtype in _COMPARED_AS:
            wide = [self.convert(each, _COMPARED_AS[dtype]) for each in (left, right)]
            return self.compare(fn, wide)
        if dtype is not dtypes.i32:
            raise refuse(f"comparison of {dtype} elements", self.loc)
        if fn in ("ne", "lt", "gt"):
            return self.emit("not", dtypes.i1, self.compare(_NEGATED[fn], [left, right]))
        extreme = self.arithmetic("maximum" if fn == "ge" else "minimum", [left, right])
        return self.emit("eq", dtypes.i1, extreme, left)

    def select(self, args: Sequence[Operand]) -> Operand:
        """`then` where the mask has a bit, else `otherwise`; the tensor operand comes first."""
        condition, then, otherwise = args
        mask = self.mask(condition, covers([then, otherwise]))
        dtype = max(_dtype(then), _dtype(otherwise), key=lambda each: each.bits)
        if dtype in (dtypes.i8, dtypes.u8):
            made = self.select([mask, *(self.convert(each, dtypes.f16) for each in (then, otherwise))])
            return self.convert(made, dtype)
        if dtype.bits not in (16, 32):
            raise refuse(f"`where` on {dtype} elements", self.loc)
        then = then if isinstance(otherwise, Register) else self.register(then, mask.cover)
        if not isinstance(then, Register):
            mask, then, otherwise = self.inverted(mask), otherwise, then
        if isinstance(otherwise, Value) and dtype not in _FLOATS:
            otherwise = self.register(otherwise, mask.cover)
        return self.emit("select", dtype, mask, then, otherwise)

    def mask(self, condition: Operand, cover: str) -> Register:
        """The condition as bits; one for all elements is compared as a number."""
        if isinstance(condition, Register):
            return condition
        one, zero = self.number(1.0, dtypes.f32), self.number(0.0, dtypes.f32)
        number = self.at.value(arith.Elementwise(fn="select", args=[condition, one, zero]))
        return self.compare("ne", [self.register(number, cover), zero])

    def inverted(self, mask: Register) -> Register:
        """The mask with every bit flipped; NaN makes that differ from the opposite comparison."""
        fn, args = self._masks.get(mask, ("", ()))
        # In a loop over rounds the mask may be of the round before.
        if fn == "not" and isinstance(args[0], Register) and not self.program.loops:
            return args[0]
        return self.emit("not", dtypes.i1, mask)

    def python_extreme(self, fn: str, args: Sequence[Operand]) -> Operand:
        """Python's max and min: the first operand unless the second is larger (smaller)."""
        first, second = args
        whole, wins = ("maximum", "gt") if fn == "pymax" else ("minimum", "lt")
        known = constant_of(second) if isinstance(second, Value) else None
        if not _dtype(args[-1]).is_float:
            return self.arithmetic(whole, args)
        # Of 0.0 and -0.0 Python takes the first, and Max either.
        if known is not None and not math.isnan(known) and (known != 0 or zeros_are_alike(self.current)):
            return self.arithmetic(whole, args)
        return self.select([self.compare(wins, [second, first]), second, first])

    def floor_division(self, fn: str, args: Sequence[Operand]) -> Register:
        """Python's `//` and `%` by a positive number."""
        left, right = args
        dtype = _dtype(left)
        by = constant_of(right) if isinstance(right, Value) else None
        known = isinstance(left, Register) and dtype in (dtypes.i16, dtypes.i32) and by is not None
        if not known or not 0 < int(by or 0) <= 1 << 30:
            raise refuse(f"`{fn}` of {dtype} elements by other than a positive number", self.loc)
        assert isinstance(left, Register) and by is not None
        whole = quotient(self, left, int(by))
        if fn == "floordiv":
            return whole
        return self._minus(left, self.emit("mul", dtype, whole, self.number(int(by), dtype)))

    def _minus(self, left: Register, right: Register) -> Register:
        return self.emit("sub", left.dtype, left, right)

    def absolute(self, args: Sequence[Operand]) -> Register:
        """|x|, for int32 as the larger of x and -x."""
        dtype = _dtype(args[0])
        if dtype in _FLOATS:
            return self.emit("abs", dtype, *args)
        return self.arithmetic(
            "maximum", [args[0], self.arithmetic("mul", [args[0], self.number(-1, dtype)])]
        )

    def rounded(self, fn: str, args: Sequence[Operand]) -> Register:
        """To an integral float32, by a Cast to the same type."""
        source = self.register(args[0])
        if source.dtype is dtypes.f16:
            whole = self.emit("cast", dtypes.f32, self.convert(source, dtypes.f32), mode=_ROUNDED[fn])
            return self.emit("cast", dtypes.f16, whole, mode="rint")
        if source.dtype is not dtypes.f32:
            raise refuse(f"`{fn}` of {source.dtype} elements", self.loc)
        return self.emit("cast", dtypes.f32, source, mode=_ROUNDED[fn])

    def logical(self, fn: str, args: Sequence[Operand]) -> Register:
        """and, or, xor, not of masks, and of 16-bit integers."""
        dtype = _dtype(args[0])
        if dtype not in (dtypes.i1, dtypes.i16, dtypes.u16):
            raise refuse(f"`{fn}` of {dtype} elements", self.loc)
        cover = covers(args)
        registers = [self.mask(a, cover) if dtype is dtypes.i1 else self.register(a, cover) for a in args]
        if fn != "xor":
            return self.emit(fn, dtype, *registers)
        both = self.emit("not", dtype, self.emit("and", dtype, *registers))
        return self.emit("and", dtype, self.emit("or", dtype, *registers), both)

    def shifted(self, fn: str, args: Sequence[Operand]) -> Register:
        """Signed integers shifted by a number of bits that they have."""
        left, by = args
        dtype = _dtype(left)
        known = constant_of(by) if isinstance(by, Value) else None
        signed = isinstance(left, Register) and dtype in (dtypes.i16, dtypes.i32)
        if not signed or known is None or not 0 <= int(known) < dtype.bits:
            raise refuse(f"`{fn}` of {dtype} elements by other than a known number", self.loc)
        return self.emit(fn, dtype, left, self.number(int(known), dtype))

    def reciprocal_root(self, args: Sequence[Operand]) -> Register:
        """1 / sqrt(x): the one instruction for it is an approximation."""
        dtype = _dtype(args[0])
        root = self.floating("sqrt", args)
        return self.floating("div", [self.number(1.0, dtype), root])

    def convert(self, operand: Operand, dtype: DType) -> Operand:
        """A conversion of a register, or of a scalar where it is computed."""
        if isinstance(operand, Register):
            return self.cast(operand, dtype)
        known = constant_of(operand)
        if dtype is dtypes.i16 and isinstance(known, int):
            return self.number(known, dtype)
        return self.at.value(arith.Cast.to(operand, dtype))

    def cast(self, source: Register, dtype: DType) -> Register:
        """A conversion as the language defines it, where a chain of Casts gives it exactly."""
        return cast(self, source, dtype)


def _dtype(operand: Operand) -> DType:
    return operand.dtype if isinstance(operand, Register) else dtype_of(operand.type)


def _exact_reciprocal(divisor: float) -> bool:
    mantissa, exponent = math.frexp(divisor)
    return abs(mantissa) == 0.5 and -13 <= exponent <= 13


def _same(fn: str, method: Callable[[Legaliser, str, Sequence[Operand]], Operand]) -> Handler:
    return lambda legaliser, args: method(legaliser, fn, args)


Handler = Callable[[Legaliser, Sequence[Operand]], Operand]

_HANDLERS: dict[str, Handler] = {
    **{fn: _same(fn, Legaliser.arithmetic) for fn in ("add", "sub", "mul", "maximum", "minimum")},
    **{fn: _same(fn, Legaliser.floating) for fn in ("exp", "log", "sqrt")},
    **{fn: _same(fn, Legaliser.python_extreme) for fn in ("pymax", "pymin")},
    **{fn: _same(fn, Legaliser.rounded) for fn in _ROUNDED},
    **{fn: _same(fn, Legaliser.logical) for fn in ("and", "or", "xor", "not")},
    **{fn: _same(fn, Legaliser.shifted) for fn in ("shl", "shr")},
    **{fn: _same(fn, Legaliser.floor_division) for fn in ("floordiv", "mod")},
    "div": Legaliser.divide,
    "fmod": Legaliser.remainder,
    "rsqrt": Legaliser.reciprocal_root,
    "abs": Legaliser.absolute,
    "select": Legaliser.select,
    "neg": lambda legaliser, args: legaliser.arithmetic(
        "mul", [args[0], legaliser.number(-1, _dtype(args[0]))]
    ),
    "isnan": lambda legaliser, args: legaliser.compare("ne", [args[0], args[0]]),
}
