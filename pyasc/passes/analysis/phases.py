# SPDX-License-Identifier: Apache-2.0
"""A kernel cut into phases: what one launch of all cores can do before they have to wait for each other.

Each top-level structured op or loop is a phase and becomes a function of its own; buffers between phases become
parameters that the host allocates. What the host has to know before a launch, checks included, is a function too:
it returns the number of cores of each phase.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, func, mem, py, scf, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.dtypes import i1, i64
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.analysis.tile_legalise import refuse

HOST_SUFFIX = "_host"
"""What is added to a kernel's symbol for the function that runs on the host."""

FAULT = "pyasc_fault"
"""The parameter that tells the host which check failed: its number from 1, then the values it reports."""
FAULT_SUFFIX = "_fault_"
"""Before the number of a check, in the name of the function that raises it on the host."""

_WORK = (st.Apply, scf.For, scf.If, scf.While, mem.Store, mem.Copy, mem.Atomic)
_SCALAR = (arith.Constant, arith.Elementwise, arith.Cast, func.Size, mem.Dim)


@dataclass
class Cut:
    """The operations of a kernel by what becomes of them, in order."""

    scalars: list[Operation] = field(default_factory=lambda: list[Operation]())
    work: list[Operation] = field(default_factory=lambda: list[Operation]())
    buffers: list[mem.Alloc] = field(default_factory=lambda: list[mem.Alloc]())
    checks: list[py.Check] = field(default_factory=lambda: list[py.Check]())
    loads: list[mem.Load] = field(default_factory=lambda: list[mem.Load]())


def cut(kernel: Func) -> Cut:
    """Sort the top-level operations of a kernel. Raises UnsupportedError for one that has no place."""
    made = Cut()
    for op in kernel.body.block:
        match op:
            case mem.Alloc():
                made.buffers.append(op)
            case py.Check():
                depends = any(isinstance(each, mem.Load) for each in needed(op.operands))
                (made.work if depends else made.checks).append(op)
            case mem.Load():
                made.loads.append(op)
            case func.Return():
                pass
            case _ if isinstance(op, _WORK):
                made.work.append(op)
            case _ if isinstance(op, (*_SCALAR, mem.View)):
                made.scalars.append(op)
            case _:
                raise refuse(f"{op.name} at the top of a kernel", op.loc)
    return made


def needed(roots: Iterable[Value]) -> list[Operation]:
    """The operations outside that compute values, in order of definition, inputs first."""
    seen: dict[Operation, None] = {}

    def visit(value: Value) -> None:
        op = value.op
        if op is None or op in seen or isinstance(op, mem.Alloc):
            return
        for operand in op.operands:
            visit(operand)
        seen[op] = None

    for root in roots:
        visit(root)
    return list(seen)


def free_values(op: Operation) -> list[Value]:
    """The values from outside that an operation and all that it nests use."""
    inside: set[Block] = {block for each in op.walk() for region in each.regions for block in region.blocks}
    found = (value for each in op.walk() for value in each.operands if value.block not in inside)
    return list(dict.fromkeys(found))


def phase_function(kernel: Func, work: Sequence[Operation], symbol: str, names: dict[Value, str]) -> Func:
    """A function that does the work of one phase: parameters are what it uses, workspaces behind the kernel's own."""
    inside = set(work)
    free = list(dict.fromkeys(value for op in work for value in free_values(op)))
    before = [op for op in needed(free) if op not in inside]
    used = dict.fromkeys(value for op in before for value in op.operands) | dict.fromkeys(free)
    buffers = [value for value in used if isinstance(value.op, mem.Alloc) and value.op not in inside]
    params = [param for param in kernel.params if param in used] + buffers
    region = block_of([param.type for param in params], [names.get(param, param.name) for param in params])
    mapping: dict[Value, Value] = dict(zip(params, region.block.args, strict=True))
    at = Builder(region.block)
    order = {op: number for number, op in enumerate(kernel.body.block)}
    for op in sorted({*before, *work}, key=order.__getitem__):
        at.insert(op.clone(mapping))
    at.insert(func.Return())
    written = _written(region.block)
    return Func(
        symbol=symbol,
        sizes=kernel.sizes,
        written=tuple(i for i, value in enumerate(region.block.args) if value in written),
        body=region,
        loc=kernel.loc,
    )


def hoist_buffers(phase: Func, taken: set[str]) -> None:
    """Let the host allocate buffers inside loops whose size depends on the launch; one core uses them in turn."""
    for op in list(phase.walk()):
        if not isinstance(op, mem.Alloc) or not isinstance(op.ref.type, RefType) or op.sizes:
            continue
        if all(isinstance(extent, int) for extent in op.ref.type.shape):
            continue
        name, number = op.ref.name or "temporary", 1
        while name in taken:
            name, number = f"{op.ref.name or 'temporary'}{number}", number + 1
        taken.add(name)
        buffer = phase.body.block.add_arg(RefType(op.ref.type.shape, op.ref.type.dtype), name)
        op.replace_with([buffer])
        phase.attrs["written"] = (*phase.written, len(phase.params) - 1)


def add_fault(phase: Func) -> None:
    """Give a phase the parameter that its checks report through."""
    phase.body.block.add_arg(RefType((5,), i64), FAULT)
    phase.attrs["written"] = (*phase.written, len(phase.params) - 1)


def fault_function(phase: Func, number: int, check: py.Check) -> Func:
    """What the host runs when a check of a phase has failed: the same check, of the values it reports."""
    region = block_of([ScalarType(i64)] * len(check.values))
    at = Builder(region.block, loc=check.loc)
    never = at.value(arith.Constant.of(False, i1))
    at.insert(py.Check(condition=never, values=region.block.args, error=check.error, message=check.message))
    at.insert(func.Return())
    symbol = f"{phase.symbol}{FAULT_SUFFIX}{number}"
    return Func(symbol=symbol, kernel=False, body=region, loc=check.loc)


def _written(block: Block) -> set[Value]:
    found: set[Value] = set()
    for top in block:
        for op in top.walk():
            found.update(written_operands(op))
    return found


def written_operands(op: Operation) -> list[Value]:
    """The refs that one operation writes, those of nested ones aside."""
    made: list[Value] = []
    for spec in op.spec.operands:
        if spec.written:
            start, stop = op.spec.segment(op, spec.position)
            made += op.operands[start:stop]
    return made


def check_loads(kernel: Func, loads: Sequence[mem.Load]) -> None:
    """Raises UnsupportedError for a scalar that is read before a later phase writes the array it came from."""
    for load in loads:
        seen = False
        for op in kernel.body.block:
            seen |= op is load
            if seen and isinstance(op, _WORK) and _writes(op, load.ref) and _used_after(load, op):
                raise refuse(
                    "a number read from an array that is written before the number is used", load.loc
                )


def _writes(top: Operation, ref: Value) -> bool:
    return any(ref in written_operands(op) for op in top.walk())


def _used_after(load: mem.Load, write: Operation) -> bool:
    later = False
    for op in write.parent or ():
        if later and any(value is load.value for each in op.walk() for value in each.operands):
            return True
        later |= op is write
    return False


def workspace_names(kernel: Func, buffers: Sequence[mem.Alloc]) -> dict[Value, str]:
    """A name that no parameter has for each buffer between phases."""
    taken = {param.name for param in kernel.params} | set(kernel.sizes)
    names: dict[Value, str] = {}
    for buffer in buffers:
        base = buffer.ref.name or "temporary"
        name, number = base, 1
        while name in taken:
            name, number = f"{base}{number}", number + 1
        taken.add(name)
        names[buffer.ref] = name
        assert isinstance(buffer.ref.type, RefType)
        buffer.ref.type = RefType(buffer.ref.type.shape, buffer.ref.type.dtype)
    return names
