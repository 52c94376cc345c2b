# SPDX-License-Identifier: Apache-2.0
"""The vector program of a structured op: registers for its inputs, its body, and what its outputs receive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, func, mem, st
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import ZERO, SizeExpr
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import Polynomials, index, integer_of, materialise, materialise_polynomial
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.tile_counters import Counter, Interval, Intervals, Wide
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_legalise import Legaliser
from pyasc.passes.analysis.tile_names import extended, names_of_reads
from pyasc.passes.analysis.tile_program import FULL, Instruction, Operand, Program, Register


@dataclass(frozen=True)
class Access:
    """One array as a loop walks it."""

    ref: Value
    map: AffineMap
    register: Register


@dataclass(frozen=True)
class GatheredRow:
    """A row of an array that data says: what a load in the body of an op reads for one column after the other.

    `counters` are those of the loops inside of `root`, and of the op.
    """

    load: mem.Load
    op: st.Apply
    counters: tuple[Value, ...]
    root: Operation
    register: Register


@dataclass
class Elements:
    """A program with the arrays that fill its inputs and receive its outputs."""

    program: Program
    rows: list[GatheredRow] = field(default_factory=lambda: list[GatheredRow]())
    reads: list[Access] = field(default_factory=lambda: list[Access]())
    writes: list[Access] = field(default_factory=lambda: list[Access]())


def stored_dtype(dtype: DType) -> DType:
    """The dtype of elements on chip: a bool in memory is a byte. Raises NotVector for float64, which no core has."""
    if dtype is dtypes.f64:
        raise refuse("float64 elements")
    return dtypes.u8 if dtype is dtypes.i1 else dtype


class BodyBuilder:
    """Collects the programs of structured ops over one domain, so that what they read is read once."""

    def __init__(self, at: Builder) -> None:
        self.elements = Elements(Program())
        self.legaliser = Legaliser(self.elements.program, at)
        self.program = self.elements.program
        self.wide = Wide(self.legaliser, Intervals(at))
        self.legaliser.wide = self.wide
        self.given: set[Operation] = set()

    def walks_along(self, ref: Value, map_: AffineMap) -> bool:
        """Whether an access differs from point to point; what does not is a number."""
        return any(place.dims for place in map_.results)

    def read(self, ref: Value, map_: AffineMap, name: str, cover: str = FULL) -> Register:
        """The register that an access fills; equal ones share it."""
        for access in self.elements.reads:
            if access.ref is ref and access.map == map_ and access.register.cover == cover:
                return access.register
        register = Register(stored_dtype(dtype_of(ref.type)), name, cover)
        self.elements.reads.append(Access(ref, map_, register))
        self.program.inputs.append(register)
        self._name_reads(ref, name)
        return register

    def _name_reads(self, ref: Value, name: str) -> None:
        """Tell apart what is read of one array in several places."""
        reads = [access for access in self.elements.reads if access.ref is ref]
        names = names_of_reads(name, [(access.map, access.register.cover) for access in reads])
        for access, each in zip(reads, names, strict=True):
            access.register.name = each

    def loaded(self, register: Register, dtype: DType) -> Operand:
        """An element as the body sees it: a byte that holds a bool becomes a mask."""
        return self.legaliser.cast(register, dtypes.i1) if dtype is dtypes.i1 else register

    def body(self, op: st.Apply) -> list[Operand]:
        """Translate the body, whose inputs have operands already; what it yields."""
        for inner in op.body.block:
            if not isinstance(inner, st.Yield) and inner not in self.given:
                self.legaliser.run(inner)
        return [self.legaliser.operand(value) for value in op.body.block.terminator.operands]

    def write(self, ref: Value, map_: AffineMap, value: Operand, cover: str = FULL) -> None:
        """Let an output receive a value, in a register of its own."""
        dtype = stored_dtype(dtype_of(ref.type))
        register = self.legaliser.convert(value, dtype) if _dtype(value) is not dtype else value
        if not self._may_leave(register, cover):
            register = self._moved(register, dtype, cover)
        assert isinstance(register, Register)
        read_too = any(access.ref is ref for access in self.elements.reads)
        register.name = extended(ref.name, "Out") if read_too else ref.name
        self.program.outputs.append(register)
        self.elements.writes.append(Access(ref, map_, register))

    def _may_leave(self, value: Operand, cover: str) -> bool:
        return (
            isinstance(value, Register)
            and value.cover == cover
            and value not in self.program.inputs
            and value not in self.program.outputs
        )

    def _moved(self, value: Operand, dtype: DType, cover: str) -> Register:
        fn = "move" if isinstance(value, Register) else "fill"
        if fn == "fill" and dtype.bits > 32:
            raise refuse(f"a constant in {dtype} elements", self.legaliser.loc)
        target = Register(dtype, "", cover)
        self.program.instructions.append(Instruction(fn, target, (value,), loc=self.legaliser.loc))
        return target


def _dtype(operand: Operand) -> DType:
    return operand.dtype if isinstance(operand, Register) else dtype_of(operand.type)


def guarded_writes(
    builder: BodyBuilder, op: st.Apply, yielded: Sequence[Operand], name_of: Value | None = None
) -> None:
    """The outputs of an op that only writes; under a guard the old values are read and kept where it fails."""
    guard = yielded[-1] if op.guarded else None
    for ref, map_, value in zip(op.outputs, op.output_maps, yielded, strict=False):
        result = value
        if guard is not None:
            dtype = dtype_of(ref.type)
            old = builder.loaded(builder.read(ref, map_, ref.name), dtype)
            result = builder.legaliser.select([guard, value, old])
        builder.write(ref, map_, result)


def bind_inputs(builder: BodyBuilder, op: st.Apply, at: Builder, *, runs_for_none: bool = False) -> None:
    """Registers for what a body reads and walks; what it does not walk is a number.

    `runs_for_none`: some core starts the work even if there are no points, and reads its numbers.
    """
    block = op.body.block
    wide = builder.wide
    if op.rank == 1:
        low, high = (materialise(e, (), op.symbols, at) for e in (op.lower[0], op.upper[0]))
        interval = Interval(low, binary(at, "sub", high, 1))
        wide.counters[block.args[0]] = Counter(0, FULL, walked=True, interval=interval)
    for ref, map_, arg in zip(op.inputs, op.input_maps, block.args[op.rank :], strict=True):
        if builder.walks_along(ref, map_):
            register = builder.read(ref, map_, ref.name)
            builder.legaliser.operands[arg] = builder.loaded(register, dtype_of(ref.type))
        else:
            where = [materialise(e, (), op.symbols, at) for e in map_.results]
            read = element_if_any if runs_for_none else element
            builder.legaliser.operands[arg] = read(at, ref, where, arg.name)


def element(at: Builder, ref: Value, where: Sequence[Value], name: str) -> Value:
    """An element that is the same for all points."""
    return at.value(mem.Load(ref=ref, indices=where), name)


def element_if_any(at: Builder, ref: Value, where: Sequence[Value], name: str) -> Value:
    """An element that is the same for all points, or 0 where the array does not have it: then there are none."""
    there = None
    for check in _presence(at, ref, where):
        there = check if there is None else binary(at, "and", there, check)
    if there is None:
        return element(at, ref, where, name)
    dtype = dtype_of(ref.type)
    none = at.value(arith.Constant.of(0.0 if dtype.is_float else False if dtype.is_bool else 0, dtype))
    return at.value(arith.Elementwise(fn="select", args=[there, element(at, ref, where, ""), none]), name)


def _presence(at: Builder, ref: Value, where: Sequence[Value]) -> list[Value]:
    """What has to hold for an array to have an element, beside what always does."""
    polynomials = Polynomials()
    checks: dict[tuple[SizeExpr, SizeExpr], Value] = {}
    for axis, index_ in enumerate(where):
        place, extent = polynomials.of(index_), polynomials.extent(ref, axis)
        if any(factor < 0 for _, factor in place.terms):
            checks[ZERO, place] = binary(at, "ge", index_, 0)
        if extent is None or any(name.startswith("%") for name in extent.names):
            continue
        behind = (extent - place).as_constant
        if (behind is None or behind <= 0) and (place, extent) not in checks:
            size = materialise_polynomial(extent, lambda name: at.value(func.Size(symbol=name)), at)
            first = integer_of(index_) is not None
            pair = (size, index_) if first else (index_, size)
            checks[place, extent] = binary(at, "gt" if first else "lt", *pair)
    return list(checks.values())


def extent_of(at: Builder, op: st.Apply) -> tuple[Value, Value]:
    """How many points there are, and the first value of the iterator."""
    bounds = [materialise(expr, (), op.symbols, at) for expr in op.upper]
    if op.rank == 1:
        lower = materialise(op.lower[0], (), op.symbols, at)
        return binary(at, "maximum", binary(at, "sub", bounds[0], lower), 0), lower
    total = bounds[0]
    for bound in bounds[1:]:
        total = binary(at, "mul", total, bound)
    return total, index(at, 0)
