# SPDX-License-Identifier: Apache-2.0
"""What a launch is given: arrays, workspaces, scalars and structs, and the global memory that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_ALIGN = 512  # of kernel arguments in global memory, hardware.md section 8
_GUARD = 4096
_GUARD_BYTE = 0xA5
_POISON = 0xFF  # NaN in every float format


@dataclass(frozen=True)
class Array:
    """An array in global memory for one launch.

    `data` is copied in; with `output` its final contents are in the result. `defined=False` poisons it with NaN and
    treats every byte as never written; bytes that still are at the end are a finding, unless it is `partial`.
    `read_only` makes a write a finding.
    """

    data: np.ndarray
    output: bool = True
    defined: bool = True
    read_only: bool = False
    partial: bool = False
    name: str = ""


@dataclass(frozen=True)
class Workspace:
    """Global memory of `size` bytes that holds NaN and counts as never written; `zero` clears it instead."""

    size: int
    zero: bool = False
    name: str = "workspace"


@dataclass(frozen=True)
class Scalar:
    """A scalar passed by value, of the NumPy type of `value`."""

    value: Any


@dataclass(frozen=True)
class Struct:
    """A plain struct by value: NumPy scalars in field order, laid out as C does."""

    fields: tuple[Any, ...]


@dataclass
class GlobalMemory:
    """Bytes in global memory, between guard zones and at the alignment the framework gives.

    Given to several launches it keeps its contents, and with them which bytes were never written: `undefined` has a
    byte for each byte, not 0 where that is so, or is None when all are defined. `unwritten` has one, not 0 where
    launches have to write and none did yet. `source` is an array that it starts as a copy of; with `shared` it is that
    array, without a copy and without guard zones.
    """

    size: int
    name: str = "memory"
    defined: bool = False
    writable: bool = True
    source: np.ndarray | None = field(default=None, repr=False)
    shared: bool = False
    block: np.ndarray = field(init=False, repr=False)
    start: int = field(init=False)
    undefined: np.ndarray | None = field(init=False, repr=False)
    unwritten: np.ndarray | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.shared:
            assert self.source is not None
            self.block, self.start, self.undefined = _bytes_of(self.source), 0, None
            return
        self.block = np.empty(self.size + 2 * _GUARD + _ALIGN, dtype=np.uint8)
        self.start = _GUARD + (-(self.block.ctypes.data + _GUARD)) % _ALIGN
        self.block[: self.start] = _GUARD_BYTE
        self.block[self.start + self.size :] = _GUARD_BYTE
        if self.source is not None:
            self.body[:] = _bytes_of(self.source)
        else:
            self.body[:] = 0 if self.defined else _POISON
        self.undefined = None if self.defined else np.full(self.size, 0xFF, np.uint8)

    @classmethod
    def holding(cls, data: np.ndarray, name: str = "memory", *, writable: bool = True) -> GlobalMemory:
        """Memory with a copy of an array, all of it defined."""
        return cls(data.nbytes, name, True, writable, data)

    @classmethod
    def over(cls, data: np.ndarray, name: str = "memory") -> GlobalMemory:
        """The memory of a contiguous array itself, for launches without checks."""
        return cls(data.nbytes, name, True, True, data, shared=True)

    @property
    def body(self) -> np.ndarray:
        """The bytes themselves, a view."""
        return self.block[self.start : self.start + self.size]

    @property
    def address(self) -> int:
        """Where the bytes start."""
        return self.block.ctypes.data + self.start

    def array(self, dtype: Any, shape: Sequence[int]) -> np.ndarray:
        """The contents as an array, a view."""
        return self.body.view(dtype).reshape(tuple(shape))

    def expect(self, part: tuple[slice, ...], shape: Sequence[int], size: int) -> None:
        """Have launches write a part of it, which is an array of a shape with elements of `size` bytes."""
        if self.unwritten is None:
            self.unwritten = np.zeros(self.size, np.uint8)
        self.unwritten.reshape((*shape, size))[part] = 0xFF

    def intact(self) -> bool:
        """Whether nobody wrote past the model into the guard zones."""
        before, after = self.block[: self.start], self.block[self.start + self.size :]
        return bool((before == _GUARD_BYTE).all() and (after == _GUARD_BYTE).all())


def _bytes_of(data: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8)


Argument = Array | Workspace | GlobalMemory | Scalar | Struct


def memory_of(argument: Argument, index: int) -> GlobalMemory | None:
    """The global memory an argument stands for; None for values."""
    if isinstance(argument, GlobalMemory):
        return argument
    if isinstance(argument, Workspace):
        return GlobalMemory(argument.size, argument.name, argument.zero)
    if not isinstance(argument, Array):
        return None
    name = argument.name or f"argument {index}"
    if argument.defined:
        return GlobalMemory.holding(argument.data, name, writable=not argument.read_only)
    return GlobalMemory(argument.data.nbytes, name, False, not argument.read_only)


def _struct_bytes(fields: Sequence[Any]) -> bytes:
    """Natural C layout: each field at a multiple of its size, the whole rounded up to the largest."""
    out = bytearray()
    largest = 1
    for value in fields:
        raw = np.asarray(value).tobytes()
        largest = max(largest, len(raw))
        out += bytes(-len(out) % len(raw)) + raw
    return bytes(out + bytes(-len(out) % largest))


def value_bytes(argument: Argument, memory: GlobalMemory | None) -> bytes:
    """What the kernel gets for an argument: an address, or the value itself."""
    if memory is not None:
        return memory.address.to_bytes(8, "little")
    if isinstance(argument, Struct):
        return _struct_bytes(argument.fields)
    assert isinstance(argument, Scalar)
    return np.asarray(argument.value).tobytes()
