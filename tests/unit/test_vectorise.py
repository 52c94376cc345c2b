# SPDX-License-Identifier: Apache-2.0
"""Explicit vectors: which loops get them, how they look, and that they compute what the scalar loops did."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from pyasc.codegen.cpp.emitter import emit_cpp
from pyasc.ir import dtypes
from pyasc.ir.dialects import scf, vec
from pyasc.ir.dialects.func import Module
from pyasc.ir.interpreter import interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify
from pyasc.passes.base import run_passes
from pyasc.passes.pipeline_parser import parse_pipeline
from pyasc.runtime.build import BuildOptions, build_shared
from pyasc.runtime.toolchain import default_toolchain

SIZES = (0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 100, 257)


@dataclass(frozen=True)
class Loop:
    """A kernel over arrays of one size: a name, its parameters as (name, type of the elements), and its body."""

    name: str
    params: tuple[tuple[str, str], ...]
    body: str
    written: tuple[int, ...]
    exact: bool = True

    @property
    def text(self) -> str:
        args = ", ".join(f"%{name}: ref<{extent}{dtype}>" for name, dtype, extent in self.shapes())
        return f"""func.module {{
          func.func {{symbol = "{self.name}", sizes = ["N"], written = {list(self.written)}}} {{
          ^({args}):
            %n = func.size {{symbol = "N"}}
            %0 = arith.constant {{value = 0}} : i64
            %1 = arith.constant {{value = 1}} : i64
            {self.body}
            func.return
          }}
        }}"""

    def shapes(self) -> list[tuple[str, str, str]]:
        return [(n, t.rstrip("."), "" if t.endswith(".") else "N x ") for n, t in self.params]

    def module(self) -> Module:
        module = parse(self.text)
        assert not verify(module)
        return module

    def arrays(self, size: int) -> list[np.ndarray]:
        rng = np.random.default_rng(size)
        made = []
        for _, dtype, extent in self.shapes():
            values = rng.standard_normal(size if extent else ()) * 3
            made.append(np.asarray(values).astype(dtypes.BY_NAME[dtype].numpy))
        return made


def parallel(body: str) -> str:
    return f"""scf.for %0, %n, %1, [] {{kind = "parallel", simd = true}} {{
            ^(%i: i64):
              {body}
              scf.yield
            }}"""


def reduction(fn: str, dtype: str, value: str, init: str) -> str:
    return f"""%init = arith.constant {{value = {init}}} : {dtype}
            %r = scf.for %0, %n, %1, [%init] {{kind = "reduction", simd = true}} : {dtype} {{
            ^(%i: i64, %acc: {dtype}):
              {value}
              %next = arith.{fn} %acc, %v
              scf.yield %next
            }}
            mem.store %r, %y, []"""


LOAD = "%v = mem.load %x, [%i]"
LOOPS = (
    Loop("scaled", (("x", "f32"), ("y", "f32")), parallel(f"""{LOAD}
              %w = arith.mul %v, %v
              mem.store %w, %y, [%i]"""), (1,)),
    Loop("in_place", (("x", "f64"),), parallel(f"""{LOAD}
              %w = arith.add %v, %v
              mem.store %w, %x, [%i]"""), (0,)),
    Loop("exponential", (("x", "f32"), ("y", "f32")), parallel(f"""{LOAD}
              %w = arith.exp %v
              %u = arith.tanh %w
              mem.store %u, %y, [%i]"""), (1,), exact=False),
    Loop("chosen", (("x", "f32"), ("y", "i32")), parallel(f"""{LOAD}
              %c = arith.cast %i : f32
              %a = arith.lt %v, %c
              %b = arith.isfinite %v
              %ab = arith.and %a, %b
              %k = arith.cast %v : i32
              %j = arith.cast %i : i32
              %w = arith.select %ab, %k, %j
              mem.store %w, %y, [%i]"""), (1,)),
    Loop("integers", (("x", "i16"), ("y", "i64")), parallel(f"""{LOAD}
              %s = arith.floordiv %v, %v
              %t = arith.abs %v
              %u = arith.shl %t, %s
              %w = arith.cast %u : i64
              mem.store %w, %y, [%i]"""), (1,)),
    Loop("two_results", (("x", "f32"), ("y", "f32"), ("z", "f32")), parallel(f"""{LOAD}
              %w = arith.sqrt %v
              %u = arith.maximum %v, %w
              mem.store %w, %y, [%i]
              mem.store %u, %z, [%i]"""), (1, 2)),
    Loop("sum", (("x", "f32"), ("y", "f32.")), reduction("add", "f32", LOAD, "0.5"), (1,), exact=False),
    Loop("square_sum", (("x", "f64"), ("y", "f64.")), reduction("add", "f64", """%e = mem.load %x, [%i]
              %v = arith.mul %e, %e""", "0.0"), (1,), exact=False),
    Loop("largest", (("x", "f32"), ("y", "f32.")), reduction("pymax", "f32", LOAD, "-1.0"), (1,)),
    Loop("least", (("x", "i8"), ("y", "i8.")), reduction("minimum", "i8", LOAD, "5"), (1,)),
    Loop("wrapping", (("x", "i32"), ("y", "i32.")), reduction("mul", "i32", LOAD, "3"), (1,)),
    Loop("parity", (("x", "u16"), ("y", "u16.")), reduction("xor", "u16", LOAD, "9"), (1,)),
    Loop("running", (("x", "i32"), ("y", "i32"), ("z", "i32.")), f"""%init = arith.constant {{value = 7}} : i32
            %r = scf.for %0, %n, %1, [%init] {{kind = "scan", simd = true}} : i32 {{
            ^(%i: i64, %acc: i32):
              {LOAD}
              %next = arith.mul %acc, %v
              mem.store %next, %y, [%i]
              scf.yield %next
            }}
            mem.store %r, %z, []""", (1, 2)),
    Loop("running_floats", (("x", "f32"), ("y", "f32"), ("z", "f32.")), f"""%init = arith.constant {{value = 0.5}} : f32
            %r = scf.for %0, %n, %1, [%init] {{kind = "scan", simd = true}} : f32 {{
            ^(%i: i64, %acc: f32):
              {LOAD}
              %w = arith.exp %v
              %next = arith.add %acc, %w
              mem.store %next, %y, [%i]
              scf.yield %next
            }}
            mem.store %r, %z, []""", (1, 2), exact=False),
)  # fmt: skip


def vectorised(loop: Loop, options: str = "vector_bytes=16,stream=64") -> Module:
    module = loop.module()
    run_passes(module, parse_pipeline(f"vectorise{{{options}}},cleanup"))
    assert not verify(module), verify(module)
    return module


def agree(loop: Loop, got: list[np.ndarray], want: list[np.ndarray]) -> bool:
    if loop.exact:
        return all(
            np.array_equal(a, b, equal_nan=b.dtype.kind == "f") for a, b in zip(got, want, strict=True)
        )
    return all(
        np.allclose(a, b, rtol=1e-5, atol=1e-5, equal_nan=True) for a, b in zip(got, want, strict=True)
    )


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_vectors_compute_what_the_loop_did(loop: Loop) -> None:
    module = vectorised(loop)
    assert any(isinstance(op, vec.Load) for op in module.walk())
    for size in SIZES:
        want, got = loop.arrays(size), loop.arrays(size)
        interpret(loop.module(), loop.name, want, {"N": size})
        interpret(module, loop.name, got, {"N": size})
        assert agree(loop, got, want), size


@pytest.fixture(scope="module", params=[16, 32, 64])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All loops for one width of vectors, which need not be the processor's, in one unit."""
    options = f"vector_bytes={request.param},stream=64"
    path = tmp_path_factory.mktemp("vectorise") / "loops.so"
    text = emit_cpp([vectorised(loop, options) for loop in LOOPS], "loops.ir").text
    build_shared(text, path, default_toolchain(), BuildOptions())
    return ctypes.CDLL(str(path))


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_compiled_vectors_compute_what_the_loop_did(loop: Loop, library: ctypes.CDLL) -> None:
    for size in SIZES:
        want, got = loop.arrays(size), loop.arrays(size)
        interpret(loop.module(), loop.name, want, {"N": size})
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in got]
        assert getattr(library, loop.name)(*pointers, ctypes.c_int64(size), None) == 0
        assert agree(loop, got, want), (size, got, want)


@pytest.mark.parametrize("name", ["exponential", "running_floats"])
def test_results_do_not_depend_on_where_the_arrays_lie(name: str, library: ctypes.CDLL) -> None:
    x = np.linspace(-5, 5, 100, dtype=np.float32)
    found: list[bytes] = []
    for shift in range(16):
        room, last = np.zeros(132, np.float32), np.zeros(1, np.float32)
        y = room[shift : shift + 100]
        pointers = [
            ctypes.c_void_p(a.ctypes.data) for a in ([x, y, last] if name != "exponential" else [x, y])
        ]
        getattr(library, name)(*pointers, ctypes.c_int64(100), None)
        assert not room[:shift].any() and not room[shift + 100 :].any()
        found.append(y.tobytes() + last.tobytes())
    assert len(set(found)) == 1


def test_a_reduction_of_few_operations_runs_in_four_vectors() -> None:
    loop = next(loop for loop in LOOPS if loop.name == "sum")
    loops = [op for op in vectorised(loop).walk() if isinstance(op, scf.For)]
    assert [len(op.inits) for op in loops] == [4, 1]


def test_a_product_sum_is_fused_where_the_processor_can() -> None:
    loop = next(loop for loop in LOOPS if loop.name == "square_sum")
    assert "arith.fma" in str(vectorised(loop))
    assert "arith.fma" not in str(vectorised(loop, "fused=false"))


def test_results_that_are_read_are_not_streamed() -> None:
    by_name = {loop.name: str(vectorised(loop)) for loop in LOOPS}
    assert "vec.drain" not in by_name["in_place"]
    streamed = LOOPS[0].text.replace("simd = true", "simd = true, grain = 64")
    module = parse(streamed)
    run_passes(module, parse_pipeline("vectorise{vector_bytes=32}"))
    assert "vec.drain" in str(module) and "%streamed" in str(module)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"{LOAD}\n %k = arith.mul %i, %two\n %w = mem.load %x, [%k]\n mem.store %w, %y, [%i]", "stride"),
        (f"{LOAD}\n %k = arith.cast %v : i64\n %w = mem.load %x, [%k]\n mem.store %w, %y, [%i]", "gather"),
        (f"{LOAD}\n mem.store %v, %y, [%0]", "one element"),
    ],
)
def test_other_accesses_stay_with_the_compiler(body: str, why: str) -> None:
    two = "%two = arith.constant {value = 2} : i64\n"
    module = Loop(why, (("x", "f32"), ("y", "f32")), two + parallel(body), (1,)).module()
    run_passes(module, parse_pipeline("vectorise"))
    assert "simd = true" in str(module) and "vec." not in str(module)


ESCAPE = """func.module {
  func.func {symbol = "escape", sizes = ["H", "W"], written = [1, 2]} {
  ^(%c: ref<H x W x f32>, %steps: ref<H x W x i32>, %last: ref<H x W x f32>, %limit: i64):
    %h = func.size {symbol = "H"}
    %w = func.size {symbol = "W"}
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    %four = arith.constant {value = 4.0} : f32
    scf.for %0, %h, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      scf.for %0, %w, %1, [] {kind = "parallel"} {
      ^(%j: i64):
        %x = mem.load %c, [%i, %j]
        %k = arith.cast %j : f32
        %start = arith.add %x, %k
        %n, %z = scf.while %0, %start : i64, f32 {
        ^(%n1: i64, %z1: f32):
          %a = arith.lt %n1, %limit
          %b = arith.le %z1, %four
          %ab = arith.and %a, %b
          scf.condition %ab, [%n1, %z1]
        } {
        ^(%n2: i64, %z2: f32):
          %square = arith.mul %z2, %z2
          %z3 = arith.add %square, %x
          %n3 = arith.add %n2, %1
          scf.yield %n3, %z3
        }
        %m = arith.cast %n : i32
        mem.store %m, %steps, [%i, %j]
        mem.store %z, %last, [%i, %j]
        scf.yield
      }
      scf.yield
    }
    func.return
  }
}"""


def escape_arrays(height: int, width: int) -> list[np.ndarray]:
    c = np.random.default_rng(3).uniform(-1, 1, (height, width)).astype(np.float32)
    return [c, np.zeros((height, width), np.int32), np.zeros((height, width), np.float32)]


@pytest.mark.parametrize(
    ("height", "width", "limit"), [(1, 1, 9), (5, 7, 50), (4, 16, 3), (3, 33, 0), (0, 4, 2)]
)
@pytest.mark.parametrize("lanes", [4, 16])
def test_lanes_stop_one_by_one(height: int, width: int, limit: int, lanes: int, tmp_path: Path) -> None:
    module, sizes = parse(ESCAPE), {"H": height, "W": width}
    run_passes(module, parse_pipeline(f"vectorise-while{{vector_bytes={4 * lanes}}},cleanup"))
    assert not verify(module) and "vec.any" in str(module)
    want, got, compiled = (escape_arrays(height, width) for _ in range(3))
    interpret(parse(ESCAPE), "escape", [*want, limit], sizes)
    interpret(module, "escape", [*got, limit], sizes)
    assert all(np.array_equal(a, b) for a, b in zip(got, want, strict=True))
    path = tmp_path / "escape.so"
    build_shared(emit_cpp([module], "escape.ir").text, path, default_toolchain(), BuildOptions())
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in compiled]
    numbers = [ctypes.c_int64(n) for n in (limit, height, width)]
    assert ctypes.CDLL(str(path)).escape(*pointers, *numbers, None) == 0
    assert all(np.array_equal(a, b) for a, b in zip(compiled, want, strict=True))
