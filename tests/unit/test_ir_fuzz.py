# SPDX-License-Identifier: Apache-2.0
"""Damaged text is refused with a position, and damaged IR with problems; neither ends in another exception."""

from __future__ import annotations

import random

import pytest

from pyasc.ir.core import Operation
from pyasc.ir.parser import ParseError, parse_op
from pyasc.ir.printer import print_op
from pyasc.ir.verifier import VerifyError, check, verify

TEXT = """\
func.module {
  func.func {symbol = "f", sizes = ["M", "N"], written = [1]} {
  ^(%x: ref<M x N x f32, gm, strided>, %y: ref<M x f32>, %s: f32, %c: i1):
    %m = func.size {symbol = "M"}
    %zero = arith.constant {value = 0.0} : f32
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    st.apply [%m], [%x], [%zero], [%y] {iterators = ["parallel", "reduction"], lower = [(0), (0)], \
upper = [(s0), (2*d0 + 3)], input_maps = [affine<d0, d1 - 1>], output_maps = [affine<d0>], roles = ["reduce"]} {
    ^(%i: i64, %j: i64, %e: f32):
      st.yield %e
    } {
    ^(%a: f32, %b: f32):
      %2 = arith.add %a, %b
      st.yield %2
    }
    %r, %t = scf.for %0, %m, %1, [%s, %0] : f32, i64 @"k.py":3:5-4:9 {
    ^(%k: i64, %acc: f32, %n: i64):
      %v = mem.load %y, [%k]
      %w = scf.if %c : f32 {
        %3 = arith.mul %v, %acc
        scf.yield %3
      } {
        scf.yield %acc
      }
      %u = mem.view %x, [%k, %0], [%1, %m], [%1, %1] {axes = [1, -1]} : ref<? x 1 x f32, gm, strided>
      scf.yield %w, %n
    }
    py.check %c, [%t] {error = "IndexError", message = "no {}"}
    func.return
  }
}"""

PIECES = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ":",
    ",",
    "=",
    "^",
    "@",
    "-",
    '"',
    "%x",
    "%q",
    "f32",
    "ref<",
    "1",
    "1.5e",
    "scf.if",
]


def test_the_text_itself_is_valid() -> None:
    op = parse_op(TEXT)
    assert print_op(op, locations=True) == TEXT
    assert verify(op) == []


@pytest.mark.parametrize("seed", range(10))
def test_damaged_text(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        text = damage(rng)
        try:
            op = parse_op(text)
        except ParseError as error:
            assert 1 <= error.line <= text.count("\n") + 1
            assert error.column >= 1
            continue
        assert print_op(parse_op(print_op(op, locations=True)), locations=True) == print_op(
            op, locations=True
        )
        try:
            check(op)
        except VerifyError as error:
            assert error.problems != []


def damage(rng: random.Random) -> str:
    at = rng.randrange(len(TEXT))
    end = min(len(TEXT), at + rng.choice((0, 1, 1, 3, 10)))
    return TEXT[:at] + rng.choice(["", *PIECES]) + TEXT[end:]


@pytest.mark.parametrize("seed", range(10))
def test_damaged_ir(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(30):
        root = parse_op(TEXT)
        ops = list(root.walk())
        for _ in range(rng.randrange(1, 4)):
            break_one(rng, rng.choice(ops), ops)
        for problem in verify(root):
            assert problem.message


def break_one(rng: random.Random, op: Operation, ops: list[Operation]) -> None:
    match rng.randrange(6):
        case 0 if op.operands:
            op.operands = op.operands[1:]
        case 1:
            values = [value for other in ops for value in other.results]
            op.operands = [rng.choice(values) for _ in op.operands]
        case 2 if op.attrs:
            op.attrs[rng.choice(list(op.attrs))] = rng.choice([None, 1, "x", (), 2.5])
        case 3 if op.parent is not None:
            op.unlink()
        case 4 if op.regions:
            rng.choice(op.regions).blocks.clear()
        case 5 if op.regions and op.regions[0].blocks:
            del op.regions[0].blocks[0].args[:1]
        case _:
            op.segments = (*op.segments, 1)
