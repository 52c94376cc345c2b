# SPDX-License-Identifier: Apache-2.0
"""The 30 kernels of PolyBench 4.2 at size SMALL, written for pyasc from their published definitions.

Every module holds kernels in element loops beside references in float64 NumPy that share no code with them.
"""

from __future__ import annotations

from tests.kernels.polybench import blas, data_mining, medley, products, solvers, stencils
from tests.kernels.suite_case import Case

CASES: tuple[Case, ...] = (
    *data_mining.CASES,
    *blas.CASES,
    *products.CASES,
    *solvers.CASES,
    *medley.CASES,
    *stencils.CASES,
)
