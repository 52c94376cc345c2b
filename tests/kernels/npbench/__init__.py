# SPDX-License-Identifier: Apache-2.0
"""Twenty kernels of NPBench on real numbers and dense arrays, beyond those that it shares with PolyBench.

They are written for pyasc from the published definitions, partly on whole arrays and partly in element loops; the
references are float64 NumPy. Sizes are small. Complex numbers of the two Mandelbrot kernels are pairs of reals.
"""

from __future__ import annotations

from tests.kernels.npbench import fluids, fractals, networks, pointwise, statistics_, weather
from tests.kernels.suite_case import Case

CASES: tuple[Case, ...] = (
    *pointwise.CASES,
    *statistics_.CASES,
    *fractals.CASES,
    *networks.CASES,
    *fluids.CASES,
    *weather.CASES,
)
