# SPDX-License-Identifier: Apache-2.0
"""Tensor values become structured ops over buffers; elementwise producers merge into what consumes them.

    %x = tensor.read %a
    %y = arith.mul %x, %x
    %s = tensor.reduce %y {fn = "add", axes = [1]} : tensor<N x f32>
    tensor.write %s, %b

becomes one operation

    st.apply [%n, %m], [%a], [%zero], [%b] {iterators = ["parallel", "reduction"], ...} {
    ^(%i: i64, %j: i64, %e: f32):
      %0 = arith.mul %e, %e
      st.yield %0
    } { ... add ... }

A tensor is kept as code as long as recomputing its elements is cheap or happens once, and no write comes
between the reads it stands for and its use; else it gets a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import mem, scf, st, tensor
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import TERMINATOR
from pyasc.ir.types import RefType, TensorType
from pyasc.passes.analysis.effects import EffectTable, may_alias, root_of
from pyasc.passes.analysis.structured import Output, apply_over
from pyasc.passes.analysis.tensor_elements import INLINE, Elements, is_cheap, ref_type
from pyasc.passes.analysis.tensor_kernels import KERNELS
from pyasc.passes.base import Context, FunctionPass


class LowerTensors(FunctionPass):
    """Lowers every tensor operation of a function."""

    name = "lower-tensors"

    def run(self, func: Func, context: Context) -> bool:
        """Lower in program order, so that operands come before users."""
        if not any(_touches_tensors(op) for op in func.walk()):
            return False
        _Lowering(func).run()
        return True


def _touches_tensors(op: Operation) -> bool:
    return any(isinstance(value.type, TensorType) for value in (*op.results, *op.operands))


def _is_tensor(value: Value) -> bool:
    return isinstance(value.type, TensorType)


@dataclass
class _Lowering:
    """State of lowering one function. `live` holds tensors that still stand for reads of memory."""

    func: Func
    elements: Elements = field(default_factory=Elements)
    live: dict[Value, None] = field(default_factory=lambda: dict[Value, None]())
    done: set[Operation] = field(default_factory=lambda: set[Operation]())
    dead: list[Operation] = field(default_factory=lambda: list[Operation]())
    yields: dict[Operation, list[tuple[int, Value]]] = field(
        default_factory=lambda: dict[Operation, list[tuple[int, Value]]]()
    )
    shrink: list[Operation] = field(default_factory=lambda: list[Operation]())

    def run(self) -> None:
        """The whole function, then drop what was lowered."""
        for op in self.func.nested():
            if op is not self.func and not self._inside_generate(op):
                self._protect(op)
                self._lower(op)
                self.done.add(op)
        for terminator in self.shrink:
            _drop_tensor_slots(terminator)
        for op in reversed(self.dead):
            op.drop()
            op.unlink()

    def _inside_generate(self, op: Operation) -> bool:
        return any(isinstance(parent, tensor.Generate) for parent in op.ancestors())

    def _lower(self, op: Operation) -> None:
        if op in self.done:
            return
        match op:
            case tensor.Read():
                self.elements.buffers[op.value] = op.ref
                self._keep(op)
            case tensor.Write():
                self._write(op)
            case tensor.Extract():
                at = Builder.before(op)
                op.value.replace_uses(self.elements.at(op.tensor, op.indices, at))
                self.dead.append(op)
            case tensor.Dim():
                op.value.replace_uses(self.elements.extent(op.tensor, op.axis, Builder.before(op)))
                self.dead.append(op)
            case scf.For() | scf.While() | scf.If():
                self._carry(op)
            case scf.Yield() if op in self.yields:
                self._yield(op)
            case _ if type(op) in KERNELS:
                self._kernel(op)
            case _ if isinstance(op, INLINE) and _is_tensor(op.results[0]):
                self._keep(op)
                if self._must_materialise(op):
                    self.materialise(op.results[0], Builder.after(op))
            case _:
                self._refuse(op)

    def _keep(self, op: Operation) -> None:
        self.live[op.results[0]] = None
        self.dead.append(op)

    def _refuse(self, op: Operation) -> None:
        if _touches_tensors(op) and not op.has(TERMINATOR):
            raise TypeError(f"{op.name} at {op.loc} takes tensors and cannot be lowered")

    def _must_materialise(self, op: Operation) -> bool:
        value = op.results[0]
        if not self._costly(value):
            return False
        users = list(value.uses)
        if len(users) != 1 or value.uses[users[0]] != 1 or users[0].parent is not op.parent:
            return True
        return isinstance(users[0], (tensor.Broadcast, tensor.Contract, tensor.Extract))

    def _costly(self, value: Value) -> bool:
        if value in self.elements.buffers or value.op is None:
            return False
        return not is_cheap(value.op) or any(self._costly(v) for v in value.op.operands if _is_tensor(v))

    def _reads(self, value: Value) -> list[Value]:
        """Roots of the memory that the elements of a tensor are read from when they are used."""
        ref = self.elements.buffers.get(value)
        if ref is not None:
            return [root_of(ref)]
        if value.op is None:
            return []
        return [root for v in self._tensor_operands(value.op) for root in self._reads(v)]

    def _tensor_operands(self, op: Operation) -> list[Value]:
        nested = [v for inner in op.nested() if inner is not op for v in inner.operands]
        return [v for v in (*op.operands, *nested) if _is_tensor(v)]

    def _protect(self, op: Operation) -> None:
        """Give buffers to the live tensors whose memory `op` writes and which are used later on."""
        effects = EffectTable().of(op)
        if not effects.writes:
            return
        for value in list(self.live):
            if any(effects.may_write(root) for root in self._reads(value)) and self._used_after(value, op):
                self.materialise(value, Builder.before(op))

    def _used_after(self, value: Value, op: Operation) -> bool:
        pending = [user for user in value.uses if user not in self.done and user is not op]
        return any(self._consumed_after(user, op) for user in pending)

    def _consumed_after(self, user: Operation, op: Operation) -> bool:
        """Whether the elements that `user` takes are read after `op` begins, directly or by what it merges into."""
        if not isinstance(user, INLINE) or not user.results:
            return True
        return any(inner is not op for inner in user.results[0].uses)

    def materialise(self, value: Value, at: Builder) -> Value:
        """Compute a tensor into a fresh buffer now; returns the buffer."""
        ref = self._allocate(value, at)
        self._fill(value, ref, at)
        self.elements.buffers[value] = ref
        self.live.pop(value, None)
        return ref

    def _allocate(self, value: Value, at: Builder) -> Value:
        type_ = value.type
        assert isinstance(type_, TensorType)
        open_axes = [axis for axis, dim in enumerate(type_.shape) if dim is None]
        sizes = [self.elements.extent(value, axis, at) for axis in open_axes]
        return at.value(mem.Alloc(sizes=sizes, types=[ref_type(type_)]), value.name)

    def _fill(self, value: Value, ref: Value, at: Builder) -> st.Apply:
        type_ = value.type
        assert isinstance(type_, TensorType)
        rank = len(type_.shape)
        extents = [self.elements.extent(value, axis, at) for axis in range(rank)]
        return apply_over(
            at,
            extents,
            ("parallel",) * rank,
            [Output(ref, "write", tuple(range(rank)))],
            lambda inner, point: [self.elements.at(value, point, inner)],
        )

    def _write(self, op: tensor.Write) -> None:
        at = Builder.before(op)
        apply = self._fill(op.value, op.ref, at)
        if not _reads_only_in_place(apply):
            type_ = op.value.type
            buffer = Builder.before(apply).value(
                mem.Alloc(sizes=self._open(op.ref, apply), types=[ref_type(type_)])
            )
            apply.set_operands("outputs", [buffer])
            at.insert(mem.Copy(source=buffer, target=op.ref))
        self.dead.append(op)

    def _open(self, ref: Value, before: Operation) -> list[Value]:
        type_ = ref.type
        assert isinstance(type_, RefType)
        at = Builder.before(before)
        return [at.value(mem.Dim(ref=ref, axis=i)) for i, dim in enumerate(type_.shape) if dim is None]

    def _kernel(self, op: Operation) -> None:
        value = op.results[0]
        at = Builder.before(op)
        target = self._destination(op)
        ref = target.ref if target is not None else self._allocate(value, at)
        KERNELS[type(op)](op, self.elements, ref, at)
        self.elements.buffers[value] = ref
        self.dead.append(op)
        if target is not None:
            self.done.add(target)
            self.dead.append(target)

    def _destination(self, op: Operation) -> tensor.Write | None:
        """The write that is all that happens to a result, when computing into its target at once is the same."""
        users = list(op.results[0].uses)
        if len(users) != 1 or not isinstance(users[0], tensor.Write) or users[0].parent is not op.parent:
            return None
        write = users[0]
        if write.value.type != _tensor_of(write.ref) or not _defined_before(write.ref, op):
            return None
        if any(may_alias(write.ref, root) for v in self._tensor_operands(op) for root in self._reads(v)):
            return None
        table = EffectTable()
        between = op.next
        while between is not None and between is not write:
            effects = table.of(between)
            if effects.may_read(write.ref) or effects.may_write(write.ref):
                return None
            between = between.next
        return write

    def _carry(self, op: scf.For | scf.While | scf.If) -> None:
        """Tensors that a loop carries or a branch yields live in one buffer each."""
        slots = [i for i, value in enumerate(op.results) if _is_tensor(value)]
        if not slots:
            return
        if isinstance(op, scf.While):
            raise TypeError(f"{op.name} at {op.loc} carries tensors")
        self._carry_slots(op, slots)

    def _carry_slots(self, op: scf.For | scf.If, slots: Sequence[int]) -> None:
        at = Builder.before(op)
        for i in slots:
            result = op.results[i]
            shaped = op.inits[i] if isinstance(op, scf.For) else op.then.block.terminator.operands[i]
            ref = self._allocate_like(result, shaped, at)
            if isinstance(op, scf.For):
                self._fill(shaped, ref, at)
                self.elements.buffers[op.carried[i]] = ref
            self.elements.buffers[result] = ref
            for region in op.regions:
                self.yields.setdefault(region.block.terminator, []).append((i, ref))

    def _allocate_like(self, result: Value, shaped: Value, at: Builder) -> Value:
        type_ = result.type
        assert isinstance(type_, TensorType)
        sizes = [
            self.elements.extent(shaped, axis, at) for axis, dim in enumerate(type_.shape) if dim is None
        ]
        return at.value(mem.Alloc(sizes=sizes, types=[ref_type(type_)]), result.name)

    def _yield(self, op: Operation) -> None:
        """Move what a terminator passes on into its buffers, all at once."""
        at = Builder.before(op)
        moves: list[tuple[Value, Value]] = []
        for i, ref in self.yields.pop(op):
            value = op.operands[i]
            if self.elements.buffers.get(value) is ref:
                continue
            moves.append((self._staged(value, at), ref))
        for source, ref in moves:
            at.insert(mem.Copy(source=source, target=ref))
        self.shrink.append(op)

    def _staged(self, value: Value, at: Builder) -> Value:
        """A buffer that holds the value and that no other move of this yield changes."""
        ref = self.elements.buffers.get(value)
        own = ref is not None and value.op is not None and type(value.op) in KERNELS
        return ref if own and ref is not None else self.materialise(value, at)


def _tensor_of(ref: Value) -> TensorType:
    assert isinstance(ref.type, RefType)
    return TensorType(ref.type.shape, ref.type.dtype)


def _defined_before(ref: Value, op: Operation) -> bool:
    owner = ref.op
    if owner is None or owner.parent is not op.parent:
        return True
    earlier = op.prev
    while earlier is not None:
        if earlier is owner:
            return True
        earlier = earlier.prev
    return False


def _reads_only_in_place(apply: st.Apply) -> bool:
    """Whether what the op reads of its output's memory is at most the element it is about to write."""
    output, output_map = apply.outputs[0], apply.output_maps[0]
    for ref, map_ in zip(apply.inputs, apply.input_maps, strict=True):
        if may_alias(ref, output) and (ref is not output or map_ != output_map):
            return False
    return not any(isinstance(op, mem.Load) and may_alias(op.ref, output) for op in apply.walk())


def _drop_tensor_slots(terminator: Operation) -> None:
    """Take the tensors out of what a loop or branch passes on; their buffers have taken their place."""
    parent = terminator.parent_op
    terminator.operands = [value for value in terminator.operands if not _is_tensor(value)]
    terminator.segments = (len(terminator.operands),)
    assert isinstance(parent, (scf.For, scf.If))
    if isinstance(parent, scf.For):
        parent.set_operands("inits", [value for value in parent.inits if not _is_tensor(value)])
        block = parent.body.block
        block.args = [arg for arg in block.args if not _is_tensor(arg)]
        for i, arg in enumerate(block.args):
            arg.index = i
    parent.results = tuple(value for value in parent.results if not _is_tensor(value))
    for i, value in enumerate(parent.results):
        value.index = i
