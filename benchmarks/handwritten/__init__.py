# SPDX-License-Identifier: Apache-2.0
"""Builds the hand-written C++ baselines and calls them through ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.cases import Arguments, Case

FOLDER = Path(__file__).parent
FLAGS = (
    "-std=c++17 -O3 -march=native -mprefer-vector-width=512 -ffp-contract=off -fno-math-errno"
    " -fno-trapping-math -fopenmp-simd -fPIC -shared -pthread -Wall -Wno-psabi -Wno-uninitialized"
    " -Wno-maybe-uninitialized"
).split()


def compiler() -> str:
    """The C++ compiler: `CXX`, else g++."""
    return os.environ.get("CXX", "g++")


def build() -> Path:
    """The shared library of all baselines, built when a source, the compiler or the flags changed."""
    sources = sorted(FOLDER.glob("*.cpp"))
    version = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True).stdout
    key = hashlib.sha256(repr((FLAGS, version, _instruction_sets())).encode())
    for path in (*sources, *sorted(FOLDER.glob("*.h"))):
        key.update(path.read_bytes())
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pyasc-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"handwritten-{key.hexdigest()[:16]}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            built = Path(scratch) / library.name
            subprocess.run([compiler(), *FLAGS, *map(str, sources), "-o", str(built)], check=True)
            built.replace(library)
    return library


def _instruction_sets() -> str:
    """What `-march=native` depends on, where the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.machine())


class Baselines:
    """The loaded library, on a number of threads."""

    def __init__(self, threads: int) -> None:
        self._library = ctypes.CDLL(str(build()))
        self._library.hw_set_threads(ctypes.c_int32(threads))

    def call(self, case: Case, arguments: Arguments) -> Callable[[], object]:
        """A function of no arguments that runs the baseline of `case` on `arguments`."""
        function = getattr(self._library, f"hw_{case.variant_of or case.name}")
        function.restype = None
        converted = [_argument(value) for value in arguments.values()]
        converted += [ctypes.c_int64(size) for size in case.sizes(arguments)]
        return lambda: function(*converted)


def _argument(value: object) -> object:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_int32(value) if isinstance(value, int) else ctypes.c_float(value)
