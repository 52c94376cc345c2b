# SPDX-License-Identifier: Apache-2.0
"""One phase on the cube cores: blocks of a product as queues and methods.

CopyA and CopyB bring a piece of an operand into L1, LoadA and LoadB a step of it into L0A and L0B, Multiply adds a
product up in L0C, CopyOut writes a finished block. Queues order all of it; `cube_operands` knows the layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, asc, asc_cube, func, mem, scf, tile
from pyasc.ir.dialects.func import Func
from pyasc.ir.dialects.mem import shape_of
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.cube_operands import (
    CubeOperand,
    clear,
    depth_unit,
    fractal_rows,
    operand_of,
    round_up,
    space_of,
    to_fractals,
)
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.structured import extent_value
from pyasc.passes.analysis.tile_emit import binary, named

I64 = ScalarType(dtypes.i64)
_POSITIONS = {"l0a": "A2", "l0b": "B2", "l0c": "CO1", "bt": "C2"}
_FEW_FRACTALS = 10
"""Below this many fractals of C the unit does not order two Mmad itself."""
_QUANT = {"f16": "F322F16", "bf16": "F322BF16"}


@dataclass
class CubeLowering:
    """Lowers one function at the tile level, whose cores are cube cores, into an empty one."""

    phase: Func
    lowered: Func
    mapping: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    queues: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    tensors: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    operands: dict[Value, CubeOperand] = field(default_factory=lambda: dict[Value, CubeOperand]())
    globals: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    counters: list[Value] = field(default_factory=lambda: list[Value]())
    bias: Value | None = None

    def run(self) -> None:
        """Fill the new function."""
        self.mapping.update(zip(self.phase.params, self.lowered.params, strict=True))
        at = Builder(self.lowered.body.block, loc=self.phase.loc)
        at.insert(asc.KernelType(type="KERNEL_TYPE_AIC_ONLY"))
        self.pipe = at.value(asc.Pipe(), "pipe")
        self._declare(at)
        self.block(self.phase.body.block, at)
        at.insert(func.Return())

    def value(self, value: Value) -> Value:
        """The lowered form of a value."""
        return self.mapping.get(value, value)

    def _declare(self, at: Builder) -> None:
        """Global arrays and a queue for every tile, in front of all loops."""
        buffers = [op for op in self.phase.walk() if isinstance(op, tile.Buffer)]
        views = [op for op in self.phase.walk() if isinstance(op, mem.View) and space_of(op.ref) == "gm"]
        for view in views:
            array = array_of(view.ref)
            if array not in self.globals:
                base = self.value(array)
                made = asc.SetGlobalBuffer(base=base, offset=index(at, 0), types=[flat(base)])
                self.globals[array] = at.value(made, array.name)
        for op in buffers:
            operand = operand_of(op.tile)
            if operand is not None:
                self.operands[op.tile] = operand
            position = _POSITIONS.get(space_of(op.tile)) or (
                "C1" if operand is None else operand.letter + "1"
            )
            queue = at.value(asc.Queue(position=position), f"{op.tile.name}Queue")
            amount = index(at, elements(op.tile) * dtype_of(op.tile.type).bytes)
            at.insert(asc.InitQueue(pipe=self.pipe, queue=queue, bytes=amount, number=op.depth))
            self.queues[op.tile] = queue

    def block(self, block: Block, at: Builder) -> None:
        """Lower the operations of a block, and free at its end what was taken from queues in it."""
        taken: list[tuple[Value, Value]] = []
        for op in block:
            at.loc = op.loc
            self._operation(op, at, taken)
        for queue, tensor in taken:
            at.insert(asc.FreeTensor(queue=queue, tensor=tensor))

    def _operation(self, op: Operation, at: Builder, taken: list[tuple[Value, Value]]) -> None:
        match op:
            case tile.Cores():
                self._cores(op, at)
            case tile.Loop():
                self._loop(op, at)
            case scf.For() if any(isinstance(each, tile.Copy) for each in op.body.block):
                self._gather(op, at, taken)
            case scf.For():
                bounds = [self.value(each) for each in (op.lower, op.upper, op.step)]
                body = block_of([I64], [op.counter.name])
                loop = at.insert(
                    scf.For(lower=bounds[0], upper=bounds[1], step=bounds[2], types=[], body=body)
                )
                self.mapping[op.counter] = loop.counter
                self.counters.append(loop.counter)
                self._inside(op.body.block, loop)
            case tile.Buffer() if space_of(op.tile) == "l0c":
                self._begin(op, at)
            case tile.Copy():
                self._copy(op, at, taken)
            case tile.Matmul():
                self._multiply(op, at)
            case tile.Broadcast():
                self.bias = op.source
            case scf.If():
                self._empty(op, at)
            case tile.Buffer() | tile.Merge() | mem.View() | tile.Yield() | scf.Yield() | func.Return():
                pass
            case _ if op.has(PURE) and _is_index(op.results[0]):
                pass
            case _ if not op.regions:
                at.insert(op.clone(self.mapping))
            case _:
                raise refuse(f"{op.name} on the cube unit", op.loc)

    def _cores(self, op: tile.Cores, at: Builder) -> None:
        """Pieces dealt out in turn."""
        names = {"GetBlockIdx": "id", "GetBlockNum": "blocks"}
        bounds = [at.value(asc.CoreNumber(call=call), name) for call, name in names.items()]
        (piece,) = op.body.block.args
        body = block_of([I64], [piece.name])
        loop = at.insert(
            scf.For(lower=bounds[0], upper=self.value(op.count), step=bounds[1], types=[], body=body)
        )
        self.mapping[piece] = loop.counter
        self._inside(op.body.block, loop)

    def _inside(self, block: Block, loop: scf.For) -> None:
        inner = Builder(loop.body.block, loc=loop.loc)
        self.block(block, inner)
        inner.insert(scf.Yield())

    def _loop(self, op: tile.Loop, at: Builder) -> None:
        """A loop over the depth; one over a piece in L1 goes on to a whole fractal, as the piece is zero there."""
        extent = self.value(op.extents[0])
        inner_loop = any(isinstance(each, tile.Matmul) for each in op.body.block)
        upper = self.padded_depth if inner_loop else extent
        step = at.value(arith.Constant.of(op.tile[0], dtypes.i64), "TILE_K0" if inner_loop else "TILE_K")
        name = op.body.block.args[0].name
        loop = at.insert(
            scf.For(lower=index(at, 0), upper=upper, step=step, types=[], body=block_of([I64], [name]))
        )
        inner = Builder(loop.body.block, loc=op.loc)
        size = binary(
            inner,
            "minimum",
            binary(inner, "sub", upper, loop.counter, "rest" if inner_loop else "left"),
            step,
            op.body.block.args[1].name,
        )
        self.mapping.update(zip(op.body.block.args, [loop.counter, size], strict=True))
        self.counters.append(loop.counter)
        if not inner_loop:
            self.depth = size
            whole, unit = integer_of(extent), depth_unit(self.dtype)
            fits = whole is not None and whole % unit == 0
            self.padded_depth = size if fits else round_up(inner, size, unit, "depthPadded")
        self._inside_from(op.body.block, inner)

    def _inside_from(self, block: Block, inner: Builder) -> None:
        self.block(block, inner)
        inner.insert(scf.Yield())

    def _begin(self, op: tile.Buffer, at: Builder) -> None:
        """An accumulator, and the sizes of its block in whole fractals."""
        out = next(u for u in op.tile.uses if isinstance(u, tile.Copy) and u.source is op.tile)
        rows, columns = (self.value(size) for size in out.sizes)
        left, right = (self._operand(letter) for letter in "AB")
        self.dtype = left.dtype
        self.padded_rows = round_up(at, rows, left.free_unit, "rowsPadded")
        self.padded_columns = round_up(at, columns, right.free_unit, "columnsPadded")
        type_ = RefType((elements(op.tile),), dtype_of(op.tile.type), "l0c", "nz")
        made = asc.AllocTensor(queue=self.queues[op.tile], types=[type_])
        self.tensors[op.tile] = at.value(made, op.tile.name)

    def _operand(self, letter: str) -> CubeOperand:
        return next(each for each in self.operands.values() if each.letter == letter)

    def _copy(self, op: tile.Copy, at: Builder, taken: list[tuple[Value, Value]]) -> None:
        source, target = space_of(op.source), space_of(op.target)
        if source == "l0c":
            self._copy_out(op, at)
        elif target == "l1" and op.target in self.operands:
            self._copy_in(op, at)
            self._dequeue(op.target, at, taken)
        elif target == "l1":
            self._copy_row(op, at)
        elif target == "bt":
            self._load_row(op, at)
            self._dequeue(op.target, at, taken)
        else:
            self._load(op, at)

    def _dequeue(self, tile_: Value, at: Builder, taken: list[tuple[Value, Value]]) -> None:
        """Take a filled tensor for the rest of a block."""
        queue = self.queues[tile_]
        made = asc.DeQue(queue=queue, types=[self._type(tile_)])
        self.tensors[tile_] = at.value(made, tile_.name)
        taken.append((queue, self.tensors[tile_]))

    def _copy_row(self, op: tile.Copy, outer: Builder) -> None:
        """A row of start values into L1."""
        at = self._method(outer, "CopyBias")
        tensor = self._take(at, op.target)
        source, _ = self.place(at, op.source)
        columns = self.value(op.sizes[1])
        to_fractals(at, tensor, source, index(at, 1), columns, columns, index(at, 1))
        at.insert(asc.EnQue(queue=self.queues[op.target], tensor=tensor))
        at.insert(asc.End())

    def _load_row(self, op: tile.Copy, outer: Builder) -> None:
        """A row of start values from L1 into the bias table, whole fractals of it."""
        at = self._method(outer, "LoadBias")
        made = asc.DeQue(queue=self.queues[op.source], types=[self._type(op.source)])
        source = at.value(made, op.source.name)
        tensor = self._take(at, op.target)
        at.insert(asc.DataCopy(dst=tensor, src=source, amount=[self.padded_columns]))
        at.insert(asc.EnQue(queue=self.queues[op.target], tensor=tensor))
        at.insert(asc.FreeTensor(queue=self.queues[op.source], tensor=source))
        at.insert(asc.End())

    def _type(self, tile_: Value) -> RefType:
        assert isinstance(tile_.type, RefType)
        return RefType((elements(tile_),), tile_.type.dtype, tile_.type.space, tile_.type.layout)

    def _method(self, at: Builder, name: str) -> Builder:
        made = at.insert(asc.Method(method=name, body=block_of()))
        return Builder(made.body.block, loc=at.loc)

    def _take(self, at: Builder, tile_: Value, name: str = "") -> Value:
        made = asc.AllocTensor(queue=self.queues[tile_], types=[self._type(tile_)])
        return at.value(made, name or tile_.name)

    def _padded_free(self, operand: CubeOperand) -> Value:
        return self.padded_rows if operand.letter == "A" else self.padded_columns

    def _copy_in(self, op: tile.Copy, outer: Builder) -> None:
        """A piece of an operand from global memory into L1."""
        operand = self.operands[op.target]
        at = self._method(outer, f"Copy{operand.letter}")
        tensor = self._take(at, op.target)
        source, pitch = self.place(at, op.source)
        free = self.value(op.sizes[0 if operand.depth_inner else 1])
        operand.copy_in(
            at,
            tensor,
            source,
            pitch,
            free=(free, self._padded_free(operand)),
            depth=(self.depth, self.padded_depth),
        )
        at.insert(asc.EnQue(queue=self.queues[op.target], tensor=tensor))
        at.insert(asc.End())

    def _gather(self, op: scf.For, outer: Builder, taken: list[tuple[Value, Value]]) -> None:
        """A piece of an operand into L1, one row of the depth after the other."""
        (copy,) = [each for each in op.body.block if isinstance(each, tile.Copy)]
        part = copy.target.owner
        assert isinstance(part, mem.View)
        held, operand = part.ref, self.operands[part.ref]
        at = self._method(outer, f"Copy{operand.letter}")
        tensor = self._take(at, held)
        bounds = [self.value(each) for each in (op.lower, op.upper, op.step)]
        body = block_of([I64], [op.counter.name])
        loop = at.insert(scf.For(lower=bounds[0], upper=bounds[1], step=bounds[2], types=[], body=body))
        self.mapping[op.counter] = loop.counter
        inner = Builder(loop.body.block, loc=at.loc)
        for each in op.body.block:
            if each.has(PURE) and not isinstance(each, mem.View) and not _is_index(each.results[0]):
                inner.insert(each.clone(self.mapping))
        source, _ = self.place(inner, copy.source)
        sizes = (self.value(copy.sizes[1]), self._padded_free(operand), self.padded_depth)
        operand.copy_row(inner, tensor, source, loop.counter, sizes)
        inner.insert(scf.Yield())
        operand.clear_behind(at, tensor, self._padded_free(operand), (self.depth, self.padded_depth))
        at.insert(asc.EnQue(queue=self.queues[held], tensor=tensor))
        at.insert(asc.End())
        self._dequeue(held, outer, taken)

    def _load(self, op: tile.Copy, outer: Builder) -> None:
        """A step of an operand from L1 into L0A or L0B."""
        view = op.source.owner
        assert isinstance(view, mem.View)
        operand = self.operands[view.ref]
        at = self._method(outer, f"Load{operand.letter}")
        tensor = self._take(at, op.target)
        place = view.offsets[1 if operand.depth_inner else 0]
        step = op.sizes[1 if operand.letter == "A" else 0]
        operand.load(
            at,
            tensor,
            self.tensors[view.ref],
            (self.value(place), self.value(step)),
            self._padded_free(operand),
            self.padded_depth,
        )
        at.insert(asc.EnQue(queue=self.queues[op.target], tensor=tensor))
        at.insert(asc.End())

    def _multiply(self, op: tile.Matmul, outer: Builder) -> None:
        """One product into L0C, and a barrier where the unit needs one between two."""
        first = None
        if self.bias is not None:
            done = index(outer, 0)
            for counter in self.counters:
                done = binary(outer, "add", done, counter)
            first = outer.value(arith.Elementwise(fn="eq", args=[done, index(outer, 0)]), "first")
        at = self._method(outer, "Multiply")
        self._take_pair(at, op)
        if first is None:
            self._mmad(at, op, ())
        else:
            branch = at.insert(scf.If(condition=first, types=[], then=block_of(), otherwise=block_of()))
            for region, bias in ((branch.then, self._biases()), (branch.otherwise, ())):
                inner = Builder(region.block, loc=at.loc)
                self._mmad(inner, op, bias)
                inner.insert(scf.Yield())
        self._barrier(at, self.padded_rows, self.padded_columns)
        self._free_pair(at, op)

    def _biases(self) -> Sequence[Value]:
        """The row that the first product starts from, if there is one."""
        return () if self.bias is None else (self.tensors[self.bias],)

    def _take_pair(self, at: Builder, op: tile.Matmul) -> None:
        self.pair: list[Value] = []
        for each in (op.lhs, op.rhs):
            made = asc.DeQue(queue=self.queues[each], types=[self._type(each)])
            self.pair.append(at.value(made, each.name))

    def _mmad(self, at: Builder, op: tile.Matmul, bias: Sequence[Value]) -> None:
        m, n, k = self.padded_rows, self.padded_columns, self.value(op.sizes[2])
        fresh, acc = self.value(op.fresh), self.tensors[op.acc]
        fm, filter_ = self.pair
        at.insert(asc_cube.Mmad(dst=acc, fm=fm, filter=filter_, bias=bias, m=m, n=n, k=k, fresh=fresh))

    def _free_pair(self, at: Builder, op: tile.Matmul) -> None:
        for each, tensor in zip((op.lhs, op.rhs), self.pair, strict=True):
            at.insert(asc.FreeTensor(queue=self.queues[each], tensor=tensor))
        at.insert(asc.End())

    def _empty(self, op: scf.If, at: Builder) -> None:
        """Where there is nothing to add up, one step of zeros."""
        condition = self.value(op.condition)
        branch = at.insert(scf.If(condition=condition, types=[], then=block_of(), otherwise=block_of()))
        Builder(branch.otherwise.block, loc=at.loc).insert(scf.Yield())
        outer = Builder(branch.then.block, loc=at.loc)
        inner = self._method(outer, "Clear")
        outer.insert(scf.Yield())
        for each in op.then.block:
            if isinstance(each, tile.Fill):
                rows = self.padded_rows if space_of(each.target) == "l0a" else self.padded_columns
                tensor = self._take(inner, each.target, f"{each.target.name}Zero")
                fractals = binary(inner, "floordiv", rows, fractal_rows(inner))
                clear(inner, tensor, index(inner, 1), fractals, index(inner, 0))
                inner.insert(asc.EnQue(queue=self.queues[each.target], tensor=tensor))
            elif isinstance(each, tile.Matmul):
                self._take_pair(inner, each)
                self._mmad(inner, each, self._biases())
                self._free_pair(inner, each)
            elif not isinstance(each, scf.Yield):
                inner.insert(each.clone(self.mapping))

    def _barrier(self, at: Builder, rows: Value, columns: Value) -> None:
        fractal = fractal_rows(at)
        fractals = [binary(at, "floordiv", each, fractal) for each in (rows, columns)]
        product = binary(at, "mul", fractals[0], fractals[1])
        few = at.value(arith.Elementwise(fn="lt", args=[product, named(at, _FEW_FRACTALS, "FEW_FRACTALS")]))
        branch = at.insert(scf.If(condition=few, types=[], then=block_of(), otherwise=block_of()))
        then = Builder(branch.then.block, loc=at.loc)
        then.insert(asc.PipeBarrier(pipe="PIPE_M"))
        then.insert(scf.Yield())
        Builder(branch.otherwise.block, loc=at.loc).insert(scf.Yield())

    def _copy_out(self, op: tile.Copy, outer: Builder) -> None:
        """A finished block into global memory."""
        queue = self.queues[op.source]
        outer.insert(asc.EnQue(queue=queue, tensor=self.tensors[op.source]))
        at = self._method(outer, "CopyOut")
        tensor = at.value(asc.DeQue(queue=queue, types=[self._type(op.source)]), op.source.name)
        target, pitch = self.place(at, op.target)
        rows, columns = (self.value(size) for size in op.sizes)
        dtype = dtype_of(op.target.type)
        quant = "NoQuant" if dtype is dtype_of(op.source.type) else _QUANT[dtype.name]
        if op.accumulate is not None:
            at.insert(asc.SetAtomic(call="SetAtomicAdd", dtype=dtype.name))
        at.insert(
            asc_cube.Fixpipe(
                dst=target,
                src=tensor,
                n=columns,
                m=rows,
                src_stride=self.padded_rows,
                dst_stride=columns if pitch is None else pitch,
                quant=quant,
                relu=op.relu,
            )
        )
        if op.accumulate is not None:
            at.insert(asc.SetAtomicNone())
        at.insert(asc.FreeTensor(queue=queue, tensor=tensor))
        at.insert(asc.End())

    def place(self, at: Builder, view_: Value) -> tuple[Value, Value | None]:
        """Where a box of global memory starts, and the elements from one of its rows to the next (None: one row)."""
        view = view_.owner
        assert isinstance(view, mem.View)
        offset = index(at, 0)
        extents = [extent_value(at, extent) for extent in shape_of(view.ref)]
        for where, extent in zip(view.offsets, extents, strict=True):
            offset = binary(at, "add", binary(at, "mul", offset, extent), self._inside_method(at, where))
        tensor = self.globals[array_of(view.ref)]
        start = tensor
        if integer_of(offset) != 0:
            start = at.value(asc.Offset(tensor=tensor, offset=offset, types=[tensor.type]))
        axis = view.axes[0]
        if axis < 0:
            return start, None
        pitch = self.value(view.steps[axis])
        for extent in extents[axis + 1 :]:
            pitch = binary(at, "mul", pitch, extent)
        return start, pitch

    def _inside_method(self, at: Builder, value: Value) -> Value:
        """An index, computed where it is used unless that is done already."""
        op = value.op
        if value in self.mapping or op is None or not op.has(PURE) or isinstance(op, asc.CoreNumber):
            return self.value(value)
        inner = {each: self._inside_method(at, each) for each in op.operands}
        return at.insert(op.clone(inner)).results[0]


def array_of(ref: Value) -> Value:
    """The array whose axes may be folded."""
    return ref.owner.ref if isinstance(ref.owner, tile.Merge) else ref


def flat(ref: Value) -> RefType:
    """All of an array as a GlobalTensor."""
    return RefType((None,), dtype_of(ref.type))


def elements(tile_: Value) -> int:
    """The elements of a tile of constant extents."""
    assert isinstance(tile_.type, RefType)
    total = 1
    for extent in tile_.type.shape:
        assert isinstance(extent, int)
        total *= extent
    return total


def _is_index(value: Value) -> bool:
    """Whether a value is part of an access alone, and computed there."""
    return not value.name and all(isinstance(user, mem.View) for user in value.uses)
