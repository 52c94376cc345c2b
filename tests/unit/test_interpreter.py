# SPDX-License-Identifier: Apache-2.0
"""The interpreter on every operation, against NumPy and Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyasc.ir.dialects import operations
from pyasc.ir.interpreter import (
    InterpreterError,
    _handlers,  # pyright: ignore[reportPrivateUsage]
    interpret,
)
from pyasc.ir.levels import LEVELS
from pyasc.ir.parser import parse
from pyasc.ir.traits import TERMINATOR
from pyasc.ir.verifier import verify


def run(
    body: str, signature: str, *args: Any, sizes: str = "", other: str = "", **options: Any
) -> tuple[Any, ...]:
    """Run a function with this body and these parameters on the arguments."""
    names = ", ".join(f'"{name}"' for name in sizes.split())
    text = f'func.module {{\nfunc.func {{symbol = "f", sizes = [{names}]}} {{\n^({signature}):\n{body}\n}}\n{other}\n}}'
    module = parse(text)
    assert verify(module) == []
    return interpret(module, "f", args, **options)


def f32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


def test_every_operation_above_ascend_has_a_handler() -> None:
    above = [level for name, level in LEVELS.items() if name != "ascend"]
    wanted = {
        cls
        for cls in operations().values()
        if any(level.allows(cls.spec) for level in above)
        and TERMINATOR not in cls.spec.traits
        and cls.spec.name not in ("func.module", "func.func")
    }
    assert {cls.spec.name for cls in wanted - _handlers().keys()} == set()


SCALE = """\
%n = func.size {symbol = "N"}
%0 = arith.constant {value = 0} : i64
%1 = arith.constant {value = 1} : i64
scf.for %0, %n, %1, [] {kind = "parallel"} {
^(%i: i64):
  %2 = py.load %x, [%i]
  %3 = arith.mul %2, %s
  py.store %3, %y, [%i]
  scf.yield
}
func.return"""
SCALE_PARAMS = "%x: ref<N x f32>, %y: ref<N x f32>, %s: f32"


@pytest.mark.parametrize("reverse", [False, True])
def test_a_kernel_writes_its_refs_in_place(reverse: bool) -> None:
    x, y = f32(1, 2, 3), np.zeros(3, np.float32)
    assert run(SCALE, SCALE_PARAMS, x, y, 0.1, sizes="N", reverse_parallel=reverse) == ()
    np.testing.assert_array_equal(y, x * np.float32(0.1))


def test_strided_arguments_are_read_through_their_strides() -> None:
    x, y = np.arange(6, dtype=np.float32)[::-2], np.zeros(3, np.float32)
    run(SCALE, SCALE_PARAMS, x, y, 1.0, sizes="N")
    np.testing.assert_array_equal(y, x)


def test_arguments_are_checked() -> None:
    good = f32(1, 2)
    with pytest.raises(TypeError, match="takes 3 arguments, got 1"):
        run(SCALE, SCALE_PARAMS, good, sizes="N")
    with pytest.raises(TypeError, match="argument 1: expected an array of float32, got float64"):
        run(SCALE, SCALE_PARAMS, good, np.zeros(2), 1.0, sizes="N")
    with pytest.raises(ValueError, match=r"argument 1: expected shape \(2,\), got \(3,\)"):
        run(SCALE, SCALE_PARAMS, good, f32(1, 2, 3), 1.0, sizes="N")
    module = parse(
        'func.module {\nfunc.func {symbol = "f", sizes = ["N"]} {\n%n = func.size {symbol = "N"}\nfunc.return %n\n}\n}'
    )
    assert interpret(module, "f", [], {"N": 7}) == (7,)
    with pytest.raises(ValueError, match="size 'N' is not bound"):
        interpret(module, "f", [])


def test_carried_values_and_negative_steps() -> None:
    body = """\
%one = arith.constant {value = -1} : i64
%total = scf.for %a, %b, %one, [%a] : i64 {
^(%i: i64, %acc: i64):
  %next = arith.add %acc, %i
  scf.yield %next
}
func.return %total"""
    assert run(body, "%a: i64, %b: i64", 5, 0) == (5 + 5 + 4 + 3 + 2 + 1,)
    assert run(body, "%a: i64, %b: i64", 0, 5) == (0,)
    with pytest.raises(InterpreterError, match="step 0"):
        run(body.replace("-1", "0"), "%a: i64, %b: i64", 0, 5)


def test_while_forwards_its_values() -> None:
    body = """\
%two = arith.constant {value = 2} : i64
%r = scf.while %n : i64 {
^(%x: i64):
  %c = arith.gt %x, %two
  scf.condition %c, [%x]
} {
^(%y: i64):
  %half = arith.floordiv %y, %two
  scf.yield %half
}
func.return %r"""
    assert run(body, "%n: i64", 100) == (1,)
    assert run(body, "%n: i64", 20) == (2,)
    assert run(body, "%n: i64", 1) == (1,)


def test_branches_yield() -> None:
    body = "%r = scf.if %c : f32 {\nscf.yield %a\n} {\nscf.yield %b\n}\nfunc.return %r"
    params = "%c: i1, %a: f32, %b: f32"
    assert run(body, params, True, 1.0, 2.0) == (1.0,)
    assert run(body, params, np.False_, 1.0, 2.0) == (2.0,)


def test_calls_share_memory() -> None:
    other = """\
func.func {symbol = "g", kernel = false} {
^(%r: ref<2 x f32>, %v: f32):
  %0 = arith.constant {value = 0} : i64
  mem.store %v, %r, [%0]
  %w = arith.neg %v
  func.return %w
}"""
    x = f32(1, 2)
    assert run(
        '%w = func.call %x, %v {callee = "g"} : f32\nfunc.return %w',
        "%x: ref<2 x f32>, %v: f32",
        x,
        5.0,
        other=other,
    ) == (-5.0,)
    assert x.tolist() == [5.0, 2.0]


def test_checks_raise_pythons_exceptions() -> None:
    body = 'py.check %c, [%i] {error = "ZeroDivisionError", message = "got {}"}\nfunc.return'
    run(body, "%c: i1, %i: i64", True, 7)
    with pytest.raises(ZeroDivisionError, match="got 7"):
        run(body, "%c: i1, %i: i64", False, 7)
    with pytest.raises(InterpreterError, match="not a builtin exception"):
        run(body.replace("ZeroDivisionError", "Oops"), "%c: i1, %i: i64", False, 7)


def test_printing_goes_through_the_callback() -> None:
    lines: list[str] = []
    run('py.print %i, %t {format = "i={} t={}"}\nfunc.return', "%i: i64, %t: f32", 7, 0.5, emit=lines.append)
    assert lines == ["i=7 t=0.5"]


ARITHMETIC = [
    ("%r = arith.add %a, %b", "i8", 127, 1, -128),
    ("%r = arith.mul %a, %b", "u32", 2**31, 2, 0),
    ("%r = arith.floordiv %a, %b", "i64", -7, 2, -4),
    ("%r = arith.add %a, %b", "f32", 16777216.0, 1.0, 16777216.0),
    ("%r = arith.div %a, %b", "f16", 1.0, 3.0, float(np.float16(1) / np.float16(3))),
    ("%r = arith.add %a, %b", "bf16", 1.0, 2.0**-8, 1.0),
    ("%c = arith.lt %a, %b\n%r = arith.select %c, %a, %b", "f64", 0.25, 0.5, 0.25),
    ("%r = arith.pymax %a, %b", "f32", 0.0, float("nan"), 0.0),
]


@pytest.mark.parametrize(("body", "dtype", "a", "b", "expected"), ARITHMETIC)
def test_scalars_are_computed_in_their_dtype(body: str, dtype: str, a: Any, b: Any, expected: Any) -> None:
    assert run(f"{body}\nfunc.return %r", f"%a: {dtype}, %b: {dtype}", a, b) == (expected,)


def test_conversions() -> None:
    body = """\
%0 = arith.cast %x : i8
%1 = arith.cast %x : i1
%2 = arith.cast %x : bf16
%3 = arith.cast %2 : f32
func.return %0, %1, %3"""
    assert run(body, "%x: f32", 300.7) == (127, True, 300.0)
    assert run(body, "%x: f32", float("nan"))[:2] == (0, True)


def test_constants_of_every_kind() -> None:
    body = """\
%0 = arith.constant {value = 0.1} : f32
%1 = arith.constant {value = 2} : tensor<2 x N x i16>
%2 = arith.constant {value = true} : i1
%3 = arith.constant {value = 1.5} : vec<4 x bf16>
func.return %0, %1, %2, %3"""
    scalar, array, truth, vector = run(body, "%x: ref<N x f32>", f32(1, 2, 3), sizes="N")
    assert scalar == float(np.float32(0.1))
    np.testing.assert_array_equal(array, np.full((2, 3), 2, np.int16))
    assert truth is True
    assert vector.tolist() == [0x3FC0] * 4


def test_python_indices_count_from_the_end_and_are_checked() -> None:
    body = "%v = py.load %x, [%i]\npy.store %v, %x, [%j]\nfunc.return %v"
    params = "%x: ref<3 x f32>, %i: i64, %j: i64"
    x = f32(1, 2, 3)
    assert run(body, params, x, -1, 0) == (3.0,)
    assert x.tolist() == [3.0, 2.0, 3.0]
    for i, j in ((3, 0), (-4, 0), (0, 3)):
        bad = i if not -3 <= i < 3 else j
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 3"):
            run(body, params, x, i, j)


def test_proved_indices_are_not_python_indices() -> None:
    for body in ("%v = mem.load %x, [%i]\nfunc.return", "mem.store %s, %x, [%i]\nfunc.return"):
        for i in (-1, 3):
            with pytest.raises(InterpreterError, match="is not in a buffer"):
                run(body, "%x: ref<3 x f32>, %i: i64, %s: f32", f32(1, 2, 3), i, 1.0)


def test_views_alias() -> None:
    body = """\
%0 = arith.constant {value = 0} : i64
%1 = arith.constant {value = 1} : i64
%2 = arith.constant {value = 2} : i64
%m1 = arith.constant {value = -1} : i64
%v = mem.view %x, [%1, %2], [%1, %2], [%1, %m1] {axes = [1, -1]} : ref<2 x 1 x f32>
%d = mem.dim %v {axis = 0}
%e = mem.load %v, [%1, %0]
mem.store %s, %v, [%0, %0]
func.return %d, %e, %v"""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    extent, value, view = run(body, "%x: ref<2 x 3 x f32>, %s: f32", x, 9.0)
    assert (extent, value) == (2, 4.0)
    assert x.tolist() == [[0, 1, 2], [3, 4, 9]]
    assert view.tolist() == [[9], [4]]
    with pytest.raises(InterpreterError, match="leaves extent 3"):
        run(body.replace("%1, %m1]", "%1, %2]"), "%x: ref<2 x 3 x f32>, %s: f32", x, 9.0)


def test_empty_views() -> None:
    body = """\
%1 = arith.constant {value = 1} : i64
%v = mem.view %x, [%n], [%z], [%1] {axes = [0]} : ref<? x f32>
%d = mem.dim %v {axis = 0}
func.return %d"""
    assert run(body, "%x: ref<3 x f32>, %n: i64, %z: i64", f32(1, 2, 3), 3, 0) == (0,)


def test_fresh_memory_shows_when_it_is_read() -> None:
    body = """\
%a = mem.alloc %n : ref<? x 2 x f32>
%b = mem.alloc : ref<i32>
func.return %a, %b"""
    a, b = run(body, "%n: i64", 3)
    assert a.shape == (3, 2)
    assert np.isnan(a).all()
    assert b.dtype == np.int32
    assert b != 0


def test_copies_and_atomics() -> None:
    body = """\
mem.copy %x, %y
%0 = arith.constant {value = 0} : i64
mem.atomic %s, %y, [%0] {fn = "add"}
py.atomic %s, %y, [%i] {fn = "maximum"}
func.return"""
    x, y = f32(1, 2, 3), np.zeros(3, np.float32)
    run(body, "%x: ref<3 x f32>, %y: ref<3 x f32>, %s: f32, %i: i64", x, y, 10.0, -1)
    assert y.tolist() == [11.0, 2.0, 10.0]


def test_bfloat16_buffers_hold_bits() -> None:
    body = """\
%0 = arith.constant {value = 0} : i64
%v = mem.load %x, [%0]
%w = arith.add %v, %v
mem.store %w, %x, [%0]
func.return %w"""
    x = np.array([0x3FC0], np.uint16)
    assert run(body, "%x: ref<1 x bf16>", x) == (3.0,)
    assert x.tolist() == [0x4040]


def test_vectors() -> None:
    body = """\
%0 = arith.constant {value = 0} : i64
%1 = arith.constant {value = 1} : i64
%v = vec.load %x, [%0, %1], [] : vec<3 x f32>
%s3 = vec.splat %s : vec<3 x f32>
%w = arith.mul %v, %s3
vec.store %w, %x, [%1, %0], [], []
%r = vec.reduce %w {fn = "add"}
func.return %r"""
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    params = "%x: ref<2 x 4 x f32>, %s: f32"
    assert run(body, params, x, 2.0) == (12.0,)
    assert x.tolist() == [[0, 1, 2, 3], [2, 4, 6, 7]]
    with pytest.raises(InterpreterError, match="3 lanes"):
        run(body.replace("[%0, %1]", "[%1, %1]").replace("value = 1", "value = 2"), params, x, 2.0)


def test_vectors_of_which_some_lanes_are_used() -> None:
    body = """\
%0 = arith.constant {value = 0} : i64
%v = vec.load %x, [%0], [%n] : vec<4 x i32>
%m = vec.first %n : vec<4 x i1>
%any = vec.any %m
%k = arith.constant {value = 10} : i32
%c = vec.lanes %k : vec<4 x i32>
%w = arith.select %m, %v, %c
%s = vec.scan %w {fn = "add"}
%l = vec.last %s
vec.store %s, %x, [%0], [%n], []
func.return %any, %v, %w, %l"""
    x = np.array([1, 2, 3], np.int32)
    some, loaded, chosen, last = run(body, "%x: ref<3 x i32>, %n: i64", x, 3)
    assert some is True
    assert loaded.tolist() == [1, 2, 3, 0]
    assert chosen.tolist() == [1, 2, 3, 13]
    assert last.tolist() == [19] * 4
    assert x.tolist() == [1, 3, 6]
    assert run(body, "%x: ref<3 x i32>, %n: i64", x, 0)[0] is False
    outside = body.replace("{value = 0}", "{value = 16}")
    assert run(outside, "%x: ref<3 x i32>, %n: i64", x, 0)[0] is False
    with pytest.raises(InterpreterError, match="1 lanes"):
        run(outside, "%x: ref<3 x i32>, %n: i64", x, 1)
