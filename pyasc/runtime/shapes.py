# SPDX-License-Identifier: Apache-2.0
"""How symbolic sizes follow from the shapes of arguments, and the refusal of shapes that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyasc.ir.diagnostics import LaunchError
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr, print_dim
from pyasc.runtime.abi import ArrayParam, Extent, KernelABI


class Bind(Record):
    """A size follows from one extent: `size = sign * (extent - offset)`."""

    size: str
    param: str
    axis: int
    sign: int = 1
    offset: int = 0


class Check(Record):
    """One extent must have this value once the sizes before it are bound."""

    param: str
    axis: int
    extent: Extent


Step = Bind | Check


def size_steps(abi: KernelABI) -> tuple[Step, ...]:
    """The steps that bind every size and check every extent, in an order in which they can be done.

    Sizes are bound by the first plain `N` among the parameters, else by an extent such as `N + 2`. Raises
    LaunchError when nothing binds a size.
    """
    given = [(p, axis, extent) for p in abi.arrays if not p.returned for axis, extent in enumerate(p.shape)]
    bound: dict[str, Bind] = {}
    for simple in (True, False):
        for param, axis, extent in given:
            step = _binding(param, axis, extent, simple)
            if step is not None:
                bound.setdefault(step.size, step)
    unbound = [name for name in abi.sizes if name not in bound]
    if unbound:
        raise LaunchError(
            f"{abi.name}: no array parameter says what the size {unbound[0]} is; a size has to be "
            f"an extent of a parameter, such as asc.float32[{unbound[0]}]"
        )
    places = {(b.param, b.axis) for b in bound.values()}
    checks = [Check(p.name, axis, extent) for p, axis, extent in given if (p.name, axis) not in places]
    return (*bound.values(), *checks)


def _binding(param: ArrayParam, axis: int, extent: Extent, simple: bool) -> Bind | None:
    if isinstance(extent, int):
        return None
    name = extent.as_name
    if simple:
        return None if name is None else Bind(name, param.name, axis)
    return None if name is not None else _solved(param, axis, extent)


def _solved(param: ArrayParam, axis: int, extent: SizeExpr) -> Bind | None:
    """The step for an extent that is one size, plus or minus a constant."""
    terms = dict(extent.terms)
    offset = terms.pop((), 0)
    if len(terms) != 1:
        return None
    ((monomial, coefficient),) = terms.items()
    if len(monomial) != 1 or abs(coefficient) != 1:
        return None
    return Bind(monomial[0], param.name, axis, coefficient, offset)


def bind_sizes(abi: KernelABI, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The value of every size for arguments of these shapes. Raises LaunchError that names the parameters."""
    for param in abi.arrays:
        if not param.returned and len(shapes[param.name]) != len(param.shape):
            raise LaunchError(_rank_message(abi, param, shapes[param.name]))
    values: dict[str, int] = {}
    origin: dict[str, Bind] = {}
    for step in size_steps(abi):
        extent = shapes[step.param][step.axis]
        if isinstance(step, Bind):
            values[step.size] = step.sign * (extent - step.offset)
            origin[step.size] = step
        elif evaluate(step.extent, values) != extent:
            raise LaunchError(_mismatch(abi, step, shapes, values, origin))
    for size, value in values.items():
        if value < 0:
            raise LaunchError(
                f"{abi.name}: the size {size} would be {value} for {_shown(abi, origin[size], shapes)}"
            )
    return values


def evaluate(extent: Extent, values: Mapping[str, int]) -> int:
    """The value of an extent."""
    return extent if isinstance(extent, int) else extent.evaluate(values)


def shape_text(shape: Sequence[Extent]) -> str:
    """A declared shape as Python would write it: `(N, H - 2)`."""
    inner = ", ".join(str(extent) for extent in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _param(abi: KernelABI, name: str) -> ArrayParam:
    return next(p for p in abi.arrays if p.name == name)


def _shown(abi: KernelABI, step: Step, shapes: Mapping[str, Sequence[int]]) -> str:
    shape = tuple(shapes[step.param])
    return f"`{step.param}` of shape {shape}, declared {shape_text(_param(abi, step.param).shape)}"


def _rank_message(abi: KernelABI, param: ArrayParam, shape: Sequence[int]) -> str:
    return (
        f"{abi.name}: parameter `{param.name}` has {len(shape)} dimension{'' if len(shape) == 1 else 's'} "
        f"{tuple(shape)}, expected {len(param.shape)}: {shape_text(param.shape)}"
    )


def _mismatch(
    abi: KernelABI,
    step: Check,
    shapes: Mapping[str, Sequence[int]],
    values: Mapping[str, int],
    origin: Mapping[str, Bind],
) -> str:
    found = shapes[step.param][step.axis]
    text = f"{abi.name}: parameter {_shown(abi, step, shapes)}: "
    if isinstance(step.extent, int):
        return f"{text}extent {step.axis} is {found}, expected {step.extent}"
    name = step.extent.as_name
    if name is not None:
        first = _shown(abi, origin[name], shapes)
        return f"{text}the size {name} is {found} here, but {values[name]} in {first}"
    reasons = ", ".join(_reasons(step.extent, values, origin))
    expected = evaluate(step.extent, values)
    return (
        f"{text}extent {step.axis} is {found}, expected {print_dim(step.extent)} = {expected}, as {reasons}"
    )


def _reasons(extent: SizeExpr, values: Mapping[str, int], origin: Mapping[str, Bind]) -> Iterator[str]:
    for name in extent.names:
        yield f"{name} is {values[name]} in `{origin[name].param}`"
