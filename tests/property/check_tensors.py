# SPDX-License-Identifier: Apache-2.0
"""Programs of whole arrays on the `cpu` device against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyasc.ir.diagnostics import CompileError
from pyasc.runtime.decorators import kernel_from_source
from pyasc.runtime.device import device
from pyasc.runtime.kernel import Kernel
from pyasc.runtime.model import model_cache
from tests.property.generate.tensors import TensorProgram, Term, tensor_program
from tests.property.outcome import DIFFERENT, REFUSED, SAME, SKIPPED, Outcome, first_difference, same_bits
from tests.property.units import LEVELS, Failures, build_model_unit, build_unit

_REFUSED_AT_LAUNCH = (" and 1 differ", "sizes 1 and ")
"""Extents that turn out to be 1 and follow from data, not from the sizes of the arguments."""
_TURN = ("O1", "O2", "O0", "O1", "O3")


def check_tensors(seeds: Sequence[int]) -> list[Outcome]:
    """Compile the programs of some seeds as one unit and compare each with NumPy."""
    level = LEVELS[_TURN[seeds[0] // max(len(seeds), 1) % len(_TURN)]]
    programs = [tensor_program(seed) for seed in seeds]
    kernels = [kernel_from_source(program.text) for program in programs]
    failures = build_unit([(kernel, kernel.types_of()) for kernel in kernels], level)
    return [
        _outcome(p, k, n, failures, level.name)
        for n, (p, k) in enumerate(zip(programs, kernels, strict=True))
    ]


def check_model(seeds: Sequence[int]) -> list[Outcome]:
    """Programs of some seeds on the `model` device, against NumPy."""
    programs = [tensor_program(seed, for_model=True) for seed in seeds]
    kernels = [kernel_from_source(program.text) for program in programs]
    failures = build_model_unit([(kernel, kernel.types_of()) for kernel in kernels], Path(model_cache()))
    return [
        _outcome(p, k, n, failures, "model") for n, (p, k) in enumerate(zip(programs, kernels, strict=True))
    ]


def _outcome(program: TensorProgram, kernel: Kernel, number: int, failures: Failures, level: str) -> Outcome:
    def made(status: str, message: str = "") -> Outcome:
        return Outcome(program.seed, status, program.text, program.features, message)

    failure = failures.get(number)
    if isinstance(failure, CompileError):
        return made(REFUSED, str(failure))
    if failure is not None:
        return made(DIFFERENT, f"{type(failure).__name__}: {failure}")
    arguments = tuple(argument.copy() for argument in program.arguments)
    try:
        with device("model" if level == "model" else "cpu"):
            found = kernel(*arguments)
    except Exception as error:
        refused = any(words in str(error) for words in _REFUSED_AT_LAUNCH)
        return made(SKIPPED if refused else DIFFERENT, f"at {level}: {error!r}, expected results")
    message = _difference(program, found, arguments)
    return made(DIFFERENT, f"at {level}: {message}") if message else made(SAME)


def _difference(program: TensorProgram, found: Sequence[Any], arguments: Sequence[Any]) -> str:
    for got, term in zip(found, program.results, strict=True):
        if not _agrees(got, term):
            return f"{term.text}: {_dtypes(got, term)}{first_difference(got, term.value)}"
    for number, (got, expected) in enumerate(zip(arguments, program.after, strict=True)):
        if not same_bits(got, expected):
            return f"argument {number}: {first_difference(got, expected)}"
    return ""


def _dtypes(got: Any, term: Term) -> str:
    return "" if got.dtype == term.value.dtype else f"{got.dtype}, expected {term.value.dtype}; "


def _agrees(got: Any, term: Term) -> bool:
    expected = term.value
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if term.exact or expected.dtype.kind != "f":
        return np.array_equal(got, expected, equal_nan=expected.dtype.kind == "f")
    wide = expected.astype(np.float64)
    finite = np.abs(wide[np.isfinite(wide)])
    bound = term.bound * max(1.0, float(finite.max()) if finite.size else 1.0)
    with np.errstate(all="ignore"):
        return bool(np.allclose(got.astype(np.float64), wide, rtol=bound, atol=bound, equal_nan=True))
