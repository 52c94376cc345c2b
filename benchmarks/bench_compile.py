# SPDX-License-Identifier: Apache-2.0
"""What compiling costs, in time and in memory: `python -m benchmarks.bench_compile`.

Times to C++ text run no C++ compiler. Every repetition compiles a text that was not seen before, so that no cache can
answer for the compiler.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks import plain, plot, report

ROOT = Path(__file__).resolve().parent.parent
LENGTHS = (10, 30, 100, 300, 1000, 3000)
DEPTHS = (1, 2, 4, 8, 16, 32)

IMPORT = "import pyasc as asc\n\n"
ADD = """
import pyasc as asc

def add{tag}(a: asc.float32[N], b: asc.float32[N], c: asc.float32[N]):
    for i in range(N):
        c[i] = a[i] + b[i]
"""


@dataclass(frozen=True)
class Cost:
    """Time by the clock, and time that processors spent on it, which other work on the machine disturbs less."""

    wall: float
    processor: float

    @staticmethod
    def median(costs: Sequence[Cost]) -> Cost:
        """The medians of both."""
        return Cost(
            statistics.median(cost.wall for cost in costs),
            statistics.median(cost.processor for cost in costs),
        )


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure, the time of processors where it is a time, and its bar, all in `unit`."""

    what: str
    figure: float
    processor: float | None
    unit: str
    bar: float | None = None

    @staticmethod
    def of(what: str, cost: Cost, unit: str, bar: float | None = None) -> Row:
        """The line of a cost."""
        return Row(what, cost.wall, cost.processor, unit, bar)

    def text(self) -> str:
        """The line as Markdown."""
        bar = "" if self.bar is None else f"under {self.bar:g}{'' if self.figure < self.bar else ' (missed)'}"
        processor = "" if self.processor is None else f"{self.processor:.4g} {self.unit}"
        return f"| {self.what} | {self.figure:.4g} {self.unit} | {processor} | {bar} |"


def tagged(name: str) -> str:
    """The text of a benchmark kernel with `{tag}` at the end of its name."""
    return IMPORT + plain.text_of(name).replace(f"def {name}(", f"def {name}{{tag}}(")


def to_cpp(text: str) -> str:
    """The C++ of a kernel given as source text."""
    import pyasc as asc

    return asc.kernel_from_source(text).source("cpu")


def cost_to_cpp(text: str, runs: int) -> Cost:
    """Milliseconds, each run with a kernel of a new name, after one that loads what is loaded on first use."""
    samples: list[Cost] = []
    for number in range(runs + 1):
        fresh = text.replace("{tag}", f"_{number}")
        started, used = time.perf_counter(), time.process_time()
        to_cpp(fresh)
        wall, processor = time.perf_counter() - started, time.process_time() - used
        samples.append(Cost(wall * 1e3, processor * 1e3))
    return Cost.median(samples[1:])


def long_kernel(statements: int) -> str:
    """One loop with a body of that many assignments, each of which needs the one before."""
    head = (
        IMPORT
        + "def long{tag}(x: asc.float32[N], y: asc.float32[N]):\n    for i in range(N):\n        t = x[i]\n"
    )
    body = "".join(f"        t = t * {1 + k / 7} + x[i]\n" for k in range(statements))
    return head + body + "        y[i] = t\n"


def deep_kernel(depth: int) -> str:
    """That many sequential loops of two iterations, one in the other."""
    lines = [IMPORT + "def deep{tag}(x: asc.float32[N], y: asc.float32[N]):"]
    lines += ["    " * (level + 1) + f"for i{level} in range(2):" for level in range(depth)]
    lines.append("    " * (depth + 1) + "y[i0] = y[i0] * 0.5 + x[i0]")
    return "\n".join(lines) + "\n"


@cache
def bytecode() -> Path:
    """Where the measuring processes keep bytecode, as an installed package has it; filled by the first of them."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def child(program: str, **variables: str) -> tuple[str, Cost]:
    """What a new interpreter prints on running the program, and what the process cost, in milliseconds."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(bytecode()), **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"a measuring process failed:\n{done.stderr}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, Cost(wall * 1e3, processor * 1e3)


def process_to_cpp() -> Cost:
    """From starting an interpreter to its end, a kernel's C++ printed in between."""
    return child(f"import pyasc as asc; print(asc.kernel_from_source({ADD.format(tag='')!r}).source('cpu'))")[
        1
    ]


def import_time() -> Cost:
    """`import pyasc` and naming what a kernel file names, NumPy being there."""
    program = (
        "import numpy, time; t, p = time.perf_counter(), time.process_time()\n"
        "import pyasc as asc; asc.kernel; asc.float32; asc.parallel_for\n"
        "print((time.perf_counter() - t) * 1e3, (time.process_time() - p) * 1e3)"
    )
    return Cost(*map(float, child(program)[0].split()))


def cold_compiles() -> dict[str, float]:
    """With an empty cache: seconds of the first launch of a kernel (`first`), and of another's (`second`).

    The first builds the run-time library of the machine too. Peak memory in MiB of the process (`memory`), compilers
    it started not counted, and of one that has only NumPy (`numpy`). Processor seconds of the second launch, with those
    of the compiler (`used`).
    """
    program = f"""
import json, resource, time
import numpy as np
numpy = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
import pyasc as asc
a, b, c = (np.ones(1000, np.float32) for _ in range(3))
def used():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
seconds, processors = [], []
for tag in ("_one", "_two"):
    kernel = asc.kernel_from_source({ADD!r}.replace("{{tag}}", tag))
    started, before = time.perf_counter(), used()
    kernel(a, b, c)
    seconds.append(time.perf_counter() - started)
    processors.append(used() - before)
    if tag == "_one":
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(dict(first=seconds[0], second=seconds[1], used=processors[1], memory=memory, numpy=numpy)))
"""
    with tempfile.TemporaryDirectory() as cache:
        return json.loads(child(program, PYASC_CACHE_DIR=cache, PYASC_DEVICE="cpu")[0])


def table(runs: int) -> str:
    """All figures with bars."""
    process_to_cpp()
    cold = [cold_compiles() for _ in range(runs)]
    median = {key: statistics.median(sample[key] for sample in cold) for key in cold[0]}
    rows = [
        Row.of("add to C++ text, warm", cost_to_cpp(ADD, runs), "ms", 10),
        Row.of("tiled matmul to C++ text, warm", cost_to_cpp(tagged("matmul_tiled"), runs), "ms", 25),
        Row.of("conv3x3 to C++ text, warm", cost_to_cpp(tagged("conv3x3"), runs), "ms", 25),
        Row.of("new process to C++ text", Cost.median([process_to_cpp() for _ in range(runs)]), "ms", 350),
        Row("cold compile and first launch of a small kernel", median["second"], median["used"], "s", 0.4),
        Row("the same with the run-time library, once a machine", median["first"], None, "s"),
        Row.of("import, NumPy being loaded", Cost.median([import_time() for _ in range(runs)]), "ms", 80),
        Row("peak memory of a process that compiled one kernel", median["memory"], None, "MiB", 60),
        Row("the part of it that Python and NumPy take", median["numpy"], None, "MiB"),
    ]
    heads = ["| what | measured | of it on processors | bar |", "| --- | --- | --- | --- |"]
    return "\n".join([*heads, *(row.text() for row in rows)])


def scaling(name: str, sizes: tuple[int, ...], make: Callable[[int], str], runs: int, draw: bool) -> str:
    """A table of time against size, the exponent between the last two sizes, and, if wanted, a plot beside it."""
    costs = [cost_to_cpp(make(size), runs) for size in sizes]
    times = [cost.processor for cost in costs]
    picture = report.RESULTS.with_name(f"compile_{name}.svg")
    if draw:
        title = f"time to C++ text against {name}"
        picture.write_text(plot.log_log(title, name, "ms on processors", sizes, times), encoding="utf-8")
    lines = [f"| {name} | " + " | ".join(map(str, sizes)) + " |", "| --- |" + " --- |" * len(sizes)]
    lines.append("| ms | " + " | ".join(f"{cost.wall:.3g}" for cost in costs) + " |")
    lines.append("| ms on processors | " + " | ".join(f"{time:.3g}" for time in times) + " |")
    slope = plot.slope(sizes[-2:], times[-2:])
    return "\n".join([*lines, "", f"Growth at the end: size to the power {slope:.2f}. Plot: {picture.name}."])


def main() -> None:
    """Measures, and adds the tables to RESULTS.md unless told not to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_compile", description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="print only")
    options = parser.parse_args()
    sections = [
        report.machine(threads=1),
        table(options.runs),
        scaling("statements", LENGTHS, long_kernel, min(options.runs, 3), draw=not options.quick),
        scaling("depth", DEPTHS, deep_kernel, min(options.runs, 3), draw=not options.quick),
    ]
    report.publish("Compiling", sections, write=not options.quick)


if __name__ == "__main__":
    main()
