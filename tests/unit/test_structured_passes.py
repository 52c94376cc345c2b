# SPDX-License-Identifier: Apache-2.0
"""Every step from tensors to C++ keeps the meaning of a module: each is run and compared with the one before."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import pytest

from pyasc.codegen.cpp.emitter import emit_cpp
from pyasc.ir.interpreter import interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify
from pyasc.passes.base import run_passes
from pyasc.passes.pipeline_parser import parse_pipeline
from pyasc.runtime.build import BuildOptions, build_shared
from pyasc.runtime.toolchain import default_toolchain

STAGES = (
    "lower-tensors",
    "fuse",
    "interchange",
    "schedule-cpu{vector_bytes=16,chunk=8,scan_bytes=8}",
    "lower-structured",
    "licm",
    "forward",
    "unroll",
    "cleanup",
    "schedule-loops",
    "vectorise{vector_bytes=16,stream=64}",
    "cleanup",
)


@dataclass(frozen=True)
class Case:
    """A function as text, and the shapes of its arguments in terms of sizes."""

    name: str
    sizes: tuple[str, ...]
    params: tuple[tuple[str, str], ...]
    body: str
    written: int

    def text(self) -> str:
        args = ", ".join(
            f"%{n}: ref<{''.join(f'{d} x ' for d in dims.split())}f32>" for n, dims in self.params
        )
        sizes = ", ".join(f'"{s}"' for s in self.sizes)
        return (
            f'func.module {{\n func.func {{symbol = "{self.name}", sizes = [{sizes}], written = [{self.written}]}} {{'
            f"\n ^({args}):\n{self.body}\n func.return\n }}\n}}\n"
        )

    def arrays(self, values: dict[str, int], seed: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        shapes = [[int(eval(d, {}, values)) for d in dims.split()] for _, dims in self.params]
        return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def contract(equation: str, a: str, b: str, out: str, sizes: str) -> Case:
    result = "".join(f"{d} x " for d in out.split())
    body = f"""
    %x = tensor.read %a
    %y = tensor.read %b
    %z = tensor.contract %x, %y {{equation = "{equation}", accumulate = f32}} : tensor<{result}f32>
    tensor.write %z, %c"""
    name = equation.replace(",", "_").replace("->", "_")
    return Case(name, tuple(sizes.split()), (("a", a), ("b", b), ("c", out)), body, 2)


CONVOLUTION = """
    %n = func.size {symbol = "N"}
    %c = func.size {symbol = "C"}
    %h = func.size {symbol = "H"}
    %w = func.size {symbol = "W"}
    %f = func.size {symbol = "F"}
    %two = arith.constant {value = 2} : i64
    %h2 = arith.sub %h, %two
    %w2 = arith.sub %w, %two
    %z = arith.constant {value = 0.0} : f32
    st.apply [%n, %f, %h2, %w2, %c], [%x, %k], [INIT], [%y] {
      iterators = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"],
      lower = [(0), (0), (0), (0), (0), (0), (0)], upper = [(s0), (s1), (s2), (s3), (s4), (3), (3)],
      input_maps = [affine<d0, d4, d2 + d5, d3 + d6>, affine<d1, d4, d5, d6>],
      output_maps = [affine<d0, d1, d2, d3>], roles = ["reduce"]} {
    ^(%i0: i64, %i1: i64, %i2: i64, %i3: i64, %i4: i64, %i5: i64, %i6: i64, %a: f32, %b: f32):
      %p = arith.mul %a, %b
      st.yield %p
    } {
    ^(%u: f32, %v: f32):
      %q = arith.add %u, %v
      st.yield %q
    }"""

CASES = [
    Case(
        "softmax",
        ("N", "M"),
        (("x", "N M"), ("y", "N M")),
        """
    %t = tensor.read %x
    %mx = tensor.reduce %t {fn = "maximum", axes = [1], keepdims = true} : tensor<N x 1 x f32>
    %mb = tensor.broadcast %mx, [] : tensor<N x M x f32>
    %d = arith.sub %t, %mb
    %e = arith.exp %d
    %s = tensor.reduce %e {fn = "add", axes = [1], keepdims = true} : tensor<N x 1 x f32>
    %sb = tensor.broadcast %s, [] : tensor<N x M x f32>
    %r = arith.div %e, %sb
    tensor.write %r, %y""",
        1,
    ),
    Case(
        "column_sum",
        ("N", "M"),
        (("x", "N M"), ("y", "M")),
        """
    %t = tensor.read %x
    %s = tensor.reduce %t {fn = "add", axes = [0]} : tensor<M x f32>
    tensor.write %s, %y""",
        1,
    ),
    Case(
        "row_and_all",
        ("N", "M"),
        (("x", "N M"), ("y", "")),
        """
    %t = tensor.read %x
    %q = arith.mul %t, %t
    %s = tensor.reduce %q {fn = "add", axes = [0, 1]} : tensor<f32>
    tensor.write %s, %y""",
        1,
    ),
    Case(
        "prefix_sum",
        ("N",),
        (("x", "N"), ("y", "N")),
        """
    %t = tensor.read %x
    %s = tensor.scan %t {fn = "add", axis = 0}
    tensor.write %s, %y""",
        1,
    ),
    Case(
        "scan_rows",
        ("N", "M"),
        (("x", "N M"), ("y", "N M")),
        """
    %t = tensor.read %x
    %s = tensor.scan %t {fn = "maximum", axis = 0}
    tensor.write %s, %y""",
        1,
    ),
    Case(
        "argmax",
        ("N", "M"),
        (("x", "N M"), ("y", "N")),
        """
    %t = tensor.read %x
    %i = tensor.argreduce %t {fn = "maximum", axis = 1} : tensor<N x i64>
    %f = arith.cast %i : tensor<N x f32>
    tensor.write %f, %y""",
        1,
    ),
    Case(
        "transpose_in_place_of_copy",
        ("N",),
        (("x", "N N"),),
        """
    %t = tensor.read %x
    %n = func.size {symbol = "N"}
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    %u = tensor.view %t, [%0, %0], [%n, %n], [%1, %1] {axes = [1, 0]} : tensor<N x N x f32>
    %v = arith.add %t, %u
    tensor.write %v, %x""",
        0,
    ),
    Case(
        "transpose",
        ("N", "M"),
        (("x", "N M"), ("y", "M N")),
        """
    %t = tensor.read %x
    %n = func.size {symbol = "N"}
    %m = func.size {symbol = "M"}
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    %u = tensor.view %t, [%0, %0], [%n, %m], [%1, %1] {axes = [1, 0]} : tensor<M x N x f32>
    tensor.write %u, %y""",
        1,
    ),
    Case(
        "steps",
        ("N",),
        (("x", "N"), ("y", "N")),
        """
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    %3 = arith.constant {value = 3} : i64
    %a = tensor.read %x
    %r = scf.for %0, %3, %1, [%a] : tensor<N x f32> {
    ^(%i: i64, %u: tensor<N x f32>):
      %w = arith.mul %u, %a
      %z = arith.add %w, %u
      scf.yield %z
    }
    tensor.write %r, %y""",
        1,
    ),
    Case(
        "convolution",
        ("N", "C", "H", "W", "F"),
        (("x", "N C H W"), ("k", "F C 3 3"), ("y", "N F (H-2) (W-2)")),
        CONVOLUTION.replace("INIT", "%z"),
        2,
    ),
    Case(
        "convolution_added",
        ("N", "C", "H", "W", "F"),
        (("x", "N C H W"), ("k", "F C 3 3"), ("y", "N F (H-2) (W-2)")),
        CONVOLUTION.replace("INIT", ""),
        2,
    ),
    contract("ij,jk->ik", "N K", "K M", "N M", "N K M"),
    contract("ij,kj->ik", "N K", "M K", "N M", "N K M"),
    contract("ji,jk->ik", "K N", "K M", "N M", "N K M"),
    contract("bij,bjk->bik", "B N K", "B K M", "B N M", "B N K M"),
    contract("ij,j->i", "N K", "K", "N", "N K"),
    contract("i,i->", "K", "K", "", "K"),
    contract("i,j->ij", "N", "M", "N M", "N M"),
]


def awkward(case: Case) -> list[dict[str, int]]:
    if case.name == "transpose":
        return [{"N": 1, "M": 1}, {"N": 33, "M": 5}, {"N": 40, "M": 66}, {"N": 0, "M": 3}]
    if case.name.startswith("convolution"):
        shapes = ((1, 1, 3, 3, 1), (1, 2, 4, 9, 9), (2, 1, 3, 16, 3), (1, 1, 3, 6, 0), (1, 0, 3, 9, 2))
        return [dict(zip(case.sizes, shape, strict=True)) for shape in shapes]
    ones = dict.fromkeys(case.sizes, 4)
    many = [
        {**ones, **dict(zip(case.sizes, values, strict=False))} for values in ((3, 5, 7, 4), (9, 6, 10, 3))
    ]
    least, empty = dict.fromkeys(case.sizes, 1), dict.fromkeys(case.sizes, 0)
    if "B" in case.sizes:
        many = [{**ones, "B": 2, "N": 5, "K": 3, "M": 9}]
    return [least, *many] + ([] if case.name in ("softmax", "argmax") else [empty])


def close(got: np.ndarray, want: np.ndarray) -> bool:
    return np.allclose(got, want, rtol=2e-5, atol=2e-5, equal_nan=True)


def spelled(case: Case) -> str:
    return case.text().replace("(H-2)", "(H - 2)").replace("(W-2)", "(W - 2)")


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_every_stage_keeps_the_meaning(case: Case) -> None:
    for seed, values in enumerate(awkward(case)):
        want = case.arrays(values, seed)
        module = parse(spelled(case))
        interpret(module, case.name, want, values)
        for stage in STAGES:
            run_passes(module, parse_pipeline(stage))
            assert not verify(module), (stage, verify(module))
            for reverse in {False, stage == STAGES[-1]}:
                got = case.arrays(values, seed)
                interpret(module, case.name, got, values, reverse_parallel=reverse)
                for a, b in zip(got, want, strict=True):
                    assert close(a, b), (stage, values, reverse)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All cases as one translation unit, compiled once."""
    modules = []
    for case in CASES:
        module = parse(spelled(case))
        run_passes(module, parse_pipeline(",".join(STAGES)))
        modules.append(module)
    path = tmp_path_factory.mktemp("structured") / "cases.so"
    build_shared(emit_cpp(modules, "cases.ir").text, path, default_toolchain(), BuildOptions())
    return ctypes.CDLL(str(path))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_compiled_code_keeps_the_meaning(case: Case, library: ctypes.CDLL) -> None:
    for seed, values in enumerate(awkward(case)):
        want, got = case.arrays(values, seed), case.arrays(values, seed)
        interpret(parse(spelled(case)), case.name, want, values)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in got]
        sizes = [ctypes.c_int64(values[s]) for s in case.sizes]
        assert getattr(library, case.name)(*pointers, *sizes, None) == 0
        for a, b in zip(got, want, strict=True):
            assert close(a, b), values
