# SPDX-License-Identifier: Apache-2.0
"""Numbers that go from a reduction through a buffer to one element of an array: written there at once.

A store at the top of a kernel is a launch of its own. Where all it does is to copy the one result of a reduction, the
reduction writes that element.
"""

from __future__ import annotations

from typing import TypeVar

from pyasc.ir.affine import AffineMap, const
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import mem, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import integer_of

T = TypeVar("T", bound=Operation)


def write_directly(kernel: Func) -> None:
    """Shorten the way of every such number of a kernel."""
    for op in list(kernel.body.block):
        if isinstance(op, mem.Alloc):
            _shorten(op)


def _shorten(buffer: mem.Alloc) -> None:
    apply = _only(buffer.ref, st.Apply)
    load = _only(buffer.ref, mem.Load)
    if len(buffer.ref.uses) != 2 or apply is None or load is None or apply.parent is not buffer.parent:
        return
    store = _only(load.value, mem.Store)
    if store is None or len(load.value.uses) != 1 or store.parent is not buffer.parent:
        return
    numbers = [integer_of(each) for each in store.indices]
    places = [number for number in numbers if number is not None]
    target = store.ref
    alone = all(user is store for user in target.uses)
    outputs = list(apply.outputs)
    fresh = bool(apply.inits) and outputs.count(buffer.ref) == 1 and buffer.ref not in apply.inputs
    if (
        not alone
        or not fresh
        or len(places) != len(numbers)
        or dtype_of(target.type) is not dtype_of(load.value.type)
    ):
        return
    number = outputs.index(buffer.ref)
    outputs[number] = target
    maps = list(apply.output_maps)
    maps[number] = AffineMap(tuple(const(place) for place in places))
    apply.set_operands("outputs", outputs)
    apply.output_maps = tuple(maps)
    store.erase()
    load.erase()
    buffer.erase()


def _only(value: Value, kind: type[T]) -> T | None:
    """The one user of a kind that names a value once."""
    found = [(user, count) for user, count in value.uses.items() if isinstance(user, kind)]
    return found[0][0] if len(found) == 1 and found[0][1] == 1 else None
