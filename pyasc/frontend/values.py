# SPDX-License-Identifier: Apache-2.0
"""What an expression of a kernel is while it is being compiled: a compile-time value, or something in the IR."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyasc.ir.core import Value
from pyasc.ir.dtypes import DType
from pyasc.ir.location import UNKNOWN, Location
from pyasc.ir.record import Record
from pyasc.ir.sizes import Dim, SizeExpr
from pyasc.ir.types import RefType, TensorType, dtype_of

if TYPE_CHECKING:
    from pyasc.frontend.frames import Frame


class Const(Record):
    """A Python object known at compile time: a number with its exact value, a string, a function, a dtype.

    An int that is of a class of its own, as those of an IntEnum are, is the `member` too.
    """

    value: Any
    member: Any = None

    @property
    def itself(self) -> Any:
        """The object that Python has here."""
        return self.value if self.member is None else self.member


class SizeVal(Record):
    """A polynomial in the symbolic sizes of the launch: a run-time Python int that types can mention."""

    expr: SizeExpr


class Scalar(Record):
    """A run-time number. A weak one behaves as a Python number in promotion.

    `rounds_to` marks a float16 or bfloat16 accumulation that is carried in float32 and rounded when it is read.
    `narrow` is the same number as computed in the narrower type of an operand, for those who want that type.
    `guess` names a loop's variable whose type is looked for: it may turn out to have the type of what it meets.
    """

    value: Value
    weak: bool = False
    rounds_to: DType | None = None
    narrow: Value | None = None
    guess: str = ""

    @property
    def dtype(self) -> DType:
        """The element type as carried."""
        return dtype_of(self.value.type)


class Tensor(Record):
    """An immutable tensor value."""

    value: Value

    @property
    def dtype(self) -> DType:
        """The element type."""
        return dtype_of(self.value.type)

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The extents, as far as the type knows them."""
        assert isinstance(self.value.type, TensorType)
        return self.value.type.shape


class Array(Record):
    """A buffer: a parameter, a local allocation, or a view of one. Names for one buffer are aliases."""

    ref: Value

    @property
    def dtype(self) -> DType:
        """The element type."""
        return dtype_of(self.ref.type)

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The extents, as far as the type knows them."""
        assert isinstance(self.ref.type, RefType)
        return self.ref.type.shape


class Row(Record):
    """`x[i]` of an array with more axes than indices, kept apart so that `x[i][j]` is one access."""

    array: Array
    indices: tuple[Val, ...]


class Tuple(Record):
    """A tuple or list of known length; `once` marks the items of an iterator, which Python uses up.

    `names` are those of the items of a named tuple.
    """

    items: tuple[Val, ...]
    is_list: bool = False
    once: bool = False
    names: tuple[str, ...] = ()


class Slice(Record):
    """`start:stop:step` in a subscript."""

    start: Val | None
    stop: Val | None
    step: Val | None


class Comprehension:
    """One run of a comprehension; two are never the same."""


class Function(Record):
    """A nested function or lambda, with the frame it was made in.

    `comprehensions` are those around it, whose variables it may read as long as they run.

    """

    node: ast.FunctionDef | ast.Lambda
    frame: Frame
    defaults: tuple[tuple[str, Val], ...] = ()
    comprehensions: tuple[Comprehension, ...] = ()


class Method(Record):
    """An attribute of a value that is to be called: `x.transpose`."""

    owner: Val
    name: str


class Range(Record):
    """`range(...)`, or `asc.parallel_for(...)` when `parallel`."""

    start: Val
    stop: Val
    step: Val
    parallel: bool = False


class Grid(Record):
    """`asc.parallel_for_grid(...)`."""

    sizes: tuple[Val, ...]


class Unroll(Record):
    """`asc.unroll(...)`."""

    inner: Val


class Zip(Record):
    """`zip(...)`, and `enumerate(...)` as a zip with a counter."""

    parts: tuple[Val, ...]


class Counter(Record):
    """The endless counter of `enumerate`."""

    start: Val


class Reversed(Record):
    """`reversed(...)` of something with a length."""

    inner: Val


class Unset(Record):
    """A name without a value on some path; `path` says which, `loc` is its place."""

    path: str
    loc: Location = UNKNOWN


class Conflict(Record):
    """A name whose value cannot be chosen at run time; reading it is an error."""

    reason: str
    loc: Location = UNKNOWN
    hint: str = ""


class Poison(Record):
    """A name whose assignment was refused: reading it reports nothing more."""


class Parts(Record):
    """A returned tuple, whose items are kept under hidden names of their own so that paths can be joined."""

    count: int
    is_list: bool = False


class Deferred(Record):
    """A value that is computed where it is first read, such as a loop counter after its loop."""

    compute: Callable[[], Val]


Val = (
    Const
    | SizeVal
    | Scalar
    | Tensor
    | Array
    | Row
    | Tuple
    | Slice
    | Function
    | Method
    | Range
    | Grid
    | Unroll
    | Zip
    | Counter
    | Reversed
    | Unset
    | Conflict
    | Poison
    | Parts
    | Deferred
)

NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)
ZERO = Const(0)
ONE = Const(1)
MINUS_ONE = Const(-1)
EMPTY = Tuple(())


def is_number(value: Val) -> bool:
    """Whether the value is one number, known or not."""
    if isinstance(value, Const):
        return isinstance(value.value, (bool, int, float))
    return isinstance(value, (Scalar, SizeVal))


def is_array(value: Val) -> bool:
    """Whether the value has axes and elements."""
    return isinstance(value, (Tensor, Array, Row))


def is_iterator(value: Val) -> bool:
    """Whether Python uses the value up when it is looped over."""
    return isinstance(value, (Zip, Reversed)) or (isinstance(value, Tuple) and value.once)


def same(a: Val, b: Val) -> bool:
    """Whether two values are interchangeable; `1`, `True` and `1.0` are not, nor are `0.0` and `-0.0`."""
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        if a.member is not b.member:
            return False
        if a.value is b.value:
            return True
        plain = isinstance(a.value, (bool, int, float, str))
        return plain and type(a.value) is type(b.value) and repr(a.value) == repr(b.value)
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return len(a.items) == len(b.items) and all(map(same, a.items, b.items))
    if isinstance(a, (Scalar, SizeVal, Tensor, Array, Parts)):
        return a == b
    return False
