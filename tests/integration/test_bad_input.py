# SPDX-License-Identifier: Apache-2.0
"""The bad input that every part meets: one clear error each, and arrays, cache and files stay as they were."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.runtime.kernel import Kernel
from pyasc.runtime.toolchain import ToolchainError

HEAD = """\
from __future__ import annotations
import numpy as np
import pyasc as asc

TABLE = np.ones(4, np.float32)
exec("def without_source(v):\\n    return v * 2")

def factorial(n):
    return n * factorial(n - 1)

"""


def kernel_of(folder: Path, text: str) -> Kernel:
    """The kernel `k` of a module with this text."""
    file = folder / "kernels.py"
    file.write_text(HEAD + "@asc.kernel\n" + text)
    names: dict[str, Any] = {"__name__": "kernels"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    return names["k"]


COMPILE_TIME = [
    (
        "def k(x: asc.float32[N]):\n    x[0] = without_source(x[1])\n",
        "PA0101",
        (13, 11, 25),
        "the source of `without_source` cannot be found",
        "asc.kernel_from_source",
    ),
    (
        "def k(x: asc.float32[N], n: int):\n    x[0] = factorial(n)\n",
        "PA0303",
        (9, 15, 31),
        "`factorial` calls itself",
        "write it as a loop",
    ),
    (
        "def k(x: asc.float32[N], i: int):\n    x[0] = TABLE[i]\n",
        "PA0310",
        (13, 11, 16),
        "an array that is a global or closure value",
        "pass it to the kernel as a parameter",
    ),
]


@pytest.mark.parametrize(
    ("text", "code", "place", "message", "hint"), COMPILE_TIME, ids=[c[1] for c in COMPILE_TIME]
)
def test_a_kernel_that_cannot_be_compiled(
    tmp_path: Path, text: str, code: str, place: tuple[int, int, int], message: str, hint: str
) -> None:
    k = kernel_of(tmp_path, text)
    x = np.arange(4, dtype=np.float32)
    with pytest.raises(asc.CompileError) as caught:
        k(x, *([1] if len(k.signature.parameters) > 1 else []))
    (found,) = caught.value.diagnostics
    assert (found.code, (found.loc.line, found.loc.column, found.loc.end_column)) == (code, place)
    assert message in found.message and hint in found.hint
    assert x.tolist() == [0, 1, 2, 3] and k.cache_info().compilations == 0


def test_a_kernel_without_source() -> None:
    names: dict[str, Any] = {"asc": asc}
    exec("@asc.kernel\ndef k(x: 'asc.float32[4]'):\n    x[0] = 1", names)
    with pytest.raises(asc.CompileError, match="the source of `k` cannot be found") as caught:
        names["k"](np.zeros(4, np.float32))
    assert "asc.kernel_from_source(text)" in str(caught.value)


@asc.kernel
def add(x: asc.float32[N], y: asc.float32[N, 2], out: asc.float32[N], k: asc.constexpr = 1):
    for i in range(len(x)):
        out[i] = x[i] + y[i, 0] * k


def arrays() -> dict[str, Any]:
    return {
        "x": np.ones(3, np.float32),
        "y": np.ones((3, 2), np.float32),
        "out": np.full(3, -1, np.float32),
    }


def read_only() -> np.ndarray[Any, Any]:
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    return array


LAUNCH = [
    ({"k": [1]}, "`k` is a compile-time value and so must be hashable; list is not"),
    ({"y": np.ones((3, 3), np.float32)}, "`y` of shape (3, 3), declared (N, 2): extent 1 is 3, expected 2"),
    (
        {"x": np.ones((3, 1), np.float32)},
        "`x` takes float32 arrays of shape (N,), got an array of 2 dimensions",
    ),
    ({"y": np.ones((4, 2), np.float32)}, "the size N is 4 here, but 3 in `x`"),
    ({"out": read_only()}, "`out` is written, and the array is read-only; pass a copy"),
    ({"out": np.broadcast_to(np.float32(0), 3)}, "`out` is written, and the array is read-only; pass a copy"),
]


@pytest.mark.parametrize(("wrong", "message"), LAUNCH, ids=[m[:40] for _, m in LAUNCH])
def test_a_launch_that_cannot_be_done(wrong: dict[str, Any], message: str) -> None:
    given = arrays() | wrong
    before = {name: np.copy(value) for name, value in given.items()}
    with pytest.raises(asc.LaunchError) as caught:
        add(**given)
    assert message in str(caught.value)
    for name, value in before.items():
        np.testing.assert_array_equal(given[name], value)


def test_arguments_that_overlap_in_part_are_refused_where_a_loop_would_read_what_it_wrote() -> None:
    buffer = np.arange(8, dtype=np.float32)
    with pytest.raises(asc.LaunchError, match="`x` is read after `out` is written, and their arrays overlap"):
        add(buffer[:5], np.zeros((5, 2), np.float32), buffer[2:7])
    assert buffer.tolist() == list(range(8))


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def compiler(folder: Path, body: str) -> str:
    """A program that says what version it is and then does this."""
    program = folder / "cxx"
    program.write_text(f'#!/bin/sh\ncase "$*" in *--version*) echo "cxx 1"; exit;; esac\n{body}\n')
    program.chmod(0o755)
    return str(program)


def fresh() -> Kernel:
    return asc.kernel(add.py_func)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("command", "messages"),
    [
        (
            lambda folder: str(folder / "absent"),
            ["no C++ compiler found", "pip install ziglang", "PYASC_CXX"],
        ),
        (
            lambda folder: compiler(folder, "echo broken in two >&2; exit 7"),
            ["exit status 7", "broken in two"],
        ),
        (lambda folder: compiler(folder, "exit 0"), ["reported success but wrote no ELF file"]),
    ],
    ids=["missing", "broken", "lying"],
)
def test_a_compiler_that_does_not_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[[Path], str], messages: list[str]
) -> None:
    monkeypatch.setenv("PYASC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYASC_CXX", command(tmp_path))
    given = arrays()
    with pytest.raises(ToolchainError) as caught:
        fresh()(**given)
    for message in messages:
        assert message in str(caught.value)
    assert given["out"].tolist() == [-1, -1, -1]
    assert not [name for name in files_below(tmp_path / "cache") if name.endswith(".so")]


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYASC_CACHE_DIR", str(tmp_path / "cache"))
    fresh()(**arrays())
    before = files_below(tmp_path / "cache")

    def full(path: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "write_text", full)
    given = arrays()
    with pytest.raises(OSError, match=r"disk full while writing .*: free some space"):
        asc.kernel(less)(given["x"], given["out"])
    assert given["out"].tolist() == [-1, -1, -1]
    assert files_below(tmp_path / "cache") == before


def less(x: asc.float32[N], out: asc.float32[N]):
    for i in range(len(x)):
        out[i] = x[i] - 41.0


def test_an_interrupted_compile_leaves_the_old_object(tmp_path: Path) -> None:
    source, output = tmp_path / "kernels.py", tmp_path / "kernels.o"
    source.write_text(HEAD + "@asc.kernel\ndef k(x: asc.float32[N]):\n    x[0] = 1\n")
    output.write_bytes(b"old")
    started = tmp_path / "started"
    slow = compiler(tmp_path, f"touch {started}; /bin/sleep 60")
    environment = os.environ | {"PYASC_CXX": slow, "PYASC_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "pyasc", "compile", str(source), "-o", str(output)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, "interrupted")
    assert output.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == [
        "cxx",
        "kernels.o",
        "kernels.py",
        "started",
    ]
