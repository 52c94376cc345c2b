# SPDX-License-Identifier: Apache-2.0
"""Compiles small C++ loops over the kernel runtime headers, to test and to measure those headers.

A loop is `y[i] = EXPRESSION` with `a`, `b` and `c` standing for the elements of up to three inputs; it is
compiled with the flags of a cpu kernel and called on NumPy arrays.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

INCLUDE = Path(__file__).parents[1] / "pyasc" / "codegen" / "cpp" / "include"
KERNEL_FLAGS = (
    "-std=c++17",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-fopenmp-simd",
    "-fPIC",
)
CTYPES = {
    "f32": "float", "f64": "double", "f16": "pyasc_f16", "bf16": "pyasc_bf16", "i1": "bool",
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
}  # fmt: skip
NUMPY = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip


@dataclass(frozen=True)
class Loop:
    """One exported loop: its name, the C++ expression of an element, and IR dtype names."""

    name: str
    expression: str
    inputs: tuple[str, ...]
    output: str
    simd: bool = True

    def source(self) -> str:
        """Return the C++ function `void loop_NAME(const A*, ..., R*, int64_t n)`."""
        letters = "abc"[: len(self.inputs)]
        params = [f"const {CTYPES[d]}* {p}_" for p, d in zip(letters, self.inputs, strict=True)]
        params += [f"{CTYPES[self.output]}* y", "int64_t n"]
        pragma = "#pragma omp simd\n" if self.simd else ""
        # Elements are substituted, since a local variable of a half type would not vectorise.
        element = re.sub(r"\b([abc])\b", r"\1_[i]", self.expression)
        body = f"for (int64_t i = 0; i < n; i++) y[i] = {element};"
        return f'extern "C" void loop_{self.name}({", ".join(params)}) {{\n{pragma}{body}\n}}\n'


def compiler() -> list[str]:
    """Return the command of a C++ compiler: $CXX, g++, clang++ or zig. Raises RuntimeError without one."""
    named = os.environ.get("CXX")
    for name in ([named] if named else []) + ["g++", "clang++"]:
        if shutil.which(name.split()[0]):
            return name.split()
    zig = importlib.util.find_spec("ziglang")
    if zig is not None and zig.submodule_search_locations:
        return [
            f"{zig.submodule_search_locations[0]}/zig",
            "cc",
            "-fno-exceptions",
            "-fno-sanitize=undefined",
        ]
    raise RuntimeError("no C++ compiler found: set CXX, or install g++ or clang++")


def compile_cpp(source: str, flags: Iterable[str] = ("-march=native",)) -> ctypes.CDLL:
    """Compile C++ text that may include the runtime headers, and load it."""
    return _compile(source, tuple(flags))


@functools.cache
def _compile(source: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="pyasc-rt-") as folder:
        cpp, lib = Path(folder, "shim.cpp"), Path(folder, "shim.so")
        cpp.write_text(source)
        # clang warns of simd loops that it leaves alone.
        warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-pass-failed"]
        command = [*compiler(), *KERNEL_FLAGS, *warnings, *flags, f"-I{INCLUDE}"]
        command += ["-shared", str(cpp), "-o", str(lib), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        return ctypes.CDLL(str(lib))


class Shim:
    """The compiled loops, callable on arrays by name."""

    def __init__(self, loops: Iterable[Loop], flags: Iterable[str] = ("-march=native",)) -> None:
        self.loops = {loop.name: loop for loop in loops}
        text = '#include "pyasc_rt.h"\n' + "".join(loop.source() for loop in self.loops.values())
        self.library = compile_cpp(text, flags)

    def __call__(self, name: str, *arrays: NDArray[Any]) -> NDArray[Any]:
        """Run a loop on arrays of one length and return its output array."""
        loop = self.loops[name]
        inputs = [np.ascontiguousarray(x, NUMPY[d]) for x, d in zip(arrays, loop.inputs, strict=True)]
        out = np.empty(inputs[0].shape, NUMPY[loop.output])
        assert all(x.shape == out.shape for x in inputs)
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in [*inputs, out]]
        getattr(self.library, f"loop_{name}")(*pointers, ctypes.c_int64(out.size))
        return out


def assert_same(got: NDArray[Any], want: NDArray[Any], *inputs: NDArray[Any]) -> None:
    """Assert equality to the bit, except that any NaN equals any NaN; shows the first inputs that differ."""
    assert got.dtype == want.dtype
    same = got == want
    if got.dtype.kind == "f":
        same = (same & (np.signbit(got) == np.signbit(want))) | (np.isnan(got) & np.isnan(want))
    where = np.flatnonzero(~same)[:5]
    shown = [(*(x[i] for x in inputs), "got", got[i], "want", want[i]) for i in where]
    assert not shown, f"{np.count_nonzero(~same)} of {got.size} differ: {shown}"
