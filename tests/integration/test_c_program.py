# SPDX-License-Identifier: Apache-2.0
"""A C program links a kernel object: alone, with a pool of its own, and with the thread pool library."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pyasc.runtime.cache import default_cache
from pyasc.runtime.objects import (
    CheckSite,
    KernelDescription,
    ModuleDescription,
    ParameterDescription,
    build_kernel_object,
)
from pyasc.runtime.threads import build_thread_pool
from pyasc.runtime.toolchain import Toolchain, available_toolchains

KERNEL = """\
#include "pyasc_rt.h"
struct Args { const float* x; float* y; float s; };
static void body(void* ctx, int64_t begin, int64_t end) {
  const Args* a = static_cast<const Args*>(ctx);
  for (int64_t i = begin; i < end; ++i) a->y[i] = a->x[i] * a->s;
}
extern "C" int32_t scale(const float* x, float* y, int64_t N, float s, pyasc_fault* fault) {
  if (N > 1000) {
    if (fault) { fault->values[0] = N; fault->values[1] = 1000; }
    return 1;
  }
  Args args = {x, y, s};
  pa_parallel(N, body, &args, 64);
  return 0;
}
"""
DESCRIPTION = KernelDescription(
    "scale",
    "scale",
    (
        ParameterDescription("x", "array", "f32", ("N",)),
        ParameterDescription("y", "array", "f32", ("N",), written=True),
        ParameterDescription("N", "size", "i64"),
        ParameterDescription("s", "scalar", "f32"),
    ),
    check_sites=(CheckSite("N is at most 1000", "kernel.py", 3),),
)
MAIN = r"""
#include "kernel.h"
#include <stdio.h>

#ifdef OWN_POOL
static int calls;
void pyasc_parallel(int64_t n, void (*body)(void*, int64_t, int64_t), void* ctx, int64_t grain) {
  ++calls;
  for (int64_t begin = 0; begin < n; begin += grain) body(ctx, begin, begin + grain < n ? begin + grain : n);
}
#endif

int main(void) {
  static float x[1000], y[1000];
  pyasc_fault fault;
  for (int i = 0; i < 1000; ++i) x[i] = (float)i;
  int32_t status = scale(x, y, 1000, 2.0f, &fault);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += y[i];
  int32_t refused = scale(x, y, 1001, 2.0f, &fault);
  printf("%d %.0f %d %d %d\n", status, sum, refused, (int)fault.values[0], scale(x, y, 1001, 2.0f, NULL));
#ifdef OWN_POOL
  printf("%d\n", calls);
#endif
  return 0;
}
"""
EXPECTED = "0 999000 1 1001 1\n"


@pytest.fixture(params=available_toolchains(), ids=lambda each: each.kind)
def toolchain(request: pytest.FixtureRequest, tmp_path: Path) -> Toolchain:
    (tmp_path / "main.c").write_text(MAIN)
    build_kernel_object(
        KERNEL, ModuleDescription.for_this_machine([DESCRIPTION]), tmp_path / "kernel.o", request.param
    )
    return request.param


def link_and_run(toolchain: Toolchain, directory: Path, *arguments: str) -> str:
    compile_c = [*toolchain.argv, "-x", "c", "-std=c11", "-Wall", "-Werror", "-c", "main.c", "-o", "main.o"]
    defines = [each for each in arguments if each.startswith("-D")]
    others = [each for each in arguments if not each.startswith("-D")]
    subprocess.run([*compile_c, *defines], cwd=directory, check=True)
    subprocess.run(
        [*toolchain.argv, "main.o", "kernel.o", "-o", "program", *others], cwd=directory, check=True
    )
    environment = os.environ | {"LC_ALL": "C"}
    result = subprocess.run(
        ["./program"], cwd=directory, env=environment, capture_output=True, text=True, check=True
    )
    return result.stdout


def test_without_a_pool(toolchain: Toolchain, tmp_path: Path):
    assert link_and_run(toolchain, tmp_path) == EXPECTED


def test_as_a_static_program(toolchain: Toolchain, tmp_path: Path):
    if toolchain.kind == "zig":
        pytest.skip("zig links the system's C library dynamically")
    assert link_and_run(toolchain, tmp_path, "-static") == EXPECTED


def test_with_a_pool_of_its_own(toolchain: Toolchain, tmp_path: Path):
    assert link_and_run(toolchain, tmp_path, "-DOWN_POOL") == f"{EXPECTED}1\n"


def test_with_the_thread_pool_library(toolchain: Toolchain, tmp_path: Path):
    library = build_thread_pool(default_cache(), toolchain)
    assert link_and_run(toolchain, tmp_path, str(library), f"-Wl,-rpath,{library.parent}") == EXPECTED
