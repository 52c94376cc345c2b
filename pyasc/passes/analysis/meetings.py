# SPDX-License-Identifier: Apache-2.0
"""Iterations of a parallel loop that touch one element for certain: a few of them are looked at one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, mem, scf, st
from pyasc.ir.record import Record
from pyasc.passes.analysis.affine import Polynomials, integer_of
from pyasc.passes.analysis.boxes import Box, Iteration, Span, Unknown
from pyasc.passes.analysis.effects import root_of, written_refs
from pyasc.passes.analysis.races import ASSOCIATIVE, is_private, trip_count, updates

Access = mem.Load | mem.Store | mem.Atomic | mem.Copy | st.Apply

_FEW, _MANY = 4, 64
"""How many iterations are looked at: where indices are linear, and where they have quotients and the like."""

_TRIPS = (2, 3, 5, 8, 13, 40)
"""How often a loop is taken to run whose bound is a symbolic size: iterations have to meet each time, and where they do
not, few of them show it."""


class Meeting(Record):
    """What two iterations do with an element that they share; the first box is written."""

    first: Box
    second: Box
    iterations: tuple[int, int]


def certain_meeting(loop: scf.For, polynomials: Polynomials) -> Meeting | None:
    """Two unconditional accesses that meet in different iterations whatever the data, running updates apart."""
    count = trip_count(loop)
    if count in (0, 1) or integer_of(loop.step) in (None, 0):
        return None
    accesses = _doubtful(loop)
    if not accesses:
        return None
    exempt = exempt_updates(loop, polynomials)
    found: Meeting | None = None
    for number, known in _scenarios(loop, count, polynomials):
        meeting = _meeting(loop, accesses, exempt, number, known)
        if meeting is None:
            return None
        found = found or meeting
    return found


def _scenarios(
    loop: scf.For, count: int | None, polynomials: Polynomials
) -> Iterator[tuple[int, Mapping[str, int]]]:
    """How often the loop runs, and what the symbolic sizes are then."""
    if count is not None:
        yield count, {}
        return
    lower, step = integer_of(loop.lower), integer_of(loop.step)
    upper = polynomials.of(loop.upper)
    offset = upper.substitute(dict.fromkeys(upper.names, 0)).as_constant
    name = (upper - (offset or 0)).as_name
    if lower is None or step is None or step < 1 or name is None or name in polynomials.atoms:
        # A loop is taken to have two iterations.
        yield 2, {}
        return
    for number in _TRIPS:
        yield number, {name: lower + number * step - (offset or 0)}


def exempt_updates(loop: scf.For, polynomials: Polynomials) -> set[tuple[Operation, Value]]:
    """Operations of a loop and the arrays of which they update elements, in any order."""
    parts = (part for u in updates(loop, polynomials) if u.associative for part in (u.load, u.store))
    found: set[tuple[Operation, Value]] = {(part, root_of(part.ref)) for part in parts}
    for op in loop.nests():
        if isinstance(op, st.Apply) and is_update(op):
            found |= {(op, root_of(ref)) for ref in op.outputs}
    return found


def shared_update(loop: scf.For) -> st.Apply | None:
    """An op in a loop that updates elements of an array that other iterations may update too."""
    accesses = list(accesses_inside(loop))
    for op, ref in accesses:
        if isinstance(op, st.Apply) and ref in op.outputs and is_update(op) and not is_private(ref, loop):
            root = root_of(ref)
            touching = [each for each in accesses if root_of(each[1]) is root]
            if not at_the_counter(touching, loop) and not _in_windows(
                root, [each for each, _ in touching], loop
            ):
                return op
    return None


def accesses_inside(loop: scf.For) -> Iterator[tuple[Access, Value]]:
    """Operations inside a loop that read or write arrays, once for each array."""
    for op in loop.nested():
        if isinstance(op, (mem.Load, mem.Store, mem.Atomic, mem.Copy, st.Apply)):
            yield from ((op, ref) for ref in _touched(op))


def _in_windows(root: Value, accesses: list[Access], loop: scf.For) -> bool:
    """Whether each iteration stays in a part of the array of its own: parts that lie side by side along one axis."""
    if integer_of(loop.step) is None:
        return False
    try:
        iterations = [Iteration(loop, number, {}, cut=False) for number in range(3)]
        boxes = [
            [box for op in accesses for box in each.boxes(op) if box.root is root] for each in iterations
        ]
    except Unknown:
        return False
    if any(each.has_steps for each in iterations):
        return False
    return any(
        _side_by_side([box.spans[axis] for box in boxes[k]] for k in range(3))
        for axis in range(len(boxes[0][0].spans))
    )


def _side_by_side(spans: Iterable[Sequence[Span]]) -> bool:
    """Whether the spans of three iterations lie in parts of one length, one behind the other."""
    first, second, third = spans
    origin = first[0].start
    ends: list[int] = []
    for span, later, last in zip(first, second, third, strict=True):
        place, count = (span.start - origin).as_constant, span.count.as_constant
        width = (later.start - span.start).as_constant
        same = later.count == last.count == span.count and (last.start - later.start).as_constant == width
        if place is None or count is None or not width or not same:
            return False
        ends += [place, place + (count - 1) * span.step]
        if max(ends) - min(ends) >= abs(width):
            return False
    return True


def _doubtful(loop: scf.For) -> list[Access]:
    """Unconditional accesses to arrays that are written, unless one index of them all is the loop's counter."""
    by_root: dict[Value, list[tuple[Access, Value]]] = {}
    for op in loop.nested():
        if isinstance(op, (mem.Load, mem.Store, mem.Atomic, mem.Copy, st.Apply)) and _counters_decide(
            op, loop
        ):
            for ref in () if isinstance(op, st.Apply) and op.guarded else _touched(op):
                if not is_private(ref, loop):
                    by_root.setdefault(root_of(ref), []).append((op, ref))
    found: dict[Access, None] = {}
    for root, accesses in by_root.items():
        written = any(root_of(ref) is root for op, _ in accesses for ref in written_refs(op))
        if written and not at_the_counter(accesses, loop):
            found |= dict.fromkeys(op for op, _ in accesses)
    return list(found)


def _counters_decide(op: Operation, loop: scf.For) -> bool:
    """Whether nothing but counted loops and branches stands between the operation and the loop."""
    for parent in op.ancestors():
        if parent is loop:
            return True
        if not isinstance(parent, (scf.For, scf.If)):
            return False
    return False


def _touched(op: Access) -> list[Value]:
    match op:
        case mem.Copy(source=source, target=target):
            return [source, target]
        case st.Apply(inputs=inputs, outputs=outputs):
            return [*inputs, *outputs]
        case _:
            return [op.ref]


def at_the_counter(accesses: list[tuple[Access, Value]], loop: scf.For) -> bool:
    """Whether all accesses are at the loop's counter along one axis of the array."""
    common: set[int] | None = None
    for op, ref in accesses:
        axes = _counter_axes(op, ref, loop.counter)
        common = axes if common is None else common & axes
    return bool(common)


def _counter_axes(op: Access, ref: Value, counter: Value) -> set[int]:
    """The axes of the array along which the access is at the counter, and nowhere else."""
    places: list[set[int]] = []
    if isinstance(op, (mem.Load, mem.Store, mem.Atomic)):
        places.append({k for k, index in enumerate(op.indices) if index is counter})
    elif isinstance(op, st.Apply):
        number = next((k for k, symbol in enumerate(op.symbols) if symbol is counter), None)
        maps = [*zip(op.inputs, op.input_maps, strict=True), *zip(op.outputs, op.output_maps, strict=True)]
        for other, map_ in maps:
            if other is ref:
                alone = (0,) * (number or 0) + (1,)
                places.append(
                    {
                        k
                        for k, place in enumerate(map_.results)
                        if number is not None
                        and not place.dims
                        and place.symbols == alone
                        and not place.constant
                    }
                )
    else:
        places.append(set())
    axes = set[int].intersection(*places)
    view = ref.op
    while isinstance(view, mem.View):
        of_view = {view.axes[axis] for axis in axes if _is_whole(view, view.axes[axis])}
        dropped = {k for k, offset in enumerate(view.offsets) if offset is counter and k not in view.axes}
        axes = of_view | dropped
        view = view.ref.op
    return axes


def _is_whole(view: mem.View, axis: int) -> bool:
    return axis >= 0 and integer_of(view.offsets[axis]) == 0 and integer_of(view.steps[axis]) == 1


def is_update(op: st.Apply) -> bool:
    """Whether an op combines each element of its outputs with something, in any order: a running update."""
    values = op.body.block.terminator.operands
    return all(
        _combines(op, ref, map_, value) if role == "write" else not op.inits
        for role, ref, map_, value in zip(op.roles, op.outputs, op.output_maps, values, strict=False)
    )


def _combines(op: st.Apply, ref: Value, map_: object, value: Value) -> bool:
    combined = value.op
    if not isinstance(combined, arith.Elementwise) or combined.fn not in ASSOCIATIVE:
        return False
    elements = op.body.block.args[op.rank :]
    for source, source_map, element in zip(op.inputs, op.input_maps, elements, strict=True):
        if source is ref and source_map == map_ and list(combined.args).count(element) == 1:
            return list(element.uses) == [combined]
    return False


def _meeting(
    loop: scf.For,
    accesses: list[Access],
    exempt: set[tuple[Operation, Value]],
    count: int,
    known: Mapping[str, int],
) -> Meeting | None:
    earlier: list[tuple[int, Box]] = []
    number, last = 0, min(count, _FEW)
    while number < last:
        iteration = Iteration(loop, number, known)
        boxes = [box for op in accesses for box in _boxes(iteration, op) if not is_private(box.root, loop)]
        for box in boxes:
            for other_number, other in earlier:
                pair = (other, box) if other.writes else (box, other)
                if _conflict(*pair, exempt) and other.meets(box):
                    numbers = (other_number, number) if pair[0] is other else (number, other_number)
                    return Meeting(*pair, numbers)
        earlier += [(number, box) for box in boxes]
        if iteration.has_steps:
            last = min(count, _MANY)
        number += 1
    return None


def _boxes(iteration: Iteration, op: Operation) -> list[Box]:
    try:
        return list(iteration.boxes(op)) if iteration.reaches(op) else []
    except Unknown:
        return []


def _conflict(first: Box, second: Box, exempt: set[tuple[Operation, Value]]) -> bool:
    if first.root is not second.root or not first.writes:
        return False
    both_exempt = (first.op, first.root) in exempt and (second.op, second.root) in exempt
    return not (both_exempt or (isinstance(first.op, mem.Atomic) and isinstance(second.op, mem.Atomic)))
