# SPDX-License-Identifier: Apache-2.0
"""Element types as a kernel names them, array annotations, and symbolic sizes."""

from __future__ import annotations

from collections.abc import Iterator
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr, constant, size

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "ArrayAnnotation",
    "Dim",
    "ElementType",
    "SizeSymbol",
    "bfloat16",
    "bool",
    "bool_",
    "constexpr",
    "dims",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "tensor",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class SizeSymbol(Record):
    """A size that the launch binds, or a polynomial (`+`, `-`, `*`) in such sizes: `H - 2`, `2 * N`."""

    expr: SizeExpr

    def __add__(self, other: SizeSymbol | int) -> SizeSymbol:
        return SizeSymbol(self.expr + _expr(other))

    def __radd__(self, other: int) -> SizeSymbol:
        return SizeSymbol(constant(other) + self.expr)

    def __sub__(self, other: SizeSymbol | int) -> SizeSymbol:
        return SizeSymbol(self.expr - _expr(other))

    def __rsub__(self, other: int) -> SizeSymbol:
        return SizeSymbol(constant(other) - self.expr)

    def __mul__(self, other: SizeSymbol | int) -> SizeSymbol:
        return SizeSymbol(self.expr * _expr(other))

    def __rmul__(self, other: int) -> SizeSymbol:
        return SizeSymbol(constant(other) * self.expr)

    def __index__(self) -> int:
        value = self.expr.as_constant
        if value is None:
            raise TypeError(f"the size {self.expr} is known only inside a launched kernel")
        return value

    def __str__(self) -> str:
        return str(self.expr)


def _expr(value: SizeSymbol | int) -> SizeExpr:
    return value.expr if isinstance(value, SizeSymbol) else constant(value)


def dims(names: str) -> SizeSymbol | tuple[SizeSymbol, ...]:
    """Symbolic sizes by name, separated by blanks or commas: `N, C = asc.dims("N C")`, `N = asc.dims("N")`.

    Raises ValueError for a name that is not an identifier.
    """
    found = names.replace(",", " ").split()
    for name in found:
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not a name for a size")
    symbols = tuple(SizeSymbol(size(name)) for name in found)
    return symbols[0] if len(symbols) == 1 else symbols


Dim = int | SizeSymbol | EllipsisType
"""One entry of a shape in an annotation; `...` stands for any number of leading sizes."""


class ElementType(Record):
    """An element type in a kernel: annotation of a scalar, conversion, and, with a shape, of an array."""

    ir: DType
    name: str

    def __getitem__(self, shape: Dim | tuple[Dim, ...]) -> ArrayAnnotation:
        entries = shape if isinstance(shape, tuple) else (shape,)
        for entry in entries:
            if not (type(entry) is int or isinstance(entry, SizeSymbol) or entry is ...):
                raise TypeError(f"{entry!r} is not a size: write an int, a name from asc.dims, or ...")
        return ArrayAnnotation(self, entries)

    # Without it, Python would try to iterate through __getitem__ for ever.
    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self} is an element type; asc.{self.name}[...] is an array of any shape")

    def __call__(self, value: Any = 0) -> Any:
        """`value` (a number or an array) converted to this type. In plain Python: a NumPy scalar or array.

        As in kernels, a float that no integer of the type is becomes the nearest one, and NaN 0. bfloat16, which NumPy
        lacks, is rounded to its precision and kept as float32.
        """
        import numpy as np

        if self.ir is dtypes.bf16:
            return _round_to_bfloat16(np.asarray(value, np.float32))[()]
        array = np.asarray(value)
        if self.ir.is_integer and array.dtype.name in dtypes.BY_NUMPY:
            from pyasc.ir.numbers_eval import convert

            return convert(array, dtypes.BY_NUMPY[array.dtype.name], self.ir)[()]
        return array.astype(self.ir.numpy)[()]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of arrays of this type (bfloat16: its bits as uint16)."""
        import numpy as np

        return np.dtype("uint16" if self.ir is dtypes.bf16 else self.ir.numpy)

    def __str__(self) -> str:
        return f"asc.{self.name}"

    __repr__ = __str__


def numpy_type(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of an element type, or of what NumPy takes for one, such as `np.int32` and `"int32"`."""
    import numpy as np

    return dtype.dtype if isinstance(dtype, ElementType) else np.dtype(dtype)


def _round_to_bfloat16(values: Any) -> Any:
    import numpy as np

    bits = values.view(np.uint32)
    rounded = (bits + (((bits >> 16) & 1) + 0x7FFF)).astype(np.uint32) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), values, rounded.view(np.float32))


class ArrayAnnotation(Record):
    """`asc.float32[N, 4]`: an array parameter's element type and shape."""

    element: ElementType
    shape: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"{self.element}[{', '.join('...' if d is ... else str(d) for d in self.shape)}]"

    __repr__ = __str__


class Marker(Record):
    """An annotation that has no parts."""

    name: str

    def __repr__(self) -> str:
        return f"asc.{self.name}"


float16 = ElementType(dtypes.f16, "float16")
bfloat16 = ElementType(dtypes.bf16, "bfloat16")
float32 = ElementType(dtypes.f32, "float32")
float64 = ElementType(dtypes.f64, "float64")
int8 = ElementType(dtypes.i8, "int8")
int16 = ElementType(dtypes.i16, "int16")
int32 = ElementType(dtypes.i32, "int32")
int64 = ElementType(dtypes.i64, "int64")
uint8 = ElementType(dtypes.u8, "uint8")
uint16 = ElementType(dtypes.u16, "uint16")
uint32 = ElementType(dtypes.u32, "uint32")
uint64 = ElementType(dtypes.u64, "uint64")
bool_ = ElementType(dtypes.i1, "bool_")
bool = bool_

ALL = (
    float16,
    bfloat16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    bool_,
)
BY_IR = {element.ir: element for element in ALL}

tensor = Marker("tensor")
constexpr = Marker("constexpr")
