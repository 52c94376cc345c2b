# SPDX-License-Identifier: Apache-2.0
"""The verifier finds each kind of broken IR, all at once, and shows it in the text."""

from __future__ import annotations

import pytest

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Operation, Region, Value, block_of
from pyasc.ir.dialects import arith, func, scf
from pyasc.ir.parser import parse, parse_op
from pyasc.ir.types import ScalarType
from pyasc.ir.verifier import VerifyError, check, verify

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
      %2 = mem.load %x, [%i]
      %3 = arith.mul %2, %s
      mem.store %3, %y, [%i]
      scf.yield
    }
    func.return
  }
}"""


def messages(op: Operation, level: str | None = None) -> list[str]:
    return [f"{problem.op.name}: {problem.message}" for problem in verify(op, level)]


def in_function(body: str, args: str = "%x: f32, %k: i64, %c: i1, %r: ref<4 x f32>") -> Operation:
    return parse_op(f'func.func {{symbol = "f"}} {{\n^({args}):\n{body}\nfunc.return\n}}')


def test_valid_ir_has_no_problems() -> None:
    assert verify(parse(SCALE)) == []
    assert verify(parse(SCALE), "loop") == []
    check(parse(SCALE), "py")


WRONG = [
    ("%0 = arith.add %x, %k", "arith.add: operands differ in type: f32, i64"),
    ("%0 = arith.add %x", "arith.add: add takes 2 operands, got 1"),
    ("%0 = arith.and %x, %x", "arith.and: and is not defined on f32"),
    ("%0 = arith.select %k, %x, %x", "arith.select: the condition must be i1 of the same shape, got i64"),
    ("%0 = mem.load %x, []", "mem.load: operand 'ref' must be a ref, got f32"),
    ("%0 = mem.load %r, [%k, %k]", "mem.load: 2 indices for ref<4 x f32>"),
    ("%0 = mem.load %r, [%x]", "mem.load: operand 'indices' must be i64, got f32"),
    ("%0 = mem.load %r, [%k] : f16", "mem.load: result 'value' has type f16, not f32"),
    ("mem.store %k, %r, [%k]", "mem.store: element types differ: i64 and ref<4 x f32>"),
    ("%0 = mem.alloc : ref<? x f32>", "mem.alloc: 0 sizes for the 1 open extents of ref<? x f32>"),
    (
        '%0 = mem.alloc {purpose = "fun"} : ref<f32>',
        "mem.alloc: attribute 'purpose' must be one of temporary, shared, got fun",
    ),
    (
        "%0 = mem.alloc {alignment = true} : ref<f32>",
        "mem.alloc: attribute 'alignment' must be int, got true",
    ),
    ("%0 = mem.dim %r {axis = 1}", "mem.dim: ref<4 x f32> has no axis 1"),
    (
        "%0 = mem.view %r, [%k], [%k], [%k] {axes = [0, 0]} : ref<? x ? x f32>",
        "mem.view: axes [0, 0] are not distinct axes of ref<4 x f32>",
    ),
    (
        "%0 = mem.view %r, [%k], [], [%k] {axes = [0.5]} : ref<? x f32>",
        "mem.view: attribute 'axes' must be tuple[int, ...], got [0.5]",
    ),
    ("%0 = mem.view %r, [%k], [], [%k] {axes = [0]} : ref<? x f32>", "mem.view: 0 sizes for ref<4 x f32>"),
    ('%0 = func.size {symbol = "N"}', "func.size: 'N' is not a size of function 'f'"),
    ("scf.for %k, %k, %k, [] {\n^(%i: i64):\n}", "scf.for: region 'body' does not end in a terminator"),
    (
        "scf.for %k, %k, %k, [] {\n^(%i: i64):\n scf.yield\n scf.yield\n}",
        "scf.for: scf.yield stands before the end of region 'body'",
    ),
    ("scf.for %k, %k, %k, []", "scf.for: region 'body' has 0 blocks, not one"),
    (
        "%0 = scf.for %k, %k, %k, [%x] : f32 {\n^(%i: i64, %a: i64):\n scf.yield %a\n}",
        "scf.for: init value 0 has type f32, not i64",
    ),
    (
        "%0 = scf.if %c : f32 {\n scf.yield %x\n} {\n scf.yield\n}",
        "scf.if: 0 else values for 1 carried ones",
    ),
    ("%0 = arith.cast %x : tensor<f32>", "arith.cast: a cast keeps the shape, got f32 to tensor<f32>"),
]


@pytest.mark.parametrize(("body", "message"), WRONG, ids=[message for _, message in WRONG])
def test_each_broken_rule_is_named(body: str, message: str) -> None:
    assert message in messages(in_function(body))


TENSORS = [
    (
        "%0 = tensor.splat %s, [] : tensor<? x f32>",
        "tensor.splat: 0 sizes for the 1 open extents of tensor<? x f32>",
    ),
    (
        "%0 = tensor.splat %s, [] : tensor<4 x f16>",
        "tensor.splat: element types differ: f32 and tensor<4 x f16>",
    ),
    (
        '%0 = tensor.reduce %t {fn = "add", axes = [2]} : tensor<4 x f32>',
        "tensor.reduce: tensor<4 x 4 x f32> has no axis 2",
    ),
    (
        '%0 = tensor.reduce %t {fn = "add", axes = [0]} : tensor<f32>',
        "tensor.reduce: reducing axes [0] of tensor<4 x 4 x f32> does not give tensor<f32>",
    ),
    (
        '%0 = tensor.argreduce %t {fn = "maximum", axis = 0} : tensor<4 x f32>',
        "tensor.argreduce: indices are i64, not f32",
    ),
    (
        '%0 = tensor.contract %t, %t {equation = "ij,jk->iz", accumulate = f32} : tensor<4 x 4 x f32>',
        "tensor.contract: 'ij,jk->iz' has an axis that only the result names",
    ),
    (
        '%0 = tensor.contract %t, %t {equation = "ij,jk", accumulate = f32} : tensor<4 x 4 x f32>',
        "tensor.contract: 'ij,jk' is not an equation such as 'ij,jk->ik'",
    ),
    (
        "%0 = tensor.concat %t {axis = 2} : tensor<8 x 4 x f32>",
        "tensor.concat: tensor<8 x 4 x f32> has no axis 2",
    ),
    (
        "%0 = tensor.generate : tensor<4 x f32> {\n^(%i: i64):\n tensor.yield %i\n}",
        "tensor.generate: yields i64 for tensor<4 x f32>",
    ),
]


@pytest.mark.parametrize(("body", "message"), TENSORS, ids=[message for _, message in TENSORS])
def test_tensor_rules(body: str, message: str) -> None:
    assert message in messages(in_function(body, "%t: tensor<4 x 4 x f32>, %s: f32"))


def test_functions_declare_the_sizes_of_their_parameters() -> None:
    op = in_function("", "%x: ref<(N + M) x f32>")
    assert messages(op) == [
        f"func.func: ref<(M + N) x f32> mentions '{name}', which is not in sizes" for name in ("M", "N")
    ]


def test_written_parameters_exist() -> None:
    op = parse_op('func.func {symbol = "f", written = [0]} {\n^(%x: f32):\n func.return\n}')
    assert messages(op) == ["func.func: written lists parameter 0, which is not a ref parameter"]


def test_calls_need_a_callee_in_the_module() -> None:
    text = (
        'func.module {{\n func.func {{symbol = "f"}} {{\n func.call {{callee = "{}"}}\n func.return\n }}\n}}'
    )
    assert messages(parse(text.format("f"))) == []
    assert messages(parse(text.format("g"))) == ["func.call: the module has no function 'g'"]


def test_values_are_visible_behind_their_definition_alone() -> None:
    late = arith.Constant(value=1, types=[I64])
    early = arith.Elementwise(fn="neg", args=[late.result])
    body = block_of()
    for op in (early, late, func.Return()):
        op.attach(body.block)
    assert messages(func.Func(symbol="f", body=body)) == [
        "arith.neg: operand result 0 of arith.constant (i64) is not visible here"
    ]


def test_values_of_a_region_are_not_visible_behind_it() -> None:
    root = in_function("scf.if %c {\n%v = arith.neg %x\nscf.yield\n} {\nscf.yield\n}")
    branch = next(op for op in root.walk() if isinstance(op, scf.If))
    assert branch.then.block.first is not None
    inner = branch.then.block.first.results[0]
    arith.Elementwise(fn="neg", args=[inner]).attach(branch.otherwise.block)
    scf.Yield().attach(branch.otherwise.block)
    assert "arith.neg: operand %v (f32) is not visible here" in messages(root)


def test_values_do_not_cross_into_isolated_operations() -> None:
    outer = in_function("")
    assert isinstance(outer, func.Func)
    inner = func.Func(symbol="g", body=block_of())
    outer.body.block.insert_before(outer.body.block.first, inner)
    func.Return(values=[outer.params[0]]).attach(inner.body.block)
    assert messages(outer) == ["func.return: operand %x (f32) is not visible here"]


def test_a_part_of_a_function_sees_what_stands_before_it() -> None:
    loop = next(op for op in parse(SCALE).walk() if isinstance(op, scf.For))
    assert verify(loop) == []


def test_use_lists_are_checked_both_ways() -> None:
    root = in_function("%0 = arith.neg %x")
    assert isinstance(root, func.Func)
    negation = root.body.block.first
    assert negation is not None
    x = root.params[0]
    x.uses[func.Return()] = 1
    assert messages(root) == ["func.func: the use list of %x (f32) names an operation that is gone"]
    x.uses.clear()
    assert messages(root) == ["arith.neg: the use list of operand %x (f32) does not count this operation"]


def test_broken_links_are_found() -> None:
    root = in_function("%0 = arith.neg %x\n%1 = arith.neg %x")
    block = root.regions[0].block
    assert block.first is not None
    assert block.first.next is not None
    block.first.next.prev = None
    assert messages(root) == ["func.func: the links of arith.neg in region 'body' are broken"]
    other = in_function("")
    other.regions[0].block.parent = Region()
    assert messages(other) == ["func.func: a block of region 'body' does not know its region"]


def test_levels_refuse_foreign_operations_and_values() -> None:
    root = in_function("%0 = py.load %r, [%k]\n%1 = tensor.splat %x, [] : tensor<4 x f32>")
    assert messages(root, "py") == []
    assert messages(root, "loop") == [
        "py.load: is not an operation of the loop level",
        "tensor.splat: is not an operation of the loop level",
        "tensor.splat: the loop level has no values of type tensor<4 x f32>",
    ]
    checked = in_function('py.check %c, [] {error = "IndexError", message = "no"}')
    assert messages(checked, "loop") == []


def test_the_error_shows_the_ir_with_each_problem_below_its_operation() -> None:
    root = in_function("%0 = arith.add %x, %k\nscf.if %c {\nscf.yield %x\n} {\nscf.yield\n}")
    with pytest.raises(VerifyError) as caught:
        check(root, after="fuse")
    assert (
        str(caught.value)
        == """\
the IR has 2 problems after fuse:
  arith.add: operands differ in type: f32, i64
  scf.if: 1 then values for 0 carried ones

func.func {symbol = "f"} {
^(%x: f32, %k: i64, %c: i1, %r: ref<4 x f32>):
  %0 = arith.add %x, %k
  // ^ operands differ in type: f32, i64
  scf.if %c {
  // ^ 1 then values for 0 carried ones
    scf.yield %x
  } {
    scf.yield
  }
  func.return
}"""
    )


def test_deep_nesting_is_verified() -> None:
    root = func.Func(symbol="f", body=block_of([ScalarType(dtypes.i1)]))
    block: Block = root.body.block
    condition: Value = root.params[0]
    blocks = [block]
    for _ in range(1500):
        branch = scf.If(condition=condition, then=block_of(), otherwise=block_of())
        branch.attach(blocks[-1])
        scf.Yield().attach(branch.otherwise.block)
        blocks.append(branch.then.block)
    for inner in blocks[1:]:
        scf.Yield().attach(inner)
    func.Return().attach(block)
    assert verify(root) == []
