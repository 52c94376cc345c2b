# SPDX-License-Identifier: Apache-2.0
"""Which share of the element operations of a fixed list of kernels the vector and cube units do.

    python -m tools.unit_share [NAME ...]

runs the tile level of every PolyBench and NPBench kernel of the tests in the reference interpreter and counts: an
operation on a tile once for each of its elements, a product two operations for each of its terms, and arithmetic on
single numbers that are no 64-bit integers (those are mostly indices) once. It writes docs/unit-share.md when it runs on
the whole list.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pyasc.ir.core import Operation
from pyasc.ir.dialects import arith, tile
from pyasc.ir.dtypes import i1, i64
from pyasc.ir.interpreter import interpret
from pyasc.ir.interpreter_state import Frame
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.phases import HOST_SUFFIX
from pyasc.runtime.abi import KernelABI
from pyasc.runtime.ascend import ascend_kernel, workspace_shape
from tests.kernels import npbench, polybench
from tests.kernels.suite_case import Case

PAGE = Path(__file__).parent.parent / "docs" / "unit-share.md"
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0; written by tools/unit_share.py -->
# What the vector and cube units do

The share of executed element operations, for the kernels of PolyBench (size SMALL) and NPBench in `tests/kernels`,
counted by `python -m tools.unit_share` on the tile level. What is left runs on scalar units, for the reasons given.

| kernel | operations | vector | cube | scalar | why scalar |
| --- | ---: | ---: | ---: | ---: | --- |
"""


@dataclass
class Count:
    """Operations by unit."""

    by_unit: Counter[str] = field(default_factory=lambda: Counter[str]())

    def observe(self, frame: Frame, op: Operation) -> None:
        """Note what an operation is about to do."""
        if isinstance(op, tile.Matmul):
            self.by_unit["cube"] += 2 * math.prod(frame.all(op.sizes))
        elif isinstance(op, (tile.Elementwise, tile.Reduce, tile.Fold, tile.ArgReduce, tile.Cast)):
            self.by_unit["vector"] += math.prod(frame.all(op.sizes))
        elif isinstance(op, arith.Elementwise) and dtype_of(op.args[-1].type) not in (i64, i1):
            self.by_unit["scalar"] += 1

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.by_unit.values())

    def share(self, *units: str) -> float:
        """The part of some units, from 0 to 1."""
        return sum(self.by_unit[unit] for unit in units) / max(self.total, 1)


def count(case: Case) -> tuple[Count, list[str]]:
    """The operations of one kernel on its data, and why some are scalar."""
    kernel = case.kernel
    arguments = case.data()
    lowered = kernel.specialise(kernel.types_of()).lowered("tile")
    module, made = lowered.module, Count()
    described = ascend_kernel(kernel.specialise(kernel.types_of()).lowered("ascend"))
    host = module.function(described.abi.symbol + HOST_SUFFIX)
    sizes = _sizes(described.abi, arguments)
    arrays: dict[str, Any] = {n: np.array(v) for n, v in arguments.items() if isinstance(v, np.ndarray)}
    parameters = {p.name: p for phase in described.phases for p in phase.parameters if p.array}

    def launch(entry: str, blocks: int, numbers: list[Any]) -> None:
        phase, given = module.function(entry), iter(numbers)
        if not blocks:
            return
        values: list[Any] = []
        for param in phase.params:
            if not isinstance(param.type, RefType):
                values.append(next(given))
                continue
            if param.name not in arrays:
                parameter = parameters[param.name]
                arrays[param.name] = np.zeros(workspace_shape(parameter, sizes), parameter.dtype)
            values.append(arrays[param.name])
        interpret(module, entry, values, {n: sizes[n] for n in phase.sizes}, observe=made.observe)

    scalars = [arguments[param.name] for param in host.params]
    interpret(module, host.symbol, scalars, {n: sizes[n] for n in host.sizes}, launch=launch)
    reasons = [
        f"line {r.loc.line}: {r.message.removeprefix('runs on the scalar unit: ')}"
        for r in lowered.remarks
        if r.pass_name == "lower-to-tiles" and "scalar" in r.message
    ]
    return made, list(dict.fromkeys(reasons))


def _sizes(abi: KernelABI, arguments: dict[str, Any]) -> dict[str, int]:
    """The symbolic sizes of a call, solved from the shapes of its arrays."""
    found: dict[str, int] = {}
    for param in abi.arrays:
        shape = arguments[param.name].shape if param.name in arguments else ()
        for extent, actual in zip(param.shape, shape, strict=False):
            if isinstance(extent, SizeExpr) and len(extent.names) == 1:
                (name,) = extent.names
                base = extent.evaluate({name: 0})
                found.setdefault(name, (actual - base) // (extent.evaluate({name: 1}) - base))
    return found


def row(name: str, made: Count, reasons: list[str]) -> str:
    """A line of the table."""
    parts = " | ".join(f"{100 * made.share(unit):.1f} %" for unit in ("vector", "cube", "scalar"))
    return f"| `{name}` | {made.total:,} | {parts} | {'; '.join(reasons)} |"


def main(names: list[str]) -> int:
    """Count, print, and write the page."""
    total, lines, means = Count(), [], []
    for case in (*polybench.CASES, *npbench.CASES):
        if names and case.name not in names:
            continue
        made, reasons = count(case)
        total.by_unit.update(made.by_unit)
        means.append(made.share("vector", "cube"))
        lines.append(row(case.name, made, reasons))
        print(lines[-1], flush=True)
    mean = f"the mean of the kernels is {100 * sum(means) / len(means):.1f} % on vector and cube"
    summary = row("all", total, [mean])
    print(summary)
    if not names:
        PAGE.write_text(HEAD + "\n".join([*lines, summary]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
