# SPDX-License-Identifier: Apache-2.0
"""Finds which elements of its arrays every launch of a kernel writes, and changes nothing.

    func.func {symbol = "interior", sizes = ["N"], written = [1]} {
    ^(%x: ref<N x f32>, %y: ref<N x f32>):
      ...
      st.apply [%N], [%x], [], [%y] {iterators = ["parallel"], lower = [(1)], upper = [(s0 - 1)], ...}
      func.return
    }

writes `y[1:N - 1]`. All such elements have been written when a launch is complete, which is what the model looks for.
"""

from __future__ import annotations

from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.covered import covered
from pyasc.passes.base import Context, FunctionPass


class FindCovered(FunctionPass):
    """Adds what each kernel covers to the context."""

    name = "find-covered"

    def run(self, func: Func, context: Context) -> bool:
        """Look at a kernel; helpers have been inlined."""
        if func.kernel:
            found = covered(func)
            context.covered += found
            context.count("boxes", len(found))
        return False
