# SPDX-License-Identifier: Apache-2.0
"""Every function of the number table and every conversion gives the same bits in vectors and one by one."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from pyasc.codegen.cpp.emitter import emit_cpp
from pyasc.ir import dtypes
from pyasc.ir.dialects import vec
from pyasc.ir.dialects.func import Module
from pyasc.ir.numbers_table import TABLE
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify
from pyasc.passes.base import run_passes
from pyasc.passes.pipeline_parser import parse_pipeline
from pyasc.runtime.build import BuildOptions, build_shared
from pyasc.runtime.toolchain import default_toolchain

DTYPES = ("f32", "f64", "i8", "u16", "i64")
COUNT = 1037


@dataclass(frozen=True)
class Kernel:
    """One elementwise kernel: parameters' dtypes (the last is the result's) and the operations between them."""

    name: str
    dtypes: tuple[str, ...]
    body: str

    def module(self) -> Module:
        args = ", ".join(f"%p{i}: ref<N x {dtype}>" for i, dtype in enumerate(self.dtypes))
        loads = "\n".join(f"%x{i} = mem.load %p{i}, [%i]" for i in range(len(self.dtypes) - 1))
        last = len(self.dtypes) - 1
        module = parse(f"""func.module {{
          func.func {{symbol = "{self.name}", sizes = ["N"], written = [{last}]}} {{
          ^({args}):
            %n = func.size {{symbol = "N"}}
            %0 = arith.constant {{value = 0}} : i64
            %1 = arith.constant {{value = 1}} : i64
            scf.for %0, %n, %1, [] {{kind = "parallel", simd = true}} {{
            ^(%i: i64):
              {loads}
              {self.body}
              mem.store %r, %p{last}, [%i]
              scf.yield
            }}
            func.return
          }}
        }}""")
        assert not verify(module), verify(module)
        return module

    def arrays(self) -> list[np.ndarray]:
        return [_values(dtype, k) for k, dtype in enumerate(self.dtypes)]


def _values(dtype: str, seed: int) -> np.ndarray:
    rng, kind = np.random.default_rng(seed), np.dtype(dtypes.BY_NAME[dtype].numpy)
    if kind.kind == "f":
        special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-42, 3e9, -3e9, 2.5, 1e30]
        values = rng.standard_normal(COUNT) * np.exp(rng.uniform(-6, 6, COUNT))
        values[rng.integers(0, COUNT, 200)] = rng.choice(special, 200)
        return values.astype(kind)
    info = np.iinfo(kind)
    values = rng.integers(info.min, info.max, COUNT, dtype=kind, endpoint=True)
    small = rng.integers(0, 9, COUNT).astype(kind)
    return np.where(rng.random(COUNT) < 0.5, values, small)


def function_kernels() -> list[Kernel]:
    made: list[Kernel] = []
    for name, row in TABLE.items():
        for dtype in DTYPES:
            if dtypes.BY_NAME[dtype].kind not in row.kinds:
                continue
            args = ", ".join(f"%x{i}" for i in range(row.arity))
            if name == "select":
                body = "%c = arith.lt %x0, %x1\n%r = arith.select %c, %x1, %x0"
                made.append(Kernel(f"select_{dtype}", (dtype,) * 3, body))
            elif row.result == "bool":
                body = f"%c = arith.{name} {args}\n%d = arith.not %c\n%e = arith.xor %c, %d\n"
                body += f"%f = arith.and %e, %c\n%r = arith.cast %f : {dtype}"
                made.append(Kernel(f"{name}_{dtype}", (dtype,) * (row.arity + 1), body))
            else:
                made.append(
                    Kernel(f"{name}_{dtype}", (dtype,) * (row.arity + 1), f"%r = arith.{name} {args}")
                )
    return made


def cast_kernels() -> list[Kernel]:
    return [
        Kernel(f"cast_{source}_{target}", (source, target), f"%r = arith.cast %x0 : {target}")
        for source in DTYPES
        for target in DTYPES
        if source != target
    ]


KERNELS = [*function_kernels(), *cast_kernels()]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """All kernels as they are, and in vectors of 32 bytes."""
    directory: Path = tmp_path_factory.mktemp("functions")
    found: list[ctypes.CDLL] = []
    for name, pipeline in (("scalar", "cleanup"), ("vectors", "vectorise{vector_bytes=32},cleanup")):
        modules = [kernel.module() for kernel in KERNELS]
        for module in modules:
            run_passes(module, parse_pipeline(pipeline))
            stored = any(isinstance(op, vec.Store) for op in module.walk())
            assert stored == (name == "vectors")
        path = directory / f"{name}.so"
        build_shared(
            emit_cpp(modules, "functions.ir").text, path, default_toolchain(), BuildOptions(opt_level=1)
        )
        found.append(ctypes.CDLL(str(path)))
    return found[0], found[1]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_vectors_have_the_bits_of_scalars(kernel: Kernel, libraries: tuple[ctypes.CDLL, ctypes.CDLL]) -> None:
    results: list[np.ndarray] = []
    for library in libraries:
        arrays = kernel.arrays()
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        assert getattr(library, kernel.name)(*pointers, ctypes.c_int64(COUNT), None) == 0
        results.append(arrays[-1])
    scalar, vectors = results
    bits = f"u{scalar.itemsize}"
    both_nan = (scalar != scalar) & (vectors != vectors)
    different = np.flatnonzero((scalar.view(bits) != vectors.view(bits)) & ~both_nan)
    assert not different.size, [
        (a[i], scalar[i], vectors[i]) for a in kernel.arrays()[:1] for i in different[:3]
    ]
