# SPDX-License-Identifier: Apache-2.0
"""Every C++ compiler, and processors other than this one: the same kernels, whatever is there to compile them."""

from __future__ import annotations

import importlib.util
import platform
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyasc as asc
from pyasc.cli import main
from pyasc.runtime.build import INCLUDE_DIR
from pyasc.runtime.kernel import Kernel
from pyasc.runtime.toolchain import Toolchain, available_toolchains, kernel_flags
from tests.compilers import c_driver

M, N = asc.dims("M N")


def softmax(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        largest = x[i, 0]
        for j in range(1, N):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(N):
            total += asc.exp(x[i, j] - largest)
        for j in range(N):
            y[i, j] = asc.exp(x[i, j] - largest) / total


def prefix_sum(x: asc.int32[N], y: asc.int32[N]):
    total = 0
    for i in range(N):
        total += x[i]
        y[i] = total


def histogram(x: asc.uint8[N], counts: asc.int32[256]):
    for i in asc.parallel_for(N):
        asc.atomic_add(counts, x[i], 1)


def halves(x: asc.float16[N], y: asc.float16[N]):
    for i in asc.parallel_for(N):
        y[i] = x[i] * 1.5 + 0.25


def steps(x: asc.float32[N], y: asc.int32[N]):
    for i in asc.parallel_for(N):
        value = x[i]
        n = 0
        while value > 1.0 and n < 100:
            value = value * 0.75
            n += 1
        y[i] = n


def product(a: asc.float32[M, N], b: asc.float32[N, M]) -> asc.float32[M, M]:
    return a @ b


FUNCTIONS = (softmax, prefix_sum, histogram, halves, steps, product)


def check(kernels: dict[str, Kernel]) -> None:
    """Run every kernel and compare with NumPy."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(17, 333)).astype(np.float32)
    y = np.empty_like(x)
    kernels["softmax"](x, y)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-5)

    ints = rng.integers(-1000, 1000, 300_001, np.int32)
    sums = np.empty_like(ints)
    kernels["prefix_sum"](ints, sums)
    np.testing.assert_array_equal(sums, np.cumsum(ints, dtype=np.int32))

    octets = rng.integers(0, 256, 300_001, np.uint8)
    counts = np.zeros(256, np.int32)
    kernels["histogram"](octets, counts)
    np.testing.assert_array_equal(counts, np.bincount(octets, minlength=256))

    half = rng.normal(size=1003).astype(np.float16)
    result = np.empty_like(half)
    kernels["halves"](half, result)
    np.testing.assert_array_equal(result, half * np.float16(1.5) + np.float16(0.25))

    flat = (50 * rng.random(1003)).astype(np.float32)
    taken = np.empty(1003, np.int32)
    kernels["steps"](flat, taken)
    value, expected = flat.copy(), np.zeros(1003, np.int32)
    for _ in range(100):
        above = value > 1
        value, expected = np.where(above, value * np.float32(0.75), value), expected + above
    np.testing.assert_array_equal(taken, expected)

    np.testing.assert_allclose(kernels["product"](x, x.T), x.astype(np.float64) @ x.T, rtol=1e-4, atol=1e-4)


def toolchain_of(kind: str) -> Toolchain:
    found = next((each for each in available_toolchains() if each.kind == kind), None)
    if found is None:
        pytest.skip(f"{kind} is not installed")
    return found


def use(monkeypatch: pytest.MonkeyPatch, command: str) -> dict[str, Kernel]:
    """Kernels that nothing has compiled yet, compiled by this command."""
    monkeypatch.setenv("PYASC_CXX", command)
    kernels = {function.__name__: asc.kernel(function) for function in FUNCTIONS}
    asc.compile(list(kernels.values()))
    return kernels


@pytest.mark.parametrize("kind", ["gcc", "clang", "zig"])
def test_a_compiler_gives_the_results_of_numpy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(use(monkeypatch, shlex.join(toolchain_of(kind).argv)))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="about the least of x86-64 processors")
def test_a_processor_without_wide_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = available_toolchains()[0]
    if compiler.kind == "zig":
        pytest.skip("zig takes no -march")
    wrapper = tmp_path / "c++"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(compiler.argv)} "$@" -march=x86-64\n')
    wrapper.chmod(0o755)
    check(use(monkeypatch, str(wrapper)))


def test_zig_compiles_for_an_arm_processor(tmp_path: Path) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the ziglang package is not installed")
    flags = [flag for flag in kernel_flags("zig", "aarch64") if "native" not in flag]
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        "aarch64-linux-gnu",
        *flags,
        "-O1",
        "-Werror",
    ]
    for function in FUNCTIONS:
        source = tmp_path / f"{function.__name__}.cpp"
        source.write_text(asc.kernel(function).source("cpu"))
        built = subprocess.run(
            [*command, f"-I{INCLUDE_DIR}", "-c", str(source), "-o", str(source.with_suffix(".o"))],
            capture_output=True,
            text=True,
        )
        assert built.returncode == 0, built.stderr


PREFIX_SUM = """
import pyasc as asc
N = asc.dims("N")

@asc.kernel
def prefix_sum(x: asc.int32[N], y: asc.int32[N]):
    total = 0
    for i in range(N):
        total += x[i]
        y[i] = total
"""
C_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "kernel.h"

int main(void) {
  int64_t n = 1000000;
  int32_t* x = malloc(n * sizeof(int32_t));
  int32_t* y = malloc(n * sizeof(int32_t));
  for (int64_t i = 0; i < n; i++) x[i] = (int32_t)(i % 7);
  int32_t status = prefix_sum(x, y, n, NULL);
  printf("%d %d %d\\n", (int)status, (int)y[6], (int)y[n - 1]);
  return 0;
}
"""


@pytest.mark.parametrize("kind", ["gcc", "clang", "zig"])
def test_a_kernel_with_temporaries_links_as_c(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a C++ library: what a C compiler's driver links by itself is enough."""
    toolchain = toolchain_of(kind)
    monkeypatch.setenv("PYASC_CXX", shlex.join(toolchain.argv))
    (tmp_path / "kernel.py").write_text(PREFIX_SUM)
    (tmp_path / "main.c").write_text(C_PROGRAM)
    assert main(["compile", str(tmp_path / "kernel.py"), "-o", str(tmp_path / "kernel.o")]) == 0
    subprocess.run([*c_driver(toolchain), "main.c", "kernel.o", "-o", "program"], cwd=tmp_path, check=True)
    ran = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["0", "21", str(sum(i % 7 for i in range(1_000_000)))]
