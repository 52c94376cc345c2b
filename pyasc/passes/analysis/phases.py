# SPDX-License-Identifier: Apache-2.0
"""A kernel cut into phases: what one launch of all cores can do before they have to wait for each other.

Each top-level structured op or loop is a phase and becomes a function of its own; buffers between phases become
parameters that the host allocates. What the host has to know before a launch, checks included, is a function too:
it returns the number of cores of each phase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, func, mem, py, scf, st, tile
from pyasc.ir.dialects.func import Func
from pyasc.ir.dtypes import bf16, f16, f32, i1, i64
from pyasc.ir.sizes import Dim, SizeExpr, simplify
from pyasc.ir.types import RefType, ScalarType, Type, dtype_of
from pyasc.passes.analysis.affine import Polynomials
from pyasc.passes.analysis.ascend_scalar import FAULT_WORDS
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.largest import largest
from pyasc.passes.analysis.not_vector import NO_SIZE, refuse
from pyasc.passes.analysis.scalar_instructions import has_instruction

HOST_SUFFIX = "_host"
"""What is added to a kernel's symbol for the function that runs on the host."""

FAULT = f"{func.ADDED}faults"
"""The parameter that tells the host which check failed: its number from 1, the values it reports, then the core."""
FAULT_SUFFIX = "_fault_"
"""Before the number of a check, in the name of the function that raises it on the host."""

_WORK = (st.Apply, tile.Cores, scf.For, scf.If, scf.While, mem.Store, mem.Copy, mem.Atomic)
_SCALAR = (arith.Constant, arith.Elementwise, arith.Cast, func.Size, mem.Dim)


@dataclass
class Cut:
    """The operations of a kernel by what becomes of them, in order."""

    scalars: list[Operation] = field(default_factory=lambda: list[Operation]())
    work: list[Operation] = field(default_factory=lambda: list[Operation]())
    buffers: list[mem.Alloc] = field(default_factory=lambda: list[mem.Alloc]())
    checks: list[py.Check] = field(default_factory=lambda: list[py.Check]())
    loads: list[mem.Load] = field(default_factory=lambda: list[mem.Load]())


def cut(block: Block) -> Cut:
    """Sort the operations of a block. Raises UnsupportedError for one that has no place."""
    made = Cut()
    for op in block:
        match op:
            case mem.Alloc():
                made.buffers.append(op)
            case py.Check():
                (made.work if depends_on_data(needed(op.operands)) else made.checks).append(op)
            case py.Print():
                made.work.append(op)
            case mem.Load():
                made.loads.append(op)
            case func.Return() | scf.Yield():
                pass
            case _ if isinstance(op, _WORK):
                made.work.append(op)
            case _ if isinstance(op, (*_SCALAR, mem.View, tile.Merge)):
                made.scalars.append(op)
            case _:
                raise refuse(f"{op.name} at the top of a kernel", op.loc)
    return made


def needed(roots: Iterable[Value], leaf: Callable[[Value], bool] = lambda _: False) -> list[Operation]:
    """The operations outside that compute values, in order of definition, inputs first; none behind a leaf."""
    seen: dict[Operation, None] = {}

    def visit(value: Value) -> None:
        op = value.op
        if op is None or op in seen or isinstance(op, mem.Alloc) or leaf(value):
            return
        for operand in free_values(op):
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


def changes_what_it_starts_from(loop: scf.For) -> bool:
    """Whether a loop cannot be the host's, which starts a launch at a time.

    That is so where a bound comes from an array, or a number from in front of the loop comes from an array that the
    loop changes: the launches behind the first would read it anew.
    """
    bounds = [
        value for op in loop.walk() if isinstance(op, scf.For) for value in (op.lower, op.upper, op.step)
    ]
    if any(isinstance(op, mem.Load) and loop not in op.ancestors() for op in needed(bounds)):
        return True
    loads = [op for op in needed(free_values(loop)) if isinstance(op, mem.Load)]
    written = [ref for op in loop.walk() for ref in written_operands(op)]
    return any(may_alias(load.ref, ref) for load in loads for ref in written)


class UsedLater(Exception):
    """A phase uses what work of another one results in, which memory has to hold from one to the other."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        super().__init__(op.name)


def keep_in_memory(op: Operation) -> None:
    """Store the results of an operation in buffers behind it, and load them where they are used."""
    for result in [each for each in op.results if each.uses]:
        assert isinstance(result.type, ScalarType)
        alloc = mem.Alloc(types=[RefType((), result.type.dtype)])
        ref = Builder.before(op).value(alloc, result.name or "result")
        at = Builder.after(op)
        store = at.insert(mem.Store(value=result, ref=ref, indices=[]))
        load = at.value(mem.Load(ref=ref, indices=[]), result.name)
        result.replace_uses(load, lambda user, store=store: user is not store)


@dataclass(frozen=True)
class PhaseFunction:
    """The function of one phase, the kernel's values that the host passes to it, and its parameters for them."""

    function: Func
    scalars: tuple[Value, ...]
    params: tuple[Value, ...]


@dataclass(frozen=True)
class _Needs:
    """What a phase takes from the kernel around it: operations that it does itself too, and its parameters by kind."""

    again: list[Operation]
    own: list[Value]
    buffers: list[Value]
    numbers: list[Value]

    @property
    def params(self) -> list[Value]:
        """All parameters in order."""
        return [*self.own, *self.buffers, *self.numbers]


def phase_function(
    kernel: Func, work: Sequence[Operation], symbol: str, names: dict[Value, str]
) -> PhaseFunction:
    """A function that does the work of one phase.

    Its parameters are what it uses: of the kernel's own, then workspaces, then numbers that the host computes, since
    they count the iterations of a loop around the phase or the scalar unit has no instruction for them. Raises
    UsedLater where it uses what work of another phase results in.
    """
    needs = _needs(kernel, work)
    params = needs.params
    region = block_of([_in_memory(param.type) for param in params], _names(kernel, needs, names))
    mapping: dict[Value, Value] = dict(zip(params, region.block.args, strict=True))
    at = Builder(region.block)
    order = {op: number for number, op in enumerate(kernel.walk())}
    for op in sorted({*needs.again, *work}, key=order.__getitem__):
        at.insert(op.clone(mapping))
    at.insert(func.Return())
    written = _written(region.block)
    function = Func(
        symbol=symbol,
        sizes=kernel.sizes,
        written=tuple(i for i, value in enumerate(region.block.args) if value in written),
        body=region,
        loc=kernel.loc,
    )
    scalars = tuple(param for param in params if not isinstance(param.type, RefType))
    return PhaseFunction(function, scalars, tuple(mapping[value] for value in scalars))


def _needs(kernel: Func, work: Sequence[Operation]) -> _Needs:
    inside = {each for op in work for each in op.walk()}
    free = list(dict.fromkeys(value for op in work for value in free_values(op)))
    again = [op for op in needed(free, _from_host) if op not in inside]
    for op in again:
        if op.regions:
            raise UsedLater(op)
    used = dict.fromkeys(value for op in again for value in op.operands) | dict.fromkeys(free)
    own = [param for param in kernel.params if param in used]
    return _Needs(
        again,
        own,
        buffers=[value for value in used if isinstance(value.op, mem.Alloc) and value.op not in inside],
        numbers=[value for value in used if value not in own and _from_host(value)],
    )


def _from_host(value: Value) -> bool:
    """Whether a phase is given a number: a loop's counter, or what takes more than the scalar unit has."""
    if not isinstance(value.type, ScalarType):
        return False
    if value.op is None:
        return True
    return takes_detours(value.op) and not depends_on_data(needed([value]))


def depends_on_data(ops: Sequence[Operation]) -> bool:
    """Whether what a number is computed by reads memory or is work of the cores, so that no host knows it."""
    return any(isinstance(op, mem.Load) or op.regions for op in ops)


def takes_detours(op: Operation) -> bool:
    """Whether the scalar unit has no instruction for an operation on numbers."""
    if isinstance(op, arith.Elementwise):
        return not has_instruction(op.fn, dtype_of(op.args[-1].type))
    if not isinstance(op, arith.Cast):
        return False
    return dtype_of(op.value.type).is_float or dtype_of(op.result.type) in (f16, bf16)


def _in_memory(type_: Type) -> Type:
    """A buffer of any space becomes one in global memory."""
    return RefType(type_.shape, type_.dtype) if isinstance(type_, RefType) else type_


def _names(kernel: Func, needs: _Needs, names: dict[Value, str]) -> list[str]:
    taken = {param.name for param in kernel.params} | set(kernel.sizes) | set(names.values())
    made = [names.get(ref, ref.name) for ref in (*needs.own, *needs.buffers)]
    for value in needs.numbers:
        made.append(unused(value.name or "number", taken))
    return made


def unused(base: str, taken: set[str]) -> str:
    """A name that nothing has yet, which is then taken."""
    name, number = base, 1
    while name in taken:
        name, number = f"{base}{number}", number + 1
    taken.add(name)
    return name


def hoist_buffers(phase: Func, taken: set[str]) -> None:
    """Let the host allocate buffers inside loops whose size depends on the launch; one core uses them in turn."""
    polynomials = Polynomials()
    for op in list(phase.walk()):
        if not isinstance(op, mem.Alloc) or not isinstance(op.ref.type, RefType):
            continue
        if all(isinstance(extent, int) for extent in op.ref.type.shape):
            continue
        shape = _largest_shape(op, polynomials)
        if shape is None:
            continue
        name = unused(op.ref.name or "workspace", taken)
        buffer = phase.body.block.add_arg(RefType(shape, op.ref.type.dtype), name)
        op.replace_with([buffer])
        phase.attrs["written"] = (*phase.written, len(phase.params) - 1)


def _largest_shape(op: mem.Alloc, polynomials: Polynomials) -> tuple[Dim, ...] | None:
    """The shape of a buffer at its largest, None where no sizes of the kernel say it."""
    assert isinstance(op.ref.type, RefType)
    if op.sizes and any(isinstance(user, mem.Dim) for user in op.ref.uses):
        return None
    given = iter(op.sizes)
    shape: list[Dim] = []
    for extent in op.ref.type.shape:
        most = largest(next(given), polynomials) if extent is None else extent
        if most is None:
            return None
        shape.append(simplify(most) if isinstance(most, SizeExpr) else most)
    return tuple(shape)


def add_fault(phase: Func) -> None:
    """Give a phase the parameter that its checks report through."""
    phase.body.block.add_arg(RefType((FAULT_WORDS,), i64), FAULT)
    phase.attrs["written"] = (*phase.written, len(phase.params) - 1)


def fault_function(phase: Func, number: int, check: py.Check) -> Func:
    """What the host runs when a check of a phase has failed: the same check, of the values it reports."""
    # Floats are reported by their bits in float32.
    floats = [dtype_of(value.type).is_float for value in check.values]
    region = block_of([ScalarType(f32 if each else i64) for each in floats])
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
            found.update(_array_of(value) for value in written_operands(op))
    return found


def _array_of(ref: Value) -> Value:
    """What a view is a view of."""
    while isinstance(ref.owner, (mem.View, tile.Merge)):
        ref = ref.owner.ref
    return ref


def written_operands(op: Operation) -> list[Value]:
    """The refs that one operation writes, those of nested ones aside."""
    made: list[Value] = []
    for spec in op.spec.operands:
        if spec.written:
            start, stop = op.spec.segment(op, spec.position)
            made += op.operands[start:stop]
    return made


def is_work(op: Operation) -> bool:
    """Whether an operation at the top of a kernel is done by the cores, in a launch."""
    return isinstance(op, (*_WORK, py.Print)) or (
        isinstance(op, py.Check) and depends_on_data(needed(op.operands))
    )


def name_workspaces(kernel: Func, buffers: Sequence[mem.Alloc], names: dict[Value, str]) -> None:
    """Give each buffer between phases a name that no parameter has, and room for the most that it may hold.

    Raises UnsupportedError where no sizes of the kernel say how much that is.
    """
    taken = {param.name for param in kernel.params} | set(kernel.sizes) | set(names.values())
    for buffer in buffers:
        if isinstance(buffer.ref.type, RefType) and None in buffer.ref.type.shape:
            shape = _largest_shape(buffer, Polynomials())
            if shape is None:
                what = "a temporary array whose size no size of the kernel gives"
                raise refuse(what, buffer.loc, NO_SIZE)
            buffer.ref.type = RefType(shape, buffer.ref.type.dtype)
            buffer.set_operands("sizes", [])
        names[buffer.ref] = unused(buffer.ref.name or "workspace", taken)
