# SPDX-License-Identifier: Apache-2.0
"""Expressions of the kernel language compared with NumPy: packed into few kernels, compiled as few units.

A case is one expression of arrays `a`, `b`, ... of given types. Its reference is the same text with NumPy's names,
unless one is given. The documented differences from NumPy are applied to what NumPy gives, and to nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

import pyasc as asc

OUTPUTS = 12
"""Results of one kernel."""

Array = np.ndarray[Any, Any]

FLOATS = ("float16", "float32", "float64")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = (*FLOATS, *INTS)
ALL = (*NUMBERS, "bool")

_SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, -3.0, 0.1, np.inf, -np.inf, np.nan)


@dataclass(frozen=True)
class Case:
    """`text` of a kernel, and of NumPy where that differs; `types` of the arrays `a`, `b`, ... and their shape.

    `ulps` is how many units in the last place a float may be off; `exact` results have none. `values` names the
    function of this module that makes the arrays.
    """

    text: str
    types: tuple[str, ...]
    reference: str = ""
    ulps: float = 0
    values: str = "pairs"
    shape: tuple[int, ...] = ()

    @property
    def signature(self) -> tuple[Any, ...]:
        """What cases of one kernel share."""
        return self.types, self.values, self.shape


def edges(dtype: str) -> Array:
    """The numbers of a type at which something can go wrong."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind == "f":
        info = np.finfo(kind)
        more = (info.max, info.min, info.smallest_subnormal, -info.tiny, info.eps)
        return np.array([*_SPECIAL, *more], kind)
    info = np.iinfo(kind)
    found = {info.min, info.min + 1, 0, 1, 2, 3, 7, 100, info.max - 1, info.max}
    found |= {-1, -2, -3, -7} if info.min else set()
    return np.array(sorted(found), kind)


def pairs(types: Sequence[str], shape: tuple[int, ...]) -> list[Array]:
    """Every combination of edge values."""
    grids = np.meshgrid(*(edges(each) for each in types), indexing="ij")
    return [np.ascontiguousarray(grid.reshape(-1)) for grid in grids]


def small(types: Sequence[str], shape: tuple[int, ...]) -> list[Array]:
    """Small numbers that every type holds exactly, with negative ones and halves where there are such."""
    found: list[Array] = []
    for number, each in enumerate(types):
        generator = np.random.default_rng(number)
        kind = np.dtype(each).kind
        low = {"u": 0, "b": 0}.get(kind, -9)
        numbers = generator.integers(low, 2 if kind == "b" else 10, shape or (64,))
        found.append((numbers / 2 if kind == "f" else numbers).astype(each))
    return found


def positive(types: Sequence[str], shape: tuple[int, ...]) -> list[Array]:
    """Numbers from 0 to 4, where most functions are defined."""
    return [
        np.abs(each / 2).astype(each.dtype) if each.dtype.kind == "f" else each
        for each in small(types, shape)
    ]


def matrices(types: Sequence[str], shape: tuple[int, ...]) -> list[Array]:
    """A (4, 5, 6) array for each type; every further one has one axis of size 1."""
    found = small(types, (4, 5, 6))
    return [found[0], *(each[:, :1] for each in found[1:])]


@dataclass
class Packed:
    """A kernel with the cases that it computes, in the order of its results."""

    kernel: asc.Kernel
    cases: list[Case]
    arrays: list[Array] = field(repr=False)


def pack(cases: Iterable[Case]) -> list[Packed]:
    """The cases in as few kernels as their signatures allow."""
    ordered = sorted(cases, key=lambda each: str(each.signature))
    found: list[Packed] = []
    for (types, values, shape), group in groupby(ordered, key=lambda each: each.signature):
        members = list(group)
        arrays = globals()[values](types, shape)
        for start in range(0, len(members), OUTPUTS):
            part = members[start : start + OUTPUTS]
            found.append(Packed(_kernel(part, types, arrays), part, arrays))
    return found


def _kernel(cases: Sequence[Case], types: Sequence[str], arrays: Sequence[Array]) -> asc.Kernel:
    def annotation(dtype: str, array: Array) -> str:
        name = "bool_" if dtype == "bool" else dtype
        return f"asc.{name}[{', '.join(map(str, array.shape))}]"

    names = "abcdef"[: len(types)]
    parameters = [f"{n}: {annotation(t, x)}" for n, t, x in zip(names, types, arrays, strict=True)]
    lines = [f"    r{k} = {case.text}" for k, case in enumerate(cases)]
    results = "".join(f"r{k}, " for k in range(len(cases)))
    text = "\n".join([f"def k({', '.join(parameters)}):", *lines, f"    return ({results})"])
    return asc.kernel_from_source(
        f"import pyasc as asc\nimport numpy as np\nimport math\n@asc.kernel\n{text}\n"
    )


def compile_all(packed: Sequence[Packed]) -> None:
    """All kernels, as few units."""
    asc.compile([each.kernel for each in packed])


def expected(case: Case, arrays: Sequence[Array]) -> Any:
    """What NumPy gives, with the documented differences: no float64 out of operands that have none."""
    names: dict[str, Any] = dict(zip("abcdef", arrays, strict=False))
    with np.errstate(all="ignore"):
        found = eval(
            case.reference or case.text.replace("asc.", "np."),
            {"np": np, "asc": asc, "ref": REFERENCES},
            names,
        )
    result = np.asarray(found)
    if result.dtype == np.float64 and "float64" not in (*case.types, *case.text.replace(")", ".").split(".")):
        with np.errstate(all="ignore"):
            result = result.astype(np.float32)
    return result


def to_integer(array: Array, dtype: str) -> Array:
    """Conversion by truncation; what does not fit saturates, NaN becomes 0, integers wrap."""
    if array.dtype.kind != "f" or np.dtype(dtype).kind not in "iu":
        with np.errstate(all="ignore"):
            return array.astype(dtype)
    info = np.iinfo(dtype)
    wide = np.nan_to_num(array.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    numbers = [_saturated(float(each), info.min, info.max) for each in wide.flat]
    return np.array(numbers, dtype).reshape(array.shape)


def _saturated(number: float, low: int, high: int) -> int:
    if not np.isfinite(number):
        return high if number > 0 else low
    return min(max(int(number), low), high)


REFERENCES = {"to_integer": to_integer}


def difference(case: Case, found: Any, wanted: Any) -> str:
    """What is wrong with a result; empty if it is as expected."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{case}: {found.dtype}{found.shape}, expected {wanted.dtype}{wanted.shape}"
    if found.dtype.kind != "f":
        bad = found != wanted
    elif case.ulps:
        bad = ~_near(found, wanted, case.ulps)
    else:
        # Which of 0.0 and -0.0 is the larger is not NumPy's to say: it depends on its vector instructions.
        signs = np.signbit(found) == np.signbit(wanted) if "imum" not in case.text else True
        bad = ~((found == wanted) & signs | np.isnan(found) & np.isnan(wanted))
    if not bad.any():
        return ""
    at = tuple(int(each[0]) for each in np.nonzero(bad)) if bad.ndim else ()
    return f"{case}: {int(bad.sum())} of {bad.size} differ, at {at}: {found[at]!r}, expected {wanted[at]!r}"


def _near(found: Array, wanted: Array, ulps: float) -> Array:
    info = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        bound = ulps * float(info.eps) * np.maximum(np.abs(b), float(info.tiny))
        return (np.abs(a - b) <= bound) | (a == b) | np.isnan(a) & np.isnan(b)


def differences(packed: Packed) -> list[str]:
    """Run a kernel on the current device and compare each of its results."""
    found = packed.kernel(*(each.copy() for each in packed.arrays))
    checked = (
        difference(case, one, expected(case, packed.arrays))
        for case, one in zip(packed.cases, found, strict=True)
    )
    return [each for each in checked if each]
