# SPDX-License-Identifier: Apache-2.0
"""What the model of a core costs on this machine: `python -m benchmarks.bench_model`.

Times the compilation of a reference kernel against it (the core library being built) and a warm launch of a small one
with all checks on. The bars are issue B's.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from pyasc.model.build import argv_compiler, build_kernel

FILES = Path(__file__).parents[1] / "docs" / "kernels"
RUNS = 7
COMPILE_BAR = 1.5
LAUNCH_BAR = 0.2


def compile_seconds(cache: Path) -> float:
    """Median seconds to compile a kernel text that was not seen before."""
    text = (FILES / "softmax.ascendc.cpp").read_text()
    used: list[float] = []
    for turn in range(RUNS + 1):
        source = cache / f"fresh{turn}.cpp"
        source.write_text(f"{text}\n// {time.time_ns()}\n")
        start = time.perf_counter()
        build_kernel(source, cache, argv_compiler(["g++"]))
        used.append(time.perf_counter() - start)
    # The first one builds the core library, which is made once a machine.
    return statistics.median(used[1:])


def launch_seconds() -> float:
    """Median seconds of a warm launch of an add on [32, 4096] float16 through the model device, checks on."""
    import pyasc as asc

    kernel = asc.kernel_from_source(
        "import pyasc as asc\n"
        "def add(x: asc.float16[N], y: asc.float16[N], z: asc.float16[N]):\n"
        "    for i in asc.parallel_for(N):\n"
        "        z[i] = x[i] + y[i]\n"
    )
    x, y, z = (np.ones(32 * 4096, np.float16) for _ in range(3))
    used: list[float] = []
    with asc.device("model"):
        kernel(x, y, z)
        for _ in range(RUNS):
            start = time.perf_counter()
            kernel(x, y, z)
            used.append(time.perf_counter() - start)
    assert (z == 2).all()
    return statistics.median(used)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as cache:
        compiled = compile_seconds(Path(cache))
    launched = launch_seconds()
    print("| what | measured | bar |\n| --- | --- | --- |")
    print(f"| a kernel compiled for the model | {compiled:.3f} s | {COMPILE_BAR} s |")
    print(
        f"| a warm launch of a small add, checks on | {launched * 1e3:.1f} ms | {LAUNCH_BAR * 1e3:.0f} ms |"
    )


if __name__ == "__main__":
    main()
