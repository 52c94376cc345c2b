# SPDX-License-Identifier: Apache-2.0
"""g++ turns simd loops over the runtime's functions into vector code, for each level of x86-64.

A branch that survives in a function, or a value the vectoriser has no shape for, makes every kernel that
uses the function several times slower without any other sign.
"""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess

import pytest
from math_accuracy import FUNCTIONS
from rt_shim import CTYPES, INCLUDE, KERNEL_FLAGS, Loop


def _gcc_major() -> int:
    if shutil.which("g++") is None or platform.machine() != "x86_64":
        return 0
    done = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True)
    return int(done.stdout.split(".")[0])


pytestmark = pytest.mark.skipif(_gcc_major() < 12, reason="reads the report of g++ 12 or later on x86-64")

LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")
ROUNDING = ("rint", "floor", "ceil", "trunc")
# What the instructions of a level do not offer: SSE2 has no rounding, no shift by a vector and no blend.
NOT_OFFERED = {
    "x86-64": {*ROUNDING, "pow", "select_i1", *(f"sh{s}_{d}" for s in "lr" for d in ("i8", "i32", "u16"))},
    "x86-64-v3": {"shr_i8"},
    "x86-64-v4": set[str](),
}


def _same(function: str, dtype: str) -> Loop:
    return Loop(f"{function}_{dtype}", f"pa_{function}(a, b)", (dtype, dtype), dtype)


def _from_float(dtype: str) -> Loop:
    return Loop(f"f32_to_{dtype}", f"pa_cast<{CTYPES[dtype]}>(a)", ("f32",), dtype)


LOOPS = (
    *(Loop(f.name, f"pa_{f.name}(a)", ("f32",), "f32") for f in FUNCTIONS),
    *(Loop(f, f"pa_{f}(a, b)", ("f32", "f32"), "f32") for f in ("pow", "atan2", "hypot", "copysign")),
    *(Loop(f, f"pa_{f}(a)", ("f32",), "f32") for f in (*ROUNDING, "sign", "abs")),
    *(_same(f, d) for f in ("minimum", "maximum", "pymin", "pymax") for d in ("f32", "i32")),
    *(_same(f, d) for f in ("add", "mul", "shl", "shr") for d in ("i8", "i32", "u16")),
    *(_from_float(d) for d in ("i8", "u8", "i16", "i32", "f16", "bf16", "f64")),
    *(Loop(f"{d}_to_f32", "pa_cast<float>(pa_get(&a))", (d,), "f32") for d in ("i8", "i32", "f16", "bf16", "i1")),
    Loop("half_twice", "pa_cast<pyasc_f16>(pa_exp(pa_cast<float>(a)))", ("f16",), "f16"),
    Loop("and_i1", "pa_get(&a) & pa_get(&b)", ("i1", "i1"), "i1"),
    Loop("select_i1", "pa_get(&a) ? b : 0.0f", ("i1", "f32"), "f32"),
    Loop("f32_to_i1", "pa_cast<bool>(a)", ("f32",), "i1"),
    Loop("compare_to_f32", "pa_cast<float>(a > b)", ("f32", "f32"), "f32"),
)  # fmt: skip


@functools.cache
def report(level: str) -> dict[str, bool]:
    """Compile all loops for a processor level and return, by name, whether each became vector code."""
    text, lines = '#include "pyasc_rt.h"\n', {}
    for loop in LOOPS:
        text += loop.source()
        lines[loop.name] = text.count("\n")
    command = [
        "g++",
        *KERNEL_FLAGS,
        f"-march={level}",
        f"-I{INCLUDE}",
        "-fno-ipa-icf",
        "-fopt-info-vec-optimized",
    ]
    command += ["-xc++", "-", "-S", "-o", "/dev/null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    vectorised = {line.split(":")[1] for line in done.stderr.splitlines() if "loop vectorized" in line}
    return {name: str(line) in vectorised or str(line - 1) in vectorised for name, line in lines.items()}


CASES = [(level, loop) for level in LEVELS for loop in LOOPS if loop.name not in NOT_OFFERED[level]]


@pytest.mark.parametrize(("level", "loop"), CASES, ids=[f"{level}-{loop.name}" for level, loop in CASES])
def test_loop_is_vectorised(level: str, loop: Loop) -> None:
    assert report(level)[loop.name]
