# SPDX-License-Identifier: Apache-2.0
"""`asc.compile`: many kernels as one translation unit, or as few that are built at once where that pays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyasc.ir.diagnostics import CompileError, Diagnostic, compile_error
from pyasc.runtime.bug_reports import reporting_bugs
from pyasc.runtime.device import Device, current_device, soc_for
from pyasc.runtime.kernel import Kernel

if TYPE_CHECKING:
    from pyasc.runtime.launcher import Launcher
    from pyasc.runtime.specialise import Specialisation

UNIT_KERNELS = 6
"""From this many kernels in a unit on, a second unit beside it is quicker than one twice as long."""

Request = tuple[Kernel, "Specialisation"]


def compile(kernels: Iterable[Kernel | tuple[Any, ...]], *, jobs: int | None = None) -> None:
    """Compile kernels together for the current device, so that their first calls need no compiler.

    An entry is a kernel whose annotations say all its types, or a tuple of a kernel and arguments (or types
    such as `asc.float32[N]`) to compile it for. `jobs` limits how many compilers run at once. Raises one
    CompileError with the mistakes of all kernels, and what a first call raises.
    """
    if isinstance(kernels, Kernel):
        raise TypeError(f"asc.compile takes a list of kernels: asc.compile([{kernels.__name__}])")
    device = current_device()
    requests = _specialised(kernels, device)
    units = _split(requests, jobs or len(os.sched_getaffinity(0)))
    from pyasc.frontend.depth import deep_recursion

    with deep_recursion():
        built = _build(units, device)
    for unit, launchers in zip(units, built, strict=True):
        for (kernel, specialisation), launcher in zip(unit, launchers, strict=True):
            kernel.adopt(device, specialisation, launcher)


def _specialised(kernels: Iterable[Kernel | tuple[Any, ...]], device: Device) -> list[Request]:
    """What has to be compiled. Raises one error for the mistakes of all."""
    found: list[Request] = []
    mistakes: list[Diagnostic] = []
    for entry in kernels:
        kernel, *args = entry if isinstance(entry, tuple) else (entry,)
        if not isinstance(kernel, Kernel):
            raise TypeError(
                f"asc.compile takes kernels, or tuples of a kernel and its arguments, got {kernel!r}"
            )
        try:
            types = kernel.types_of(args)
            if args and device.name != "cpu":
                # It may have to be compiled for the sizes of these arguments, and is a file of its own anyway.
                kernel.compile(*args)
            elif not kernel.has(device, types):
                with reporting_bugs(kernel, types):
                    found.append((kernel, kernel.specialise(types)))
        except CompileError as error:
            mistakes += error.diagnostics
    if mistakes:
        raise compile_error(*mistakes)
    return found


def _split(requests: Sequence[Request], jobs: int) -> list[list[Request]]:
    """Units of about equal numbers of kernels."""
    if not requests:
        return []
    count = max(1, min(jobs, len(requests) // UNIT_KERNELS))
    return [list(requests[start::count]) for start in range(count)]


def _build(units: Sequence[Sequence[Request]], device: Device) -> list[list[Launcher]]:
    lowered = [distinct(unit, device) for unit in units]
    if len(units) <= 1:
        return [device.build(unit) for unit in lowered]
    # Costs as much as the rest of this module to import.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(units), thread_name_prefix="pyasc-compile") as pool:
        return list(pool.map(device.build, lowered))


def distinct(requests: Sequence[Request], device: Device | None = None) -> list[Any]:
    """The kernels, lowered for a device (None: the cpu), with symbols that differ: `add`, `add_2`, ..."""
    taken: set[str] = set()
    lowered: list[Any] = []
    for kernel, specialisation in requests:
        symbol = _fresh(specialisation.abi.symbol, taken)
        taken.add(symbol)
        pipeline = "cpu" if device is None else device.pipeline
        soc = None if device is None else soc_for(device, kernel.options.target)
        with reporting_bugs(kernel, specialisation.types):
            lowered.append(specialisation.lowered(pipeline, soc=soc, symbol=symbol))
    return lowered


def _fresh(symbol: str, taken: set[str]) -> str:
    number = 2
    candidate = symbol
    while candidate in taken:
        candidate = f"{symbol}_{number}"
        number += 1
    return candidate
