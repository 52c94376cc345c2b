# SPDX-License-Identifier: Apache-2.0
"""Polynomials and affine maps of index arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from pyasc.ir import affine
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.dialects.func import Func, Return
from pyasc.ir.dtypes import i64
from pyasc.ir.interpreter import interpret
from pyasc.ir.parser import parse
from pyasc.ir.sizes import parse_size
from pyasc.ir.types import ScalarType
from pyasc.ir.verifier import verify
from pyasc.passes.analysis.affine import (
    Nest,
    Polynomials,
    enclosing_loops,
    materialise,
    materialise_polynomial,
)
from pyasc.passes.analysis.structured import loads_to_inputs

TEXT = """func.module {
  func.func {symbol = "k", sizes = ["N", "M"], written = [0]} {
  ^(%x: ref<N x M x f32>, %k: i64, %z: ref<? x f32>):
    %n = func.size {symbol = "N"}
    %m = func.size {symbol = "M"}
    %c0 = arith.constant {value = 0} : i64
    %c1 = arith.constant {value = 1} : i64
    %c3 = arith.constant {value = 3} : i64
    %h = arith.sub %n, %c1
    %nm = arith.mul %n, %m
    %d = mem.dim %x {axis = 1}
    %b = mem.alloc %h : ref<? x f32, local>
    %e = mem.dim %b {axis = 0}
    %q = mem.dim %z {axis = 0}
    %r = arith.mod %k, %c3
    scf.for %c0, %n, %c1, [] {
    ^(%i: i64):
      scf.for %c0, %m, %c1, [] {
      ^(%j: i64):
        %i3 = arith.mul %c3, %i
        %s = arith.add %i3, %j
        %t = arith.sub %s, %k
        %u = arith.sub %t, %h
        %neg = arith.neg %j
        %flat = arith.mul %i, %m
        %square = arith.mul %i, %j
        %rest = arith.mod %i, %c3
        %late = arith.add %n, %c1
        %v = mem.load %x, [%i, %j]
        scf.yield
      }
      scf.yield
    }
    func.return
  }
}"""


@pytest.fixture
def values() -> dict[str, Value]:
    (func,) = parse(TEXT).functions
    found = {arg.name: arg for arg in func.params}
    for op in func.walk():
        found.update({value.name: value for value in op.results})
        for region in op.regions:
            found.update({arg.name: arg for block in region.blocks for arg in block.args})
    return found


def loops(values: dict[str, Value]) -> list[scf.For]:
    load = values["v"].op
    assert isinstance(load, mem.Load)
    return enclosing_loops(load)


def test_enclosing_loops_are_outermost_first(values: dict[str, Value]) -> None:
    assert [loop.counter.name for loop in loops(values)] == ["i", "j"]
    load = values["v"].op
    assert isinstance(load, Operation)
    assert [loop.counter.name for loop in enclosing_loops(load, loops(values)[0])] == ["j"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("n", "N"), ("h", "N - 1"), ("nm", "N*M"), ("d", "M"), ("e", "N - 1"), ("late", "N + 1"), ("c3", "3")],
)
def test_polynomials_over_sizes(values: dict[str, Value], name: str, expected: str) -> None:
    assert Polynomials().of(values[name]) == parse_size(expected)


def test_polynomials_name_what_is_no_arithmetic(values: dict[str, Value]) -> None:
    polynomials = Polynomials()
    expr = polynomials.of(values["u"])
    names = {polynomials.atoms[name].name for name in expr.names if name in polynomials.atoms}
    assert names == {"i", "j", "k"}
    assert polynomials.of(values["rest"]).as_name is not None
    assert polynomials.of(values["q"]).as_name is not None
    assert polynomials.of(values["square"]) == polynomials.of(values["i"]) * polynomials.of(values["j"])


@pytest.mark.parametrize(
    ("name", "expected", "symbols"),
    [
        ("i", "d0", []),
        ("s", "3*d0 + d1", []),
        ("t", "3*d0 + d1 - s0", ["k"]),
        ("u", "3*d0 + d1 - s0 - s1 + 1", ["k", "n"]),
        ("neg", "-d1", []),
        ("late", "s0 + 1", ["n"]),
        ("nm", "s0", ["nm"]),
        ("r", "s0", ["r"]),
    ],
)
def test_affine_forms(values: dict[str, Value], name: str, expected: str, symbols: list[str]) -> None:
    nest = Nest([values["i"], values["j"]], loops(values)[0])
    assert str(nest.expr(values[name])) == expected
    assert [symbol.name for symbol in nest.symbols] == symbols


@pytest.mark.parametrize("name", ["flat", "square", "rest"])
def test_what_is_not_affine(values: dict[str, Value], name: str) -> None:
    nest = Nest([values["i"], values["j"]], loops(values)[0])
    assert nest.expr(values[name]) is None
    assert nest.map([values["i"], values[name]]) is None


def test_maps_share_symbols(values: dict[str, Value]) -> None:
    nest = Nest([values["i"], values["j"]], loops(values)[0])
    assert str(nest.map([values["t"], values["late"]])) == "affine<3*d0 + d1 - s0, s1 + 1>"
    assert str(nest.map([values["late"], values["t"]])) == "affine<s1 + 1, 3*d0 + d1 - s0>"


def test_outer_counters_are_symbols_of_an_inner_nest(values: dict[str, Value]) -> None:
    nest = Nest([values["j"]], loops(values)[1])
    assert str(nest.expr(values["s"])) == "d0 + 3*s0"
    assert nest.symbols == [values["i"]]
    assert nest.is_invariant(values["i"])
    assert not nest.is_invariant(values["j"])


@pytest.mark.parametrize("text", ["2*N - M + 3", "N*M - 1", "-N", "0", "5", "3*N*N"])
def test_polynomials_become_operations(text: str) -> None:
    module = parse(
        """func.module {
          func.func {symbol = "k", kernel = false} {
          ^(%N: i64, %M: i64):
            func.return
          }
        }"""
    )
    (func,) = module.functions
    assert isinstance(func, Func)
    params = {param.name: param for param in func.params}
    terminator = func.body.block.terminator
    made = materialise_polynomial(parse_size(text), params.__getitem__, Builder.before(terminator))
    terminator.set_operands("values", [made])
    assert interpret(module, "k", [5, 7]) == (parse_size(text).evaluate({"N": 5, "M": 7}),)


def test_affine_expressions_become_operations() -> None:
    module = parse(
        """func.module {
          func.func {symbol = "k", kernel = false} {
          ^(%i: i64, %j: i64, %s: i64):
            func.return
          }
        }"""
    )
    (func,) = module.functions
    expr = affine.dim(0) * 3 - affine.dim(1) - affine.symbol(0) * 2 - 4
    terminator = func.body.block.terminator
    i, j, s = func.params
    terminator.set_operands("values", [materialise(expr, [i, j], [s], Builder.before(terminator))])
    assert interpret(module, "k", [5, 7, 9]) == (3 * 5 - 7 - 18 - 4,)


REPEATED = """
func.module {
  func.func {symbol = "f", sizes = ["N", "M"], written = [2]} {
  ^(%x: ref<N x M x f32>, %z: ref<M x f32>, %y: ref<N x M x f32>):
    %n = func.size {symbol = "N"}
    %m = func.size {symbol = "M"}
    st.apply [%n, %n, %m], [%x], [], [%y] {MAPS} {
    ^(%i: i64, %j: i64, %e: f32):
      %w = mem.load %z, [%j]
      %s = arith.add %e, %w
      st.yield %s
    }
    func.return
  }
}
"""


def test_symbols_that_are_repeated_keep_their_numbers() -> None:
    """An op may list one value twice; forms of other accesses share its list and leave its own maps true."""
    maps = "input_maps = [affine<-d0 + s1 - 1, d1>], output_maps = [affine<d0, d1>]"
    domain = (
        'iterators = ["parallel", "parallel"], lower = [(0), (0)], upper = [(s1), (s2)], roles = ["write"]'
    )
    module = parse(REPEATED.replace("MAPS", f"{domain}, {maps}"))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    z = np.array([10, 20, 30], np.float32)
    (op,) = [op for op in module.walk() if isinstance(op, st.Apply)]
    assert loads_to_inputs(op)
    verify(module)
    y = np.zeros_like(x)
    interpret(module, "f", [x, z, y])
    np.testing.assert_array_equal(y, x[::-1] + z)


def test_a_list_of_symbols_is_adopted_as_it_stands() -> None:
    first, second = Block([ScalarType(i64), ScalarType(i64)]).args
    nest = Nest((), Return())
    nest.adopt([first, first, second])
    assert nest.symbols == [first, first, second]
    assert [str(nest.symbol(value)) for value in (first, second)] == ["s0", "s2"]
