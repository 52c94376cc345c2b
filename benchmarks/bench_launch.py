# SPDX-License-Identifier: Apache-2.0
"""What a warm launch costs: an add of 16 elements, next to `np.add` with `out`: `python -m benchmarks.bench_launch`."""

from __future__ import annotations

import argparse
import statistics
import time
import timeit
from collections.abc import Callable

import numpy as np

from benchmarks import report

BAR_MICROSECONDS = 12.0
SOURCE = """
import pyasc as asc

def add(a: asc.float32[N], b: asc.float32[N], c: asc.float32[N]):
    for i in range(N):
        c[i] = a[i] + b[i]
"""


def microseconds(run: Callable[[], object], batches: int = 15, calls: int = 2000) -> tuple[float, float]:
    """The medians over batches of the mean cost of one call: by the clock, and on processors."""
    run()
    return tuple(
        statistics.median(timeit.repeat(run, timer=timer, number=calls, repeat=batches)) / calls * 1e6
        for timer in (time.perf_counter, time.process_time)
    )


def launches() -> dict[str, tuple[float, float]]:
    """Microseconds a call, by what is called; checked for its result first."""
    import pyasc as asc

    a, b = np.arange(16, dtype=np.float32), np.ones(16, np.float32)
    c, wanted = np.zeros(16, np.float32), np.arange(1, 17, dtype=np.float32)
    add = asc.kernel_from_source(SOURCE)
    add(a, b, c)
    if not np.array_equal(c, wanted):
        raise SystemExit(f"the kernel's result is wrong: {c}")
    return {
        "pyasc kernel(a, b, c)": microseconds(lambda: add(a, b, c)),
        "np.add(a, b, out=c)": microseconds(lambda: np.add(a, b, out=c)),
        "a Python call that does nothing": microseconds(lambda: None),
    }


def main() -> None:
    """Measures, and adds the table to RESULTS.md unless told not to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_launch", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="print only")
    quick = parser.parse_args().quick
    about = report.machine(threads=1)
    costs = launches()
    lines = ["| call | microseconds | of it on processors |", "| --- | --- | --- |"]
    lines += [f"| {name} | {wall:.2f} | {processor:.2f} |" for name, (wall, processor) in costs.items()]
    cost, _ = next(iter(costs.values()))
    verdict = (
        f"Bar: under {BAR_MICROSECONDS:g} microseconds; {'held' if cost < BAR_MICROSECONDS else 'missed'}."
    )
    report.publish("Warm launch", [about, "\n".join(lines), verdict], write=not quick)


if __name__ == "__main__":
    main()
