# SPDX-License-Identifier: Apache-2.0
"""What a kernel of a benchmark suite is to a test: its data, its reference in float64, and its bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
EPSILON = 2.0**-24


@dataclass(frozen=True)
class Case:
    """One kernel with its data and its expected results.

    `data()` gives the arguments by name, arrays in float32 (or integers where the suite has integers).
    `reference(**arguments)` takes the same with arrays in float64 and returns the outputs by name.
    `chain` is the length of the longest chain of dependent roundings: an output may be off by `chain` times
    2**-24 times the largest magnitude of that output (times `amplification`, where the problem itself is
    ill-conditioned, by the norm of its inverse); 0 asks for equal bits. `derived` gives what is compared
    where the outputs themselves are not determined by the problem, such as a factorisation of a singular matrix.
    """

    kernel: Any
    data: Callable[[], dict[str, Any]]
    reference: Callable[..., Arrays]
    chain: float
    amplification: float = 1.0
    derived: Callable[..., Arrays] | None = None

    @property
    def name(self) -> str:
        return self.kernel.__name__

    def run(self) -> None:
        """Run the kernel on the current device and compare what it wrote with the reference."""
        arguments = self.data()
        wide = {name: _widened(value) for name, value in arguments.items()}
        expected = self.reference(**wide)
        result = self.kernel(**arguments)
        found = arguments if result is None else arguments | _named(expected, arguments, result)
        if self.derived is not None:
            found = self.derived(**{name: _widened(value) for name, value in found.items()})
        for name, values in expected.items():
            self._compare(name, found[name], values)

    def _compare(self, name: str, found: np.ndarray, expected: np.ndarray) -> None:
        if self.chain == 0:
            np.testing.assert_array_equal(found, expected, err_msg=name)
            return
        bound = self.chain * self.amplification * EPSILON * float(np.max(np.abs(expected)))
        error = float(np.max(np.abs(found.astype(np.float64) - expected)))
        assert error <= bound, f"{self.name}: {name} is off by {error:.3g}, more than {bound:.3g}"


def _widened(value: Any) -> Any:
    """Arrays of floats in float64, and a copy of all others, so that the reference sees what the kernel saw."""
    if not isinstance(value, np.ndarray):
        return value
    return value.astype(np.float64) if value.dtype.kind == "f" else value.copy()


def _named(expected: Arrays, arguments: dict[str, Any], result: Any) -> Arrays:
    names = [name for name in expected if name not in arguments]
    return dict(zip(names, result if isinstance(result, tuple) else (result,), strict=True))


def grid(formula: Callable[..., Any], *shape: int) -> np.ndarray:
    """An array of float32 by a formula of its indices, as benchmark suites fill their data."""
    return np.asarray(formula(*np.indices(shape)), dtype=np.float32)
