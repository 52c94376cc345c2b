# SPDX-License-Identifier: Apache-2.0
"""Arrays that a loop carries from one iteration to the next, in buffers."""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.frontend import numeric
from pyasc.frontend.promotion import NumberType
from pyasc.frontend.values import Array, Row, Tensor, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir.dialects import mem, tensor
from pyasc.ir.location import Location
from pyasc.ir.types import RefType


@dataclass
class Slot:
    """A carried tensor: a buffer that each iteration reads first and writes last.

    With `is_array` the name stands for the buffer itself, whose elements may be assigned.
    """

    entry: Tensor | None
    alloc: mem.Alloc
    is_array: bool = False

    def value(self, v: Visitor) -> Val:
        """The name's value at the start of an iteration."""
        ref = self.alloc.ref
        return Array(ref) if self.is_array else Tensor(v.emit.value(tensor.Read(ref=ref)))

    def holds(self, value: Val) -> bool:
        """Whether a value is the buffer itself, so that nothing has to be written back."""
        return isinstance(value, Array) and value.ref is self.alloc.ref

    @property
    def tensor(self) -> RefType:
        """The buffer's type."""
        return numeric.element_ref(self.alloc.ref)


def buffer_like(
    v: Visitor, loc: Location, value: Tensor | Array, dtype: NumberType | None = None
) -> mem.Alloc:
    """A buffer for what has the shape of a value, not yet in the program."""
    shape = value.shape
    sizes = [numeric.extent(v, value, axis) for axis, d in enumerate(shape) if d is None]
    type_ = RefType(shape, dtype.dtype if dtype else value.dtype, "local")
    return mem.Alloc(sizes=sizes, types=[type_], loc=loc)


def remedy(name: str, entry: Val, final: Val) -> str:
    """What to write in place of a name of an array that the loop gives to something else."""
    match entry, final:
        case Array() | Row(), Array() | Row():
            return f"names of arrays stay what they are in a loop; copy the elements: {name}[...] = other"
        case Array(), Tensor() if entry.shape == final.shape:
            return f"give it an array of its own before the loop: {name} = {name}.copy()"
        case _:
            return ""
