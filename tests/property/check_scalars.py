# SPDX-License-Identifier: Apache-2.0
"""Scalar programs on the `cpu` device against CPython."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyasc.ir.diagnostics import CompileError
from pyasc.runtime.decorators import kernel_from_source
from pyasc.runtime.device import device
from tests.property.generate.scalars import ScalarProgram, scalar_program
from tests.property.outcome import DIFFERENT, REFUSED, SAME, SKIPPED, Outcome, differences
from tests.property.reference import exact, reference, wrap
from tests.property.units import LEVELS, Failures, build_unit

RESULTS = ("a", "b", "c", "x", "y", "z", "p", "q", "m")
_TURN = ("O1", "O2", "O0", "O1", "O3")
"""The levels, batch after batch: -O1 compiles at twice the speed of -O3, and our passes are the same."""


_OTHERS = ((exact,), (wrap, 1.0), (wrap, -1.0))


def check_scalars(seeds: Sequence[int]) -> list[Outcome]:
    """Compile the programs of some seeds as one unit and compare each with CPython.

    Ints of the run time wrap, and ints that the passes know are Python's; NaN has either sign: a program may give what
    any of these gives.
    """
    level = LEVELS[_TURN[seeds[0] // max(len(seeds), 1) % len(_TURN)]]
    programs = [scalar_program(seed) for seed in seeds]
    kernels = [kernel_from_source(program.kernel) for program in programs]
    requests = [(kernel, kernel.types_of()) for kernel in kernels]
    failures = build_unit(requests, level)
    return [_outcome(program, kernels[k], k, failures, level.name) for k, program in enumerate(programs)]


def _outcome(program: ScalarProgram, kernel: Any, number: int, failures: Failures, level: str) -> Outcome:
    def made(status: str, message: str = "") -> Outcome:
        return Outcome(program.seed, status, program.kernel, program.features, message)

    failure = failures.get(number)
    if isinstance(failure, CompileError):
        return made(REFUSED, str(failure))
    if failure is not None:
        return made(DIFFERENT, f"{type(failure).__name__}: {failure}")
    real = float if program.mode == "float64" else np.float32
    expected_by = reference(program.text, real)
    for given in program.inputs:
        args = _typed(program.mode, given)
        message = compare_call(kernel, expected_by, args)
        others = (reference(program.text, real, *rules) for rules in _OTHERS)
        if message and all(compare_call(kernel, other, args) for other in others):
            status = SKIPPED if _only_reordered(program, args, expected_by, level) else DIFFERENT
            return made(status, f"at {level}, k{tuple(args)!r}: {message}")
    return made(SAME)


def _only_reordered(program: ScalarProgram, args: Sequence[Any], expected_by: Any, level: str) -> bool:
    """Whether the written order gives CPython's bits: then the default order of a sum or product was seen."""
    strict = kernel_from_source(program.kernel, precision="strict")
    failures = build_unit([(strict, strict.types_of())], LEVELS[level])
    return not failures and not compare_call(strict, expected_by, args)


def _typed(mode: str, given: Sequence[Any]) -> list[Any]:
    if mode == "float64":
        return list(given)
    with np.errstate(all="ignore"):
        return [np.float32(value) if isinstance(value, float) else value for value in given]


def compare_call(kernel: Any, expected_by: Any, args: Sequence[Any]) -> str:
    """How a call and its reference differ; empty if they do not."""
    expected = _result(expected_by, args)
    with device("cpu"):
        got = _result(kernel, args)
    if isinstance(got, Exception) or isinstance(expected, Exception):
        if type(got) is type(expected):
            return ""
        return f"{got!r}, expected {expected!r}"
    return differences(RESULTS, got, expected)


def _result(function: Any, args: Sequence[Any]) -> Any:
    try:
        return function(*args)
    except (ValueError, ArithmeticError, IndexError) as error:
        return error
