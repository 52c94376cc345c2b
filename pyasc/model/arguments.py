# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments written as text, as the command line takes them: `NAME=SPEC` in parameter order.

x=data.npy                    an array from a file, copied in and out
y=zeros:float32:1024          an array of zeros; also ones:, arange:, random:DTYPE:SHAPE[:SEED]
o=poison:float32:8x128        an output of which nothing counts as written
ws=poison:65536               a workspace of so many bytes, never written
n=u64:1000                    a scalar
t=u32:8,u32:64,f32:1e-5       a struct by value, its fields in order
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pyasc.model.driver import Argument, Array, ModelError, Scalar, Struct, Workspace

_SCALARS: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}


class BadArgument(ModelError):
    """A `NAME=SPEC` that says nothing the model understands."""


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("x"))


def _random(dtype: np.dtype[Any], shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 100, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


_FILLS: dict[str, Callable[[np.dtype[Any], tuple[int, ...], int], np.ndarray]] = {
    "zeros": lambda dtype, shape, _: np.zeros(shape, dtype),
    "ones": lambda dtype, shape, _: np.ones(shape, dtype),
    "arange": lambda dtype, shape, _: np.arange(math.prod(shape)).astype(dtype).reshape(shape),
    "random": _random,
}


def _scalar(text: str) -> Any:
    kind, _, value = text.partition(":")
    make = _SCALARS[kind]
    return make(float(value)) if kind.startswith("f") else make(int(value, 0))


def _value(spec: str) -> Argument:
    head, _, rest = spec.partition(":")
    if head == "poison" and ":" not in rest:
        return Workspace(int(rest))
    if head == "poison":
        dtype, shape = rest.split(":")
        return Array(np.zeros(_shape(shape), dtype), defined=False)
    if head in _FILLS:
        dtype, shape, *seed = rest.split(":")
        return Array(_FILLS[head](np.dtype(dtype), _shape(shape), int(seed[0]) if seed else 0))
    if head in _SCALARS:
        fields = tuple(_scalar(part) for part in spec.split(","))
        return Scalar(fields[0]) if len(fields) == 1 else Struct(fields)
    if spec.endswith(".npy"):
        return Array(np.load(Path(spec), allow_pickle=False))
    raise KeyError(head)


def parse_argument(text: str) -> tuple[str, Argument]:
    """The name and value of one `NAME=SPEC`. Raises BadArgument with the forms there are."""
    name, equals, spec = text.partition("=")
    if not equals or not name:
        raise BadArgument(f"{text!r} is not NAME=SPEC")
    try:
        value = _value(spec)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise BadArgument(
            f"{text!r} is no argument ({error}). Forms:{(__doc__ or '').partition(':')[2]}"
        ) from error
    except OSError as error:
        raise BadArgument(f"{spec}: {error.strerror or error}") from error
    return name, replace(value, name=name) if isinstance(value, Array | Workspace) else value
