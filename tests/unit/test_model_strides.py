# SPDX-License-Identifier: Apache-2.0
"""Masks, counter mode, block and repeat strides of vector instructions against a plain loop over lanes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from pyasc.model.driver import Array, Struct, run
from tests.compilers import needs_compiler
from tests.unit.model_support import REFERENCE, built, clean, source

pytestmark = needs_compiler
BYTES = 60000
FIRST, BITS, COUNTER, REGISTER = range(4)


@dataclass(frozen=True)
class Form:
    """The lanes and strides of one instruction; strides in 32-byte blocks, destination first."""

    kind: int
    mask: int
    repeat: int
    block: tuple[int, int, int]
    rep: tuple[int, int, int]

    def struct(self) -> Struct:
        """As the kernel's parameter struct."""
        low, high = self.mask & (2**64 - 1), self.mask >> 64
        numbers = (self.kind, self.repeat, *self.block, *self.rep)
        return Struct((np.uint64(low), np.uint64(high), *map(np.uint32, numbers)))

    def active(self, lanes: int) -> list[tuple[int, int]]:
        """(repeat, lane) of every active lane, in order."""
        if self.kind == COUNTER:
            return [divmod(i, lanes) for i in range(self.mask)]
        kept = [i for i in range(lanes) if (i < self.mask if self.kind == FIRST else self.mask >> i & 1)]
        return [(r, i) for r in range(self.repeat) for i in kept]

    def element(self, operand: int, repeat: int, lane: int, size: int) -> int:
        """Index of an element of an operand, in units of its size."""
        block, byte = divmod(lane * size, 32)
        return ((repeat * self.rep[operand] + block * self.block[operand]) * 32 + byte) // size


def _forms(lanes: int, rng: np.random.Generator) -> list[Form]:
    forms = []
    for i in range(24):
        kind = i % 4
        repeat = int(rng.integers(1, 7))
        block = tuple(int(v) for v in rng.integers(1, 4, 3))
        rep = tuple(int(v) for v in rng.integers(24, 50, 3))
        if kind == COUNTER:
            mask = int(rng.integers(1, 6 * lanes))
        elif kind == FIRST:
            mask = int(rng.integers(1, lanes + 1))
        else:
            mask = int.from_bytes(rng.bytes(lanes // 8), "little")
        if i % 3 == 0:
            block, rep = (1, 1, 1), (8, 8, 8)
        if i % 5 == 0:
            block, rep = (block[0], 0, 1), (rep[0], 1, 0)
        forms.append(Form(kind, mask, repeat, block, rep))
    return forms


@pytest.mark.parametrize(("entry", "dtype"), [("strided_float", np.float32), ("strided_half", np.float16)])
def test_add(entry: str, dtype: type) -> None:
    rng = np.random.default_rng(31)
    size = dtype().nbytes
    x, y, before = rng.integers(-99, 99, (3, BYTES // size)).astype(dtype)
    for form in _forms(256 // size, rng):
        expected = before.copy()
        for r, lane in form.active(256 // size):
            a, b = (form.element(i, r, lane, size) for i in (1, 2))
            expected[form.element(0, r, lane, size)] = x[a] + y[b]
        args = [source(x), source(y), Array(before), form.struct()]
        out = clean(run(built(REFERENCE / "ops" / "strides.cpp"), args, entry=entry)).outputs[0]
        assert (out == expected).all(), form


def test_mixed_widths_count_lanes_of_the_wider_type() -> None:
    rng = np.random.default_rng(32)
    x, y, before = rng.integers(-99, 99, (3, BYTES // 2)).astype(np.float16)
    for form in (
        Form(FIRST, 64, 3, (1, 1, 0), (8, 4, 0)),
        Form(FIRST, 41, 5, (2, 3, 0), (24, 20, 0)),
        Form(FIRST, 7, 2, (1, 1, 0), (10, 3, 0)),
    ):
        expected = before.view(np.float32).copy()
        for r, lane in form.active(64):
            expected[form.element(0, r, lane, 4)] = x[form.element(1, r, lane, 2)]
        args = [source(x), source(y), Array(before), form.struct()]
        out = clean(run(built(REFERENCE / "ops" / "strides.cpp"), args, entry="strided_widen")).outputs[0]
        np.testing.assert_array_equal(out.view(np.uint32), expected.view(np.uint32))
