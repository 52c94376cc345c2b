# SPDX-License-Identifier: Apache-2.0
"""A buffer that each iteration of a loop has of its own becomes one buffer with a place for every iteration.

scf.for %0, %n, %1, [] {                         %all = mem.alloc : ref<N x f32, local>
^(%i: i64):                                      scf.for %0, %n, %1, [] {
  %one = mem.alloc : ref<f32, local>       =>    ^(%i: i64):
  mem.store %v, %one, []                           mem.store %v, %all, [%i]
"""

from __future__ import annotations

from pyasc.ir import affine
from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.sizes import Dim, simplify
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import Nest, Polynomials, integer_of


def expand(ref: Value, loop: scf.For, nest: Nest) -> Value | None:
    """Give a buffer of the loop's body a leading dimension for the counter; None when that is not possible."""
    alloc, type_ = ref.op, ref.type
    assert isinstance(alloc, mem.Alloc) and isinstance(type_, RefType)
    from_zero = integer_of(loop.lower) == 0 and integer_of(loop.step) == 1
    known = all(nest.is_invariant(size) for size in alloc.sizes)
    if not from_zero or not known or not all(_can_shift(user, ref) for user in ref.uses):
        return None
    extent = extent_of(loop.upper)
    shape = (extent, *type_.shape)
    made = mem.Alloc(
        sizes=[*([loop.upper] if extent is None else []), *alloc.sizes],
        alignment=alloc.alignment,
        purpose=alloc.purpose,
        types=[RefType(shape, type_.dtype, type_.space, type_.layout)],
    )
    whole = Builder.before(loop).value(made, ref.name)
    for user in list(ref.uses):
        _shift(user, ref, whole, loop.counter)
    alloc.erase()
    return whole


def extent_of(upper: Value) -> Dim:
    """The extent as the type says it: a polynomial of sizes, or open."""
    polynomial = Polynomials().of(upper)
    return None if any(name.startswith("%") for name in polynomial.names) else simplify(polynomial)


def _can_shift(user: Operation, ref: Value) -> bool:
    if isinstance(user, mem.Store):
        return user.ref is ref
    return isinstance(user, (mem.Load, st.Apply))


def _shift(user: Operation, old: Value, new: Value, counter: Value) -> None:
    if isinstance(user, (mem.Load, mem.Store)):
        user.set_operands("indices", [counter, *user.indices])
        user.set_operands("ref", [new])
        return
    assert isinstance(user, st.Apply)
    number = len(user.symbols)
    user.set_operands("symbols", [*user.symbols, counter])

    def shifted(ref: Value, map_: AffineMap) -> AffineMap:
        return AffineMap((affine.symbol(number), *map_.results)) if ref is old else map_

    user.input_maps = tuple(shifted(r, m) for r, m in zip(user.inputs, user.input_maps, strict=True))
    user.output_maps = tuple(shifted(r, m) for r, m in zip(user.outputs, user.output_maps, strict=True))
    user.set_operands("inputs", [new if r is old else r for r in user.inputs])
    user.set_operands("outputs", [new if r is old else r for r in user.outputs])
