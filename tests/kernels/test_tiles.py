# SPDX-License-Identifier: Apache-2.0
"""The tile level means what the kernel means, barriers stand where they are needed, and SoCs are refused by name."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.ir.interpreter import interpret
from pyasc.passes.analysis.soc import SOCS, soc_named
from pyasc.runtime.ascend import ascend_kernel
from tests.compilers import cxx, needs_compiler


@asc.kernel
def chain(x: asc.float32[N], y: asc.float32[N]):
    return asc.maximum(x * y + 2.5 * x, 0.0) * (x - y)


@asc.kernel
def chosen(x: asc.float32[N], y: asc.float32[N]):
    return asc.where(x > y, asc.exp(x), y - 1.0)


@asc.kernel
def softmax(x: asc.float32[R, C]):
    return asc.softmax(x)


@asc.kernel
def column_sum(x: asc.float32[R, C]):
    return (x * x).sum(axis=0)


@asc.kernel
def bias(x: asc.float32[R, C], b: asc.float32[C]):
    return x * 2.0 + b


def at_level(kernel: Any, pipeline: str) -> Any:
    return kernel.specialise(kernel.types_of()).lowered(pipeline).module


def interpreted(kernel: Any, arrays: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """What the phases of a kernel give at the tile level, run by the interpreter."""
    module = at_level(kernel, "tile")
    out = np.full(shape, np.nan, np.float32)
    named = dict(zip((p.name for p in kernel.signature.parameters), arrays, strict=True)) | {"out": out}
    sizes = {"N": arrays[0].shape[0], "R": arrays[0].shape[0], "C": arrays[0].shape[-1]}
    host = next(f for f in module.functions if not f.kernel)

    def launch(entry: str, blocks: int, numbers: list[Any]) -> None:
        phase = module.function(entry)
        if blocks:
            given = [named[param.name] for param in phase.params]
            interpret(module, entry, given, {n: sizes[n] for n in phase.sizes}, reverse_parallel=True)

    interpret(module, host.symbol, [], {n: sizes[n] for n in host.sizes}, launch=launch)
    return out


@pytest.mark.parametrize("n", [1, 9, 1000, 20011])
@pytest.mark.parametrize("kernel", [chain, chosen], ids=lambda each: each.__name__)
def test_elementwise_tiles(kernel: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    expected = {
        "chain": np.maximum(x * y + np.float32(2.5) * x, 0) * (x - y),
        "chosen": np.where(x > y, np.exp(x), y - 1),
    }
    np.testing.assert_allclose(interpreted(kernel, [x, y], (n,)), expected[kernel.__name__], rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (300, 65), (50, 257)])
def test_tiles_of_rows(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(np.float32)
    b = rng.standard_normal(shape[1]).astype(np.float32)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(interpreted(softmax, [x], shape), e / e.sum(axis=1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(interpreted(bias, [x, b], shape), x * 2 + b, rtol=1e-6)
    np.testing.assert_allclose(interpreted(column_sum, [x], shape[1:]), (x * x).sum(axis=0), rtol=1e-5)


def test_barriers_stand_between_dependent_calls_alone() -> None:
    (compute,) = (
        op
        for op in at_level(chain, "ascend").walk()
        if op.name == "asc.Method" and op.attrs["method"] == "Compute"
    )
    calls = [op.name.removeprefix("asc.") for op in compute.regions[0].block]
    assert calls.count("PipeBarrier") == 2
    assert calls[calls.index("Mul") + 1 : calls.index("Muls")] in ([], ["Get"])


def test_buffers_of_dead_inputs_are_used_again() -> None:
    tiles = [op for op in at_level(chosen, "tile").walk() if op.name == "tile.buffer"]
    assert [op.attrs["depth"] for op in tiles].count(2) == 3
    assert sum(op.attrs["depth"] == 1 for op in tiles) == 1, "a mask, and no other temporary"


@pytest.mark.parametrize("name", SOCS)
def test_each_soc_is_emitted_for_or_refused(name: str) -> None:
    soc = SOCS[name]
    if soc.arch.number == "2201":
        assert soc_named(name).vector_cores == 2 * soc.cube_cores
    else:
        with pytest.raises(asc.UnsupportedError, match=f"architecture {soc.arch.number}"):
            soc_named(name)


@asc.kernel
def repeated(a: asc.float32[N], b: asc.float32[N], steps: int, damping: float):
    weight = asc.exp(-damping)
    for t in range(steps):
        for i in asc.parallel_for(1, N - 1):
            b[i] = a[i] + weight * (a[i - 1] + a[i + 1])
        for i in asc.parallel_for(1, N - 1):
            a[i] = b[i] * asc.float32(t)


def host_launches(kernel: Any, folder: Path, *arguments: Any) -> tuple[int, list[tuple[int, int, int]]]:
    """What the emitted host function returns, and its launches: the entry, the cores, the bits of the first number."""
    source, library = folder / "host.cpp", folder / "host.so"
    source.write_text(kernel.host)
    command = [*cxx(), "-shared", "-fPIC", "-Wall", "-Werror", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    made: list[tuple[int, int, int]] = []
    numbers = ctypes.POINTER(ctypes.c_uint64)
    types = (ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, numbers)

    def launch(context: Any, entry: int, blocks: int, given: Any) -> int:
        if blocks:
            made.append((entry, blocks, given[0] if given else 0))
        return 0

    host = getattr(ctypes.CDLL(str(library)), f"{kernel.abi.symbol}_host")
    return host(*arguments, ctypes.CFUNCTYPE(*types)(launch), None), made


def planned(kernel: Any, scalars: dict[str, Any], sizes: dict[str, int]) -> list[tuple[str, int]]:
    return [(each.phase.entry, each.blocks) for each in kernel.launches(scalars, sizes)]


@needs_compiler
def test_the_host_function_launches_as_the_interpreter_does(tmp_path: Path) -> None:
    kernel = ascend_kernel(softmax.specialise(softmax.types_of()).lowered("ascend"))
    entries = kernel.file.entries
    for number, (rows, columns) in enumerate(((0, 1), (1, 1), (47, 2040), (48, 2041), (5000, 7))):
        folder = tmp_path / str(number)
        folder.mkdir()
        failed, made = host_launches(kernel, folder, ctypes.c_int64(rows), ctypes.c_int64(columns))
        assert failed == 0
        found = [(entries[entry], blocks) for entry, blocks, _ in made]
        assert found == planned(kernel, {}, {"R": rows, "C": columns})
    assert host_launches(kernel, tmp_path, ctypes.c_int64(3), ctypes.c_int64(0)) == (1, [])


@needs_compiler
def test_the_host_runs_a_sequential_loop_around_phases(tmp_path: Path) -> None:
    kernel = ascend_kernel(repeated.specialise(repeated.types_of()).lowered("ascend"))
    scalars, sizes = {"steps": 3, "damping": 0.5}, {"N": 100}
    plan = kernel.launches(scalars, sizes)
    first, second = kernel.file.entries
    assert [each.phase.entry for each in plan] == [first, second] * 3
    weight = np.float32(np.exp(np.float32(-0.5)))
    assert [each.scalars for each in plan[::2]] == [{"weight": pytest.approx(weight)}] * 3
    assert [list(each.scalars.values()) for each in plan[1::2]] == [[0], [1], [2]]
    arguments = (ctypes.c_int64(3), ctypes.c_float(0.5), ctypes.c_int64(100))
    failed, made = host_launches(kernel, tmp_path, *arguments)
    assert failed == 0
    assert [(kernel.file.entries[e], b) for e, b, _ in made] == [
        (each.phase.entry, each.blocks) for each in plan
    ]
    assert np.array([bits for _, _, bits in made[::2]], np.uint64).view(np.float32)[0] == pytest.approx(
        weight
    )
    assert [bits for _, _, bits in made[1::2]] == [0, 1, 2]
