# SPDX-License-Identifier: Apache-2.0
"""Arrays as a compiled kernel takes them: checked, then copied where layout or overlap ask for it.

All checks come before the first copy, so a launch that is refused leaves every array as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pyasc.ir.diagnostics import LaunchError
from pyasc.runtime.abi import ArrayParam, KernelABI, numpy_dtype
from pyasc.runtime.shapes import bind_sizes, evaluate, shape_text

if TYPE_CHECKING:
    from pyasc.runtime.arguments import Array

# NumPy 1.24 has the class in its main namespace.
_TooHardError: type[Exception] = vars(getattr(np, "exceptions", np))["TooHardError"]

_OVERLAP_EFFORT: Any = 100_000
"""How many candidates NumPy may try to decide exactly whether two views share an element."""


@dataclass
class Prepared:
    """Arguments for a launcher, and the views that get their values back from a contiguous copy."""

    arguments: dict[str, Any]
    write_back: list[tuple[Array, Array]] = field(default_factory=list)

    def finish(self) -> None:
        """Copy what was written to the arrays it was meant for."""
        for target, copy in self.write_back:
            target[...] = copy


def prepare(abi: KernelABI, arguments: Mapping[str, Any]) -> Prepared:
    """Arguments that the launcher of `abi` takes without exception.

    Raises LaunchError for shapes that contradict each other, a written array that is read-only or whose
    elements share memory, two written arrays that overlap, and one that is read after another was written that
    it overlaps.
    """
    given = [p for p in abi.arrays if not p.returned]
    arrays: dict[str, Array] = {p.name: arguments[p.name] for p in given}
    for param in given:
        if param.written:
            _check_writable(abi, param, arrays[param.name])
    _check_shapes(abi, arrays)
    shared = _shared_pairs(abi, given, arrays)
    prepared = Prepared(dict(arguments))
    for param in given:
        array = arrays[param.name]
        plain = _plain(array, param)
        if plain is array and not param.written and param.name in shared:
            plain = array.copy()
        if plain is not array and param.written:
            prepared.write_back.append((array, plain.view(array.dtype.newbyteorder("="))))
        prepared.arguments[param.name] = plain
    return prepared


def _check_writable(abi: KernelABI, param: ArrayParam, array: Array) -> None:
    if not array.flags.writeable:
        raise LaunchError(
            f"{abi.name}: parameter `{param.name}` is written, and the array is read-only; pass a copy"
        )
    if _overlaps_itself(array):
        raise LaunchError(
            f"{abi.name}: parameter `{param.name}` is written, and elements of the array share memory "
            f"(shape {array.shape}, strides {array.strides}); pass a copy"
        )


def _overlaps_itself(array: Array) -> bool:
    """Whether two elements may share memory: an axis steps by less than the axes inside it span."""
    axes = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    span = array.itemsize
    for stride, count in axes:
        if stride < span:
            return array.size > 0
        span = stride * (count - 1) + span
    return False


def _check_shapes(abi: KernelABI, arrays: Mapping[str, Array]) -> None:
    sizes = bind_sizes(abi, {name: array.shape for name, array in arrays.items()})
    for param in abi.returned:
        shape = tuple(evaluate(extent, sizes) for extent in param.shape)
        if any(extent < 0 for extent in shape):
            raise LaunchError(
                f"{abi.name}: the result, of shape {shape_text(param.shape)}, would have the shape {shape}"
            )


def _shared_pairs(abi: KernelABI, given: list[ArrayParam], arrays: Mapping[str, Array]) -> set[str]:
    """Names of arrays that share memory with a written one. Raises LaunchError if both are written."""
    shared: set[str] = set()
    for first, second in combinations(given, 2):
        if not (first.written or second.written) or not _share(arrays[first.name], arrays[second.name]):
            continue
        if first.written and second.written:
            raise LaunchError(
                f"{abi.name}: parameters `{first.name}` and `{second.name}` are both written, and their arrays "
                "overlap; pass a copy of one"
            )
        shared |= {first.name, second.name}
        _refuse_late_read(abi, first.name, second.name, arrays)
    return shared


def _refuse_late_read(abi: KernelABI, first: str, second: str, arrays: Mapping[str, Array]) -> None:
    """The copy of what is read was made before: on one memory, a later read would find what was written."""
    for each in abi.late_reads:
        if {each.reader, each.written} == {first, second} and not (
            each.each_its_own and is_same(arrays[first], arrays[second])
        ):
            raise LaunchError(
                f"{abi.name}: parameter `{each.reader}` is read after `{each.written}` is written, and their "
                "arrays overlap; pass a copy of one"
            )


def is_same(first: Array, second: Array) -> bool:
    """Whether two arrays have the same elements in the same memory."""
    a, b = first.__array_interface__["data"][0], second.__array_interface__["data"][0]
    return (a, first.shape, first.strides, first.dtype) == (b, second.shape, second.strides, second.dtype)


def same_arrays(abi: KernelABI, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The parameters that are the array of an earlier one, where separate copies would not do."""
    late = {frozenset((each.reader, each.written)) for each in abi.late_reads if not each.each_its_own}
    given = [p for p in abi.arrays if not p.returned]
    found: dict[str, str] = {}
    for first, second in combinations(given, 2):
        names = first.name, second.name
        if (first.written and second.written) or frozenset(names) in late:
            a, b = (arguments[name] for name in names)
            if a.size and first.dtype is second.dtype and is_same(a, b):
                found.setdefault(second.name, found.get(first.name, first.name))
    return tuple(found.items())


def _share(first: Array, second: Array) -> bool:
    try:
        return np.shares_memory(first, second, max_work=_OVERLAP_EFFORT)
    except _TooHardError:
        return True


def _plain(array: Array, param: ArrayParam) -> Array:
    """The array itself if it is contiguous, aligned and in native byte order, else such a copy of it."""
    dtype = numpy_dtype(param.dtype)
    if array.size == 0:
        # A view of no elements has an address inside another array, which would look like an overlap.
        return np.empty(array.shape, dtype)
    if array.dtype is dtype and array.flags.c_contiguous and array.flags.aligned:
        return array
    native = array.dtype.newbyteorder("=")
    plain = np.array(array, native, order="C") if _needs_copy(array) else array
    return plain if plain.dtype is dtype else plain.view(dtype)


def _needs_copy(array: Array) -> bool:
    return not (array.dtype.isnative and array.flags.c_contiguous and array.flags.aligned)
