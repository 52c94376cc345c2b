# SPDX-License-Identifier: Apache-2.0
"""The thread pool that kernels spread their parallel loops over.

It is a small C++ library, built once a machine through the cache. A kernel refers to its entry point
weakly, and the dynamic linker settles such a reference when the kernel is loaded; so the pool has to be
there first, which `load_kernel_library` sees to.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pyasc import knobs
from pyasc.runtime.build import INCLUDE_DIR, BuildOptions, build_shared, environment_parts
from pyasc.runtime.cache import CacheKey, KernelCache, default_cache
from pyasc.runtime.loader import LoadedLibrary, load_library
from pyasc.runtime.toolchain import Toolchain, default_toolchain

SOURCE = Path(__file__).resolve().parent / "csrc" / "pyasc_threads.cpp"
LIBRARY = "libpyasc_threads.so"
ENTRY_POINT = "pyasc_parallel"

_FLAGS = ("-pthread", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti")
_CGROUP_LIMIT = Path("/sys/fs/cgroup/cpu.max")


@dataclass(frozen=True)
class ThreadPool:
    """The pool of this process."""

    library: LoadedLibrary
    _get: Callable[[], int]
    _set: Callable[[int], None]

    @property
    def num_threads(self) -> int:
        """How many threads take part in a parallel loop, the calling one included."""
        return self._get()

    def set_num_threads(self, count: int) -> None:
        """Makes later loops run on `count` threads, after waiting for one that is running.

        Raises ValueError for a count below 1. Counts above 1024 are taken as 1024.
        """
        if count < 1:
            raise ValueError(f"the number of threads is {count}, expected at least 1")
        self._set(min(count, 1024))


def thread_pool() -> ThreadPool:
    """The pool, loaded and if need be built by the default compiler at the first call.

    It starts with PYASC_NUM_THREADS threads, else with one for each processor that this process may
    use. Raises ToolchainMissing, BuildError or CacheError if it has to be built and cannot be.
    """
    return _loaded_pool()


@lru_cache(maxsize=1)
def _loaded_pool() -> ThreadPool:
    path = build_thread_pool(default_cache(), default_toolchain())
    library = load_library(path, share_symbols=True)
    pool = ThreadPool(
        library,
        library.function("pyasc_get_num_threads", []),
        library.function("pyasc_set_num_threads", [ctypes.c_int32], None),
    )
    pool.set_num_threads(default_num_threads())
    return pool


def num_threads() -> int:
    """How many threads a parallel loop of this process runs on. Raises as `thread_pool`."""
    return thread_pool().num_threads


def set_num_threads(count: int) -> None:
    """Sets how many threads parallel loops of this process run on. Raises as `thread_pool`.

    Results do not depend on it. Not to be called from within a kernel.
    """
    thread_pool().set_num_threads(count)


def build_thread_pool(cache: KernelCache, toolchain: Toolchain) -> Path:
    """The path of the pool's library in `cache`, where it is built if it is not there yet."""
    source = SOURCE.read_text(encoding="utf-8")
    options = BuildOptions(2, _FLAGS, (INCLUDE_DIR,), keep_failed=cache.failed_dir)
    key = CacheKey.of("pyasc_threads", [("source", source), *environment_parts(toolchain, options)])
    entry = cache.get_or_build(key, lambda directory: _build_into(directory, source, toolchain, options))
    return entry.file(LIBRARY)


def _build_into(directory: Path, source: str, toolchain: Toolchain, options: BuildOptions) -> None:
    build_shared(source, directory / LIBRARY, toolchain, options)


def load_kernel_library(path: Path) -> LoadedLibrary:
    """Loads a library of kernels; first the pool, if any of them has a parallel loop.

    Raises LoadError, and what `thread_pool` raises.
    """
    if uses_thread_pool(path):
        thread_pool()
    return load_library(path)


def uses_thread_pool(library: Path) -> bool:
    """Whether the shared library at `library` refers to the pool: then it holds the name as a string."""
    return f"\0{ENTRY_POINT}\0".encode() in library.read_bytes()


def default_num_threads() -> int:
    """PYASC_NUM_THREADS, else the processors that affinity and the container's quota leave."""
    asked_for = knobs.read().num_threads
    if asked_for is not None:
        return asked_for
    allowed = len(os.sched_getaffinity(0))
    return max(1, min(allowed, _container_limit() or allowed))


def _container_limit() -> int | None:
    """The processors' worth of time that the control group grants, rounded up; None if unlimited."""
    try:
        quota, period = _CGROUP_LIMIT.read_text(encoding="ascii").split()
        return None if quota == "max" else -(-int(quota) // int(period))
    except (OSError, ValueError):
        return None
