# SPDX-License-Identifier: Apache-2.0
"""The text form of the IR: what is printed is read back as the same, and what is wrong is pointed at."""

from __future__ import annotations

import math
import sys
from types import FrameType
from typing import Any

import pytest

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineMap, const, dim, symbol
from pyasc.ir.core import Block, Builder, Operation, Region, block_of
from pyasc.ir.declare import Attr
from pyasc.ir.dialects import arith, func, mem, scf
from pyasc.ir.location import Location
from pyasc.ir.parse_types import parse_affine, parse_type
from pyasc.ir.parser import ParseError, parse, parse_op
from pyasc.ir.printer import print_attribute, print_op
from pyasc.ir.sizes import parse_size
from pyasc.ir.types import OpaqueType, RefType, ScalarType, TensorType, TileType, Type, VectorType

F32 = ScalarType(dtypes.f32)
I64 = ScalarType(dtypes.i64)

SCALE = """\
func.module {
  func.func {symbol = "scale", sizes = ["N"], written = [1]} {
  ^(%x: ref<N x f32>, %y: ref<N x f32>, %s: f32):
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
    func.return
  }
}"""

ARGMAX = """\
func.module {
  func.func {symbol = "argmax", sizes = ["M", "N"], written = [1, 2]} {
  ^(%x: ref<M x N x f16, gm, strided>, %best: ref<M x f16>, %where: ref<M x i64>):
    %m = func.size {symbol = "M"}
    %n = func.size {symbol = "N"}
    %low = arith.constant {value = -inf} : f16
    %none = arith.constant {value = 0} : i64
    st.apply [%m, %n], [%x], [%low, %none], [%best, %where] {iterators = ["parallel", "reduction"], \
lower = [(0), (0)], upper = [(s0), (s1)], input_maps = [affine<d0, d1>], output_maps = [affine<d0>, affine<d0>], \
roles = ["reduce", "reduce"]} {
    ^(%i: i64, %j: i64, %e: f16):
      st.yield %e, %j
    } {
    ^(%a: f16, %p: i64, %b: f16, %q: i64):
      %0 = arith.gt %b, %a
      %1 = arith.select %0, %b, %a
      %2 = arith.select %0, %q, %p
      st.yield %1, %2
    }
    func.return
  }
}"""

LOOPS = """\
func.module {
  func.func {symbol = "f", kernel = false} {
  ^(%x: ref<4 x (2*N - 1) x ? x bf16, ub>, %c: i1, %k: i64):
    %t, %u = scf.if %c : i64, f32 {
      %0 = arith.constant {value = 1} : i64
      %1 = arith.constant {value = -0.0} : f32
      scf.yield %0, %1
    } {
      %2 = arith.constant {value = 1e+16} : f32
      scf.yield %k, %2
    }
    %v = scf.while %t : i64 {
    ^(%w: i64):
      %3 = arith.lt %w, %k
      scf.condition %3, [%w]
    } {
    ^(%w_1: i64):
      scf.yield %w_1
    }
    py.print %v, %u {format = "a \\"quoted\\" line\\nä {} {}"}
    %r = func.call %v {callee = "g"} : vec<16 x i8>
    func.return %v
  }
}"""


@pytest.mark.parametrize("text", [SCALE, ARGMAX, LOOPS], ids=["scale", "argmax", "loops"])
def test_printing_what_was_read_gives_the_same_text(text: str) -> None:
    assert print_op(parse(text)) == text


def test_an_operation_is_read_alone() -> None:
    op = parse_op('func.func {symbol = "f"} {\n  func.return\n}')
    assert isinstance(op, func.Func)
    assert str(op) == 'func.func {symbol = "f"} {\n  func.return\n}'


@pytest.mark.parametrize(
    "type_",
    [
        F32,
        TensorType((), dtypes.i1),
        TensorType((4, None, parse_size("H - 2")), dtypes.u8),
        RefType((parse_size("x"), parse_size("f32")), dtypes.f32),
        RefType((16,), dtypes.f16, "l0a", "zz"),
        RefType((16,), dtypes.f16, "gm", "strided"),
        VectorType(8, dtypes.i32),
        TileType(8, 3, 16, dtypes.f32),
        OpaqueType("pipe"),
        OpaqueType("queue", ("vecin", 2)),
    ],
    ids=str,
)
def test_types_are_read_back(type_: Type) -> None:
    assert parse_type(str(type_)) == type_


@pytest.mark.parametrize(
    "text",
    [
        "f99",
        "ref<4 x >",
        "vec<N x f32>",
        "tile<8 x 16 x f32>",
        "tile<N x 3 x 16 x f32>",
        "ref<4 x f32, moon>",
        "tensor<f32, ub>",
    ],
)
def test_other_text_is_no_type(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_type(text)


def test_affine_expressions_are_read_back() -> None:
    for expression in (const(0), const(-3), dim(1), dim(0) * 2 - symbol(1) + 3, symbol(0) * -1, dim(2) * -4):
        assert parse_affine(str(expression)) == expression
    for text in ("", "d0 d1", "2*", "x0", "d0 + "):
        with pytest.raises(ValueError, match="affine"):
            parse_affine(text)


ATTRIBUTES: list[Attr] = [
    None,
    True,
    0,
    -7,
    0.1,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    math.inf,
    -math.inf,
    "",
    'a "b" \\ \n ä \u2028',
    (),
    (1, ("x", 2.0)),
    F32,
    RefType((2,), dtypes.f32),
    dim(0) - 1,
    AffineMap(()),
    AffineMap((dim(0) * 2 + 1, const(0))),
    parse_size("2*N + H*W - 1"),
]


@pytest.mark.parametrize("value", ATTRIBUTES, ids=repr)
def test_attribute_values_are_read_back(value: Attr) -> None:
    op = arith.Constant(value=value, types=[F32])  # pyright: ignore[reportArgumentType]
    back = parse_op(str(op)).attrs["value"]
    assert back == value
    assert type(back) is type(value)
    assert str(back) == str(value)


def test_nan_is_read_back_with_its_sign() -> None:
    for value in (math.nan, -math.nan):
        back = parse_op(str(arith.Constant(value=value, types=[F32]))).attrs["value"]
        assert isinstance(back, float)
        assert math.isnan(back)
        assert math.copysign(1, back) == math.copysign(1, value)


def test_a_value_without_a_text_form_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot hold"):
        print_attribute(object())  # pyright: ignore[reportArgumentType]


def test_names_are_unique_and_kept() -> None:
    block = Block([I64, I64, I64, I64], ["x", "x", "x_1", "2 y"])
    root = scf.For(
        lower=block.args[0], upper=block.args[1], step=block.args[2], inits=[block.args[3]], types=[I64]
    )
    assert str(root) == "%0 = scf.for %x, %x_1, %x_1_1, [%_2_y] : i64"


def test_attributes_are_compared_with_their_default_by_type() -> None:
    zero = arith.Constant(value=0, types=[I64]).result
    loop = scf.For(lower=zero, upper=zero, step=zero, unroll=True)
    assert "unroll = true" in str(loop)


def test_locations_are_printed_on_request_and_read_back() -> None:
    loc = Location('dir/a "b".py', 3, 4, 5, 6)
    op = arith.Constant(value=1, types=[I64], loc=loc)
    assert print_op(op) == "%0 = arith.constant {value = 1} : i64"
    text = print_op(op, locations=True)
    assert text == '%0 = arith.constant {value = 1} : i64 @"dir/a \\"b\\".py":3:5-5:7'
    assert parse_op(text).loc == loc


def test_regions_keep_their_blocks() -> None:
    region = Region([Block(), Block([I64]), Block()])
    op = func.Func(symbol="f", body=region)
    assert str(parse_op(str(op))) == str(op)
    assert len(parse_op(str(op)).regions[0].blocks) == 3
    assert len(parse_op(str(func.Func(symbol="f"))).regions[0].blocks) == 0
    assert len(parse_op(str(func.Func(symbol="f", body=block_of()))).regions[0].blocks) == 1


ERRORS = [
    (
        "%0 = arith.constnt {value = 1} : i64",
        1,
        6,
        "no operation is named arith.constnt; did you mean arith.constant?",
    ),
    (
        "%0 = arith.constant {valu = 1} : i64",
        1,
        22,
        "arith.constant has no attribute 'valu'; did you mean value?",
    ),
    (
        "%0 = arith.constant {value = 1}",
        1,
        32,
        "expected ':' and the result types, found the end of the text",
    ),
    ("%0 = arith.constant : i64", 1, 6, "arith.constant needs attribute 'value'"),
    (
        "%0 = arith.constant {value = 1} : i46",
        1,
        35,
        "expected a type such as f32 or ref<N x f32>, found 'i46'",
    ),
    ("%0, %1 = arith.constant {value = 1} : i64", 1, 1, "2 names for the 1 results of arith.constant"),
    ("func.module {\n  arith.neg %x\n}", 2, 13, "%x is not defined here"),
    ("func.module {\n  func.return )\n}", 2, 15, "expected an operation such as arith.add, found ')'"),
    ("func.return {\n}", 1, 13, "func.return has 0 regions"),
    ("func.module {", 1, 14, "expected an operation such as arith.add, found the end of the text"),
    ("func.module ~", 1, 13, "unexpected character '~'"),
    ("%0 = arith.constant {value = [1 2]} : i64", 1, 33, "expected ',' or ']', found '2'"),
    ("%0 = arith.constant {value = (d0 + )} : i64", 1, 31, "not an affine expression: 'd0 + '"),
    ("%0 = arith.constant {value = 1} : ref<q8>", 1, 35, "'q8' in ref<q8> is not an element type"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), ERRORS)
def test_errors_say_where_and_what_was_expected(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_op(text, "a.ir")
    error = caught.value
    assert (error.file, error.line, error.column, error.message) == ("a.ir", line, column, message)


def test_an_error_shows_the_line_with_a_caret() -> None:
    with pytest.raises(ParseError) as caught:
        parse("func.module {\n  arith.neg %x\n}", "a.ir")
    assert str(caught.value).splitlines() == [
        "a.ir:2:13: %x is not defined here",
        "  2 |   arith.neg %x",
        "    |             ^",
    ]


def test_a_name_is_visible_in_its_block_and_below() -> None:
    text = """\
func.func {symbol = "f"} {
^(%c: i1):
  scf.if %c {
    %0 = arith.constant {value = 1} : i64
    scf.yield
  } {
    %1 = arith.neg %0
    scf.yield
  }
}"""
    with pytest.raises(ParseError, match="%0 is not defined here"):
        parse_op(text)
    with pytest.raises(ParseError, match="%c is already defined"):
        parse_op("func.func {symbol = 'f'} {\n^(%c: i1, %c: i1):\n}".replace("'", '"'))
    with pytest.raises(ParseError, match="%c is not defined here"):
        parse_op('func.func {symbol = "f"} {\n^(%c: i1):\n func.func {symbol = "g"} {\n func.return %c }\n}')


def test_parse_wants_a_module() -> None:
    with pytest.raises(ParseError, match=r"expected func\.module, found func\.return"):
        parse("func.return")


def test_comments_are_skipped() -> None:
    assert str(parse("// CHECK: x\nfunc.module { // one\n}")) == "func.module {\n^():\n}"


def chain(length: int) -> func.Module:
    """A function with a straight line of operations."""
    body = block_of([RefType((None,), dtypes.f32)], ["x"])
    build = Builder(body.block, loc=Location("a.py", 1))
    index = build.value(arith.Constant(value=0, types=[I64]))
    value = build.value(mem.Load(ref=body.block.args[0], indices=[index]))
    for _ in range(length):
        value = build.value(arith.Elementwise(fn="add", args=[value, value]), "acc")
    build.insert(func.Return())
    module = func.Module(body=block_of())
    func.Func(symbol="f", body=body).attach(module.body.block)
    return module


def nest(depth: int) -> Operation:
    """Branches inside branches."""
    root = func.Func(symbol="f", body=block_of([ScalarType(dtypes.i1)], ["c"]))
    condition = root.params[0]
    block = root.body.block
    for _ in range(depth):
        branch = scf.If(condition=condition, then=block_of(), otherwise=block_of())
        branch.attach(block)
        scf.Yield().attach(branch.otherwise.block)
        block = branch.then.block
    return root


def test_long_and_deep_programs() -> None:
    text = print_op(chain(3000), locations=True)
    assert print_op(parse(text), locations=True) == text
    deep = str(nest(2000))
    assert str(parse_op(deep)) == deep


def test_deep_programs_are_walked_cloned_and_dropped() -> None:
    root = nest(2000)
    assert [op.name for op in root.walk()] == [op.name for op in preorder(root)]
    copy = root.clone()
    assert str(copy) == str(root)
    assert [op.name for op in copy.nested()] == [op.name for op in root.walk()]
    nests = [op for op in copy.walk() if op.regions]
    assert copy.nests() == nests
    assert copy.nests_inner_first()[-1] is copy and len(copy.nests_inner_first()) == len(nests)
    condition = copy.regions[0].block.args[0]
    assert len(condition.uses) == 2000
    copy.drop()
    assert condition.uses == {}


def preorder(root: Operation) -> list[Operation]:
    """The same order by another way: a stack of operations still to visit."""
    found, stack = list[Operation](), [root]
    while stack:
        op = stack.pop()
        found.append(op)
        inner = [child for region in op.regions for block in region.blocks for child in block]
        stack.extend(reversed(inner))
    return found


def test_what_an_erased_operation_held_is_not_walked() -> None:
    root = nest(3)
    seen: list[str] = []
    for op in root.walk():
        seen.append(op.name)
        if isinstance(op, scf.If):
            op.erase()
    assert seen == ["func.func", "scf.if"]


def calls_of_round_trip(length: int) -> int:
    """How many Python functions printing and reading a program of that length call."""
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    module = chain(length)
    sys.setprofile(watch)
    try:
        parse(print_op(module, locations=True))
    finally:
        sys.setprofile(None)
    return count


def test_text_is_printed_and_read_in_work_that_grows_with_its_length_alone() -> None:
    calls_of_round_trip(30)  # imports
    assert calls_of_round_trip(3000) < 11 * calls_of_round_trip(300)
