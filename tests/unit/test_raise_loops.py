# SPDX-License-Identifier: Apache-2.0
"""Raising keeps meaning: every kernel of the golden tests of raising is run before and after, at several sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyasc.ir.core import Value
from pyasc.ir.dialects import func, scf, st
from pyasc.ir.interpreter import interpret
from pyasc.ir.numbers_half import carrier
from pyasc.ir.parser import parse
from pyasc.ir.sizes import lift
from pyasc.ir.types import RefType, ScalarType
from pyasc.ir.verifier import check
from pyasc.passes.base import Context, run_passes
from pyasc.passes.pipeline_parser import parse_pipeline

GOLDEN = Path(__file__).parent.parent / "lit" / "passes"
FILES = sorted([*GOLDEN.glob("raise-*.ir"), *GOLDEN.glob("elide-*.ir")])
EXTENTS = (0, 1, 2, 5)


def raised(text: str, passes: str = "raise-loops") -> tuple[func.Module, Context]:
    module = parse(text)
    context = run_passes(module, parse_pipeline(passes))
    check(module)
    return module, context


def applies(module: func.Module) -> list[st.Apply]:
    return [op for op in module.walk() if isinstance(op, st.Apply)]


def loops(module: func.Module) -> list[scf.For]:
    return [op for op in module.walk() if isinstance(op, scf.For)]


def sizes_of(function: func.Func) -> Iterator[dict[str, int]]:
    """Equal sizes, then sizes that all differ."""
    image = "H" in function.sizes
    for extent in EXTENTS[:-1] if image else EXTENTS:
        yield dict.fromkeys(function.sizes, extent + 2 * image)
    if not image:
        yield {name: 2 + i for i, name in enumerate(function.sizes)}


def argument(param: Value, sizes: dict[str, int], rng: np.random.Generator) -> Any:
    """Small whole numbers, so that sums are exact in any order."""
    if isinstance(param.type, ScalarType):
        return 0
    assert isinstance(param.type, RefType)
    shape = tuple(lift(extent or 0).evaluate(sizes) for extent in param.type.shape)
    return rng.integers(-3, 4, shape).astype(carrier(param.type.dtype))


def outcome(module: func.Module, symbol: str, sizes: dict[str, int], reverse: bool = False) -> list[Any]:
    """What the arrays hold after a run."""
    rng = np.random.default_rng(7)
    arguments = [argument(param, sizes, rng) for param in module.function(symbol).params]
    interpret(module, symbol, arguments, sizes, reverse_parallel=reverse)
    return arguments


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden_kernels_keep_their_meaning(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    passes = re.search(r"--passes='(.*?)'", text)
    assert passes is not None
    before, (after, _) = parse(text), raised(text, passes[1])
    lowered, _ = raised(text, f"{passes[1]},lower-structured")
    for function in before.functions:
        for sizes in sizes_of(function):
            if function.symbol == "unknown" and not sizes["M"]:
                continue
            expected = outcome(before, function.symbol, sizes)
            for module, reverse in ((after, False), (after, True), (lowered, False)):
                for a, b in zip(outcome(module, function.symbol, sizes, reverse), expected, strict=True):
                    # The order in which exponentials are summed differs in the last place.
                    compare = np.testing.assert_allclose if "exp" in text else np.testing.assert_array_equal
                    compare(a, b, err_msg=f"{function.symbol} at {sizes}")


def kernel(signature: str, body: str, sizes: str = '"N"', extra: str = "") -> str:
    """A kernel `k` with the constants %0, %1 and size %n at hand."""
    return f"""
func.module {{
  func.func {{symbol = "k", sizes = [{sizes}], written = [0]{extra}}} {{
  ^({signature}):
    %n = func.size {{symbol = "N"}}
    %0 = arith.constant {{value = 0}} : i64
    %1 = arith.constant {{value = 1}} : i64
    {body}
    func.return
  }}
}}"""


def test_the_tiled_nest_and_the_operator_become_the_same_op() -> None:
    loops_, _ = raised((GOLDEN / "raise-tiled-matmul.ir").read_text(encoding="utf-8"))
    operator, _ = raised(
        """
func.module {
  func.func {symbol = "mm", sizes = ["M", "N", "K"], written = [2]} {
  ^(%a: ref<M x K x f32>, %b: ref<K x N x f32>, %c: ref<M x N x f32>):
    %x = tensor.read %a
    %y = tensor.read %b
    %z = tensor.contract %x, %y {equation = "ij,jk->ik", accumulate = f32} : tensor<M x N x f32>
    tensor.write %z, %c
    func.return
  }
}""",
        "lower-tensors,raise-loops",
    )
    (a,), (b,) = applies(loops_), applies(operator)
    for field in ("iterators", "lower", "upper", "input_maps", "output_maps", "roles"):
        assert getattr(a, field) == getattr(b, field)
    assert not a.inits and len(b.inits) == 1


def test_arrays_that_may_share_memory_keep_a_loop() -> None:
    body = """scf.for %0, %n, %1, [] {
    ^(%i: i64):
      %e = mem.load %x, [%i]
      mem.store %e, %y, [%i]
      scf.yield
    }"""
    signature = "%y: ref<N x f32>, %x: ref<N x f32>"
    module, _ = raised(kernel(signature, body))
    assert len(applies(module)) == 1
    module = parse(kernel(signature, body))
    module.functions[0].attrs["aliases"] = ((0, 1),)
    run_passes(module, parse_pipeline("raise-loops"))
    assert not applies(module) and len(loops(module)) == 1


def test_an_element_written_before_it_is_read_is_forwarded() -> None:
    body = """scf.for %0, %n, %1, [] {
    ^(%i: i64):
      %e = mem.load %x, [%i]
      mem.store %e, %y, [%i]
      %f = mem.load %y, [%i]
      %g = arith.add %f, %f
      mem.store %g, %y, [%i]
      scf.yield
    }"""
    module, _ = raised(kernel("%y: ref<N x i64>, %x: ref<N x i64>", body))
    (op,) = applies(module)
    assert op.inputs == (module.functions[0].params[1],) and op.roles == ("write",)
    x = np.arange(5)
    y = np.zeros(5, np.int64)
    interpret(module, "k", [y, x], {"N": 5})
    np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.parametrize("fn", ["pymax", "pymin"])
def test_pythons_extremes_keep_the_order_of_their_operands(fn: str) -> None:
    """`max(acc, x)` passes over a NaN and `max(x, acc)` takes it: only the first may be reordered."""
    body = f"""%r = scf.for %0, %n, %1, [%s] : f32 {{
    ^(%i: i64, %acc: f32):
      %e = mem.load %x, [%i]
      %next = arith.{fn} LEFT, RIGHT
      scf.yield %next
    }}
    mem.store %r, %y, [%0]"""
    signature = "%y: ref<1 x f32>, %x: ref<N x f32>, %s: f32"
    first, _ = raised(kernel(signature, body.replace("LEFT", "%acc").replace("RIGHT", "%e")))
    second, _ = raised(kernel(signature, body.replace("LEFT", "%e").replace("RIGHT", "%acc")))
    assert len(applies(first)) == 1 and not applies(second)
    x = np.array([1.0, np.nan, 0.5, 3.0], np.float32)
    for start in (2.0, float("nan")):
        results = [np.zeros(1, np.float32) for _ in range(2)]
        interpret(first, "k", [results[0], x, start], {"N": 4})
        plain = parse(kernel(signature, body.replace("LEFT", "%acc").replace("RIGHT", "%e")))
        interpret(plain, "k", [results[1], x, start], {"N": 4})
        np.testing.assert_array_equal(*results)


def test_a_value_that_the_loop_carries_past_is_no_reduction() -> None:
    body = """%a, %b = scf.for %0, %n, %1, [%0, %1] : i64, i64 {
    ^(%i: i64, %p: i64, %q: i64):
      %s = arith.add %p, %q
      scf.yield %q, %s
    }
    mem.store %a, %y, [%0]"""
    module, context = raised(kernel("%y: ref<1 x i64>", body))
    assert not applies(module)
    assert "not a known reduction" in context.remarks[0].message


def test_a_running_value_used_elsewhere_is_no_reduction() -> None:
    body = """%a = scf.for %0, %n, %1, [%0] : i64 {
    ^(%i: i64, %p: i64):
      %s = arith.add %p, %i
      %t = arith.mul %s, %s
      mem.store %t, %y, [%i]
      scf.yield %s
    }"""
    module, context = raised(kernel("%y: ref<N x i64>", body))
    assert not applies(module)
    assert "running" in context.remarks[0].message


def test_an_apply_with_strict_keeps_the_order_of_a_tiled_sum() -> None:
    text = (GOLDEN / "raise-convolution.ir").read_text(encoding="utf-8")
    module, _ = raised(text, "raise-loops{strict=true}")
    (op,) = applies(module)
    assert op.strict and op.iterators[4:] == ("reduction",) * 3


def test_raising_again_changes_nothing() -> None:
    for path in FILES:
        module, _ = raised(path.read_text(encoding="utf-8"))
        text = str(module)
        run_passes(module, parse_pipeline("raise-loops"))
        assert str(module) == text, path.stem


def test_a_body_of_thousands_of_statements_is_raised_in_linear_time() -> None:
    lines = ["%v0 = mem.load %x, [%i]"]
    lines += [f"%v{k + 1} = arith.add %v{k}, %v{k // 2}" for k in range(4000)]
    lines += ["mem.store %v4000, %y, [%i]", "scf.yield"]
    body = "scf.for %0, %n, %1, [] {\n    ^(%i: i64):\n      " + "\n      ".join(lines) + "\n    }"
    module, _ = raised(kernel("%y: ref<N x i64>, %x: ref<N x i64>", body))
    (op,) = applies(module)
    assert sum(1 for _ in op.body.block) == 4001


@pytest.mark.parametrize(
    ("terms", "extents"),
    [
        ([(0, 0), (1, 1), (2, 2)], (3,)),
        ([(2, 2), (0, 0), (1, 1)], (3,)),
        ([(0, 1), (2, 1), (4, 1)], (3,)),
        ([(0, 3), (1, 2), (2, 1), (3, 0)], (4,)),
        ([(0, 0), (1, 0), (2, 1), (3, 1)], (2, 2)),
        ([(0, 0), (1, 1), (3, 3)], ()),
        ([(0, 0), (0, 0)], ()),
        ([(0, 0), (1, 1), (0, 1), (1, 0), (2, 0)], ()),
    ],
)
def test_written_out_products_are_rolled_up_where_they_fill_a_box(
    terms: list[tuple[int, int]], extents: tuple[int, ...]
) -> None:
    lines = [f"%c{k} = arith.constant {{value = {k}}} : i64" for k in range(5)]
    acc = "%acc"
    for number, (p, q) in enumerate(terms):
        lines += [
            f"%i{number} = arith.add %i, %c{p}",
            f"%e{number} = mem.load %x, [%i{number}]",
            f"%f{number} = mem.load %k, [%c{q}]",
            f"%g{number} = arith.mul %e{number}, %f{number}",
            f"%a{number} = arith.add {acc}, %g{number}",
        ]
        acc = f"%a{number}"
    body = "%s = scf.for %0, %n, %1, [%0] : i64 {\n^(%i: i64, %acc: i64):\n"
    body += "\n".join([*lines, f"scf.yield {acc}", "}", "mem.store %s, %y, [%0]"])
    text = kernel("%y: ref<1 x i64>, %x: ref<(N + 4) x i64>, %k: ref<4 x i64>", body)
    module, _ = raised(text)
    (op,) = applies(module)
    assert tuple(bound.constant for bound in op.upper[1:]) == extents
    expected = outcome(parse(text), "k", {"N": 6})
    np.testing.assert_array_equal(outcome(module, "k", {"N": 6})[0], expected[0])
