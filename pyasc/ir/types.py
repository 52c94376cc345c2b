# SPDX-License-Identifier: Apache-2.0
"""Types of SSA values. A type is an immutable value: equal types are interchangeable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import Dim, print_dim

SPACES = ("gm", "ub", "l1", "l0a", "l0b", "l0c", "bt", "local")
"""Memory spaces of a buffer. `gm` is global memory (host memory on `cpu`); `local` is a temporary that belongs
to one iteration or core and has no space assigned yet; the rest are the memories of an Ascend core."""

LAYOUTS = ("row", "strided", "nz", "zz", "zn")
"""Element orders of a buffer: row-major, strides known at run time, and the fractal orders of the cube unit."""


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types; `keyword` starts the text form."""

    keyword: ClassVar[str]


@dataclass(frozen=True, slots=True)
class ScalarType(Type):
    """One number: `f32`, `i64`, `i1`."""

    dtype: DType
    keyword: ClassVar[str] = "scalar"

    def __str__(self) -> str:
        return self.dtype.name


@dataclass(frozen=True, slots=True)
class TensorType(Type):
    """An immutable n-dimensional value: `tensor<N x 4 x f32>`; a 0-d tensor is `tensor<f32>`."""

    shape: tuple[Dim, ...]
    dtype: DType
    keyword: ClassVar[str] = "tensor"

    def __str__(self) -> str:
        return f"tensor<{_shape_text(self.shape)}{self.dtype}>"


@dataclass(frozen=True, slots=True)
class RefType(Type):
    """A mutable n-dimensional buffer in a memory space: `ref<N x f32>`, `ref<16 x f32, ub>`.

    Two refs may name the same memory only when one was made from the other by `mem.view`, or when both are
    parameters whose function lists them in its `aliases` attribute.
    """

    shape: tuple[Dim, ...]
    dtype: DType
    space: str = "gm"
    layout: str = "row"
    keyword: ClassVar[str] = "ref"

    def __str__(self) -> str:
        tail = "" if self.space == "gm" and self.layout == "row" else f", {self.space}"
        tail += "" if self.layout == "row" else f", {self.layout}"
        return f"ref<{_shape_text(self.shape)}{self.dtype}{tail}>"


@dataclass(frozen=True, slots=True)
class VectorType(Type):
    """A fixed number of lanes held in a register: `vec<16 x f32>`."""

    lanes: int
    dtype: DType
    keyword: ClassVar[str] = "vec"

    def __str__(self) -> str:
        return f"vec<{self.lanes} x {self.dtype}>"


@dataclass(frozen=True, slots=True)
class TileType(Type):
    """Rows and columns of vectors, all in registers: `tile<8 x 3 x 16 x f32>` has 8 rows of 3 vectors of 16 lanes."""

    rows: int
    columns: int
    lanes: int
    dtype: DType
    keyword: ClassVar[str] = "tile"

    def __str__(self) -> str:
        return f"tile<{self.rows} x {self.columns} x {self.lanes} x {self.dtype}>"

    @property
    def vector(self) -> VectorType:
        """The type of one of its vectors."""
        return VectorType(self.lanes, self.dtype)


@dataclass(frozen=True, slots=True)
class OpaqueType(Type):
    """A handle with a name and parameters, for queues, pipes, flags and tiling structs: `!queue<vecin, 2>`."""

    name: str
    parameters: tuple[str | int, ...] = ()
    keyword: ClassVar[str] = "!"

    def __str__(self) -> str:
        inner = ", ".join(str(p) for p in self.parameters)
        return f"!{self.name}<{inner}>" if inner else f"!{self.name}"


def _shape_text(shape: tuple[Dim, ...]) -> str:
    return "".join(f"{print_dim(dim)} x " for dim in shape)


def dtype_of(type_: Type) -> DType:
    """The element type of a scalar, tensor, ref, vector or tile. Raises TypeError for a handle."""
    if isinstance(type_, (ScalarType, TensorType, RefType, VectorType, TileType)):
        return type_.dtype
    raise TypeError(f"{type_} has no element type")


def with_dtype(type_: Type, dtype: DType) -> Type:
    """The same kind and shape of value with another element type."""
    match type_:
        case ScalarType():
            return ScalarType(dtype)
        case TensorType(shape=shape):
            return TensorType(shape, dtype)
        case RefType():
            return RefType(type_.shape, dtype, type_.space, type_.layout)
        case VectorType(lanes=lanes):
            return VectorType(lanes, dtype)
        case TileType():
            return TileType(type_.rows, type_.columns, type_.lanes, dtype)
        case _:
            raise TypeError(f"{type_} has no element type")
