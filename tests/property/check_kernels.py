# SPDX-License-Identifier: Apache-2.0
"""Kernels of loops: CPython, the interpreter after every group of passes, the `cpu` device and the `model` device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyasc.ir.diagnostics import CompileError
from pyasc.runtime.decorators import kernel_from_source
from pyasc.runtime.device import device
from pyasc.runtime.kernel import Kernel
from pyasc.runtime.model import model_cache
from tests.property.generate.kernels import KernelProgram, kernel_program
from tests.property.outcome import DIFFERENT, REFUSED, SAME, SKIPPED, Outcome, first_difference, same_bits
from tests.property.units import LEVELS, Failures, build_model_unit, build_unit, interpreted

_TURN = ("O1", "O2", "O0", "O1", "O3")
_STAGES = ("", "loop", "structured", "cpu")
"""Pipelines after which one program in `_INTERPRETED` is run in the interpreter."""
_INTERPRETED = 4
_INTERPRETED_WORK = 700
_LARGE = {"float16": 1e3, "float32": 4e6, "float64": 1e15}
"""From here on, sums of whole numbers are no longer exact."""

Arguments = dict[str, Any]
Run = Callable[[Arguments, Mapping[str, int]], Any]


def check_kernels(seeds: Sequence[int]) -> list[Outcome]:
    """Kernels of some seeds on the `cpu` device and in the interpreter, against CPython."""
    level = LEVELS[_TURN[seeds[0] // max(len(seeds), 1) % len(_TURN)]]
    programs = [kernel_program(seed) for seed in seeds]
    kernels = [kernel_from_source(p.text, **p.options) for p in programs]
    failures = build_unit([(kernel, kernel.types_of()) for kernel in kernels], level)
    return [
        _outcome(p, k, n, failures, "cpu", level.name)
        for n, (p, k) in enumerate(zip(programs, kernels, strict=True))
    ]


def check_model(seeds: Sequence[int]) -> list[Outcome]:
    """Kernels of some seeds on the `model` device, against CPython."""
    programs = [kernel_program(seed, for_model=True) for seed in seeds]
    kernels = [kernel_from_source(p.text, **p.options) for p in programs]
    failures = build_model_unit([(kernel, kernel.types_of()) for kernel in kernels], Path(model_cache()))
    return [
        _outcome(p, k, n, failures, "model", "")
        for n, (p, k) in enumerate(zip(programs, kernels, strict=True))
    ]


def _outcome(
    program: KernelProgram, kernel: Kernel, number: int, failures: Failures, on: str, level: str
) -> Outcome:
    def made(status: str, message: str = "") -> Outcome:
        return Outcome(program.seed, status, program.text, program.features, message)

    failure = failures.get(number)
    if isinstance(failure, CompileError):
        return made(REFUSED, str(failure))
    if failure is not None:
        return made(DIFFERENT, f"{type(failure).__name__}: {failure}")
    runs: dict[str, Run] = {f"{on} {level}": lambda arguments, sizes: _launch(kernel, arguments, on)}
    if on == "cpu" and program.seed % _INTERPRETED == 0:
        runs |= {f"interpreter after {s or 'py'}": _interpreter(kernel, s) for s in _STAGES}
    compared = 0
    for number in range(len(program.sizes)):
        found = _compare(program, number, runs)
        if found is None:
            continue
        if found:
            return made(DIFFERENT, f"sizes {number} {program.sizes[number]}, {found}")
        compared += 1
    return made(SAME if compared else SKIPPED)


def _launch(kernel: Kernel, arguments: Arguments, on: str) -> None:
    with device(on):
        kernel(*arguments.values())


def _interpreter(kernel: Kernel, stage: str) -> Run:
    """The kernel after a pipeline, lowered when it is first run."""
    made: list[Any] = []

    def run(arguments: Arguments, sizes: Mapping[str, int]) -> None:
        if not made:
            made.append(interpreted(kernel, kernel.types_of(), stage))
        made[0](list(arguments.values()), dict(sizes))

    return run


def expected_of(program: KernelProgram, number: int) -> Arguments | Exception:
    """The arrays after CPython has run the program, or what it raised."""
    names: dict[str, Any] = dict(program.sizes[number])
    exec(compile(program.text, f"<kernel {program.seed}>", "exec"), names)
    arguments = program.arguments(number)
    try:
        with np.errstate(all="ignore"):
            names["k"](**arguments)
    except Exception as error:
        return error
    return arguments


def _wraps(expected: Arguments | Exception) -> bool:
    """Whether NumPy refuses to store a Python int that a kernel, whose ints have 64 bits, stores without its high bits.

    That is a row of the language page.
    """
    return isinstance(expected, OverflowError) and "out of bounds for" in str(expected)


def _compare(program: KernelProgram, number: int, runs: Mapping[str, Run]) -> str | None:
    """What differs for one choice of sizes; empty if nothing does, None if it cannot be compared."""
    expected = expected_of(program, number)
    if _wraps(expected) or (not isinstance(expected, Exception) and program.exact and _inexact(expected)):
        return None
    sizes = program.sizes[number]
    for name, run in runs.items():
        if name.startswith("interpreter") and max(sizes.values()) ** 2 > _INTERPRETED_WORK:
            continue
        arguments = program.arguments(number)
        try:
            run(arguments, sizes)
            error = None
        except Exception as raised:
            error = raised
        if isinstance(expected, Exception) or error is not None:
            if _unlike(error, expected, program):
                wanted = repr(expected) if isinstance(expected, Exception) else "results"
                return f"{name}: {error!r}, expected {wanted}"
            continue
        for array in program.arrays:
            got, wanted = arguments[array.name], expected[array.name]
            if not _same(got, wanted, program):
                return f"{name}: {array.name}: {first_difference(got, wanted)}"
    return ""


def _unlike(error: Exception | None, expected: Arguments | Exception, program: KernelProgram) -> bool:
    """Whether an error is one too many, or one too few."""
    if type(error).__name__ == "ModelFindings":
        return True
    if error is None:
        return "local array" not in program.features  # what nobody reads is not checked
    return not isinstance(expected, Exception)


def _same(got: Any, expected: Any, program: KernelProgram) -> bool:
    if program.exact:  # sums in another order may give the other zero
        return bool(np.array_equal(got, expected))
    if not program.for_model:
        return same_bits(got, expected)
    if got.dtype.kind != "f":
        return True  # an integer may come of a float that differs in its last bit
    with np.errstate(all="ignore"):
        wide = expected.astype(np.float64)
        bound = 1e-4 * max(1.0, float(np.abs(wide[np.isfinite(wide)]).max(initial=0.0)))
        # So near the largest number another order of the sum may be beyond it.
        largest = float(np.finfo(got.dtype).max) * (1 - 1e-4)
        near = np.clip(got.astype(np.float64), -largest, largest), np.clip(wide, -largest, largest)
        return bool(np.allclose(*near, rtol=1e-4, atol=bound, equal_nan=True))


def _inexact(arrays: Arguments) -> bool:
    """Whether a number is so large that its rounding may show the order of a sum."""
    with np.errstate(all="ignore"):
        return any(
            a.size and not np.abs(a.astype(np.float64)).max() < _LARGE[a.dtype.name]
            for a in arrays.values()
            if isinstance(a, np.ndarray) and a.dtype.kind == "f"
        )
