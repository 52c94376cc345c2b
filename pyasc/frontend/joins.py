# SPDX-License-Identifier: Apache-2.0
"""What a name is after two paths meet: one value, a promoted number, a buffer that both fill, or a conflict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyasc.frontend import numeric
from pyasc.frontend.emit import convert_number, fits
from pyasc.frontend.frames import RESULT
from pyasc.frontend.promotion import WEAK_INT, NumberType, promote
from pyasc.frontend.sharing import has_other_name
from pyasc.frontend.values import (
    FALSE,
    Array,
    Conflict,
    Const,
    Deferred,
    Poison,
    Scalar,
    SizeVal,
    Tensor,
    Tuple,
    Unset,
    Val,
    is_array,
    is_number,
    same,
)
from pyasc.frontend.visitor import Visitor
from pyasc.ir.core import Block, Operation, Region, Value
from pyasc.ir.dialects import arith, mem, scf, tensor
from pyasc.ir.dtypes import DType, i64, u64
from pyasc.ir.location import Location
from pyasc.ir.record import Record
from pyasc.ir.sizes import Dim
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType, ScalarType

_CHEAP_OPERATIONS = 8
_COSTLY = frozenset(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc pow "
    "atan2 hypot cbrt sqrt rsqrt div floordiv mod fmod".split()
)


class JoinType(Record):
    """The type of a number that several paths give; `rounds_to` as in `Scalar`."""

    number: NumberType
    rounds_to: DType | None = None

    @property
    def carried(self) -> DType:
        """The element type of the SSA value."""
        return self.number.dtype

    def scalar(self, value: Value) -> Scalar:
        """An SSA value of this type as the frontend sees it."""
        return Scalar(value, self.number.weak, self.rounds_to)


def join_type(v: Visitor, value: Val) -> JoinType:
    """The type that one path gives."""
    if isinstance(value, Scalar) and value.rounds_to is not None:
        return JoinType(NumberType(value.dtype), value.rounds_to)
    return JoinType(numeric.number_type(v, value))


def join_types(a: JoinType, b: JoinType) -> JoinType:
    """The type that holds what either path gives."""
    if a == b:
        return a
    rounds_to = a.rounds_to or b.rounds_to
    if rounds_to is None:
        return JoinType(promote(a.number, b.number))
    plain = [NumberType(t.rounds_to) if t.rounds_to else t.number for t in (a, b)]
    number = promote(*plain)
    if number.dtype is rounds_to:
        wide = next(t.number for t in (a, b) if t.rounds_to)
        return JoinType(wide, rounds_to)
    return JoinType(number)


def meeting_type(v: Visitor, *values: Val) -> JoinType:
    """The type of a number that is one of several as they are, with nothing computed.

    A Python number that the type of the others does not hold stays one, and the others become Python numbers too.
    """
    types = [join_type(v, each) for each in values]
    found = reduce(join_types, types)
    if found.rounds_to is not None or found.number.weak:
        return found
    wide = found
    for value, type_ in zip(values, types, strict=True):
        if type_.number.weak and not holds(v, found.number.dtype, value):
            wide = python_number(v, found)
    if _loses_integers(wide, types):
        kinds = " and ".join(dict.fromkeys(map(numeric.describe, values)))
        hint = "convert one of them, as in asc.int64(...)"
        raise v.error(None, "PA0305", f"a choice at run time between {kinds}: no type holds both", hint=hint)
    return wide


def _loses_integers(type_: JoinType, types: Sequence[JoinType]) -> bool:
    """Whether integers, of 64 bits with a sign and without, meet in a type that does not have all of them."""
    dtypes = {each.number.dtype for each in types if each.number.dtype.is_integer}
    return len(dtypes) > 1 and u64 in dtypes and type_.number.dtype is not u64


def python_number(v: Visitor, type_: JoinType) -> JoinType:
    """The type of a Python number of the same kind."""
    return JoinType(numeric.weak_float(v) if type_.number.dtype.is_float else WEAK_INT)


def holds(v: Visitor, dtype: DType, value: Val) -> bool:
    """Whether a type certainly has the very number that a Python number is.

    A run-time int is rounded once where it meets float32, as documented.
    """
    match value:
        case Scalar(guess=str(guess)) if guess:
            v.trusted_guesses.add(guess)
            return True
        case Const(value=bool()):
            return True
        case Const(value=int(number)) if dtype.is_integer:
            # One that no type holds is told by its conversion.
            return fits(number, dtype) or not fits(number, i64)
        case Const(value=int() | float() as number):
            return dtype.bits >= numeric.weak_float(v).dtype.bits or _is_exact(number, dtype)
        case Scalar() if value.dtype.is_bool:
            return True
        case Scalar() if value.dtype.is_float:
            return dtype.bits >= value.dtype.bits
        case _:
            signed = isinstance(value, SizeVal) or dtype is not u64
            return dtype.bits == 64 and signed if dtype.is_integer else dtype.bits >= 32


def _is_exact(number: float, dtype: DType) -> bool:
    return math.isnan(number) or convert_number(number, dtype) == number


def convert(v: Visitor, value: Val, type_: JoinType) -> Value:
    """A number as an SSA value of a joined type."""
    if type_.rounds_to is None:
        value = numeric.read_rounded(v, value)
    return numeric.scalar(v, value, type_.carried)


def name_value(value: Val, name: str) -> None:
    """Give an SSA value the Python name that it is bound to, when it has none."""
    if name[0] == "%":
        return
    match value:
        case Scalar(value=found) | Tensor(value=found) | Array(ref=found):
            if not found.name and not isinstance(found.op, arith.Constant):
                found.name = name
        case _:
            pass


@dataclass
class Side:
    """One side of a branch that is complete but not yet in the program.

    `jumped` says that its end is never reached, `returned` that this is because the function ended.
    """

    block: Block
    changes: dict[str, Val] = field(default_factory=dict)
    jumped: bool = False
    returned: bool = False


@dataclass
class Branches:
    """The two sides of an `scf.if` to be."""

    condition: Value
    then: Side
    otherwise: Side
    loc: Location
    results: list[tuple[str, JoinType, Val, Val]] = field(default_factory=list)

    @property
    def dead(self) -> Side | None:
        """The one side whose end is never reached, if just one is."""
        if self.then.jumped == self.otherwise.jumped:
            return None
        return self.then if self.then.jumped else self.otherwise


def close(v: Visitor, branches: Branches) -> None:
    """Put the `scf.if` into the program and bind every name that the two sides set."""
    env = v.frame.env
    for name in dict.fromkeys([*branches.then.changes, *branches.otherwise.changes]):
        before = env.get(name) or Unset("before this `if`")
        sides = [_end_value(v, side, name, before) for side in (branches.then, branches.otherwise)]
        merged = _merge(v, name, sides[0], sides[1], branches)
        if merged is not None:
            env.set(name, merged)
    values = emit_if(v, branches, [(t, a, b) for _, t, a, b in branches.results])
    for (name, type_, _, _), value in zip(branches.results, values, strict=True):
        result = type_.scalar(value)
        name_value(result, name)
        env.set(name, result)


def _end_value(v: Visitor, side: Side, name: str, before: Val) -> Val:
    value = side.changes.get(name, before)
    if isinstance(value, Deferred):
        with v.block(side.block):
            return value.compute()
    return value


def _merge(v: Visitor, name: str, a: Val, b: Val, branches: Branches, holder: str = "") -> Val | None:
    """The value after the `if`, or None when it becomes one of its results. `holder` is the tuple it is part of."""
    if same(a, b):
        return a
    if not v.frame.live(name):
        return FALSE if name[0] == "%" else Unset("after this `if`", branches.loc)
    if isinstance(a, Poison) or isinstance(b, Poison):
        return Poison()
    if name.startswith(RESULT):
        a, b = _fill_result(v, a, b)
    elif name[0] != "%" and branches.dead is not None:
        a, b = _fill_dead(v, name, a, b, branches)
    if same(a, b):
        return a
    for value, path in ((a, "true"), (b, "false")):
        if isinstance(value, Unset):
            return value if value.loc.known else Unset(f"when this condition is {path}", branches.loc)
        if isinstance(value, Conflict):
            return value
    if is_number(a) and is_number(b):
        branches.results.append((name, meeting_type(v, a, b), a, b))
        return None
    if is_array(a) and is_array(b):
        return _merge_arrays(v, holder or name, a, b, branches)
    return _merge_others(v, name, a, b, branches)


def _fill_dead(v: Visitor, name: str, a: Val, b: Val, branches: Branches) -> tuple[Val, Val]:
    """The value at the end of a side that is never reached: after `return` nobody sees it; after `break` and
    `continue` it must have been set for those who come from there, which the end of the loop checks."""
    dead = branches.dead
    assert dead is not None
    gone, kept = (a, b) if dead is branches.then else (b, a)
    if not dead.returned and not isinstance(gone, Unset):
        return a, b
    if not dead.returned:
        v.frame.doubtful.add(name)
    gone = filler(v, kept) if isinstance(kept, Scalar) else kept
    return (gone, kept) if dead is branches.then else (kept, gone)


def _merge_others(v: Visitor, name: str, a: Val, b: Val, branches: Branches) -> Val:
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        items: list[Val] = []
        for i, (x, y) in enumerate(zip(a.items, b.items, strict=True)):
            merged = _merge(v, f"%item{v.serial}.{i}", x, y, branches, name)
            if merged is None:
                return Conflict("a tuple of numbers chosen at run time: use one name for each", branches.loc)
            items.append(merged)
        return Tuple(tuple(items), a.is_list)
    return Conflict(f"{numeric.describe(a)} on one side and {numeric.describe(b)} on the other", branches.loc)


def _fill_result(v: Visitor, a: Val, b: Val) -> tuple[Val, Val]:
    """The result of a path that has not returned yet does not matter: the flag beside it says so."""
    if isinstance(a, Unset):
        return filler(v, b), b
    if isinstance(b, Unset):
        return a, filler(v, a)
    return a, b


def filler(v: Visitor, like: Val) -> Val:
    """A value that is never used, of the type of `like`."""
    if is_number(like):
        type_ = join_type(v, like)
        return type_.scalar(v.emit.constant(0, type_.carried))
    if isinstance(like, Tuple):
        return Tuple(tuple(filler(v, item) for item in like.items), like.is_list)
    return like


def _merge_arrays(v: Visitor, name: str, a: Val, b: Val, branches: Branches) -> Val:
    arrays = [each for each in (a, b) if not isinstance(each, Tensor)]
    sides = ((a, branches.then), (b, branches.otherwise))
    if not all(isinstance(each, Tensor) or is_private(v, name, each, side.changes) for each, side in sides):
        return Conflict("another array on each side; copy into one array, or use asc.where", branches.loc)
    first, second = (_contents(v, value, side) for value, side in sides)
    if first.shape != second.shape or None in first.shape:
        return Conflict("arrays of different shapes on the two sides", branches.loc)
    dtype = promote(NumberType(first.dtype), NumberType(second.dtype)).dtype
    buffer = allocate(v, first.shape, dtype)
    for value, side in ((first, branches.then), (second, branches.otherwise)):
        with v.block(side.block):
            v.emit.insert(tensor.Write(value=v.emit.cast(value.value, dtype), ref=buffer))
    # Read behind the `if`, which is not in place yet.
    return Array(buffer) if arrays else Deferred(reader(v, buffer))


def _contents(v: Visitor, value: Val, side: Side) -> Tensor:
    with v.block(side.block):
        return numeric.as_tensor(v, value)


def is_private(v: Visitor, name: str, value: Val, changes: Mapping[str, Val]) -> bool:
    """Whether a value is a buffer of this function that has one name alone, so that a copy can stand for it.

    `changes` are new values of names that are not in place yet.
    """
    if not isinstance(value, Array) or v.frame.scan.copies_names:
        return False
    alone = isinstance(value.ref.op, mem.Alloc) and value.ref.op.purpose == "temporary"
    return alone and not has_other_name(v, name, value, changes)


def reader(v: Visitor, buffer: Value) -> Callable[[], Val]:
    """Reads the whole buffer where it is called."""
    return lambda: Tensor(v.emit.value(tensor.Read(ref=buffer)))


def allocate(v: Visitor, shape: tuple[Dim, ...], dtype: DType, sizes: list[Value] | None = None) -> Value:
    """A local buffer."""
    type_ = RefType(shape, dtype, "local")
    return v.emit.value(mem.Alloc(sizes=sizes or [], types=[type_]))


def emit_if(v: Visitor, branches: Branches, results: list[tuple[JoinType, Val, Val]]) -> list[Value]:
    """The `scf.if` with these results, or selects where both sides are cheap and have no effects."""
    v.emit.builder.loc = branches.loc
    yields: list[list[Value]] = []
    blocks = (branches.then.block, branches.otherwise.block)
    for block, column in zip(blocks, (1, 2), strict=True):
        with v.block(block):
            yields.append([convert(v, result[column], result[0]) for result in results])  # pyright: ignore[reportArgumentType]
    if not results and blocks[0].first is None and blocks[1].first is None:
        return []
    if results and _cheap(blocks[0]) and _cheap(blocks[1]):
        splice(v, blocks[0])
        splice(v, blocks[1])
        return [v.emit.select(branches.condition, a, b) for a, b in zip(*yields, strict=True)]
    for block, values in zip(blocks, yields, strict=True):
        with v.block(block):
            v.emit.insert(scf.Yield(values=values))
    op = scf.If(
        condition=branches.condition,
        types=[ScalarType(t.carried) for t, _, _ in results],
        then=Region([blocks[0]]),
        otherwise=Region([blocks[1]]),
    )
    v.emit.insert(op)
    return list(op.results)


def _cheap(block: Block) -> bool:
    return all(
        count < _CHEAP_OPERATIONS and op.has(PURE) and _cheap_operation(op) for count, op in enumerate(block)
    )


def _cheap_operation(op: Operation) -> bool:
    if isinstance(op, arith.Elementwise) and op.fn in _COSTLY:
        return False
    return all(isinstance(value.type, ScalarType) for value in op.results)


def splice(v: Visitor, block: Block) -> None:
    """Move the operations of a block that is not in the program to the current place."""
    for op in block:
        v.emit.builder.block.insert_before(v.emit.builder.anchor, op)
