# SPDX-License-Identifier: Apache-2.0
"""Work that no tile fits, on the scalar unit: correct, and slow.

Elements of global memory pass through the data cache, which is written back at the end; one core does all the work, or
each core the rows of its own cache lines (`scalar_cores`). What the scalar unit cannot compute (roots, exponentials,
float16, roundings to bfloat16) is a vector call on one element, between flags: S_V before it, V_S behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Region, Value, block_of
from pyasc.ir.diagnostics import CompileError, Diagnostic, compile_error
from pyasc.ir.dialects import arith, asc, asc_vector, func, mem, py, scf, tile
from pyasc.ir.dialects.func import Func
from pyasc.ir.dtypes import DType
from pyasc.ir.location import Location
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_vector import VectorCalls, local
from pyasc.passes.analysis.not_vector import NO_FLOAT64, NO_SIZE, NotVector, refuse
from pyasc.passes.analysis.print_formats import NoDeviceFormat, device_format
from pyasc.passes.analysis.scalar_instructions import HALVES, SCALAR_FLOAT, has_instruction
from pyasc.passes.analysis.structured import extent_value
from pyasc.passes.analysis.tile_buffers import SCRATCH_BYTES
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_legalise import ADVANCED, COMPARISONS

FAULT_WORDS = 6
"""What the record of a failure holds: the check's number, its values, and the core."""
LOCAL_BYTES = 128 * 1024
"""What temporary arrays of a core may take on chip, all together; the rest is for calls on single elements."""
_ONE_CALL = frozenset(
    ("add", "sub", "mul", "div", "maximum", "minimum", "exp", "log", "sqrt", "abs", *ADVANCED)
)
_ROUNDINGS = {"rint": "RINT", "floor": "FLOOR", "ceil": "CEIL", "trunc": "TRUNC"}
_SLOT = 32


def _do_not_fit(temporaries: Sequence[tuple[str, int]], loc: Location) -> CompileError:
    """The error for temporary arrays that are larger than what a core has on chip."""
    total = sum(size for _, size in temporaries)
    message = f"{total} bytes of temporary arrays in a loop, and a core has {LOCAL_BYTES} for them on chip"
    notes = tuple(f"`{name}` takes {size} bytes" for name, size in temporaries)
    hint = "make the buffers smaller, or put them in front of the loop with an axis for its iterations"
    return compile_error(Diagnostic("PA0701", message, loc, notes=notes, hint=hint))


@dataclass
class ScalarLowering:
    """Lowers a function at the loop level, without structured ops, into an empty one."""

    phase: Func
    lowered: Func
    mapping: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    tensors: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    slots: dict[tuple[str, int], Value] = field(default_factory=lambda: dict[tuple[str, int], Value]())
    checks: list[py.Check] = field(default_factory=lambda: list[py.Check]())
    temporaries: list[tuple[str, int]] = field(default_factory=lambda: list[tuple[str, int]]())

    def run(self) -> None:
        """Fill the new function."""
        self.front = Builder(self.lowered.body.block, loc=self.phase.loc)
        self.mapping.update(zip(self.phase.params, self.lowered.params, strict=True))
        self.pipe = self.front.value(asc.Pipe(), "pipe")
        at = Builder(self.lowered.body.block, loc=self.phase.loc)
        end = at.insert(func.Return())
        self.front = Builder.before(end)
        marker = self.front.insert(asc.Method(method="", body=block_of()))
        self.front = Builder.before(marker)
        body = Builder.before(end)
        self.block(self.phase.body.block, body)
        # Of the whole cache, whatever array it is called for.
        for number in self.phase.written[:1]:
            tensor = self._global(self.phase.params[number])
            body.insert(asc.DataCacheCleanAndInvalid(tensor=tensor))
        marker.erase()

    def value(self, value: Value) -> Value:
        """The lowered form of a value."""
        return self.mapping.get(value, value)

    def block(self, block: Block, at: Builder) -> None:
        """Lower the operations of a block."""
        for op in block:
            at.loc = op.loc
            self.operation(op, at)

    def operation(self, op: Operation, at: Builder) -> None:
        """Lower one operation. Raises UnsupportedError for what the scalar unit cannot do."""
        match op:
            case mem.Load():
                self.mapping[op.value] = self._load(op, at)
            case mem.Store():
                self._store(op.ref, op.indices, self.value(op.value), at)
            case mem.Atomic():
                self._atomic(op, at)
            case mem.Alloc():
                self._allocate(op)
            case mem.View() | func.Return():
                pass
            case arith.Elementwise():
                args = [self.value(arg) for arg in op.args]
                self.mapping[op.result] = self._function(op.fn, args, at, op.result.name)
            case arith.Cast():
                self.mapping[op.result] = self._cast(op, at)
            case arith.Constant() | func.Size():
                at.insert(op.clone(self.mapping))
            case py.Check():
                self._check(op, at)
            case py.Print():
                self._print(op, at)
            case scf.For() | scf.If() | scf.While():
                self._nested(op, at)
            case tile.Cores():
                self.mapping[op.body.block.args[0]] = at.value(asc.CoreNumber(call="GetBlockIdx"), "id")
                self.mapping[op.count] = at.value(asc.CoreNumber(call="GetBlockNum"), "blocks")
                self.block(op.body.block, at)
            case tile.Yield():
                pass
            case scf.Yield() | scf.Condition():
                at.insert(op.clone(self.mapping))
            case _:
                raise refuse(f"{op.name} on the scalar unit", op.loc)

    def _check(self, op: py.Check, at: Builder) -> None:
        """Where the condition fails, its number and values go to the fault parameter, and the kernel ends."""
        self.checks.append(op)
        fault = self._global(self.phase.params[-1])
        holds = self.value(op.condition)
        branch = at.insert(scf.If(condition=holds, types=[], then=block_of(), otherwise=block_of()))
        Builder(branch.then.block, loc=op.loc).insert(scf.Yield())
        inner = Builder(branch.otherwise.block, loc=op.loc)
        for number, value in enumerate([index(inner, len(self.checks)), *map(self.value, op.values)]):
            whole = self._word(value, inner)
            inner.insert(asc.SetValue(tensor=fault, index=index(inner, number), value=whole))
        core = inner.value(asc.CoreNumber(call="GetBlockIdx"))
        inner.insert(asc.SetValue(tensor=fault, index=index(inner, FAULT_WORDS - 1), value=core))
        inner.insert(asc.DataCacheCleanAndInvalid(tensor=fault))
        inner.insert(asc.Leave())
        inner.insert(scf.Yield())

    def _word(self, value: Value, at: Builder) -> Value:
        """A number as an i64 of the record of a failure; a float by its bits in float32."""
        dtype = dtype_of(value.type)
        if dtype.is_float:
            slot, zero = self._slot("bits", dtypes.f32), index(at, 0)
            at.insert(asc.SetValue(tensor=slot, index=zero, value=self._casted(value, dtypes.f32, at)))
            bits = at.value(asc.ReinterpretCast(tensor=slot, types=[local(_SLOT // 4, dtypes.i32)]))
            value = at.value(asc.GetValue(tensor=bits, index=zero))
        return value if dtype is dtypes.i64 else at.value(arith.Cast.to(value, dtypes.i64))

    def _print(self, op: py.Print, at: Builder) -> None:
        """Behind the number of the core, what is printed."""
        values = [self.value(each) for each in op.values]
        wide = [self._casted(v, dtypes.f32, at) if dtype_of(v.type).is_float else v for v in values]
        core = at.value(asc.CoreNumber(call="GetBlockIdx"))
        try:
            text = device_format(f"[core {{}}] {op.format}", [dtype_of(v.type) for v in (core, *wide)])
        except NoDeviceFormat as error:
            hint = "print floats as {x:.3f}, integers as {i} or {i:5d}"
            raise refuse(str(error), op.loc, hint) from None
        at.insert(asc.Printf(values=[core, *wide], format=text))

    def _nested(self, op: Operation, at: Builder) -> None:
        copy = op.clone_without_regions(self.mapping)
        for old, new in zip(op.regions, copy.regions, strict=True):
            self._region(old, new)
        at.insert(copy)

    def _region(self, old: Region, new: Region) -> None:
        for block in old.blocks:
            made = new.add(Block([arg.type for arg in block.args], [arg.name for arg in block.args]))
            self.mapping.update(zip(block.args, made.args, strict=True))
            self.block(block, Builder(made))

    def _global(self, ref: Value) -> Value:
        if ref not in self.tensors:
            base = self.value(ref)
            if dtype_of(base.type) is dtypes.f64:
                raise refuse("float64 elements", self.phase.loc, NO_FLOAT64)
            type_ = RefType((None,), dtype_of(base.type))
            made = asc.SetGlobalBuffer(base=base, offset=index(self.front, 0), types=[type_])
            self.tensors[ref] = self.front.value(made, ref.name)
        return self.tensors[ref]

    def _allocate(self, op: mem.Alloc) -> None:
        """A small buffer of fixed size in UB, where the scalar unit reads and writes it."""
        assert isinstance(op.ref.type, RefType)
        total = 1
        for extent in op.ref.type.shape:
            if not isinstance(extent, int):
                raise refuse("a temporary array inside a loop whose size is not constant", op.loc, NO_SIZE)
            total *= extent
        dtype = stored(op.ref.type.dtype)
        if dtype is dtypes.f64:
            raise refuse("a float64 array inside a loop", op.loc, NO_FLOAT64)
        self.temporaries.append((op.ref.name or "temporary", total * dtype.bytes))
        if sum(size for _, size in self.temporaries) > LOCAL_BYTES:
            raise _do_not_fit(self.temporaries, op.loc)
        self.tensors[op.ref] = self._buffer(op.ref.name or "temporary", total, dtype)

    def _buffer(self, name: str, elements: int, dtype: DType) -> Value:
        size = -(-elements * dtype.bytes // _SLOT) * _SLOT
        buffer = self.front.value(asc.Buf(position="VECCALC"), f"{name}Buf")
        self.front.insert(asc.InitBuf(pipe=self.pipe, buffer=buffer, bytes=index(self.front, size)))
        return self.front.value(asc.Get(buffer=buffer, types=[local(elements, dtype)]), name)

    def _place(self, ref: Value, indices: Sequence[Value], at: Builder) -> tuple[Value, Value]:
        """The tensor that holds an element, and the element's number in it."""
        where = [self.value(each) for each in indices]
        while isinstance(ref.owner, mem.View):
            view = ref.owner
            inner = [self.value(each) for each in view.offsets]
            for position, axis in enumerate(view.axes):
                if axis >= 0:
                    step = binary(at, "mul", where[position], self.value(view.steps[axis]))
                    inner[axis] = binary(at, "add", inner[axis], step)
            ref, where = view.ref, inner
        assert isinstance(ref.type, RefType)
        total = index(at, 0)
        for dim, each in zip(ref.type.shape, where, strict=True):
            total = binary(at, "add", binary(at, "mul", total, extent_value(at, dim)), each)
        tensor = self.tensors[ref] if isinstance(ref.owner, mem.Alloc) else self._global(ref)
        return tensor, total

    def _load(self, op: mem.Load, at: Builder) -> Value:
        tensor, where = self._place(op.ref, op.indices, at)
        value = at.value(asc.GetValue(tensor=tensor, index=where), op.value.name)
        if dtype_of(op.value.type) is dtypes.i1:
            zero = at.value(arith.Constant.of(0, dtypes.u8))
            return at.value(arith.Elementwise(fn="ne", args=[value, zero]))
        return value

    def _store(self, ref: Value, indices: Sequence[Value], value: Value, at: Builder) -> None:
        tensor, where = self._place(ref, indices, at)
        if dtype_of(value.type) is dtypes.i1:
            value = at.value(arith.Cast.to(value, dtypes.u8))
        at.insert(asc.SetValue(tensor=tensor, index=where, value=value))

    def _atomic(self, op: mem.Atomic, at: Builder) -> None:
        tensor, where = self._place(op.ref, op.indices, at)
        old = at.value(asc.GetValue(tensor=tensor, index=where))
        new = self._function(op.fn, [old, self.value(op.value)], at)
        at.insert(asc.SetValue(tensor=tensor, index=where, value=new))

    def _function(self, fn: str, args: Sequence[Value], at: Builder, name: str = "") -> Value:
        """A function of the number table on numbers."""
        dtype = dtype_of(args[-1].type)
        if (fn == "select" and dtype in HALVES) or has_instruction(fn, dtype):
            made = at.value(arith.Elementwise(fn=fn, args=args), name)
            narrow = dtype.is_integer and dtype.bits < 32 and fn not in (*COMPARISONS, "select")
            return at.value(arith.Cast.to(made, dtype), name) if narrow else made
        if fn in _ONE_CALL and dtype in (dtypes.f16, dtypes.f32):
            return self._one_element(fn, args, dtype, at, name)
        if dtype is dtypes.bf16 or (dtype is dtypes.f16 and fn in (*SCALAR_FLOAT, "rsqrt")):
            made = self._function(fn, [self._casted(arg, dtypes.f32, at) for arg in args], at)
            return made if dtype_of(made.type) is dtypes.i1 else self._casted(made, dtype, at, name)
        if fn in _ROUNDINGS and dtype in (dtypes.f16, dtypes.f32):
            wide = self._casted(args[0], dtypes.f32, at)
            whole = self._convert(wide, dtypes.f32, f"CAST_{_ROUNDINGS[fn]}", at)
            return self._casted(whole, dtype, at, name)
        if fn == "rsqrt" and dtype is dtypes.f32:
            root = self._one_element("sqrt", args, dtype, at)
            one = at.value(arith.Constant.of(1.0, dtype))
            return at.value(arith.Elementwise(fn="div", args=[one, root]), name)
        raise refuse(f"`{fn}` of one {dtype} number", at.loc)

    def _one_element(
        self, fn: str, args: Sequence[Value], dtype: DType, at: Builder, name: str = ""
    ) -> Value:
        """A vector call on one element."""
        tensors = [self._slot(f"operand{number}", dtype) for number in range(len(args))]
        zero, one = index(at, 0), index(at, 1)
        for tensor, value in zip(tensors, args, strict=True):
            at.insert(asc.SetValue(tensor=tensor, index=zero, value=value))
        self._flag(at, "S_V")
        target, scratch = tensors[0], None
        if fn in ADVANCED:
            # These do not work in place.
            target, scratch = self._slot("result", dtype), self._scratch()
        VectorCalls(at, one, scratch).elementwise(fn, target, tensors)
        self._flag(at, "V_S")
        return at.value(asc.GetValue(tensor=target, index=zero), name)

    def _scratch(self) -> Value:
        """What advanced calls work in."""
        key = ("scratch", 0)
        if key not in self.slots:
            self.slots[key] = self._buffer("scratch", SCRATCH_BYTES, dtypes.u8)
        return self.slots[key]

    def _cast(self, op: arith.Cast, at: Builder) -> Value:
        at.loc = op.loc
        return self._casted(self.value(op.value), dtype_of(op.result.type), at, op.result.name)

    def _casted(self, value: Value, target: DType, at: Builder, name: str = "") -> Value:
        """A conversion as the language defines it; floats go through a Cast of the vector unit."""
        source = dtype_of(value.type)
        if source is target:
            return value
        if dtypes.f64 in (source, target):
            raise refuse(f"a cast of one {source} number to {target}", at.loc, NO_FLOAT64)
        if source in HALVES:
            return self._casted(self._widened(value, at), target, at, name)
        if target is dtypes.i1:
            zero = at.value(arith.Constant.of(0, source))
            return at.value(arith.Elementwise(fn="ne", args=[value, zero]), name)
        if target in HALVES:
            wide = value if source is dtypes.f32 else at.value(arith.Cast.to(value, dtypes.f32))
            return self._convert(wide, target, "CAST_RINT", at, name)
        if source is dtypes.f32 and target in (dtypes.i32, dtypes.i64):
            return self._convert(value, target, "CAST_TRUNC", at, name)
        if source is dtypes.f32 and target.is_integer and target.bits < 32:
            return self._clamped(self._convert(value, dtypes.i32, "CAST_TRUNC", at), target, at, name)
        if source.is_float and target.is_integer:
            return self._unsigned(value, target, at, name)
        return at.value(arith.Cast.to(value, target), name)

    def _widened(self, value: Value, at: Builder) -> Value:
        """A half as float32: the scalar unit widens bfloat16 by itself."""
        if dtype_of(value.type) is dtypes.bf16:
            return at.value(arith.Cast.to(value, dtypes.f32))
        return self._convert(value, dtypes.f32, "CAST_NONE", at)

    def _unsigned(self, value: Value, target: DType, at: Builder, name: str) -> Value:
        """A float32 as a wide unsigned integer, by way of an int64; from 2**63 on it is half the range and a rest."""

        def call(fn: str, *args: Value) -> Value:
            return at.value(arith.Elementwise(fn=fn, args=args))

        value = call("maximum", value, at.value(arith.Constant.of(0.0, dtypes.f32)))
        if target is dtypes.u32:
            whole = self._convert(value, dtypes.i64, "CAST_TRUNC", at)
            most = at.value(arith.Constant.of((1 << 32) - 1, dtypes.i64))
            return at.value(arith.Cast.to(call("minimum", whole, most), target), name)
        half = at.value(arith.Constant.of(2.0**63, dtypes.f32))
        beyond = call("ge", value, half)
        rest = self._convert(
            call("select", beyond, call("sub", value, half), value), dtypes.i64, "CAST_TRUNC", at
        )
        taken, none = (at.value(arith.Constant.of(number, target)) for number in (1 << 63, 0))
        made = call("add", at.value(arith.Cast.to(rest, target)), call("select", beyond, taken, none))
        made.name = name
        return made

    def _clamped(self, value: Value, target: DType, at: Builder, name: str) -> Value:
        low = 0 if target.kind == "u" else -(1 << (target.bits - 1))
        high = (1 << target.bits) - 1 + low
        for fn, bound in (("maximum", low), ("minimum", high)):
            limit = at.value(arith.Constant.of(bound, dtypes.i32))
            value = at.value(arith.Elementwise(fn=fn, args=[value, limit]))
        return at.value(arith.Cast.to(value, target), name)

    def _convert(self, value: Value, target: DType, mode: str, at: Builder, name: str = "") -> Value:
        """One Cast of the vector unit on one element."""
        before, after = self._slot("operand0", dtype_of(value.type)), self._slot("converted", target)
        zero, one = index(at, 0), index(at, 1)
        at.insert(asc.SetValue(tensor=before, index=zero, value=value))
        self._flag(at, "S_V")
        at.insert(asc_vector.Cast(dst=after, src=before, amount=[one], mode=mode))
        self._flag(at, "V_S")
        return at.value(asc.GetValue(tensor=after, index=zero), name)

    def _slot(self, name: str, dtype: DType) -> Value:
        key = (f"{name}_{dtype}", 0)
        if key not in self.slots:
            self.slots[key] = self._buffer(f"{name}{dtype.name.capitalize()}", _SLOT // dtype.bytes, dtype)
        return self.slots[key]

    def _flag(self, at: Builder, event: str) -> None:
        key = (event, 1)
        if key not in self.slots:
            self.slots[key] = self.front.value(asc.FetchEventID(pipe=self.pipe, event=event), f"event{event}")
        for call in ("SetFlag", "WaitFlag"):
            at.insert(asc.Flag(call=call, id=self.slots[key]))


def can_run(phase: Func) -> bool:
    """Whether the scalar unit can do the work of a phase."""
    trial = Func(
        symbol=phase.symbol, sizes=phase.sizes, body=block_of([param.type for param in phase.params])
    )
    try:
        ScalarLowering(phase, trial).run()
    except NotVector:
        return False
    finally:
        trial.drop()
    return True


def stored(dtype: DType) -> DType:
    """The dtype of elements in memory: a bool is a byte."""
    return dtypes.u8 if dtype is dtypes.i1 else dtype
