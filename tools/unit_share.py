# SPDX-License-Identifier: Apache-2.0
"""Which share of the element operations of a fixed list of kernels the vector and cube units do.

    python -m tools.unit_share [NAME ...]

runs the tile level of every example and of every PolyBench and NPBench kernel of the tests in the reference interpreter
and counts: an operation on a tile once for each of its elements, a product two operations for each of its terms, and
arithmetic on single numbers once. Not counted are moves of data (also where a vector call makes them), fills,
comparisons of single numbers, and 64-bit integers that no stored value is computed from, which are indices. It writes
docs/unit-share.md when it runs on the whole list, which takes some minutes.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, mem, scf, tile
from pyasc.ir.dialects.func import Module
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

sys.path.append(str(Path(__file__).parent.parent / "examples"))

PAGE = Path(__file__).parent.parent / "docs" / "unit-share.md"
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0; written by tools/unit_share.py -->
# What the vector and cube units do

The share of executed element operations, for the kernels of `examples`, of PolyBench (size SMALL) and of NPBench in
`tests/kernels`, counted by `python -m tools.unit_share` on the tile level. What is left runs on scalar units, for the
reasons given.

| kernel | operations | vector | cube | scalar | why scalar |
| --- | ---: | ---: | ---: | ---: | --- |
"""


class Kernel(Protocol):
    """What is counted: a kernel and its arguments by name."""

    @property
    def kernel(self) -> Any:
        """The kernel."""
        ...

    @property
    def data(self) -> Callable[[], dict[str, Any]]:
        """What gives its arguments."""
        ...

    @property
    def name(self) -> str:
        """What it is called."""
        ...


@dataclass(frozen=True)
class Example:
    """A kernel of `examples` and its arguments."""

    file: str
    name: str
    data: Callable[[], dict[str, Any]]

    @property
    def kernel(self) -> Any:
        """The kernel, from its file."""
        return getattr(import_module(self.file), self.name)


def floats(*shape: int) -> np.ndarray:
    """Normally distributed numbers."""
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def positive(*shape: int) -> np.ndarray:
    """Numbers from 1 to 2."""
    return 1 + np.random.default_rng(0).random(shape, np.float32)


def integers(high: int, dtype: Any, *shape: int) -> np.ndarray:
    """Random integers from 0 up to `high`."""
    return np.random.default_rng(0).integers(0, high, shape).astype(dtype)


def _options() -> dict[str, Any]:
    market = {"spot": positive(10_000), "strike": positive(10_000), "years": positive(10_000)}
    return {**market, "rate": 0.02, "volatility": 0.3, "call": floats(10_000), "put": floats(10_000)}


EXAMPLES = (
    Example("black_scholes", "black_scholes", _options),
    Example(
        "blur",
        "blur",
        lambda: {
            "image": integers(256, np.uint8, 72, 104),
            "weights": positive(9) / 13,
            "rows": floats(72, 96),
            "result": integers(1, np.uint8, 64, 96),
        },
    ),
    Example(
        "conv3x3",
        "conv3x3",
        lambda: {
            "input": floats(1, 16, 34, 34),
            "weight": floats(16, 16, 3, 3),
            "output": floats(1, 16, 32, 32),
        },
    ),
    Example("guarded_exp", "guarded_exp", lambda: {"x": floats(100), "y": floats(100)}),
    Example("guarded_exp", "guarded_exp_of_any_length", lambda: {"x": floats(10_000), "y": floats(10_000)}),
    Example(
        "histogram",
        "histogram",
        lambda: {"values": integers(256, np.uint8, 10_000), "counts": np.zeros(256, np.int32)},
    ),
    Example(
        "layer_norm",
        "layer_norm",
        lambda: {
            "x": floats(32, 1000),
            "gain": floats(1000),
            "bias": floats(1000),
            "y": floats(32, 1000),
            "epsilon": 1e-5,
        },
    ),
    Example(
        "mandelbrot",
        "mandelbrot",
        lambda: {
            "left": -2.1,
            "top": 1.2,
            "step": 0.05,
            "limit": 100,
            "steps": np.zeros((48, 62), np.int32),
        },
    ),
    Example(
        "matmul_tiled",
        "matmul",
        lambda: {"A": floats(1024, 1024), "B": floats(1024, 1024), "C": floats(1024, 1024)},
    ),
    Example(
        "prefix_sum",
        "prefix_sum",
        lambda: {"x": integers(1000, np.int32, 10_000), "y": np.zeros(10_000, np.int32)},
    ),
    Example("relu6", "relu6", lambda: {"x": floats(17, 1000)}),
    Example("softmax", "softmax", lambda: {"x": floats(32, 1000), "y": floats(32, 1000)}),
    Example(
        "stencil",
        "heat",
        lambda: {"u": floats(64, 96), "v": floats(64, 96), "rate": 0.2, "steps": 10},
    ),
    Example("type_inference", "one_and_a_half", dict),
    Example("type_inference", "halved", lambda: {"x": floats(1000)}),
)
"""The kernels of the examples that compute with elements, on data of moderate size.

`add_tensors` is a function of two numbers, and `buggy_kernel` prints one.
"""


@dataclass
class Count:
    """Operations by unit. `data` are those on single 64-bit integers that are no indices."""

    data: set[Operation] = field(default_factory=lambda: set[Operation]())
    by_unit: Counter[str] = field(default_factory=lambda: Counter[str]())

    def observe(self, frame: Frame, op: Operation) -> None:
        """Note what an operation is about to do."""
        match op:
            case tile.Matmul():
                self.by_unit["cube"] += 2 * math.prod(frame.all(op.sizes))
            case tile.Reduce() if frame.all(op.sizes)[op.axis] == 1:
                # One value of each row, packed side by side.
                pass
            case tile.Elementwise() | tile.Reduce() | tile.Fold() | tile.ArgReduce() | tile.Cast():
                self.by_unit["vector"] += math.prod(frame.all(op.sizes))
            case arith.Elementwise():
                dtype = dtype_of(op.args[-1].type)
                if dtype is not i1 and (dtype is not i64 or op in self.data):
                    self.by_unit["scalar"] += 1
            case _:
                pass

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.by_unit.values())

    def share(self, *units: str) -> float:
        """The part of some units, from 0 to 1."""
        return sum(self.by_unit[unit] for unit in units) / max(self.total, 1)


def data_of(module: Module) -> set[Operation]:
    """The operations behind the values that the functions of a module store."""
    found: set[Operation] = set()
    seen: set[Value] = set()
    pending = [op.value for op in module.walk() if isinstance(op, mem.Store)]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.op if value.op is not None else value.block.parent_op if value.block else None
        if isinstance(op, (scf.For, scf.While, scf.If)):
            pending += [v for region in op.regions for v in region.block.terminator.operands]
            pending += op.inits if isinstance(op, (scf.For, scf.While)) else ()
        elif value.op is not None and not isinstance(op, mem.Load):
            found.add(value.op)
            pending += value.op.operands
    return found


def count(case: Kernel) -> tuple[Count, list[str]]:
    """The operations of one kernel on its data, and why some are scalar."""
    kernel = case.kernel
    arguments = case.data()
    given = [] if isinstance(case, Case) else list(arguments.values())
    lowered = kernel.specialise(kernel.types_of(given)).lowered("tile")
    module, made = lowered.module, Count(data_of(lowered.module))
    described = ascend_kernel(kernel.specialise(kernel.types_of(given)).lowered("ascend"))
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
                arrays[param.name] = np.zeros(workspace_shape(parameter, sizes), parameter.numpy_dtype)
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
    return f"| {name} | {made.total:,} | {parts} | {'; '.join(reasons)} |"


WHY = {
    "durbin": "two numbers are handed from step to step of a loop around everything, and known to the cores alone",
    "nussinov": "branches on counters within the nest, and a maximum along a row that is still being made",
    "compute": "all of it is arithmetic of 64-bit integers, which the vector unit has not",
    "crc16": "every byte looks up a table at a place that depends on the byte before",
    "nbody": "three sums of one row into three elements of another; branches around launches",
    "azimint_hist": "a histogram counted in 64-bit integers, with indices that are computed from data",
    "lenet": "a maximum of elements from every second row and column at once",
    "channel_flow": "a loop that ends when the data has converged, so that one launch has to do all of it",
    "vadv": "recurrences along a row with branches on the counter",
}
"""What is in the way for each kernel below `WANTED`."""

WANTED = 0.9

SUITES: dict[str, Sequence[Kernel]] = {
    "examples": EXAMPLES,
    "PolyBench": polybench.CASES,
    "NPBench": npbench.CASES,
}


def main(names: list[str]) -> int:
    """Count, print, and write the page."""
    lines: list[str] = []
    counts: dict[str, dict[str, Count]] = {suite: {} for suite in SUITES}
    for suite, cases in SUITES.items():
        for case in cases:
            if names and case.name not in names:
                continue
            made, reasons = count(case)
            counts[suite][case.name] = made
            lines.append(row(f"`{case.name}`", made, reasons))
            print(lines[-1], flush=True)
    if names:
        return 0
    # One name may stand for a kernel of two suites.
    several = Counter(name for suite in counts.values() for name in suite)
    whole = {
        name if several[name] == 1 else f"{name} of {suite}": made
        for suite, kernels in counts.items()
        for name, made in kernels.items()
    }
    summary = [row(suite, total(made.values()), [mean(made.values())]) for suite, made in counts.items()]
    summary.append(row("all", total(whole.values()), [mean(whole.values())]))
    largest = max(whole, key=lambda name: whole[name].total)
    rest = [made for name, made in whole.items() if name != largest]
    summary.append(row(f"all but `{largest}`, the largest", total(rest), [mean(rest)]))
    print("\n".join(summary))
    PAGE.write_text(page([*lines, *summary], whole), encoding="utf-8")
    return 0


def page(rows: Sequence[str], whole: Mapping[str, Count]) -> str:
    """The page: the table, then the kernels that are mostly elsewhere."""
    below = {name: made.share("vector", "cube") for name, made in whole.items() if made.total}
    notes = [
        f"- `{name}` ({100 * share:.1f} %): {WHY.get(name, 'not known')}"
        for name, share in below.items()
        if share < WANTED
    ]
    return HEAD + "\n".join([*rows, "", f"## Below {100 * WANTED:.0f} %", *notes]) + "\n"


def total(counts: Iterable[Count]) -> Count:
    """All operations of some kernels."""
    made = Count()
    for each in counts:
        made.by_unit.update(each.by_unit)
    return made


def mean(counts: Iterable[Count]) -> str:
    """What the kernels have on average, those without operations on elements aside."""
    shares = [each.share("vector", "cube") for each in counts if each.total]
    return f"the mean of the kernels is {100 * sum(shares) / len(shares):.1f} % on vector and cube"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
