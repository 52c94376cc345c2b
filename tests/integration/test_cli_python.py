# SPDX-License-Identifier: Apache-2.0
"""The `pyasc` command on Python files, and `asc.load` of what it makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.cli import main

KERNELS = """
from __future__ import annotations
import pyasc as asc
import helper

@asc.kernel
def scale(x: asc.float32[N], s: asc.float32, out: asc.float32[N]):
    for i in asc.parallel_for(0, N):
        out[i] = helper.twice(x[i]) * s

@asc.kernel
def total(x: asc.float32[N]) -> asc.float32:
    return asc.sum(x)

@asc.kernel
def element(x: asc.int32[N], i: int) -> asc.int32:
    return x[i]
"""
HELPER = """
import pyasc as asc

@asc.func
def twice(v):
    return v + v

@asc.kernel
def elsewhere(x: asc.float32):
    return x
"""
OPEN = """
import pyasc as asc

@asc.kernel
def add(x, y, k: asc.constexpr):
    return x + y * k
"""
WRONG = """
from __future__ import annotations
import pyasc as asc

@asc.kernel
def first(x: asc.float32[N]):
    x[0] = y

@asc.kernel
def second(x: asc.float32[N]):
    x[0] = z
"""


@pytest.fixture
def kernels_py(tmp_path: Path) -> str:
    (tmp_path / "helper.py").write_text(HELPER)
    return written(tmp_path / "kernels.py", KERNELS)


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_compiles_the_kernels_that_the_file_defines(
    capsys: pytest.CaptureFixture[str], kernels_py: str, tmp_path: Path
) -> None:
    assert run(capsys, kernels_py, "-o", str(tmp_path / "k.o")) == (0, "", "")
    header = (tmp_path / "k.h").read_text()
    for name in ("scale", "total", "element"):
        assert f"int32_t {name}(" in header
    assert "elsewhere" not in header
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "helper.py", "k.h", "k.o", "kernels.py",
    ]  # fmt: skip


def test_load_gives_the_kernels_of_an_object(kernels_py: str, tmp_path: Path) -> None:
    assert main([kernels_py, "-o", str(tmp_path / "k.o")]) == 0
    library = asc.load(tmp_path / "k.o")
    assert list(library) == ["scale", "total", "element"]
    x, out = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    assert library.scale(x, 0.5, out) is None
    assert np.array_equal(out, x) and library["total"](x) == 10
    with pytest.raises(IndexError, match=r"in kernel `element`, .*kernels\.py:17"):
        library.element(np.zeros(2, np.int32), 5)
    with pytest.raises(asc.KernelTypeError, match="`x` takes float32 arrays"):
        library.total(np.zeros(2))
    with pytest.raises(
        asc.LaunchError, match="has the kernels scale, total, element; call one of them by name"
    ):
        library(x)
    with pytest.raises(AttributeError, match="has no kernel 'scales'"):
        library.scales


def test_runs_a_kernel_of_the_file(capsys: pytest.CaptureFixture[str], kernels_py: str) -> None:
    code, out, _ = run(capsys, "run", kernels_py, "--kernel", "total", "--arg", "x=ones:float32:2000")
    assert code == 0 and out == "result: float32 a number: 2000.\n"


def test_a_failure_in_a_kernel_is_a_failure_of_the_command(
    capsys: pytest.CaptureFixture[str], kernels_py: str
) -> None:
    arguments = ["--kernel", "element", "--arg", "x=zeros:int32:3", "--arg", "i=9"]
    code, _, err = run(capsys, "run", kernels_py, *arguments)
    assert code == 1 and err.startswith("error: IndexError: ") and "in kernel `element`" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("level", ["py", "loop", "cpu", "cpp"])
def test_shows_each_level(capsys: pytest.CaptureFixture[str], kernels_py: str, level: str) -> None:
    code, out, _ = run(capsys, "show", kernels_py, "--level", level, "--kernel", "scale")
    assert code == 0 and "scale" in out


def test_what_show_prints_can_be_compiled(
    capsys: pytest.CaptureFixture[str], kernels_py: str, tmp_path: Path
) -> None:
    for level in ("py", "loop", "cpu"):
        text = run(capsys, "show", kernels_py, "--level", level, "--kernel", "scale")[1]
        stage = written(tmp_path / f"{level}.ir", text)
        arguments = ["--arg", "x=ones:float32:3", "--arg", "s=4.0", "--arg", "out=zeros:float32:3"]
        code, out, _ = run(capsys, "run", stage, *arguments)
        assert code == 0 and out == "out: float32 3: [8. 8. 8.]\n"


def test_a_size_can_be_fixed(capsys: pytest.CaptureFixture[str], kernels_py: str) -> None:
    out = run(capsys, kernels_py, "--kernel", "scale", "--shape", "N=1024", "--emit", "ir=py")[1]
    assert "%x: ref<1024 x f32>" in out and "sizes" not in out


def test_open_parameters_need_types(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path / "open.py", OPEN)
    code, _, err = run(capsys, file, "--emit", "cpp")
    assert code == 1 and "`x` needs an argument or a type" in err and "--type x=float32[N,4]" in err
    types = ["--type", "x=float32[N,M]", "--type", "y=float", "--const", "k=3"]
    code, out, _ = run(capsys, file, "--emit", "cpp", *types)
    assert code == 0 and "int32_t add(const float* __restrict x, float y, float* __restrict out" in out


def test_all_mistakes_of_a_file_are_reported_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, err = run(capsys, written(tmp_path / "wrong.py", WRONG), "-o", str(tmp_path / "w.o"))
    assert code == 1 and "wrong.py:7:12" in err and "wrong.py:11:12" in err
    assert not (tmp_path / "w.o").exists() and not (tmp_path / "w.h").exists()


def test_a_file_without_kernels(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, written(tmp_path / "none.py", "x = 1\n"), "--emit", "cpp")
    assert code == 1 and "defines no kernels: decorate a function with @asc.kernel" in err


def test_an_exception_of_the_file_is_shown_as_such(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, err = run(
        capsys, written(tmp_path / "raises.py", "def f():\n    return 1 / 0\nf()\n"), "--emit", "cpp"
    )
    assert code == 1 and "could not be executed" in err and "ZeroDivisionError" in err
    assert 'raises.py", line 3' in err and "pyasc/cli" not in err and "bug" not in err


def test_the_command_works_as_a_process(kernels_py: str, tmp_path: Path) -> None:
    def pyasc(*arguments: str) -> Any:
        command = [sys.executable, "-m", "pyasc", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    assert pyasc("kernels.py", "-o", "k.o").returncode == 0
    done = pyasc("run", "k.o", "--kernel", "total", "--arg", "x=arange:float32:4", "--print", "result")
    assert (done.returncode, done.stdout) == (0, "result = 6.0\n")
    assert pyasc("run", "k.o", "--kernel", "nothing").returncode == 2


def test_save_temps_has_a_folder_for_the_stages_of_each_kernel(
    capsys: pytest.CaptureFixture[str], kernels_py: str, tmp_path: Path
) -> None:
    temps = tmp_path / "temps"
    assert run(capsys, kernels_py, "-o", str(tmp_path / "k.o"), "--save-temps", str(temps))[0] == 0
    for name in ("scale", "total", "element"):
        assert (temps / name / "00-py.ir").exists() and (temps / name / "01-inline.ir").exists()
    assert {"k.cpp", "k.s", "k.o"} <= {path.name for path in temps.iterdir()}


def test_two_kernels_of_one_symbol_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = KERNELS.replace("import helper\n", "").replace("helper.twice(x[i])", "x[i]")
    text = text.replace("@asc.kernel\ndef total", '@asc.kernel(name="scale")\ndef total')
    code, _, err = run(capsys, written(tmp_path / "same.py", text), "-o", str(tmp_path / "s.o"))
    assert code == 1 and "`scale` and `total` would both be called scale in the object" in err


def test_an_object_cannot_be_linked_without_a_compiler(
    kernels_py: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([kernels_py, "-o", str(tmp_path / "k.o")]) == 0
    monkeypatch.setenv("PYASC_CXX", "no-such-compiler")
    with pytest.raises(asc.ToolchainMissing, match="no C\\+\\+ compiler found"):
        asc.load(tmp_path / "k.o")


ROWS = """
from __future__ import annotations
import pyasc as asc

@asc.kernel
def softmax(x: asc.float32[M, N], out: asc.float32[M, N]):
    for i in asc.parallel_for(0, M):
        high = x[i, 0]
        for j in range(1, N):
            high = max(high, x[i, j])
        s = 0.0
        for j in range(N):
            s += asc.exp(x[i, j] - high)
        for j in range(N):
            out[i, j] = asc.exp(x[i, j] - high) / s
"""


def test_every_stage_that_was_dumped_can_be_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "rows.py", ROWS)
    temps, saved = tmp_path / "temps", tmp_path / "out.npy"
    assert run(capsys, file, "-o", str(tmp_path / "k.o"), "--save-temps", str(temps))[0] == 0
    x = np.random.default_rng(0).random((5, 9)).astype(np.float32)
    e = np.exp(x.astype(np.float64))
    stages = sorted((temps / "softmax").glob("*.ir"))
    assert len(stages) > 10
    for stage in stages[:: max(1, len(stages) // 6)]:
        arguments = [
            "--arg",
            "x=random:float32:5x9",
            "--arg",
            "out=zeros:float32:5x9",
            "--out",
            f"out={saved}",
        ]
        assert run(capsys, "run", str(stage), *arguments)[0] == 0, stage
        np.testing.assert_allclose(np.load(saved), e / e.sum(axis=1, keepdims=True), rtol=1e-6)


def test_what_the_file_prints_is_not_mixed_with_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "talks.py"
    file.write_text(
        "import pyasc as asc\n@asc.kernel\ndef one(x: asc.float32) -> asc.float32:\n    return x\nprint('hello')\n"
    )
    assert main(["compile", str(file), "--emit", "cpp"]) == 0
    printed = capsys.readouterr()
    assert "hello" not in printed.out and printed.err == "hello\n"


def test_names_on_the_command_line_that_no_kernel_has(
    capsys: pytest.CaptureFixture[str], kernels_py: str
) -> None:
    for option, message in (
        ("--shape=M=3", "--shape M: no kernel that is compiled has a size M"),
        ("--type=q=int32", "--type q: no kernel that is compiled has a parameter q"),
        ("--const=q=3", "--const q: no kernel that is compiled has a parameter q"),
    ):
        code, _, err = run(capsys, "compile", kernels_py, "--emit", "cpp", option)
        assert (code, err) == (2, f"error: {message}\n")


def test_extents_in_a_type_are_fixed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path / "open.py", OPEN)
    types = ["--type", "x=float32[N,4]", "--type", "y=float", "--const", "k=3", "--shape", "N=7"]
    code, out, _ = run(capsys, file, "--emit", "ir=py", *types)
    assert code == 0 and "%x: ref<7 x 4 x f32>" in out


def test_a_target_that_nobody_knows_and_a_folder_that_is_not_there(
    capsys: pytest.CaptureFixture[str], kernels_py: str, tmp_path: Path
) -> None:
    code, _, err = run(capsys, kernels_py, "--target", "ascend999", "-o", str(tmp_path / "k.o"))
    assert code == 1 and err.startswith("error: no target is called 'ascend999'")
    missing = tmp_path / "missing"
    code, _, err = run(capsys, kernels_py, "-o", str(missing / "k.o"))
    assert (code, err) == (1, f"error: {missing}: No such file or directory\n")
