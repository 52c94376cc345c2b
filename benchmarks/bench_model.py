# SPDX-License-Identifier: Apache-2.0
"""What the model of a core costs on this machine: `python -m benchmarks.bench_model`.

The bars are issue B's. All but the second row are in processor time of one thread, as the model has one, and what is
compared is run in turns: the machine may be busy with something else.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from pyasc.model.build import argv_compiler, build_kernel, core_library

FILES = Path(__file__).parents[1] / "docs" / "kernels"
RUNS = 15
ELEMENTS = 1 << 22
SIDE = 512
COMPILE_BAR = 1.5
LAUNCH_BAR = 0.2
SPEED_BAR = 0.3
PRODUCT_BAR = 2.0
CHECK_BAR = 10.0

ELEMENTWISE = {
    "add": ("float16", "x[i] + y[i]"),
    "axpy": ("float32", "2.5 * x[i] + y[i]"),
    "multiply_add": ("int32", "x[i] + y[i] * 3"),
    "chain": ("float32", "max(x[i] * y[i] + 2.5 * x[i], 0.0) * (x[i] - y[i])"),
    "where": ("float32", "asc.exp(x[i]) if x[i] > 0.25 else y[i]"),
}


def compile_seconds() -> tuple[float, float]:
    """Median seconds to compile a kernel text that was not seen before, and those of them on processors."""
    from pyasc.runtime.model import model_cache
    from pyasc.runtime.toolchain import default_toolchain

    toolchain = default_toolchain()
    compiler = argv_compiler(toolchain.library_argv)
    text = (FILES / "softmax.ascendc.cpp").read_text()
    elapsed: list[float] = []
    busy: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        # The core library is made once a machine.
        shutil.copy(core_library(model_cache(), compiler, toolchain.identity), cache)
        for turn in range(RUNS):
            source = cache / f"fresh{turn}.cpp"
            source.write_text(f"{text}\n// {time.time_ns()}\n")
            start, before = time.perf_counter(), _children_seconds()
            build_kernel(source, cache, compiler, toolchain.identity)
            elapsed.append(time.perf_counter() - start)
            busy.append(_children_seconds() - before)
    return statistics.median(elapsed), statistics.median(busy)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def elementwise(name: str) -> Any:
    """The kernel of that name."""
    import pyasc as asc

    dtype, expression = ELEMENTWISE[name]
    arrays = ", ".join(f"{each}: asc.{dtype}[N]" for each in "xyz")
    return asc.kernel_from_source(
        f"import pyasc as asc\ndef {name}({arrays}):\n"
        f"    for i in asc.parallel_for(N):\n        z[i] = {expression}\n"
    )


def product() -> Any:
    """A float16 product."""
    import pyasc as asc

    return asc.kernel_from_source(
        "import pyasc as asc\ndef product(a: asc.float16[M, K], b: asc.float16[K, N]):\n    return a @ b\n"
    )


def launch_seconds() -> float:
    """Median seconds of a warm launch of an add on [32, 4096] float16 through the model device, checks on."""
    import pyasc as asc

    kernel = elementwise("add")
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


def model_launcher(kernel: Any, check: bool) -> Callable[..., Any]:
    """A kernel compiled for the model, with its checks or without."""
    from pyasc.runtime.model import build_runner, launcher_of

    lowered = kernel.specialise(kernel.types_of()).lowered("ascend")
    return launcher_of(lowered, build_runner(lowered, check)).launch


def in_turns(contenders: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Least processor seconds of each, run one after the other again and again."""
    least = dict.fromkeys(contenders, float("inf"))
    for _ in range(RUNS + 1):
        for name, run in contenders.items():
            start = time.process_time()
            run()
            least[name] = min(least[name], time.process_time() - start)
    return least


def compared(name: str) -> dict[str, float]:
    """The cpu device, the model without checks and with them, on one elementwise kernel."""
    import pyasc as asc

    kernel = elementwise(name)
    dtype = np.dtype(ELEMENTWISE[name][0])
    rng = np.random.default_rng(0)
    x, y = (10 * rng.standard_normal((2, ELEMENTS))).astype(dtype)
    z = np.zeros_like(x)
    fast, checked = model_launcher(kernel, False), model_launcher(kernel, True)

    def on_cpu() -> None:
        with asc.device("cpu"):
            kernel(x, y, z)

    return in_turns({"cpu": on_cpu, "off": lambda: fast(x, y, z), "on": lambda: checked(x, y, z)})


def products() -> dict[str, float]:
    """The model without checks and with them, on a float16 product."""
    kernel = product()
    a, b = np.random.default_rng(0).standard_normal((2, SIDE, SIDE)).astype(np.float16)
    fast, checked = model_launcher(kernel, False), model_launcher(kernel, True)
    return in_turns({"off": lambda: fast(a, b), "on": lambda: checked(a, b)})


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, the bar, and whether it was held."""

    what: str
    measured: str
    bar: str
    held: bool

    def __str__(self) -> str:
        return f"| {self.what} | {self.measured} | {self.bar}{'' if self.held else ' (missed)'} |"


def compile_row() -> Row:
    """How long a kernel takes to compile."""
    elapsed, busy = compile_seconds()
    measured = f"{busy:.3f} s ({elapsed:.3f} s elapsed)"
    return Row("a kernel compiled for the model", measured, f"under {COMPILE_BAR} s", busy < COMPILE_BAR)


def launch_row() -> Row:
    """How long a small launch takes."""
    seconds = launch_seconds()
    what = "a warm add of [32, 4096] float16, checks on"
    return Row(what, f"{seconds * 1e3:.1f} ms", f"under {LAUNCH_BAR * 1e3:.0f} ms", seconds < LAUNCH_BAR)


def checks_row(what: str, used: dict[str, float]) -> Row:
    """How much longer a kernel takes with checks."""
    factor = used["on"] / used["off"]
    return Row(
        f"{what}: checks on, times as long", f"{factor:.1f}", f"at most {CHECK_BAR:.0f}", factor <= CHECK_BAR
    )


def elementwise_rows(name: str) -> list[Row]:
    """An elementwise kernel beside the cpu device."""
    used = compared(name)
    what = f"{name}, {ELEMENTS} elements of {ELEMENTWISE[name][0]}"
    speed = used["cpu"] / used["off"]
    held = speed >= SPEED_BAR
    cpu, off = used["cpu"] * 1e3, used["off"] * 1e3
    measured = f"{speed:.2f} ({cpu:.2f} ms on cpu, {off:.2f} ms here)"
    return [
        Row(f"{what}: speed of the cpu device, checks off", measured, f"at least {SPEED_BAR}", held),
        checks_row(what, used),
    ]


def product_rows() -> list[Row]:
    """A product."""
    used = products()
    rate = 2 * SIDE**3 / used["off"] / 1e9
    what = f"a float16 product of {SIDE} x {SIDE}"
    held = rate >= PRODUCT_BAR
    return [
        Row(f"{what}, checks off", f"{rate:.1f} GFLOP/s", f"at least {PRODUCT_BAR:.0f} GFLOP/s", held),
        checks_row(what, used),
    ]


def main() -> None:
    """Measures, and adds the table to RESULTS.md unless told not to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_model", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="print only")
    quick = parser.parse_args().quick
    os.environ["PYASC_NUM_THREADS"] = "1"
    about = report.machine(threads=1)
    rows = [compile_row(), launch_row()]
    for name in ELEMENTWISE:
        rows += elementwise_rows(name)
    rows += product_rows()
    lines = ["| what | measured | bar |", "| --- | --- | --- |", *map(str, rows)]
    report.publish("The model of a core", [about, "\n".join(lines)], write=not quick)


if __name__ == "__main__":
    main()
