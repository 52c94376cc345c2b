# SPDX-License-Identifier: Apache-2.0
"""Loops that add to elements of an array at places that data says: histograms, with or without weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir import dtypes
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, func, mem, scf
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import constant_of
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.phases import free_values


@dataclass(frozen=True)
class Histogram:
    """Loops, what is added in the innermost one to an element of `ref`, and the operations that compute both."""

    loops: tuple[scf.For, ...]
    ref: Value
    indices: tuple[Value, ...]
    value: Value
    work: tuple[Operation, ...]


def match_histogram(loop: scf.For) -> Histogram | None:
    """The histogram that a loop nest is, if it is one."""
    loops = [loop]
    outer: list[Operation] = []
    while (inner := _inner(loops[-1])) is not None:
        outer += [op for op in loops[-1].body.block if op is not inner and not isinstance(op, scf.Yield)]
        loops.append(inner)
    body = [op for op in loops[-1].body.block if not isinstance(op, scf.Yield)]
    if not all(_is_plain(each, loop) for each in loops) or not all(map(_is_scalar, outer)):
        return None
    found = _update(body)
    if found is None:
        return None
    ref, indices, value, rest = found
    work = [*outer, *rest]
    if not all(_is_scalar(op) or (isinstance(op, mem.Load) and not may_alias(op.ref, ref)) for op in work):
        return None
    if not isinstance(ref.type, RefType) or None in ref.type.shape or isinstance(ref.owner, mem.View):
        return None
    return Histogram(tuple(loops), ref, tuple(indices), value, tuple(work))


def _inner(loop: scf.For) -> scf.For | None:
    found = [op for op in loop.body.block if isinstance(op, scf.For)]
    return found[0] if len(found) == 1 else None


def _is_plain(loop: scf.For, outermost: scf.For) -> bool:
    """Whether a loop counts by one, carries nothing, and has bounds from outside."""
    inside = [value for value in (loop.lower, loop.upper) if value in _defined(outermost)]
    return constant_of(loop.step) == 1 and not loop.inits and not inside


def _defined(loop: scf.For) -> set[Value]:
    made = {value for op in loop.walk() if op is not loop for value in op.results}
    counters = {op.counter for op in loop.walk() if isinstance(op, scf.For)}
    return made | counters


def _is_scalar(op: Operation) -> bool:
    return op.has(PURE) and not op.regions and not isinstance(op, (mem.View, func.Launch))


def _update(body: Sequence[Operation]) -> tuple[Value, Sequence[Value], Value, list[Operation]] | None:
    """What is added to, where, what, and the operations besides. Floats have to be added atomically, in any order."""
    atomics = [op for op in body if isinstance(op, mem.Atomic)]
    stores = [op for op in body if isinstance(op, mem.Store)]
    if len(atomics) == 1 and not stores and atomics[0].fn == "add":
        (op,) = atomics
        known = dtype_of(op.ref.type) in (dtypes.i32, dtypes.f32)
        return (op.ref, op.indices, op.value, [each for each in body if each is not op]) if known else None
    if len(stores) != 1 or atomics or dtype_of(stores[0].ref.type) is not dtypes.i32:
        return None
    (store,) = stores
    match store.value.op:
        case arith.Elementwise(fn="add", args=args) as added if len(store.value.uses) == 1:
            for old, value in (args, args[::-1]):
                load = old.op
                if isinstance(load, mem.Load) and _same_element(load, store) and len(old.uses) == 1:
                    rest = [each for each in body if each not in (store, added, load)]
                    if old not in {each for op in rest for each in free_values(op)}:
                        return store.ref, store.indices, value, rest
        case _:
            pass
    return None


def _same_element(load: mem.Load, store: mem.Store) -> bool:
    return load.ref is store.ref and list(load.indices) == list(store.indices)
