# SPDX-License-Identifier: Apache-2.0
"""The six kernels of docs/kernels compute the same at every level, whether the compiler made it or a hand did."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernel_pages
import numpy as np
import pytest

from pyasc.cli.loading import run_file
from pyasc.ir.interpreter import interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify
from pyasc.model.driver import Array, Scalar, Workspace, run
from tests.compilers import needs_compiler
from tests.unit.model_support import built, clean, poisoned, source

Arguments = tuple[Any, ...]
RNG = np.random.default_rng(0)
FOLDER = kernel_pages.FOLDER


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def chain(n: int) -> tuple[Arguments, np.ndarray]:
    x, w = normal(2, n)
    return (x, w, np.zeros(n, np.float32)), np.maximum(x * w + np.float32(2.5) * x, 0) * (x - w)


def softmax(m: int, n: int) -> tuple[Arguments, np.ndarray]:
    x = 5 * normal(m, n)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return (x, np.zeros_like(x)), e / e.sum(1, keepdims=True)


def matmul(m: int, k: int, n: int) -> tuple[Arguments, np.ndarray]:
    a, b = normal(m, k), normal(k, n)
    return (a, b, np.zeros((m, n), np.float32)), a.astype(np.float64) @ b


def argmax(m: int, n: int) -> tuple[Arguments, np.ndarray]:
    x = RNG.integers(-9, 9, (m, n)).astype(np.float32)
    x[RNG.random((m, n)) < 0.1] = np.nan
    x[0] = -np.inf
    places = [max(range(n), key=lambda j: (_key(row, j), -j)) for row in x]
    return (x, np.zeros(m, np.int32)), np.array(places, np.int32)


def _key(row: np.ndarray, j: int) -> float:
    """What `>` makes of an element: NaN never wins, and never loses its place in front."""
    if np.isnan(row[j]):
        return -np.inf if j else np.inf
    return float(row[j])


def prefix_sum(n: int) -> tuple[Arguments, np.ndarray]:
    x = RNG.integers(-(2**31), 2**31, n).astype(np.int32)
    return (x, np.zeros(n, np.int32)), np.cumsum(x, dtype=np.int32)


def guarded_exp(n: int) -> tuple[Arguments, np.ndarray]:
    x, y = normal(2, n)
    return (x, y), np.where(x > 0, np.exp(x), y)


CASES: dict[str, tuple[Callable[..., tuple[Arguments, np.ndarray]], list[tuple[int, ...]]]] = {
    "chain": (chain, [(1,), (127,), (30001,)]),
    "softmax": (softmax, [(1, 1), (17, 33), (5, 600)]),
    "matmul": (matmul, [(1, 1, 1), (15, 17, 33), (130, 150, 270)]),
    "argmax": (argmax, [(1, 1), (17, 33), (9, 9000)]),
    "prefix_sum": (prefix_sum, [(1,), (9,), (30001,)]),
    "guarded_exp": (guarded_exp, [(1,), (127,), (30001,)]),
}
RUNS = [
    pytest.param(name, sizes, id=f"{name}-{sizes}") for name, (_, all_) in CASES.items() for sizes in all_
]


def compare(result: np.ndarray, expected: np.ndarray) -> None:
    if expected.dtype.kind == "i":
        np.testing.assert_array_equal(result, expected)
    else:
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=2e-5)


def by_hand(name: str, level: str) -> str:
    return (FOLDER / f"{name}.{level}.ir").read_text(encoding="utf-8").partition("\n")[2]


@pytest.mark.parametrize("level", ["tile", "ascend"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_by_hand_is_valid_ir_in_its_printed_form(name: str, level: str) -> None:
    text = by_hand(name, level)
    module = parse(text)
    assert f"{module}\n" == text
    assert [str(problem) for problem in verify(module, level)] == []


LISTINGS = [
    pytest.param(page, text, id=f"{page.stem}-{n}")
    for page in [*sorted(FOLDER.glob("*.md")), FOLDER.parent / "architecture.md"]
    for n, text in enumerate(
        re.findall(r"^```llvm\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
]


@pytest.mark.parametrize(("page", "text"), LISTINGS)
def test_every_listing_of_ir_is_valid(page: Path, text: str) -> None:
    module = parse(text, str(page))
    levels = ("py", "loop", "tile", "ascend")
    assert any(not verify(module, level) for level in levels), [str(p) for p in verify(module)]


@needs_compiler
@pytest.mark.parametrize(("name", "sizes"), RUNS)
def test_the_kernel_on_the_cpu(name: str, sizes: tuple[int, ...]) -> None:
    arguments, expected = CASES[name][0](*sizes)
    getattr(run_file(str(FOLDER / f"{name}.py")), name)(*arguments)
    compare(arguments[-1], expected)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("name", "sizes"), RUNS)
def test_the_tile_level_interpreted(name: str, sizes: tuple[int, ...], reverse: bool) -> None:
    arguments, expected = CASES[name][0](*sizes)
    interpret(parse(by_hand(name, "tile")), name, list(arguments), reverse_parallel=reverse)
    compare(arguments[-1], expected)


@needs_compiler
@pytest.mark.parametrize(("name", "sizes"), RUNS)
def test_the_ascend_c_on_the_model(name: str, sizes: tuple[int, ...]) -> None:
    """Right, and without a finding: no race, nothing read that was not written, nothing out of bounds."""
    arguments, expected = CASES[name][0](*sizes)
    *inputs, output = arguments
    fresh = poisoned(output.shape, output.dtype.type)
    given = [*map(source, inputs), Array(output) if name == "guarded_exp" else fresh]
    if name == "prefix_sum":
        given.append(Workspace(384 * 4))
    kernel = built(FOLDER / f"{name}.ascendc.cpp")
    result = clean(run(kernel, [*given, *(Scalar(np.int64(size)) for size in sizes)], blocks=3))
    compare(result.outputs[0], expected)
