# SPDX-License-Identifier: Apache-2.0
"""The thread pool: every chunk once, nested and concurrent loops, fork, the number of threads."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pyasc.runtime import threads as module
from pyasc.runtime.build import BuildOptions, build_shared
from pyasc.runtime.loader import LoadedLibrary, LoadError, load_library
from pyasc.runtime.threads import (
    ThreadPool,
    default_num_threads,
    load_kernel_library,
    thread_pool,
    uses_thread_pool,
)
from pyasc.runtime.toolchain import find_toolchain

SOURCE = r"""
#include "pyasc_abi.h"
#include <pthread.h>
#include <unistd.h>

// counts[i] is how often iteration i ran; chunks[i] how many iterations the chunk that began at i had.
struct Record { int32_t* counts; int64_t* chunks; uint64_t* owners; int64_t pause_us; };

static void record(void* ctx, int64_t begin, int64_t end) {
  Record* r = (Record*)ctx;
  for (int64_t i = begin; i < end; ++i) __atomic_add_fetch(&r->counts[i], 1, __ATOMIC_RELAXED);
  r->chunks[begin] = end - begin;
  r->owners[begin] = (uint64_t)pthread_self();
  if (r->pause_us) usleep(r->pause_us);
}

extern "C" int32_t run(int32_t* counts, int64_t* chunks, uint64_t* owners, int64_t n, int64_t grain, int64_t us) {
  Record r{counts, chunks, owners, us};
  pa_parallel(n, record, &r, grain);
  return 0;
}

struct Outer { int32_t* counts; int64_t inner; };
static void add_one(void* ctx, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) __atomic_add_fetch((int32_t*)ctx + i, 1, __ATOMIC_RELAXED);
}
static void outer(void* ctx, int64_t begin, int64_t end) {
  Outer* o = (Outer*)ctx;
  for (int64_t i = begin; i < end; ++i) pa_parallel(o->inner, add_one, o->counts, 3);
}
extern "C" int32_t nested(int32_t* counts, int64_t n, int64_t inner) {
  Outer o{counts, inner};
  pa_parallel(n, outer, &o, 1);
  return 0;
}

// Many short loops, each of which reads what the one before wrote.
static void next(void* ctx, int64_t begin, int64_t end) {
  int64_t** a = (int64_t**)ctx;
  for (int64_t i = begin; i < end; ++i) a[1][i] = a[0][63 - i] + 1;
}
extern "C" int32_t relay(int64_t* x, int64_t* y, int64_t rounds) {
  for (int64_t k = 0; k < rounds; ++k) {
    int64_t* a[2] = {k % 2 ? y : x, k % 2 ? x : y};
    pa_parallel(64, next, a, 1 + k % 32);
  }
  return 0;
}

static void add_chunk_number(void* ctx, int64_t begin, int64_t) {
  __atomic_add_fetch((int64_t*)ctx, begin / (INT64_MAX / 2), __ATOMIC_RELAXED);
}
extern "C" int64_t extremes() {
  int64_t sum = 0;
  pa_parallel(INT64_MAX, add_chunk_number, &sum, INT64_MAX / 2);
  return sum;
}
extern "C" int32_t has_pool() { return pyasc_parallel != nullptr; }
"""
I64 = ctypes.c_int64
POINTER = ctypes.c_void_p


@pytest.fixture(scope="module")
def library_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("threads") / "loops.so"
    return build_shared(SOURCE, path, find_toolchain(), BuildOptions(2, ("-pthread",)))


@pytest.fixture(scope="module")
def loops(library_path: Path) -> LoadedLibrary:
    return load_kernel_library(library_path)


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    pool = thread_pool()
    before = pool.num_threads
    yield pool
    pool.set_num_threads(before)


def run_recorded(
    loops: LoadedLibrary, n: int, grain: int, pause_us: int = 0
) -> tuple[list[int], list[int], set[int]]:
    """Iteration counts, chunk lengths by first iteration, and the threads that took part."""
    counts = (ctypes.c_int32 * max(n, 1))()
    chunks = (I64 * max(n, 1))()
    owners = (ctypes.c_uint64 * max(n, 1))()
    loops.function("run", [POINTER] * 3 + [I64] * 3)(counts, chunks, owners, n, grain, pause_us)
    return list(counts)[:n], list(chunks)[:n], set(owners) - {0}


def test_a_kernel_that_uses_the_pool_is_bound_to_it(loops: LoadedLibrary, library_path: Path):
    assert uses_thread_pool(library_path)
    assert loops.function("has_pool", [])() == 1


def test_a_library_without_loops_does_not_need_the_pool(tmp_path: Path):
    path = build_shared(
        'extern "C" int f() { return 0; }', tmp_path / "f.so", find_toolchain(), BuildOptions(0)
    )
    assert not uses_thread_pool(path)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize(
    ("n", "grain"), [(0, 1), (1, 1), (7, 10), (10, 10), (11, 10), (100, 7), (1000, 1), (5, 0), (6, -3)]
)
def test_each_iteration_runs_once_in_the_same_chunks(
    loops: LoadedLibrary, pool: ThreadPool, threads: int, n: int, grain: int
):
    pool.set_num_threads(threads)
    counts, chunks, _ = run_recorded(loops, n, grain)
    step = max(grain, 1)
    assert counts == [1] * n
    assert chunks == [min(step, n - i) if i % step == 0 else 0 for i in range(n)]


def test_all_threads_take_part(loops: LoadedLibrary, pool: ThreadPool):
    pool.set_num_threads(4)
    _, _, owners = run_recorded(loops, 64, 1, pause_us=2000)
    assert len(owners) == 4
    pool.set_num_threads(2)
    _, _, owners = run_recorded(loops, 64, 1, pause_us=2000)
    assert len(owners) == 2
    pool.set_num_threads(1)
    _, _, owners = run_recorded(loops, 16, 1, pause_us=100)
    assert owners == {threading.get_ident()}


def test_sleeping_workers_wake_up(loops: LoadedLibrary, pool: ThreadPool):
    pool.set_num_threads(3)
    for _ in range(3):
        _, _, owners = run_recorded(loops, 32, 1, pause_us=2000)
        assert len(owners) == 3
        threading.Event().wait(0.02)


def test_nested_loops_run_inline(loops: LoadedLibrary, pool: ThreadPool):
    pool.set_num_threads(4)
    counts = (ctypes.c_int32 * 100)()
    loops.function("nested", [POINTER, I64, I64])(counts, 50, 100)
    assert list(counts) == [50] * 100


@pytest.mark.parametrize("threads", [2, 5])
def test_a_loop_is_complete_before_the_next_begins(loops: LoadedLibrary, pool: ThreadPool, threads: int):
    pool.set_num_threads(threads)
    x = (I64 * 64)()
    y = (I64 * 64)()
    loops.function("relay", [POINTER, POINTER, I64])(x, y, 20_000)
    assert list(x) == [20_000] * 64


def test_sizes_near_the_largest(loops: LoadedLibrary, pool: ThreadPool):
    pool.set_num_threads(2)
    assert loops.function("extremes", [], I64)() == 0 + 1 + 2


def in_threads(count: int, run: Callable[[], None]) -> None:
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            run()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_several_python_threads_may_launch_at_once(loops: LoadedLibrary, pool: ThreadPool):
    pool.set_num_threads(3)

    def run() -> None:
        for n in (10, 100, 333):
            assert run_recorded(loops, n, 3)[0] == [1] * n

    in_threads(8, run)


def test_the_number_of_threads_may_change_while_others_launch(loops: LoadedLibrary, pool: ThreadPool):
    def run() -> None:
        for count in (1, 4, 2, 3, 1):
            pool.set_num_threads(count)
            assert run_recorded(loops, 200, 3)[0] == [1] * 200

    in_threads(6, run)


def fork_quietly() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def test_a_child_of_fork_has_workers_of_its_own(loops: LoadedLibrary, pool: ThreadPool):
    pool.set_num_threads(3)
    run_recorded(loops, 64, 1)
    child = fork_quietly()
    if child == 0:
        try:
            counts, _, owners = run_recorded(loops, 64, 1, pause_us=2000)
            os._exit(0 if counts == [1] * 64 and len(owners) == 3 else 2)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert run_recorded(loops, 64, 1)[0] == [1] * 64


def test_the_number_of_threads_is_checked(pool: ThreadPool):
    for count in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            pool.set_num_threads(count)
    pool.set_num_threads(10**9)
    assert module.num_threads() == 1024
    module.set_num_threads(2)
    assert pool.num_threads == 2


def test_the_default_number_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    limit = tmp_path / "cpu.max"
    monkeypatch.setattr(module, "_CGROUP_LIMIT", limit)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)))
    monkeypatch.delenv("PYASC_NUM_THREADS", raising=False)
    assert default_num_threads() == 6
    for text, expected in (
        ("max 100000", 6),
        ("150000 100000", 2),
        ("50000 100000", 1),
        ("9900000 100000", 6),
        ("?", 6),
    ):
        limit.write_text(text)
        assert default_num_threads() == expected
    monkeypatch.setenv("PYASC_NUM_THREADS", "11")
    assert default_num_threads() == 11


def test_the_environment_sets_the_number_of_threads():
    code = "from pyasc.runtime.threads import thread_pool; print(thread_pool().num_threads)"
    environment = os.environ | {"PYASC_NUM_THREADS": "5"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout == "5\n"


def test_functions_hold_or_release_the_interpreters_lock(loops: LoadedLibrary):
    held: Any = loops.function("has_pool", [], hold_gil=True)
    released: Any = loops.function("has_pool", [])
    assert held() == released() == 1
    assert isinstance(held, ctypes._CFuncPtr)
    assert type(held)._flags_ & ctypes._FUNCFLAG_PYTHONAPI
    assert not type(released)._flags_ & ctypes._FUNCFLAG_PYTHONAPI


def test_function_objects_do_not_share_their_types(loops: LoadedLibrary):
    first: Any = loops.function("extremes", [], I64)
    loops.function("extremes", [], ctypes.c_int8)
    assert first.restype is I64


def test_a_function_that_does_not_exist(loops: LoadedLibrary):
    assert loops.has("run")
    assert not loops.has("no_such")
    with pytest.raises(LoadError, match=r"loops\.so has no function 'no_such'"):
        loops.function("no_such", [])


def test_a_library_that_cannot_be_loaded(tmp_path: Path):
    (tmp_path / "x.so").write_bytes(b"\x7fELF broken")
    with pytest.raises(LoadError, match=r"cannot load .*x\.so"):
        load_library(tmp_path / "x.so")
    with pytest.raises(LoadError, match="missing"):
        load_library(tmp_path / "missing.so")
