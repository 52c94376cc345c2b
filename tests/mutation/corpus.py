# SPDX-License-Identifier: Apache-2.0
"""The kernels that faults are put into, with inputs at awkward sizes and the right results."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import pyasc as asc
from pyasc.cli.loading import kernels_of, run_file
from pyasc.ir import dtypes
from pyasc.ir.diagnostics import CompileError, LaunchError
from pyasc.ir.sizes import lift
from pyasc.runtime import model
from pyasc.runtime.abi import ArrayParam, KernelABI, numpy_dtype
from pyasc.runtime.ascend import AscendKernel, PhaseLaunch, ascend_kernel
from pyasc.runtime.compiler import LoweredKernel
from pyasc.runtime.device import device
from pyasc.selftest import CASES

ROOT = Path(__file__).parents[2]
SECONDS = 20.0
_MOST_ELEMENTS = 1 << 21

ALL_CORES = 1 << 16
MANY_TILES = ALL_CORES + 1
"""All cores, for kernels that are not the same on fewer: their partial results are as many as cores."""
CORES = 48
TILE = 1 << 40
"""Stands for the length of a tile, which the emitted text says."""
_EXTENTS: dict[int, tuple[int, ...]] = {
    1: (1, 7, 33, 1000, 20011, 70001),
    2: (1, 2, 7, 33, 64, 257, 601, 1000, 2500, 5003, 20011),
    3: (1, 3, 16, 17, 33, 65, 129),
}
"""The extents that are tried, by how many sizes a kernel has."""
_ALWAYS: dict[int, tuple[tuple[int, ...], ...]] = {
    0: ((),),
    1: ((33,), (64,), (1000,), (20011,)),
    2: ((7, 33), (50, 257), (300, 64), (5, 0), (3, 20011)),
    3: ((15, 17, 16), (33, 16, 20), (5, 0, 7), (16, 600, 17)),
}
_FEW_CORES: dict[int, tuple[tuple[int, tuple[int, ...]], ...]] = {
    1: ((2, (70001,)), (1, (TILE,)), (1, (TILE + 1,))),
    2: (
        (2, (601, 257)),
        (1, (400, 64)),
        (1, (3, 1000)),
        (2, (1001, 31)),
        (1, (9, 128)),
        (2, (3, 20011)),
        (1, (3, TILE + 1)),
        (1, (TILE + 1, 3)),
    ),
    3: (
        (2, (130, 600, 257)),
        (1, (17, 2100, 17)),
        (1, (TILE + 1, 3, 3)),
        (1, (3, TILE + 1, 3)),
        (1, (3, 3, TILE + 1)),
    ),
}
"""Launches on one or two cores, where tiles are full and there are several of them."""


@dataclass(frozen=True)
class Launch:
    """Arguments of one launch, the arrays it has to leave, and how many cores it runs on at most."""

    arguments: tuple[Any, ...]
    expected: tuple[np.ndarray, ...]
    cores: int


@dataclass(frozen=True)
class Subject:
    """A kernel with an emitted text and launches that the unchanged text gets right without a finding.

    `lines` are those of the phases that some launch runs.
    """

    name: str
    lowered: LoweredKernel
    kernel: AscendKernel
    launches: tuple[Launch, ...] = ()
    lines: frozenset[int] = frozenset()

    def run(self, built: Any, launch: Launch) -> list[np.ndarray]:
        """The arrays after a launch of another build of the text. Raises what a launch on the model raises."""
        kernel = FewCores(**vars(self.kernel), most=launch.cores)
        runner = model.ModelRunner(kernel, built, limit_seconds=SECONDS)
        made = model.launcher_of(self.lowered, runner).launch
        return outcome(made, launch.arguments)


@dataclass(frozen=True)
class FewCores(AscendKernel):
    """The same kernel on a number of cores at most."""

    most: int = ALL_CORES

    def launches(self, scalars: Mapping[str, Any], sizes: Mapping[str, int]) -> list[PhaseLaunch]:
        return [
            replace(each, blocks=min(self.most, each.blocks)) for each in super().launches(scalars, sizes)
        ]


def outcome(kernel: Any, arguments: Sequence[Any]) -> list[np.ndarray]:
    """The arrays of a call, then its results."""
    copies = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    returned = kernel(*copies)
    results = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    return [each for each in copies if isinstance(each, np.ndarray)] + [np.asarray(each) for each in results]


def same(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> bool:
    """Whether all arrays agree: integers exactly, floats to what another order of sums may change."""
    return all(_agree(one, other) for one, other in zip(found, expected, strict=True))


def _agree(found: np.ndarray, expected: np.ndarray) -> bool:
    if found.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    bound = 1e-2 if found.dtype == np.float16 else 2e-5
    # Sums of many numbers are off by more than their own size tells.
    return bool(np.allclose(found, expected, rtol=bound, atol=10 * bound, equal_nan=True))


def subjects() -> Iterator[Subject]:
    """Every kernel of the golden pairs, the examples and the self test that is emitted and runs clean."""
    files = [
        *sorted((ROOT / "tests/lit/golden/ascendc").glob("*.py")),
        *(f for f in sorted((ROOT / "examples").glob("*.py")) if "demo" not in f.name),
    ]
    for file in files:
        for kernel in kernels_of(run_file(str(file))):
            yield from _subject(f"{file.parent.name}/{file.stem}:{kernel.__name__}", kernel)
    for case in CASES:
        yield from _subject(f"selftest:{case.kernel.__name__}", case.kernel)


def _subject(name: str, kernel: asc.Kernel) -> Iterator[Subject]:
    try:
        lowered = kernel.specialise(kernel.types_of()).lowered("ascend")
        made = ascend_kernel(lowered)
    except (CompileError, LaunchError):
        return
    built = model.build_text(made.file.text, made.abi.symbol)
    subject = Subject(name, lowered, made)
    launches: list[Launch] = []
    entries: set[str] = set()
    for cores, sizes in itertools.chain(_launches(made), _many_tiles(made)):
        if cores == MANY_TILES and any(each.cores < ALL_CORES for each in launches):
            continue
        launch = _launch(subject, kernel, built, cores, sizes)
        if launch is not None:
            launches.append(launch)
            entries |= _entries(made, launch.arguments, sizes)
    if launches:
        yield replace(subject, launches=tuple(launches), lines=_lines_of(made, entries))


def _launch(
    subject: Subject, kernel: asc.Kernel, built: Any, cores: int, sizes: dict[str, int]
) -> Launch | None:
    """A launch that the unchanged text gets right, or None."""
    arguments = inputs_for(subject.kernel.abi, sizes, signed=cores < ALL_CORES)
    if arguments is None:
        return None
    try:
        with device("cpu"):
            right = tuple(outcome(kernel, arguments))
        launch = Launch(arguments, right, cores)
        return launch if same(subject.run(built, launch), right) else None
    except (CompileError, LaunchError, RuntimeError, IndexError, ValueError):
        return None


def _launches(kernel: AscendKernel) -> Iterator[tuple[int, dict[str, int]]]:
    """Numbers of cores and sizes: those that are always tried, then one for each phase that none of them reaches."""
    names, rank = kernel.abi.sizes, len(kernel.abi.sizes)
    tile = _tile_of(kernel.file.text)
    reached: set[str] = set()
    always = [(ALL_CORES, sizes) for sizes in _ALWAYS.get(rank, ())]
    for cores, extents in (*always, *_FEW_CORES.get(rank, ())):
        sizes = {n: e // TILE * tile + e % TILE for n, e in zip(names, extents, strict=True)}
        reached |= _reached(kernel, sizes)
        yield cores, sizes
    for extents in itertools.product(_EXTENTS.get(rank, ()), repeat=rank):
        sizes = dict(zip(names, extents, strict=True))
        if not _reached(kernel, sizes) <= reached:
            reached |= _reached(kernel, sizes)
            yield ALL_CORES, sizes


def _many_tiles(kernel: AscendKernel) -> Iterator[tuple[int, dict[str, int]]]:
    """A size with several tiles a core, for a kernel of one size."""
    if len(kernel.abi.sizes) == 1:
        yield MANY_TILES, {kernel.abi.sizes[0]: CORES * _tile_of(kernel.file.text) + 1}


def _reached(kernel: AscendKernel, sizes: dict[str, int]) -> set[str]:
    """The phases that a launch with these sizes runs; none if its checks refuse them."""
    arguments = inputs_for(kernel.abi, sizes)
    if arguments is None:
        return set()
    try:
        return _entries(kernel, arguments, sizes)
    except Exception:
        return set()


def _entries(kernel: AscendKernel, arguments: Sequence[Any], sizes: Mapping[str, int]) -> set[str]:
    given = dict(zip((p.name for p in kernel.abi.signature), arguments, strict=True))
    scalars = {param.name: given[param.name] for param in kernel.abi.scalars}
    return {launch.phase.entry for launch in kernel.launches(scalars, sizes)}


def _lines_of(kernel: AscendKernel, entries: set[str]) -> frozenset[int]:
    """The lines of the classes and entries of some phases, which follow each other in the text."""
    lines = kernel.file.text.split("\n")
    found: set[int] = set()
    start = next(i for i, line in enumerate(lines) if line.startswith("class "))
    for phase in kernel.phases:
        stop = next(
            i for i, line in enumerate(lines) if f" {phase.entry}(" in line and line.startswith("extern")
        )
        if phase.entry in entries:
            found |= set(range(start + 1, stop + 1))
        start = stop
    return frozenset(found)


def _tile_of(text: str) -> int:
    found = re.search(r"constexpr int64_t TILE = (\d+);", text)
    return 1 if found is None else int(found[1])


def inputs_for(abi: KernelABI, sizes: dict[str, int], signed: bool = False) -> tuple[Any, ...] | None:
    """Arguments in the order of the signature, with `signed` integers or not; None for what is not made here."""
    rng = np.random.default_rng(sum(sizes.values()))
    arrays = {param.name: param for param in abi.arrays}
    made: list[Any] = []
    for param in abi.signature:
        if param.constexpr:
            made.append(param.value)
        elif param.name in arrays:
            made.append(_array(arrays[param.name], sizes, rng, signed))
        else:
            scalar = next(each for each in abi.scalars if each.name == param.name)
            made.append(0.75 if scalar.dtype.is_float else True if scalar.dtype is dtypes.i1 else 3)
    return None if any(each is None for each in made) else tuple(made)


def _array(
    param: ArrayParam, sizes: dict[str, int], rng: np.random.Generator, signed: bool
) -> np.ndarray | None:
    shape = tuple(int(lift(extent).evaluate(sizes)) for extent in param.shape)
    dtype = numpy_dtype(param.dtype)
    if min(shape, default=1) < 0 or math.prod(shape) > _MOST_ELEMENTS or param.dtype is dtypes.bf16:
        return None
    if dtype.kind == "f":
        made = np.asarray(rng.standard_normal(shape))
        if len(shape) == 2 and 0 not in shape:
            # Each column holds the largest element of some row, and a system of equations stays finite.
            rows = np.arange(shape[0])
            system = bool(sizes) and shape[0] == shape[1]
            made[rows, rows % shape[1]] += max(3, 2 * math.sqrt(shape[0])) if system else 3
        return made.astype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape)).astype(dtype)
    # Small enough to be an index of any of the arrays.
    most = max(1, min([7, *sizes.values()]))
    return np.asarray(rng.integers(-most if signed else 0, most, shape)).astype(dtype)
