# SPDX-License-Identifier: Apache-2.0
"""Affine expressions and maps over iterators `d0, d1, ...` and symbols `s0, s1, ...` (loop-invariant operands)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


# Made by the thousand, and a frozen dataclass takes three times as long to make.
@dataclass(slots=True, unsafe_hash=True)
class AffineExpr:
    """`sum(dims[i] * d_i) + sum(symbols[j] * s_j) + constant`; absent trailing coefficients are zero.

    Immutable: never assign to a field.
    """

    dims: tuple[int, ...] = ()
    symbols: tuple[int, ...] = ()
    constant: int = 0

    def __post_init__(self) -> None:
        if self.dims and not self.dims[-1]:
            self.dims = _trim(self.dims)
        if self.symbols and not self.symbols[-1]:
            self.symbols = _trim(self.symbols)

    def __add__(self, other: AffineExpr | int) -> AffineExpr:
        right = other if isinstance(other, AffineExpr) else AffineExpr(constant=other)
        return AffineExpr(
            _add(self.dims, right.dims), _add(self.symbols, right.symbols), self.constant + right.constant
        )

    def __sub__(self, other: AffineExpr | int) -> AffineExpr:
        return self + (other * -1)

    def __mul__(self, factor: int) -> AffineExpr:
        return AffineExpr(
            tuple(c * factor for c in self.dims),
            tuple(c * factor for c in self.symbols),
            self.constant * factor,
        )

    def coefficient(self, iterator: int) -> int:
        """The factor of `d_iterator`."""
        return self.dims[iterator] if iterator < len(self.dims) else 0

    def symbol_coefficient(self, symbol: int) -> int:
        """The factor of `s_symbol`."""
        return self.symbols[symbol] if symbol < len(self.symbols) else 0

    def evaluate(self, dims: Sequence[int], symbols: Sequence[int]) -> int:
        """The value for concrete iterators and symbols."""
        total = self.constant
        total += sum(c * d for c, d in zip(self.dims, dims, strict=False))
        return total + sum(c * s for c, s in zip(self.symbols, symbols, strict=False))

    @property
    def as_dim(self) -> int | None:
        """The iterator number when the expression is exactly one iterator, else None."""
        dims = self.dims
        # The last coefficient is never zero.
        if self.symbols or self.constant or not dims or dims[-1] != 1 or any(dims[:-1]):
            return None
        return len(dims) - 1

    @property
    def is_constant(self) -> bool:
        """Whether neither iterators nor symbols occur."""
        return not self.dims and not self.symbols

    def __str__(self) -> str:
        parts = [_term(c, f"d{i}") for i, c in enumerate(self.dims) if c]
        parts += [_term(c, f"s{i}") for i, c in enumerate(self.symbols) if c]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


def _trim(values: tuple[int, ...]) -> tuple[int, ...]:
    end = len(values)
    while end and values[end - 1] == 0:
        end -= 1
    return values[:end]


def _add(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    short, long = sorted((left, right), key=len)
    return tuple(c + (short[i] if i < len(short) else 0) for i, c in enumerate(long))


def _term(coefficient: int, name: str) -> str:
    if coefficient == 1:
        return name
    return f"-{name}" if coefficient == -1 else f"{coefficient}*{name}"


def dim(index: int) -> AffineExpr:
    """The expression `d_index`."""
    return AffineExpr(dims=(0,) * index + (1,))


def symbol(index: int) -> AffineExpr:
    """The expression `s_index`."""
    return AffineExpr(symbols=(0,) * index + (1,))


def const(value: int) -> AffineExpr:
    """The expression that is one constant."""
    return AffineExpr(constant=value)


@dataclass(frozen=True, slots=True)
class AffineMap:
    """From iterators and symbols to a tuple of indices, one per dimension of the buffer it indexes."""

    results: tuple[AffineExpr, ...]

    def evaluate(self, dims: Sequence[int], symbols: Sequence[int]) -> tuple[int, ...]:
        """The indices for concrete iterators and symbols."""
        return tuple(e.evaluate(dims, symbols) for e in self.results)

    @property
    def is_projection(self) -> bool:
        """Whether every result is a distinct single iterator."""
        dims = [e.as_dim for e in self.results]
        return None not in dims and len(set(dims)) == len(dims)

    def uses(self, iterator: int) -> bool:
        """Whether any result depends on the iterator."""
        return any(e.coefficient(iterator) for e in self.results)

    def __str__(self) -> str:
        return f"affine<{', '.join(str(e) for e in self.results)}>"


def identity(rank: int) -> AffineMap:
    """The map whose results are the first `rank` iterators in order."""
    return AffineMap(tuple(dim(i) for i in range(rank)))
