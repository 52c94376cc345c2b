# SPDX-License-Identifier: Apache-2.0
"""The Kernel object: specialisation, freshness, mapping over arrays, results, options, and how errors show."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import traceback
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.runtime.kernel import Kernel

N = asc.dims("N")


@asc.kernel
def scale(x: asc.float32[N], out: asc.float32[N], factor: float = 2.0):
    """Scales."""
    for i in asc.parallel_for(0, N):
        out[i] = x[i] * factor


@asc.kernel
def fused(x: asc.float32, y: asc.float32):
    return x * y + 1.0


@asc.kernel
def halves(x: asc.int32):
    return x // 2, x % 2


@asc.kernel
def double(x: asc.tensor):
    return x + x


@asc.kernel
def power(x: asc.float32[N], k: asc.constexpr = 2, *, out: asc.float32[N]):
    for i in range(N):
        result = 1.0
        for _ in asc.unroll(range(k)):
            result *= x[i]
        out[i] = result


@asc.kernel
def rows(x: asc.float32[..., 3]) -> asc.float32[..., 3]:
    return x * 2.0


@asc.kernel
def both(x: asc.float32[N], y: asc.float32[N]):
    y[0] = 7.0
    return x + 1.0, asc.sum(x)


@asc.kernel
def pick(x: asc.float32[N], i: int) -> asc.float32:
    return x[i]


@asc.kernel(debug=True)
def noisy(x: asc.float32[N]):
    asc.assert_shape(x, (2,))
    for i in range(N):
        asc.print(f"x[{i}] = {x[i]}")


FACTOR = 2.0


@asc.func
def by_factor(value):
    return value * FACTOR


@asc.kernel
def scale_by_global(x: asc.float32[N], out: asc.float32[N]):
    for i in range(N):
        out[i] = by_factor(x[i])


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """One unit for what most tests here launch."""
    vector = np.zeros(2, np.float32)
    asc.compile(
        [
            scale,
            fused,
            (fused, vector, 1.0),
            (fused, vector, vector),
            pick,
            both,
            (halves, np.zeros(1, np.int32)),
        ]
    )


def f32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


def test_it_looks_like_the_function() -> None:
    assert isinstance(scale, Kernel)
    assert scale.__name__ == "scale" and scale.__doc__ == "Scales." and scale.__module__ == __name__
    assert repr(scale) == "<kernel scale>"
    assert [p.name for p in scale.signature.parameters] == ["x", "out", "factor"]


def test_its_signature_reads_as_it_was_written() -> None:
    assert str(scale.signature) == "(x: float32[N], out: float32[N], factor: float = 2.0)"
    assert str(rows.signature) == "(x: float32[..., 3]) -> float32[..., 3]"


def test_py_func_is_the_function_in_plain_python() -> None:
    assert fused.py_func(2, 3) == 7
    assert by_factor(3) == 6 and by_factor.py_func(3) == 6


def test_defaults_and_keywords() -> None:
    x, out = f32(1, 2), f32(0, 0)
    scale(x, out)
    assert out.tolist() == [2, 4]
    scale(x=x, factor=3, out=out)
    assert out.tolist() == [3, 6]


def test_one_specialisation_serves_every_size() -> None:
    before = scale.cache_info()
    for n in (1, 2, 3, 100):
        scale(np.ones(n, np.float32), np.zeros(n, np.float32))
    assert scale.cache_info() == before


def test_a_specialisation_for_each_dtype_and_rank() -> None:
    before = double.cache_info().specialisations
    for array in (np.ones(2, np.int16), np.ones((2, 2), np.int16), np.ones(2, np.float64)):
        result = double(array)
        assert result.dtype == array.dtype and np.array_equal(result, array + array)
        double(array)
    assert double.cache_info().specialisations == before + 3


def test_compile_time_values_are_part_of_the_key() -> None:
    x, out = f32(2, 3), f32(0, 0)
    for k, expected in ((None, [4, 9]), (3, [8, 27]), (0, [1, 1]), (True, [2, 3])):
        power(x, out=out) if k is None else power(x, k, out=out)
        assert out.tolist() == expected


def test_a_compile_time_value_has_to_be_hashable() -> None:
    with pytest.raises(
        asc.LaunchError, match="`k` is a compile-time value and so must be hashable; list is not"
    ):
        power(f32(1), [1], out=f32(1))


def test_an_optional_parameter_may_be_left_out() -> None:
    @asc.kernel
    def biased(x: asc.float32[N], bias=None):
        if bias is None:
            return x * 2.0
        return x + bias

    assert biased(f32(1, 2)).tolist() == [2, 4]
    assert biased(f32(1, 2), f32(10, 20)).tolist() == [11, 22]
    assert biased(f32(1, 2), 5.0).tolist() == [6, 7]
    with pytest.raises(asc.KernelTypeError, match="got str"):
        biased(f32(1, 2), "much")


def test_any_leading_dimensions() -> None:
    for shape in ((3,), (2, 3), (2, 0, 3)):
        assert rows(np.ones(shape, np.float32)).shape == shape
    with pytest.raises(asc.LaunchError, match="extent 1 is 4, expected 3"):
        rows(np.ones((2, 4), np.float32))


def test_arrays_in_place_and_results_together() -> None:
    y = f32(0, 0)
    result, total = both(f32(1, 2), y)
    assert y[0] == 7 and result.tolist() == [2, 3] and total == 3 and type(total) is np.float32


def test_scalars_give_a_scalar() -> None:
    result = fused(2.0, 3.0)
    assert result == 7 and type(result) is np.float32


@pytest.mark.parametrize("value", [1, True, np.float64(1), np.int32(1)])
def test_an_int_is_refused_before_anything_is_compiled(value: object) -> None:
    before = fused.cache_info()
    with pytest.raises(asc.KernelTypeError, match=r"fused: parameter `x` takes asc\.float32, got"):
        fused(value, 2.0)
    assert fused.cache_info() == before


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((4,), (4,)), ((3, 1), (4,)), ((), (5,)), ((1,), (2, 3)), ((0,), (1,)), ((2, 1, 3), (4, 1)), ((), ()),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_mapped_over_arrays_as_a_ufunc_is(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random(left).astype(np.float32), rng.random(right).astype(np.float32)
    result = fused(x, y)
    assert np.shape(result) == np.broadcast_shapes(left, right)
    assert np.array_equal(result, x * y + np.float32(1))


def test_mapped_with_numbers_and_strides() -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    assert np.array_equal(fused(x[:, ::-2], 3.0), x[:, ::-2] * 3 + 1)
    assert np.array_equal(fused(2.0, x.T), 2 * x.T + 1)
    assert np.array_equal(fused(x.astype(np.float16), 1.0), x + 1)


def test_mapped_with_several_results() -> None:
    quotient, rest = halves(np.array([[7, -7], [4, -3]], np.int32))
    assert quotient.tolist() == [[3, -4], [2, -2]] and rest.tolist() == [[1, 1], [0, 1]]


def test_mapped_over_another_dtype_is_refused() -> None:
    with pytest.raises(
        asc.KernelTypeError, match=r"takes asc\.float32 or arrays of it, got an array of int64"
    ):
        fused(np.ones(2, np.int64), 1.0)


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(asc.LaunchError, match=r"the shapes of `x` \(2,\), `y` \(3,\) do not broadcast"):
        fused(f32(1, 2), f32(1, 2, 3))


def test_a_changed_global_recompiles(monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = f32(1, 2), f32(0, 0)
    scale_by_global(x, out)
    assert out.tolist() == [2, 4]
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    scale_by_global(x, out)
    assert out.tolist() == [5, 10]


def test_a_changed_closure_value_recompiles() -> None:
    amount = 1.0

    @asc.kernel
    def shifted(x: asc.float32[N]) -> asc.float32[N]:
        return x + amount

    assert shifted(f32(1)).tolist() == [2]
    amount = 4.0
    assert shifted(f32(1)).tolist() == [5]
    assert shifted.cache_info() == (1, 2)


def test_a_failure_names_kernel_line_and_values() -> None:
    assert pick(f32(1, 2), 1) == 2 and pick(f32(1, 2), -1) == 2
    with pytest.raises(IndexError) as failure:
        pick(f32(1, 2), 9)
    assert "9" in str(failure.value) and "test_kernel.py:" in str(failure.value)
    assert "return x[i]" in str(failure.value)


def test_debug_prints_reach_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    noisy(f32(0.5, 2))
    assert capsys.readouterr().out == "x[0] = 0.5\nx[1] = 2.0\n"
    with pytest.raises(AssertionError, match="expected size 2, got 3"):
        noisy(f32(1, 2, 3))


def test_lower_shows_every_level() -> None:
    levels = scale.lower()
    assert list(levels) == ["py", "loop", "structured", "cpu", "cpp", "tile", "ascend", "ascendc"]
    assert "py.load" in levels["py"] and "py.load" not in levels["cpu"]
    assert 'extern "C" int32_t scale(' in levels["cpp"] == scale.source("cpu")
    assert levels["ascendc"] == scale.source("ascend910b1")
    assert "tile." in levels["tile"] and "asc." in levels["ascend"]
    assert "// level loop" in str(levels)


def test_lower_says_why_a_level_is_missing() -> None:
    wide = asc.kernel_from_source(
        "import pyasc as asc\n@asc.kernel\ndef k(x: asc.float64[N]):\n    return x * 2\n"
    )
    assert "// " in wide.lower()["ascendc"] and "float64 elements" in wide.lower()["ascendc"]
    described = asc.kernel_from_source(
        "import pyasc as asc\n@asc.kernel\ndef k(x: asc.float32[N]):\n    return x * 2\n",
        target="ascend310p1",
    )
    assert "code is emitted for architecture 2201" in described.lower()["tile"]


def test_lower_takes_types_in_place_of_arguments() -> None:
    assert "ref<x_size0 x x_size1 x f16>" in double.lower(asc.float16[4, 4])["py"]
    with pytest.raises(asc.LaunchError, match="`x` needs an argument or a type"):
        double.lower()


def test_sources_for_ascend() -> None:
    assert "class KernelScale" in scale.source("ascend910b1")
    with pytest.raises(asc.UnsupportedError, match="code is emitted for architecture 2201"):
        scale.source("ascend310p3")
    with pytest.raises(asc.UnsupportedError, match="no target is called 'ascend1'"):
        scale.source("ascend1")


def test_a_kernel_of_a_text_that_is_not_executed() -> None:
    text = "import pyasc as asc\n@asc.kernel\ndef plus_one(x: asc.float32[N]) -> asc.float32[N]:\n    return x + 1.0\n"
    kernel = asc.kernel_from_source(text)
    assert repr(kernel) == "<kernel plus_one>" and kernel.py_func is None
    assert kernel(f32(1, 2)).tolist() == [2, 3]


def test_name_is_the_symbol() -> None:
    @asc.kernel(name="plus_two_f32")
    def plus_two(x: asc.float32[N]) -> asc.float32[N]:
        return x + 2.0

    assert "int32_t plus_two_f32(" in plus_two.source()
    with pytest.raises(asc.LaunchError, match=r"plus_two\(\) misses"):
        plus_two()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"precison": "strict"}, TypeError, "no option 'precison'; did you mean precision"),
        ({"precision": "fast"}, ValueError, "expected one of 'numpy', 'strict', 'mixed', 'auto'"),
        ({"debug": 1}, TypeError, "debug=1: expected a bool"),
        ({"grid": 0}, ValueError, "expected a number of cores"),
        ({"name": "a b"}, ValueError, "expected a name that C can use"),
        ({"autotune": True}, ValueError, "does not search for schedules"),
        ({"target": "ascend910b11"}, ValueError, "target='ascend910b11': expected ascend910b1"),
    ],
)
def test_options_are_checked(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        asc.kernel(**options)


def test_only_functions_are_decorated() -> None:
    with pytest.raises(TypeError, match=r"@asc\.kernel decorates a function"):
        asc.kernel(3)  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_an_error_shows_none_of_the_compilers_frames() -> None:
    @asc.kernel
    def wrong(x: asc.float32[N]) -> asc.float32[N]:
        return x + missing_name  # noqa: F821

    with pytest.raises(asc.CompileError, match="missing_name") as failure:
        wrong(f32(1))
    frames = traceback.extract_tb(failure.value.__traceback__)
    assert [Path(frame.filename).name for frame in frames] == ["test_kernel.py", "kernel.py"]


def test_asc_compile_reports_the_mistakes_of_all_kernels() -> None:
    @asc.kernel
    def first(x: asc.float32[N]) -> asc.float32[N]:
        return x + one_missing  # noqa: F821

    @asc.kernel
    def second(x: asc.float32[N]) -> asc.float32[N]:
        return x + two_missing  # noqa: F821

    with pytest.raises(asc.CompileError) as failure:
        asc.compile([first, scale, second])
    assert "one_missing" in str(failure.value) and "two_missing" in str(failure.value)


def test_asc_compile_leaves_nothing_for_the_first_call() -> None:
    @asc.kernel
    def third(x: asc.int64[N]) -> asc.int64[N]:
        return x + 3

    @asc.kernel(name="third")
    def of_the_same_name(x: asc.int64[N]) -> asc.int64[N]:
        return x * 3

    asc.compile([third, of_the_same_name])
    before = third.cache_info()
    x = np.array([5, 6])
    assert third(x).tolist() == [8, 9] and of_the_same_name(x).tolist() == [15, 18]
    assert third.cache_info() == before == (1, 1)


def test_many_threads_may_make_the_first_call_at_once() -> None:
    @asc.kernel
    def raced(x: asc.float32[N]) -> asc.float32[N]:
        return x * 11.0

    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(raced(f32(2)).tolist())) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[22]] * 20 and raced.cache_info() == (1, 1)


def test_devices_that_are_not_there_say_what_to_do() -> None:
    with pytest.raises(asc.DeviceMissing, match=r'use asc\.set_device\("cpu"\)'):
        asc.set_device("npu")
    with pytest.raises(asc.DeviceMissing, match="there are npu, cpu, model; did you mean 'cpu'"):
        asc.set_device("cpus")
    assert asc.current_device().name == "cpu"


def test_a_device_for_a_block() -> None:
    with asc.device("cpu") as chosen:
        assert asc.current_device() is chosen
        assert fused(1.0, 1.0) == 2


def test_the_device_of_the_environment(tmp_path: Path) -> None:
    code = "import pyasc as asc; print(asc.current_device().name)"
    env = os.environ | {"PYASC_DEVICE": "npu"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert (
        done.returncode == 1
        and "DeviceMissing: the npu device is not available: CANN was not found" in done.stderr
    )


def test_every_stage_is_dumped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYASC_DUMP", str(tmp_path))

    @asc.kernel
    def dumped(x: asc.float32[N]) -> asc.float32[N]:
        return x * 13.0

    dumped(f32(1))
    files = sorted(path.name for path in (tmp_path / "dumped").iterdir())
    assert files[0] == "00-py.ir" and files[1] == "01-inline.ir" and files[-1] == "99-kernel.cpp"


def test_a_warm_launch_is_quick() -> None:
    """Counted, as time depends on the machine: 6 functions in Python and 10 in C take a launch under 12 µs."""
    x, out = np.zeros(16, np.float32), np.zeros(16, np.float32)
    scale(x, out)
    counts = {"call": 0, "c_call": 0}

    def watch(frame: types.FrameType, event: str, argument: object) -> None:
        if event in counts:
            counts[event] += 1

    sys.setprofile(watch)
    try:
        scale(x, out)
    finally:
        sys.setprofile(None)
    assert counts["call"] <= 6
    assert counts["c_call"] <= 12


def test_unchecked_drops_the_checks() -> None:
    def gather(x: asc.float32[N], index: asc.int64[N], out: asc.float32[N]):
        for i in range(N):
            out[i] = x[index[i]]

    assert "IndexError" in str(asc.kernel(gather).lower()["loop"])
    assert "IndexError" not in str(asc.kernel(unchecked=True)(gather).lower()["loop"])


def test_one_core_means_the_calling_thread() -> None:
    def spread(x: asc.float32[N]):
        for i in asc.parallel_for(0, N):
            x[i] = 1.0

    assert "pa_parallel" in asc.kernel(spread).source()
    assert "pa_parallel" not in asc.kernel(grid=1)(spread).source()


def test_names_that_launchers_need_are_refused() -> None:
    @asc.kernel
    def unlucky(x: asc.float32[N], _p_x: asc.float32[N]):
        _p_x[0] = x[0]

    with pytest.raises(asc.LaunchError, match="a parameter cannot be called `_p_x`"):
        unlucky(f32(1), f32(2))


def test_a_kernel_is_pickled_by_name() -> None:
    assert pickle.dumps(scale).find(b"scale") > 0 and copy.deepcopy(scale) is scale


def test_a_missing_compiler_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    @asc.kernel
    def uncompiled(x: asc.float32[N]) -> asc.float32[N]:
        return x * 17.0

    monkeypatch.setenv("PYASC_CXX", "no-such-compiler")
    with pytest.raises(asc.ToolchainMissing, match="pip install ziglang") as failure:
        uncompiled(f32(1))
    assert len(traceback.extract_tb(failure.value.__traceback__)) == 2
    monkeypatch.delenv("PYASC_CXX")
    assert uncompiled(f32(1)).tolist() == [17]


def test_a_compiler_that_fails_shows_what_it_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @asc.kernel
    def unbuilt(x: asc.float32[N], out: asc.float32[N]):
        for i in range(N):
            out[i] = x[i] * 19.0

    script = tmp_path / "cc.sh"
    script.write_text(
        '#!/bin/sh\ncase "$*" in *--version*) echo "cc 1";; *) echo "cc: on fire" >&2; exit 1;; esac\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PYASC_CXX", str(script))
    out = f32(5)
    with pytest.raises(asc.BuildError) as failure:
        unbuilt(f32(1), out)
    assert "cc: on fire" in str(failure.value) and str(script) in str(failure.value)
    assert failure.value.source is not None and "unbuilt" in failure.value.source.read_text()
    assert out.tolist() == [5]


@pytest.mark.parametrize(
    ("loop", "quick"),
    [
        ("for i in range(N): x[i] += 1.0", True),
        ("for i in range(N):\n        for j in range(i, N - 1): x[j] += x[i]", True),
        ("for i in range(n): x[0] += 1.0", False),
        ("for i in range(1000000): x[0] += 1.0", False),
        ("for i in range(int(x[0])): x[0] += 1.0", False),
        ("while x[0] > 1.0: x[0] = x[0] * 0.5", False),
    ],
)
def test_only_launches_of_bounded_time_may_keep_the_interpreters_lock(loop: str, quick: bool) -> None:
    from pyasc.runtime.cpu import is_quick_on_little_data

    text = f"import pyasc as asc\n@asc.kernel\ndef k(x: asc.float32[N], n: int):\n    {loop}\n"
    kernel = asc.kernel_from_source(text)
    module = kernel.specialise(kernel.types_of()).lowered("O0").module
    assert is_quick_on_little_data(module) is quick


def test_threads_launch_one_kernel_on_arrays_of_their_own() -> None:
    failures: list[str] = []

    def work(seed: int) -> None:
        for n in (1, 16, 5000, 20000):
            x, out = np.full(n, seed, np.float32), np.zeros(n, np.float32)
            for _ in range(20):
                scale(x, out, 3.0)
                try:
                    pick(x, n + seed)
                except IndexError as error:
                    if str(n + seed) not in str(error):
                        failures.append(str(error))
            if not (out == 3 * seed).all():
                failures.append(f"{seed} {n}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
