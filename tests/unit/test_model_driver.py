# SPDX-License-Identifier: Apache-2.0
"""The driver of the model: builds, arguments, determinism, refusals."""

from __future__ import annotations

import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from pyasc.model.arguments import BadArgument, parse_argument
from pyasc.model.build import BuildError, argv_compiler, build_kernel, kernel_entries
from pyasc.model.driver import Array, GlobalMemory, ModelError, Scalar, Struct, Workspace, run
from pyasc.model.soc import UnknownSoc, describe, runnable, soc_names
from pyasc.runtime.toolchain import default_toolchain
from tests.compilers import needs_compiler
from tests.unit.model_support import (
    REFERENCE,
    built,
    cache_folder,
    clean,
    kinds,
    poisoned,
    reference,
    source,
)

pytestmark = needs_compiler
ADD = REFERENCE / "ascendc" / "add_half.cpp"


def _add_arguments(n: int) -> list[Array | Scalar]:
    x, y = (np.arange(2 * n) % 1000).reshape(2, n).astype(np.float16)
    return [source(x), source(y), poisoned(n, np.float16), Scalar(np.uint64(n))]


def _write(folder: Path, body: str, name: str = "k") -> Path:
    path = folder / f"{name}.cpp"
    path.write_text(
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        f'extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR o)\n{{\n{body}\n}}\n'
    )
    return path


def _run(path: Path, **options: float) -> list[str]:
    kernel = build_kernel(path, cache_folder(), argv_compiler(default_toolchain().library_argv))
    result = run(kernel, [source(np.ones(64, np.float32)), poisoned(64, np.float32)], **options)
    return [str(finding) for finding in result.findings]


def test_a_second_build_is_a_look_up() -> None:
    def refuse(_: object) -> None:
        raise AssertionError("compiled again")

    reference("add_half")
    build_kernel(ADD, cache_folder(), refuse)


def test_the_callers_arrays_stay_as_they_are() -> None:
    out = np.full(100, 7, np.float16)
    arguments = [*_add_arguments(100)[:2], Array(out), Scalar(np.uint64(100))]
    result = run(reference("add_half"), arguments)
    assert (out == 7).all()
    assert (result.outputs[0] != 7).any()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_seed_orders_cores_and_changes_nothing_else(seed: int) -> None:
    first = run(reference("add_half"), _add_arguments(5000), blocks=5, seed=seed)
    second = run(reference("add_half"), _add_arguments(5000), blocks=5)
    assert (first.outputs[0] == second.outputs[0]).all()
    assert first.predicted_cycles == second.predicted_cycles


def test_without_checks_the_result_is_the_same() -> None:
    checked = run(reference("add_half"), _add_arguments(5000))
    unchecked = run(reference("add_half"), _add_arguments(5000), check=False)
    assert (checked.outputs[0] == unchecked.outputs[0]).all()


def test_argument_count_and_sizes_are_checked() -> None:
    with pytest.raises(ModelError, match="takes 4 arguments, 3 were given"):
        run(reference("add_half"), _add_arguments(10)[:3])
    with pytest.raises(ModelError, match="argument 3 has 8 bytes in the kernel, 4 were given"):
        run(reference("add_half"), [*_add_arguments(10)[:3], Scalar(np.uint32(10))])
    with pytest.raises(ModelError, match="blocks is 0"):
        run(reference("add_half"), _add_arguments(10), blocks=0)


def test_several_kernels_need_a_name() -> None:
    with pytest.raises(ModelError, match="name one of matmul_f16_f32, matmul_f16_f16"):
        run(reference("matmul_f16"), [])
    with pytest.raises(ModelError, match="no kernel 'other'"):
        run(reference("matmul_f16"), [], entry="other")


def test_compile_errors_show_the_compilers_words(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="Hypot"):
        _run(_write(tmp_path, "    LocalTensor<float> a;\n    Hypot(a, a, a, 8);"))
    empty = tmp_path / "empty.cpp"
    empty.write_text("int x;\n")
    with pytest.raises(BuildError, match="no kernel found"):
        build_kernel(empty, cache_folder(), argv_compiler(default_toolchain().library_argv))


def test_kernel_kinds_by_qualifier() -> None:
    text = (
        'extern "C" __global__ __aicore__ void a(GM_ADDR x) {}\nextern "C" __vector__ void b(GM_ADDR x) {}\n'
        'extern "C" __global__ __mix__(1, 2) void c(GM_ADDR x) {}\nextern "C" __cube__ __aicore__ void d() {}\n'
    )
    assert [(entry.name, entry.kind) for entry in kernel_entries(text)] == [
        ("a", 6),
        ("b", 0),
        ("c", 5),
        ("d", 1),
    ]


def test_raw_pointers_are_caught_by_the_guard_zones(tmp_path: Path) -> None:
    findings = _run(_write(tmp_path, "    GetBlockIdx();\n    ((__gm__ float*)o)[64] = 1.0f;", "raw"))
    assert any("overwritten past the model" in text for text in findings)


def test_python_lines_come_from_comments(tmp_path: Path) -> None:
    body = "    // demo.py:14\n    SetFlag<HardEvent::V_S>(0);"
    assert any("k.cpp:6 from demo.py:14: event" in text for text in _run(_write(tmp_path, body)))


def test_printf_is_kept(tmp_path: Path) -> None:
    kernel = build_kernel(
        _write(tmp_path, '    printf("block %d\\n", (int)GetBlockIdx());', "say"),
        cache_folder(),
        argv_compiler(default_toolchain().library_argv),
    )
    result = run(kernel, [source(np.ones(4, np.float32)), poisoned(4, np.float32)], blocks=2)
    assert result.printed == "block 0\nblock 1\n"


def test_writing_a_read_only_array_is_found() -> None:
    arguments = _add_arguments(100)
    arguments[2] = Array(np.zeros(100, np.float16), read_only=True)
    assert kinds(run(reference("add_half"), arguments)) == {"gm-bounds"}


def test_socs() -> None:
    assert {"Ascend910B1", "Ascend910B4", "Ascend910_9391", "Ascend310P3", "Ascend950PR_9599"} <= set(
        soc_names()
    )
    assert describe("ascend910b3").vector_cores == 40
    assert runnable("910B1").name == "Ascend910B1"
    with pytest.raises(UnknownSoc, match="the model runs architecture 2201 only"):
        runnable("Ascend310P3")
    with pytest.raises(UnknownSoc, match="no SoC is called 'Ascend1'"):
        describe("Ascend1")
    assert all(origin for origin in describe().origins.values())


@pytest.mark.parametrize("soc", ["Ascend910B3", "Ascend910B4", "Ascend910_9362"])
def test_every_2201_soc_runs(soc: str) -> None:
    clean(run(reference("add_half"), _add_arguments(5000), blocks=40, soc=soc))


def test_argument_texts(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6.0))
    assert parse_argument("t=u32:8,u32:64,f32:1e-5")[1] == Struct(
        (np.uint32(8), np.uint32(64), np.float32(1e-5))
    )
    assert parse_argument("n=u64:0x10") == ("n", Scalar(np.uint64(16)))
    assert parse_argument("ws=poison:4096") == ("ws", Workspace(4096, name="ws"))
    arrays = [
        parse_argument(text)[1] for text in ("y=zeros:float32:2x3", "o=poison:int32:5", f"x={tmp_path}/x.npy")
    ]
    assert [(a.data.shape, a.data.dtype.name, a.defined) for a in arrays if isinstance(a, Array)] == [
        ((2, 3), "float32", True),
        ((5,), "int32", False),
        ((6,), "float64", True),
    ]


@pytest.mark.parametrize("text", ["x", "=3", "n=u99:1", "y=zeros:float32", "n=u8:300", "x=nothing.npy"])
def test_bad_argument_texts(text: str) -> None:
    with pytest.raises(BadArgument):
        parse_argument(text)


def test_a_crashing_kernel_ends_its_core_only(tmp_path: Path) -> None:
    wild = "    GetBlockIdx();\n    *(volatile int*)8 = 1;"
    assert any("follows a bad pointer" in text for text in _run(_write(tmp_path, wild, "wild")))
    deep = "    volatile char a[1 << 20];\n    GetBlockIdx();\n    for (int i = 0; i < (1 << 20); i += 64) a[i] = 1;"
    assert any("out of stack" in text for text in _run(_write(tmp_path, deep, "deep")))
    clean(run(reference("add_half"), _add_arguments(100)))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a division by zero is no fault on this processor")
def test_a_kernel_that_divides_by_zero_ends_its_core_only(tmp_path: Path) -> None:
    divide = "    volatile int zero = GetBlockIdx();\n    volatile int x1 = 7 / zero;"
    assert any(
        "crash: the kernel divides by zero" in text for text in _run(_write(tmp_path, divide, "divide"))
    )
    clean(run(reference("add_half"), _add_arguments(100)))


def test_an_endless_kernel_is_given_up(tmp_path: Path) -> None:
    assert any(
        "timeout" in text
        for text in _run(_write(tmp_path, "    for (;;) GetBlockIdx();", "endless"), seconds=1)
    )


def test_outputs_left_unwritten_are_found() -> None:
    arguments = _add_arguments(100)
    arguments[3] = Scalar(np.uint64(90))
    result = run(reference("add_half"), arguments)
    assert [f.message for f in result.findings] == ["output[90] to [99] left unwritten, 10 of 100 elements"]
    arguments[2] = Array(np.zeros(100, np.float16), defined=False, partial=True)
    clean(run(reference("add_half"), arguments))


def test_memory_keeps_contents_and_definedness_across_launches() -> None:
    x = GlobalMemory.holding(np.arange(100, dtype=np.float16), "x", writable=False)
    total = GlobalMemory(200, "total")
    add = [x, x, total, Scalar(np.uint64(90))]
    clean(run(reference("add_half"), add))
    again = [total, x, poisoned(100, np.float16), Scalar(np.uint64(100))]
    assert kinds(run(reference("add_half"), again)) == {"undefined"}
    clean(run(reference("add_half"), [*add[:3], Scalar(np.uint64(100))]))
    out = clean(run(reference("add_half"), again)).outputs[0]
    assert (out == 3 * np.arange(100, dtype=np.float16)).all()
    assert (total.array(np.float16, (100,)) == 2 * np.arange(100)).all()


def test_the_reserved_part_of_ub_can_be_taken_back(tmp_path: Path) -> None:
    body = "    TPipe pipe;\n    TBuf<TPosition::VECCALC> b;\n    pipe.InitBuffer(b, 196352);"
    path = _write(tmp_path, body, "large")
    assert any("capacity" in text for text in _run(path))
    assert not any("capacity" in text for text in _run(path, reserved_ub=False))


def test_scalar_writes_are_cleaned_where_the_build_flushes_nothing(tmp_path: Path) -> None:
    body = "    GlobalTensor<float> g;\n    g.SetGlobalBuffer((__gm__ float*)o);\n    g.SetValue(0, 1.0f);\n"
    clean = "    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(g);"
    for name, text, flushed, expected in (
        ("left", body, False, ["cache-line"]),
        ("flushed", body, True, []),
        ("cleaned", body + clean, False, []),
    ):
        source = f'#include "kernel_operator.h"\nusing namespace AscendC;\nextern "C" __global__ __aicore__ void {name}'
        path = tmp_path / f"{name}.cpp"
        path.write_text(f"{source}(GM_ADDR o)\n{{\n    TPipe pipe;\n{text}\n}}\n")
        result = run(built(path), [Array(np.zeros(1, np.float32))], flushed=flushed)
        assert [finding.kind for finding in result.findings] == expected


def test_threads_may_launch_at_once() -> None:
    expected = run(reference("add_half"), _add_arguments(3000)).outputs[0]
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(run, reference("add_half"), _add_arguments(3000), blocks=3) for _ in range(20)]
        assert all((job.result().outputs[0] == expected).all() for job in jobs)
