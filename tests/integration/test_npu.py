# SPDX-License-Identifier: Apache-2.0
"""Objects for an Ascend SoC and the `npu` device, from end to end, with a STAND-IN for CANN (tests/standin)."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pyasc as asc
from pyasc.cli import main
from pyasc.model.build import argv_compiler, core_library
from pyasc.runtime.ascend import ascend_kernel
from pyasc.runtime.bisheng import build_device_object
from pyasc.runtime.cann import find_cann
from pyasc.runtime.device import DeviceMissing
from pyasc.runtime.device_object import read_device_object
from pyasc.runtime.npu import NpuDevice, NpuError
from pyasc.runtime.objects import ObjectError, read_modules
from pyasc.runtime.toolchain import BuildError, default_toolchain
from tests.compilers import compile_without_warnings, cxx, needs_compiler
from tests.standin.home import make_home
from tests.unit.model_support import cache_folder

pytestmark = needs_compiler

KERNELS = """\
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def scaled_add(x: asc.float16[N], y: asc.float32[N], s: asc.float16 = 2.0):
    return x * s + y.astype(asc.float16)


@asc.kernel
def gathered(x: asc.float32[N], i: asc.int32[M], o: asc.float32[M]):
    for k in range(M):
        o[k] = x[i[k]]


@asc.kernel
def softmax(x: asc.float32[R, C]):
    return asc.softmax(x)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    core = core_library(cache_folder(), argv_compiler(default_toolchain().library_argv))
    return make_home(tmp_path_factory.mktemp("stand-in-for-cann"), core)


@pytest.fixture(autouse=True)
def installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    return path


@asc.kernel
def softmax(x: asc.float32[R, C]):
    return asc.softmax(x)


@asc.kernel
def gathered(x: asc.float32[N], i: asc.int32[M], o: asc.float32[M]):
    for k in range(M):
        o[k] = x[i[k]]


def test_kernels_run_on_the_device() -> None:
    x = np.random.default_rng(0).standard_normal((3, 37)).astype(np.float32)
    with asc.device("npu"):
        np.testing.assert_allclose(softmax(x), np.exp(x) / np.exp(x).sum(1, keepdims=True), rtol=1e-5)


def test_a_check_that_fails_on_the_device_raises() -> None:
    x, o = np.arange(5, dtype=np.float32), np.zeros(2, np.float32)
    with asc.device("npu"):
        gathered(x, np.array([4, -1], np.int32), o)
        assert o.tolist() == [4, 4]
        with pytest.raises(IndexError, match="index 5 is out of range"):
            gathered(x, np.array([0, 5], np.int32), o)


def test_an_object_is_described_and_runs(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.o"
    assert main(["compile", str(source), "--target", "ascend910b1", "-o", str(output), "-v"]) == 0
    shown = capsys.readouterr().err
    assert shown.count("--cce-aicore-arch=dav-c220-vec") == 3 and "ld.lld -m aicorelinux -Ttext=0" in shown
    (module,) = read_modules(output)
    assert module.machine == "ascend910b1"
    assert [kernel.name for kernel in module.kernels] == ["scaled_add", "gathered", "softmax"]
    _compiles(output.with_suffix(".h"), *(output.with_name(f"out_{k.name}_host.cpp") for k in module.kernels))
    # A half is its bits, for the host as in the arguments of the entry.
    header = output.with_suffix(".h").read_text()
    assert "scaled_add_host(uint16_t s," in header and "uint16_t s;" in header
    library = asc.load(output)
    x, y = np.arange(9, dtype=np.float16), np.ones(9, np.float32)
    np.testing.assert_array_equal(library.scaled_add(x, y), (x * np.float16(2) + 1).astype(np.float16))
    with pytest.raises(IndexError, match=r"in kernel `gathered` on core 0, .*kernels.py:15"):
        library.gathered(y, np.array([9], np.int32), np.zeros(1, np.float32))
    code = main(
        ["run", str(output), "--kernel", "softmax", "--arg", "x=ones:float32:2x4", "--print", "result"]
    )
    assert code == 0 and "0.25 0.25" in capsys.readouterr().out


MIXED = """\
from __future__ import annotations

import pyasc as asc


@asc.kernel
def attention_weights(q: asc.float16[M, K], k: asc.float16[K, N]):
    return asc.softmax((q @ k).astype(asc.float32))


@asc.kernel
def product(a: asc.float16[M, K], b: asc.float16[K, N]):
    return a @ b
"""


def test_cube_and_mixed_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, output = tmp_path / "products.py", tmp_path / "products.o"
    source.write_text(MIXED)
    assert main(["compile", str(source), "--target", "ascend910b1", "-o", str(output), "-v"]) == 0
    shown = capsys.readouterr().err
    assert shown.count("dav-c220-cube") == 2 and shown.count("dav-c220-vec") == 1
    assert shown.count("-cce-enable-mix -D__MIX_CORE_MACRO__=1") == 2
    assert "void* hardware_sync;" in output.with_suffix(".h").read_text()
    library = asc.load(output)
    rng = np.random.default_rng(0)
    q, k = (rng.standard_normal(shape).astype(np.float16) for shape in ((5, 20), (20, 33)))
    expected = q.astype(np.float64) @ k
    np.testing.assert_allclose(library.product(q, k), expected, rtol=2e-3, atol=2e-3)
    e = np.exp(expected - expected.max(1, keepdims=True))
    np.testing.assert_allclose(library.attention_weights(q, k), e / e.sum(1, keepdims=True), atol=5e-3)


def _compiles(header: Path, *sources: Path) -> None:
    text = header.read_text()
    assert "typedef struct softmax_1_args" in text and "uint8_t s_padding[2];" in text
    for language in ("c", "c++"):
        compile_without_warnings([*cxx(), "-x", language], header)
    for source in sources:
        compile_without_warnings(cxx(), source)


def test_an_object_for_another_chip_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.o"
    argv = ["compile", str(source), "--kernel", "softmax", "--target", "ascend910b4", "-o", str(output)]
    assert main(argv) == 0
    assert main(["run", str(output), "--arg", "x=ones:float32:2x4"]) == 1
    assert "was compiled for ascend910b4, and this is ascend910b1" in capsys.readouterr().err
    monkeypatch.setenv("STAND_IN_SOC_NAME", "Ascend910B4")
    NpuDevice().load(read_device_object(output), output)
    monkeypatch.setenv("STAND_IN_SOC_NAME", "Ascend310P3")
    with pytest.raises(NpuError, match="this NPU is not supported"):
        NpuDevice().load(read_device_object(output), output)


def test_an_object_is_no_use_without_the_device(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.o"
    argv = ["compile", str(source), "--kernel", "softmax", "--target", "ascend910b1", "-o", str(output)]
    assert main(argv) == 0
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "nowhere"))
    with pytest.raises(DeviceMissing, match="nowhere, which is not a directory"):
        asc.load(output)


def test_objects_for_the_processor_are_told_apart(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.o"
    assert main(["compile", str(source), "--kernel", "gathered", "-o", str(output)]) == 0
    with pytest.raises(ObjectError, match="not an object for an Ascend SoC"):
        read_device_object(output)


def test_messages_of_the_compiler_name_python_lines(source: Path, tmp_path: Path) -> None:
    lowered = gathered.specialise(gathered.types_of()).lowered("ascend")
    kernel = ascend_kernel(lowered, line_comments=True)
    text = kernel.file.text.replace("iGm.GetValue", "iGm.GetVale")
    broken = replace(kernel, file=replace(kernel.file, text=text))
    assert gathered.py_func is not None
    line = gathered.py_func.__code__.co_firstlineno + 3
    with pytest.raises(BuildError, match=rf"test_npu.py:{line}: in Ascend C: error: .*GetVale"):
        build_device_object([broken], tmp_path / "out.o", find_cann())
    assert not (tmp_path / "out.o").exists()


def test_what_is_missing_is_told(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_NO_DEVICE", "1")
    assert "AscendCL finds no NPU" in NpuDevice().unavailable()
    monkeypatch.delenv("STAND_IN_NO_DEVICE")
    assert NpuDevice().unavailable() == ""
    bare = tmp_path / "cann"
    (bare / "bin").mkdir(parents=True)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(bare))
    assert "has no bisheng and no ccec" in NpuDevice().unavailable()
    shutil.copytree(home / "bin", bare / "bin", dirs_exist_ok=True)
    assert "AscendCL does not load (libascendcl.so" in NpuDevice().unavailable()


def test_the_toolchain_is_found_through_its_relatives(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCEND_HOME_PATH")
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", str(home))
    assert find_cann().compiler == home / "bin" / "bisheng"
