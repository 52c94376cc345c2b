# SPDX-License-Identifier: Apache-2.0
"""One number of a whole array: every core makes one of its share, and a second phase one of those.

    st.apply [%n], [%x], [%zero], [%total] {iterators = ["reduction"], roles = ["reduce"], ...}

becomes a phase in which each core folds a run of 512-byte lines and writes what it has to a workspace, and a phase of
one core that combines as many numbers as there were cores.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.affine import AffineMap, const, dim, symbol
from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import mem, py, st, tile
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import index, materialise
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_body import stored_dtype
from pyasc.passes.analysis.tile_emit import LINE_BYTES, REPEAT_BYTES, TileEmitter, binary, cores_for, deal
from pyasc.passes.analysis.tile_flat import walks_whole
from pyasc.passes.analysis.tile_lines import SCALAR, Lines, reduce_line
from pyasc.passes.analysis.tile_program import Instruction
from pyasc.passes.analysis.tile_rows import of_apply


def is_total(op: st.Apply) -> bool:
    """Whether all iterators of a structured op are reduced to one element."""
    return (
        op.rank > 0
        and all(kind == "reduction" for kind in op.iterators)
        and all(role == "reduce" for role in op.roles)
    )


def lower_parts(op: st.Apply, soc: Soc, names: Sequence[str]) -> Value:
    """The first phase, which writes to workspaces of these names; how many cores take part. Raises NotVector."""
    return _Total(op, soc).parts(names)


def lower_whole(op: st.Apply, soc: Soc, names: Sequence[str]) -> None:
    """The second phase, which one core runs. Raises NotVector."""
    _Total(op, soc).whole(names)


def function_of(op: Operation) -> Func:
    """The function that an operation is in."""
    return next(each for each in op.ancestors() if isinstance(each, Func))


class _Total:
    def __init__(self, op: st.Apply, soc: Soc) -> None:
        self.op = op if op.rank == 1 else _flattened(op)
        self.at = Builder.before(self.op)
        self.at.loc = op.loc
        self.soc = soc
        self.work = of_apply(self.op, self.at, lines=True)
        self.lines = Lines(self.op, self.work, soc)
        if len(self.lines.program.sweeps) != 1:
            raise refuse("numbers of an array that depend on each other", op.loc)
        (self.sweep,) = self.lines.program.sweeps
        widths = [access.register.dtype.bytes for access in self.sweep.reads] or [4]
        first, extent = self.work.column_values(self.at, ())
        self.first, self.extent = first, binary(self.at, "maximum", extent, 0)
        self.line = LINE_BYTES // min(widths)
        self.blocks = cores_for(self.at, self.extent, self.line, soc.vector_cores)

    def _function(self) -> Func:
        return function_of(self.op)

    def _workspace(self, fold: Instruction, name: str) -> Value:
        return self._function().body.block.add_arg(RefType((self.soc.vector_cores,), fold.target.dtype), name)

    def parts(self, names: Sequence[str]) -> Value:
        """Each core folds its share."""
        dealt = deal(self.at, self.blocks, self.extent, self.line)
        inner, core, part = dealt.at, dealt.core, dealt.part
        numbers = self.lines.begin(inner, [each.target for each in self.sweep.folds])
        begin = binary(inner, "add", self.first, part.begin)
        self.lines.sweep(inner, numbers, 0, (), (begin, part.length))
        made = [self._workspace(each, name) for each, name in zip(self.sweep.folds, names, strict=True)]
        for each, workspace in zip(self.sweep.folds, made, strict=True):
            self.lines.write_number(inner, numbers, each.target, _element(inner, workspace, core))
        inner.insert(tile.Yield())
        self._leave()
        return self.blocks

    def whole(self, names: Sequence[str]) -> None:
        """One core combines the shares, and does what is left to do with the numbers."""
        one = index(self.at, 1)
        cores = self.at.insert(tile.Cores(count=one, body=block_of([SCALAR], ["core"])))
        inner = Builder(cores.body.block, loc=self.op.loc)
        numbers = self.lines.begin(inner)
        made = [self._workspace(each, name) for each, name in zip(self.sweep.folds, names, strict=True)]
        for access in self.lines.program.reads:
            self.lines.read_number(inner, numbers, access, ())
        for each, workspace in zip(self.sweep.folds, made, strict=True):
            self._combine(inner, numbers, each, workspace)
        self.lines.instructions(inner, numbers, self.lines.program.numbers[0])
        self.lines.instructions(inner, numbers, self.lines.program.numbers[1])
        for access in self.lines.program.writes:
            self.lines.write_number(inner, numbers, access.register, self.lines.view(inner, access, ()))
        inner.insert(tile.Yield())
        # The first phase asks the same.
        for check in [each for each in self._function().body.block if isinstance(each, py.Check)]:
            check.erase()
        self._leave()

    def _combine(self, at: Builder, numbers: TileEmitter, each: Instruction, workspace: Value) -> None:
        lanes = REPEAT_BYTES // each.target.dtype.bytes
        type_ = RefType((1, None), each.target.dtype, "ub")
        line = at.value(
            tile.Buffer(extents=[index(at, lanes)], depth=2, capacity=lanes, types=[type_]), "parts"
        )
        sizes = [index(at, 1), self.blocks]
        view = RefType((1, None), each.target.dtype, "gm", "strided")
        made = mem.View(
            ref=workspace,
            offsets=[index(at, 0)],
            sizes=[self.blocks],
            steps=[sizes[0]],
            axes=(-1, 0),
            types=[view],
        )
        at.insert(tile.Copy(source=at.value(made, workspace.name), target=line, sizes=sizes))
        target = numbers.tile_of(each.target)
        reduce_line(at, each, line, target, sizes)

    def _leave(self) -> None:
        function = self._function()
        self.op.drop()
        self.op.unlink()
        _keep_used(function)


def _element(at: Builder, ref: Value, place: Value) -> Value:
    one = index(at, 1)
    assert isinstance(ref.type, RefType)
    type_ = RefType((1, 1), ref.type.dtype, "gm", "strided")
    made = mem.View(ref=ref, offsets=[place], sizes=[one], steps=[one], axes=(-1, -1), types=[type_])
    return at.value(made, ref.name)


def _flattened(op: st.Apply) -> st.Apply:
    """The op with one iterator over all elements. Raises NotVector unless it walks whole arrays in order."""
    if not all(walks_whole(op, ref, map_) for ref, map_ in zip(op.inputs, op.input_maps, strict=True)):
        raise refuse("a reduction of part of an array along several axes", op.loc)
    if any(counter.uses for counter in op.body.block.args[: op.rank]):
        raise refuse("the loop counter as a value", op.loc)
    at = Builder.before(op)
    at.loc = op.loc
    total = index(at, 1)
    for bound in op.upper:
        total = binary(at, "mul", total, materialise(bound, (), op.symbols, at))
    refs = [at.value(_flat(ref), ref.name) for ref in op.inputs]
    for _ in range(op.rank - 1):
        op.body.block.remove_arg(0)
    op.iterators = ("reduction",)
    op.set_operands("inputs", refs)
    op.set_operands("symbols", [*op.symbols, total])
    op.lower, op.upper = (const(0),), (symbol(len(op.symbols) - 1),)
    op.input_maps = (AffineMap((dim(0),)),) * len(refs)
    return op


def _flat(ref: Value) -> tile.Flatten:
    assert isinstance(ref.type, RefType)
    return tile.Flatten(ref=ref, types=[RefType((None,), stored_dtype(ref.type.dtype))])


def _keep_used(function: Func) -> None:
    """Take out of a phase the arrays that only its other half works with, and say anew which ones it writes."""
    block = function.body.block
    for op in reversed(list(block)):
        unused = op.results and not any(result.uses for result in op.results)
        if unused and (op.has(PURE) or isinstance(op, mem.Load)):
            op.erase()
    for number in reversed(range(len(block.args))):
        if isinstance(block.args[number].type, RefType) and not block.args[number].uses:
            block.remove_arg(number)
    written = {_root(op.target) for op in function.walk() if isinstance(op, tile.Copy)}
    function.attrs["written"] = tuple(i for i, param in enumerate(block.args) if param in written)


def _root(ref: Value) -> Value:
    while isinstance(ref.owner, (mem.View, tile.Flatten)):
        ref = ref.owner.ref
    return ref
