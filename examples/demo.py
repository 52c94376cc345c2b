# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the main examples on real data, and shows for each what was done and how fast it is.

For every kernel: a line of its source, what the compiler remarks, where the C++ is, what the result was checked
against, and the time beside NumPy's and pure Python's. Python's loops run on a share of the data, since they would
take minutes on all of it; the time shown is multiplied up, and marked with ~.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import demo_cases
import numpy as np

import pyasc as asc

EXAMPLES = Path(__file__).parent
EMITTED = EXAMPLES.parent / "build" / "demo"
RUNS = 7


def seconds(function, runs=RUNS) -> float:
    """The median time of some calls."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return median(times)


def readable(duration: float) -> str:
    unit, factor = next(
        u for u in (("s", 1), ("ms", 1e3), ("us", 1e6)) if duration * u[1] >= 1 or u[0] == "us"
    )
    return f"{duration * factor:.3g} {unit}"


def source_line(module, start: str) -> str:
    """The first line of an example that starts with `start`, with its place."""
    path = Path(module.__file__)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip().startswith(start):
            return f"examples/{path.name}:{number}: {line.strip()}"
    raise LookupError(f"{path} has no line that starts with {start!r}")


def emitted(case) -> Path:
    """The C++ of a kernel, in a file."""
    EMITTED.mkdir(parents=True, exist_ok=True)
    path = EMITTED / f"{case.example}.cpp"
    path.write_text(case.kernel.source("cpu", *case.arguments), encoding="utf-8")
    return path


def checked(case) -> str:
    """Compares the outputs of a launch with NumPy's."""
    expected = case.numpy()
    case.kernel(*case.arguments)
    error = 0.0
    for result, reference in zip(case.outputs, expected, strict=True):
        np.testing.assert_allclose(result, reference, rtol=case.tolerance, atol=case.tolerance)
        error = max(error, float(np.max(np.abs(result.astype(np.float64) - reference))))
    size = sum(result.size for result in case.outputs)
    return f"{size:,} results against NumPy, " + (f"largest difference {error:.1g}" if error else "all equal")


def show(case) -> None:
    """One section of the demo."""
    module = importlib.import_module(case.example)
    print(f"== {case.example}: {(module.__doc__ or '').rstrip('.')}")
    print(f"  source   {source_line(module, case.line)}")
    start = perf_counter()
    case.kernel.compile(*case.arguments)
    compiling = perf_counter() - start
    print(f"  compiled in {readable(compiling)}")
    for remark in case.kernel.remarks:
        print(f"  remark   line {remark.loc.line}: {remark.message}")
    path = emitted(case)
    print(f"  emitted  {path} ({len(path.read_text(encoding='utf-8').splitlines())} lines)")
    print(f"  checked  {checked(case)}")
    ours = seconds(lambda: case.kernel(*case.arguments))
    numpy = seconds(case.numpy, 3)
    python = seconds(case.python, 1) / case.share
    about = "" if case.share == 1 else "~"
    print(
        f"  time     {readable(ours)}; NumPy {readable(numpy)} ({numpy / ours:.1f}x), "
        f"Python {about}{readable(python)} ({python / ours:.0f}x)\n",
        flush=True,
    )


def main() -> None:
    print(f"pyasc {asc.__version__}, device {asc.current_device().name}, NumPy {np.__version__}, ", end="")
    print(f"Python {sys.version.split()[0]}\n")
    for make in demo_cases.CASES:
        show(make())
    for name in ("add_tensors", "debug_kernel"):
        print(f"-- {name}: {importlib.import_module(name).check()}\n")


if __name__ == "__main__":
    main()
