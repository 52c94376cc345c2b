# SPDX-License-Identifier: Apache-2.0
"""The ways to run a case: pyasc, hand-written C++, Numba, NumPy, CPython on lists and on arrays.

Each takes a case and its arguments and gives a function of no arguments that runs the kernel once, in place.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import handwritten, plain
from benchmarks.cases import Arguments, Case

Run = Callable[[], object]


class Unavailable(Exception):
    """The contender does not exist for this case or is not installed; the message says which."""


def _not_a_variant(case: Case) -> None:
    if case.variant_of:
        raise Unavailable(f"measured with {case.variant_of}")


def pyasc(case: Case, arguments: Arguments, *, threads: int) -> Run:
    """The kernel of the case's name in `kernels.py`."""
    compiled = getattr(importlib.import_module("benchmarks.kernels"), case.name)
    values = tuple(arguments.values())
    return lambda: compiled(*values)


def hand(case: Case, arguments: Arguments, *, threads: int) -> Run:
    """The baseline under `handwritten/`."""
    return handwritten.Baselines(threads).call(case, arguments)


def numba(case: Case, arguments: Arguments, *, threads: int) -> Run:
    """`njit(parallel=True, fastmath=False)`; scalars are given as float32, as pyasc computes them."""
    _not_a_variant(case)
    try:
        module = importlib.import_module("benchmarks.numba_kernels")
    except ModuleNotFoundError as error:
        raise Unavailable(f"{error.name} is not installed") from error
    importlib.import_module("numba").set_num_threads(threads)
    compiled = getattr(module, case.name)
    values = [np.float32(value) if isinstance(value, float) else value for value in arguments.values()]
    return lambda: compiled(*values)


def numpy(case: Case, arguments: Arguments, *, threads: int) -> Run:
    """The case's NumPy line."""
    if case.numpy is None:
        raise Unavailable("NumPy has no line for it")
    line: Any = case.numpy
    values = [np.float32(value) if isinstance(value, float) else value for value in arguments.values()]
    return lambda: line(*values)


def python_arrays(case: Case, arguments: Arguments, *, threads: int) -> Run:
    """The loops in CPython, on NumPy arrays."""
    _not_a_variant(case)
    function = plain.load(lists=False)[case.name]
    values = tuple(arguments.values())
    return lambda: function(*values)


def python_lists(case: Case, arguments: Arguments, *, threads: int) -> Run:
    """The loops in CPython, on nested lists; the caller's arrays get the results on the first run alone."""
    _not_a_variant(case)
    function = plain.load(lists=True)[case.name]
    values = {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in arguments.items()
    }
    fresh = True

    def run() -> None:
        nonlocal fresh
        function(*values.values())
        if fresh:
            for name in case.outputs:
                np.asarray(arguments[name])[...] = values[name]
            fresh = False

    return run


ALL = {
    "pyasc": pyasc,
    "hand": hand,
    "numba": numba,
    "numpy": numpy,
    "lists": python_lists,
    "arrays": python_arrays,
}
