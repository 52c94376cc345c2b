# SPDX-License-Identifier: Apache-2.0
"""How accesses of a structured op walk their arrays: by how many elements a step, all axes taken as one.

Of an image `img[h, w, 3]` that is walked by `i, j`, each channel is every third element. Accesses of one array with
one stride that start less than a step apart share a window: what is copied as one run, and picked apart on chip.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Value
from pyasc.ir.dialects import mem, st
from pyasc.ir.sizes import SizeExpr, constant, lift
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import Polynomials

MAX_STRIDE = 16
"""Elements of a run of which one is used; beyond that a copy of each element by itself costs less."""


@dataclass(frozen=True)
class Walk:
    """`stride` elements of an array a step, from element `offset` on."""

    ref: Value
    stride: int
    offset: SizeExpr


@dataclass(frozen=True)
class Window:
    """Accesses of an array that are copied together: from element `offset` of the first step on."""

    ref: Value
    stride: int
    offset: SizeExpr
    phases: tuple[int, ...]


@dataclass
class Walks:
    """The walks of a structured op whose iterators count elements of one line."""

    polynomials: Polynomials
    of: dict[tuple[Value, AffineMap], Walk]
    windows: dict[Walk, tuple[Window, int]]

    def window(self, ref: Value, map_: AffineMap) -> tuple[Window, int]:
        """The window of an access, and where in a step of it the element lies."""
        return self.windows[self.of[ref, map_]]


def walks_of(op: st.Apply) -> Walks | None:
    """How an op of parallel iterators walks its arrays, None where that is not along one line."""
    if op.combined or not op.rank or any(kind != "parallel" for kind in op.iterators):
        return None
    polynomials = Polynomials()
    steps = _steps(op, polynomials)
    accesses = [
        *zip(op.inputs, op.input_maps, strict=True),
        *zip(op.outputs, op.output_maps, strict=True),
    ]
    if steps is None:
        return None
    found: dict[tuple[Value, AffineMap], Walk] = {}
    for ref, map_ in accesses:
        walk = _walk(op, ref, map_, steps, polynomials)
        if walk is None:
            return None
        found[ref, map_] = walk
    return Walks(polynomials, found, _windows(found.values()))


def _steps(op: st.Apply, polynomials: Polynomials) -> list[SizeExpr] | None:
    """How many points follow each other between neighbours along each iterator."""
    if op.rank == 1:
        return [constant(1)]
    made = [constant(1)]
    for low, high in list(zip(op.lower, op.upper, strict=True))[::-1]:
        if not low.is_constant or low.constant or high.dims:
            return None
        made.insert(0, made[0] * _polynomial(op, high, polynomials))
    return made[1:]


def _polynomial(op: st.Apply, expr: AffineExpr, polynomials: Polynomials) -> SizeExpr:
    """An affine form at the first point, as a polynomial."""
    total = constant(expr.constant)
    for number, coefficient in enumerate(expr.symbols):
        if coefficient:
            total = total + polynomials.of(op.symbols[number]) * coefficient
    return total


def _walk(
    op: st.Apply, ref: Value, map_: AffineMap, steps: Sequence[SizeExpr], polynomials: Polynomials
) -> Walk | None:
    assert isinstance(ref.type, RefType)
    if ref.type.layout != "row" or None in ref.type.shape:
        return None
    coefficients = [constant(0)] * op.rank
    offset, place = constant(0), constant(1)
    for extent, expr in list(zip(ref.type.shape, map_.results, strict=True))[::-1]:
        assert extent is not None
        offset = offset + _polynomial(op, expr, polynomials) * place
        coefficients = [c + place * expr.coefficient(i) for i, c in enumerate(coefficients)]
        place = place * lift(extent)
    stride = coefficients[-1].as_constant
    if stride is None or any(c != step * stride for c, step in zip(coefficients, steps, strict=True)):
        return None
    return Walk(ref, stride, offset)


def _windows(walks: Iterable[Walk]) -> dict[Walk, tuple[Window, int]]:
    """Accesses that start less than a step apart together, those that walk backwards each alone."""
    groups: dict[tuple[Value, int, SizeExpr], list[tuple[int, Walk]]] = {}
    for walk in dict.fromkeys(walks):
        number = dict(walk.offset.terms).get((), 0)
        rest = walk.offset - number
        groups.setdefault((walk.ref, walk.stride, rest), []).append((number, walk))
    made: dict[Walk, tuple[Window, int]] = {}
    for (ref, stride, rest), members in groups.items():
        members.sort(key=lambda member: member[0])
        while members:
            first = members[0][0]
            inside = [(n - first, walk) for n, walk in members if n - first < max(stride, 1)]
            members = members[len(inside) :]
            window = Window(ref, stride, rest + first, tuple(n for n, _ in inside))
            made.update((walk, (window, phase)) for phase, walk in inside)
    return made


def gathers(op: st.Apply) -> bool:
    """Whether the body of an op reads elements at places that it computes."""
    return any(isinstance(inner, mem.Load) for inner in op.walk())


def is_line(op: st.Apply) -> bool:
    """Whether an op walks lines and writes whole ones, with more than one element a step, backwards, or gathering."""
    walks = walks_of(op)
    if walks is None or (op.rank > 1 and any(counter.uses for counter in op.body.block.args[: op.rank])):
        return False
    strides = {walk.stride for walk in walks.of.values()}
    return bool(
        (strides - {0, 1} or gathers(op))
        and all(abs(stride) <= MAX_STRIDE for stride in strides)
        and _writes_whole_windows(op, walks)
        and all(dtype_of(walk.ref.type).bits <= 32 for walk in walks.of.values() if walk.stride not in (0, 1))
    )


def _writes_whole_windows(op: st.Apply, walks: Walks) -> bool:
    """Whether every element of a window that is written is: what is only read there must not be written back."""
    phases: dict[Window, set[int]] = {}
    for ref, map_ in zip(op.outputs, op.output_maps, strict=True):
        window, phase = walks.window(ref, map_)
        phases.setdefault(window, set()).add(phase)
    return all(window.stride == -1 or len(found) == window.stride for window, found in phases.items())
