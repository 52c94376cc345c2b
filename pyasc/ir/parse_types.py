# SPDX-License-Identifier: Apache-2.0
"""Reads types, affine expressions and affine maps from their text form."""

from __future__ import annotations

import re
from functools import lru_cache

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineExpr, AffineMap, const, dim, symbol
from pyasc.ir.sizes import Dim, parse_size, simplify
from pyasc.ir.types import (
    LAYOUTS,
    SPACES,
    OpaqueType,
    RefType,
    ScalarType,
    TensorType,
    TileType,
    Type,
    VectorType,
)

_BETWEEN = re.compile(r"\s+x\s+")
_AFFINE_TERM = re.compile(r"\s*([+-]?)\s*(?:(\d+)\s*\*\s*)?(?:([ds])(\d+)|(\d+))\s*")


@lru_cache(maxsize=4096)
def parse_type(text: str) -> Type:
    """The type whose text form this is. Raises ValueError for anything else."""
    if text in dtypes.BY_NAME:
        return ScalarType(dtypes.BY_NAME[text])
    keyword, bracket, rest = text.partition("<")
    if keyword.startswith("!"):
        return OpaqueType(keyword[1:], _parameters(rest.removesuffix(">")))
    if keyword not in ("ref", "tensor", "vec", "tile") or not bracket or not rest.endswith(">"):
        raise ValueError(f"not a type: {text}")
    body, *tail = (part.strip() for part in rest[:-1].split(","))
    *extents, dtype = _BETWEEN.split(body)
    if dtype not in dtypes.BY_NAME:
        raise ValueError(f"{dtype!r} in {text} is not an element type")
    shape = tuple(_extent(extent) for extent in extents)
    if keyword == "ref":
        return RefType(shape, dtypes.BY_NAME[dtype], *_space_and_layout(text, tail))
    if tail:
        raise ValueError(f"{text} has nothing after its element type")
    if keyword == "tensor":
        return TensorType(shape, dtypes.BY_NAME[dtype])
    counts = [extent for extent in shape if isinstance(extent, int)]
    match keyword, counts:
        case "vec", [lanes] if len(shape) == 1:
            return VectorType(lanes, dtypes.BY_NAME[dtype])
        case "tile", [rows, columns, lanes] if len(shape) == 3:
            return TileType(rows, columns, lanes, dtypes.BY_NAME[dtype])
        case "vec", _:
            raise ValueError(f"{text} needs one constant number of lanes")
        case _:
            raise ValueError(f"{text} needs constant numbers of rows, columns and lanes")


def _extent(text: str) -> Dim:
    return None if text == "?" else simplify(parse_size(text))


def _space_and_layout(text: str, tail: list[str]) -> tuple[str, str]:
    space, layout = (*tail, "gm", "row")[:2] if not tail else (*tail, "row")[:2]
    if len(tail) > 2 or space not in SPACES or layout not in LAYOUTS:
        raise ValueError(f"{text} is written ref<shape x dtype, space, layout>")
    return space, layout


def _parameters(text: str) -> tuple[str | int, ...]:
    parts = (part.strip() for part in text.split(",") if part.strip())
    return tuple(int(part) if part.lstrip("-").isdigit() else part for part in parts)


@lru_cache(maxsize=4096)
def parse_affine(text: str) -> AffineExpr:
    """The expression whose text form this is: `2*d0 - s1 + 3`. Raises ValueError for anything else."""
    total = AffineExpr()
    at = 0
    while at < len(text) or not at:
        found = _AFFINE_TERM.match(text, at)
        if found is None or (at and not found[1]):
            raise ValueError(f"not an affine expression: {text!r}")
        total += _affine_term(found)
        at = found.end()
    return total


def _affine_term(found: re.Match[str]) -> AffineExpr:
    factor = int(found[2] or 1) * (-1 if found[1] == "-" else 1)
    if found[3] is None:
        return const(int(found[5]) * factor)
    return (dim if found[3] == "d" else symbol)(int(found[4])) * factor


def parse_affine_map(text: str) -> AffineMap:
    """The map whose text form is `affine<...>`. Raises ValueError for anything else."""
    body = text.removeprefix("affine<").removesuffix(">").strip()
    return AffineMap(tuple(parse_affine(part) for part in body.split(",")) if body else ())
