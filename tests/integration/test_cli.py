# SPDX-License-Identifier: Apache-2.0
"""The `pyasc` command on files of IR and on objects: what it writes, its messages, its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pyasc.cli import main
from pyasc.runtime.toolchain import default_toolchain
from tests.compilers import c_driver

ADD = """
func.module {
  func.func {symbol = "add", sizes = ["N"], written = [2]} {
  ^(%x: ref<N x f32>, %y: ref<N x f32>, %out: ref<N x f32>):
    %n = func.size {symbol = "N"}
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      %2 = mem.load %x, [%i]
      %3 = mem.load %y, [%i]
      %4 = arith.add %2, %3
      mem.store %4, %out, [%i]
      scf.yield
    }
    func.return
  }
  func.func {symbol = "twice", written = [1], outputs = [1]} {
  ^(%s: f32, %result: ref<f32>):
    %0 = arith.add %s, %s
    mem.store %0, %result, []
    func.return
  }
}
"""
ARGUMENTS = ["--arg", "x=arange:float32:4", "--arg", "y=ones:float32:4", "--arg", "out=zeros:f32:4"]


def other_x(text: str) -> list[str]:
    """The same with another first argument."""
    return ["--arg", text, *ARGUMENTS[2:]]


@pytest.fixture
def add_ir(tmp_path: Path) -> str:
    path = tmp_path / "add.ir"
    path.write_text(ADD)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command."""
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_help_teaches_by_example(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "pyasc compile kernel.py -o kernel.o" in out and "Exit codes: 0 done" in out


@pytest.mark.parametrize("command", ["compile", "run", "show", "opt", "info", "cache"])
def test_every_command_has_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, _ = run(capsys, command, "--help")
    assert code == 0 and f"Usage: pyasc {command}" in out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--version")
    assert code == 0 and out.startswith("pyasc, version ")


def test_an_unknown_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "compil")
    assert code == 2 and "No such command 'compil'" in err


def test_compiles_to_an_object_and_a_header(
    capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path
) -> None:
    target = tmp_path / "add.o"
    assert run(capsys, "compile", add_ir, "-o", str(target)) == (0, "", "")
    assert target.read_bytes()[:4] == b"\x7fELF"
    assert (
        "int32_t add(const float* x, const float* y, float* out, int64_t N"
        in target.with_suffix(".h").read_text()
    )


def test_a_file_alone_means_compile(capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path) -> None:
    assert run(capsys, add_ir, "-o", str(tmp_path / "k.o"))[0] == 0
    assert run(capsys, "-o", str(tmp_path / "l.o"), add_ir)[0] == 0
    assert (tmp_path / "k.h").exists() and (tmp_path / "l.h").exists()


def test_verbose_shows_the_command(capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path) -> None:
    code, _, err = run(capsys, add_ir, "-o", str(tmp_path / "k.o"), "--verbose", "-O1")
    assert code == 0 and " -O1 " in err and "wrote" in err


def test_emits_cpp_and_ir_to_standard_output(capsys: pytest.CaptureFixture[str], add_ir: str) -> None:
    assert 'extern "C" int32_t add(' in run(capsys, "compile", add_ir, "--emit", "cpp")[1]
    assert 'func.func {symbol = "twice"' in run(capsys, "compile", add_ir, "--emit", "ir=py")[1]


def test_compiles_one_kernel_of_several(capsys: pytest.CaptureFixture[str], add_ir: str) -> None:
    out = run(capsys, "compile", add_ir, "--emit", "cpp", "--kernel", "twice")[1]
    assert "int32_t twice(" in out and "int32_t add(" not in out


def test_an_unknown_kernel_is_wrong_usage(capsys: pytest.CaptureFixture[str], add_ir: str) -> None:
    code, _, err = run(capsys, "compile", add_ir, "--emit", "cpp", "--kernel", "sub")
    assert code == 2 and "has no kernel 'sub'; it has add, twice" in err


def test_save_temps_keeps_the_stages(capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path) -> None:
    temps = tmp_path / "temps"
    assert run(capsys, "compile", add_ir, "-o", str(tmp_path / "a.o"), "--save-temps", str(temps))[0] == 0
    assert {".cpp", ".o"} <= {path.suffix for path in temps.iterdir()}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "kernel.o", "--target", "ascend910b1"], 3, "Install the CANN toolkit"),
        (["--emit", "cpp", "--target", "ascend910b1"], 2, "--emit ascendc is the C++ for ascend910b1"),
        (["--emit", "ascendc", "--target", "ascend310p3"], 1, "architecture 2201"),
        (["--emit", "cpp", "--target", "gpu"], 2, "--target 'gpu': expected one of cpu, ascend910b1"),
        (["--emit", "elf"], 2, "expected obj, cpp, ascendc or ir=LEVEL"),
        (["--emit", "ir=tile9"], 2, "there is no level 'tile9'; the levels are py, loop"),
        ([], 2, "an object file needs a name"),
        (["--emit", "cpp", "--shape", "N"], 2, "expected NAME=VALUE"),
        (["--emit", "cpp", "--shape", "N=big"], 2, "is not a size"),
        (["--emit", "cpp", "--type", "x=float99[N]"], 2, "is not a type such as float32[N,4]"),
    ],
)
def test_what_cannot_be_made(
    capsys: pytest.CaptureFixture[str], add_ir: str, arguments: list[str], code: int, message: str
) -> None:
    found, _, err = run(capsys, "compile", add_ir, *arguments)
    assert found == code and message in err


def test_a_missing_compiler_says_what_to_install(
    capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYASC_CXX", "no-such-compiler")
    code, _, err = run(capsys, "compile", add_ir, "-o", str(tmp_path / "a.o"))
    assert code == 3 and "apt-get install g++" in err
    assert not list(tmp_path.glob("a.*"))


def test_a_broken_compiler_leaves_no_output(
    capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.o"
    target.write_text("old")
    compiler = tmp_path / "cc.sh"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in *--version*) echo "cc 1";; *) echo "cc: on fire" >&2; exit 1;; esac\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("PYASC_CXX", str(compiler))
    code, _, err = run(capsys, "compile", add_ir, "-o", str(target))
    assert code == 1 and "cc: on fire" in err and "source kept in" in err
    assert target.read_text() == "old" and not target.with_suffix(".h").exists()


def test_runs_an_object(capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path) -> None:
    target = str(tmp_path / "add.o")
    assert main(["compile", add_ir, "-o", target]) == 0
    code, out, _ = run(capsys, "run", target, "--kernel", "add", *ARGUMENTS)
    assert code == 0 and out == "out: float32 4: [1. 2. 3. 4.]\n"


def test_runs_ir_and_saves_an_array(capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.full(4, 2, np.float32))
    arguments = [*other_x(f"x={tmp_path / 'x.npy'}"), "--out", f"out={tmp_path / 'out.npy'}"]
    assert run(capsys, "run", add_ir, "--kernel", "add", *arguments) == (0, "", "")
    assert np.load(tmp_path / "out.npy").tolist() == [3, 3, 3, 3]


def test_prints_a_returned_number(capsys: pytest.CaptureFixture[str], add_ir: str) -> None:
    code, out, _ = run(capsys, "run", add_ir, "--kernel", "twice", "--arg", "s=2.5", "--print", "result")
    assert code == 0 and out == "result = 5.0\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--kernel", "add", "--arg", "x=zeros:float32:4"], 1, "add() misses 2 arguments: `y`, `out`"),
        (["--kernel", "add", *other_x("x=zeros:float64:4")], 1, "takes float32 arrays"),
        (["--kernel", "add", *other_x("x=zeros:float32:5")], 1, "the size N is"),
        (["--kernel", "add", *other_x("x=missing.npy")], 1, "cannot read missing.npy"),
        (["--kernel", "add", *ARGUMENTS, "--arg", "x=zeros:float32:4"], 2, "--arg x is given twice"),
        (
            ["--kernel", "add", *ARGUMENTS, "--out", "z=z.npy"],
            2,
            "there is no array 'z'; there are x, y, out",
        ),
        (["--kernel", "add", "--arg", "x=zeros:float31:4"], 2, "expected zeros:DTYPE:SHAPE"),
        (["--kernel", "add", "--arg", "x=what"], 2, "expected FILE.npy, a number, or"),
        (["--kernel", "sub"], 2, "has no kernel 'sub'"),
        ([], 2, "has the kernels add, twice; say which with --kernel"),
        (["--device", "npu"], 3, "CANN was not found"),
        (["--device", "gpu"], 3, "no device is called 'gpu'"),
    ],
)
def test_what_cannot_be_run(
    capsys: pytest.CaptureFixture[str], add_ir: str, arguments: list[str], code: int, message: str
) -> None:
    found, _, err = run(capsys, "run", add_ir, *arguments)
    assert found == code and message in err


def test_a_damaged_object_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.o"
    path.write_bytes(b"\x7fELF and then nothing")
    code, _, err = run(capsys, "run", str(path))
    assert code == 1 and "is not a kernel object of pyasc" in err


def test_an_object_runs_in_a_c_program(
    capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path
) -> None:
    driver = c_driver(default_toolchain())
    assert main(["compile", add_ir, "-o", str(tmp_path / "add.o")]) == 0
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "add.h"\n'
        "int main(void) { float x[2] = {1, 2}, y[2] = {3, 4}, out[2];\n"
        '  int32_t status = add(x, y, out, 2, 0); printf("%d %g %g\\n", status, out[0], out[1]); return 0; }\n'
    )
    subprocess.run([*driver, "main.c", "add.o", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=True)
    assert done.stdout == "0 4 6\n"


def test_opt_prints_the_ir_again(capsys: pytest.CaptureFixture[str], add_ir: str) -> None:
    code, out, _ = run(capsys, "opt", add_ir)
    assert code == 0
    again = Path(add_ir).with_name("again.ir")
    again.write_text(out)
    assert run(capsys, "opt", str(again))[1] == out


def test_opt_runs_passes_and_tells_about_them(capsys: pytest.CaptureFixture[str], add_ir: str) -> None:
    arguments = ["--passes=inline,dce", "--print-ir-after=dce", "--timing", "--pass-statistics"]
    code, out, err = run(capsys, "opt", add_ir, *arguments)
    assert code == 0 and out.startswith("func.module")
    assert "// after dce" in err and "// after inline" not in err and "ms  total" in err


@pytest.mark.parametrize(
    ("text", "passes", "message"),
    [
        (ADD, "inlin", "no pass or pipeline is named 'inlin'; did you mean 'inline'?"),
        ("func.module {", "dce", "add.ir:1:"),
        (ADD.replace("%4 = arith.add %2, %3", "%4 = arith.add %2, %n"), "dce", "the IR has"),
    ],
)
def test_opt_refuses(
    capsys: pytest.CaptureFixture[str], add_ir: str, text: str, passes: str, message: str
) -> None:
    Path(add_ir).write_text(text)
    code, out, err = run(capsys, "opt", add_ir, f"--passes={passes}")
    assert code == 1 and out == "" and message in err


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["opt"], ["compile", "--emit", "cpp"], ["run"], ["show"]):
        code, _, err = run(capsys, *command, "missing.ir")
        assert code == 1 and "cannot read missing.ir" in err


def test_info_names_compilers_and_devices(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "info")
    assert code == 0 and "cpu: usable" in out and "npu: CANN was not found" in out
    rows = json.loads(run(capsys, "info", "--json")[1])
    assert rows["default device"] == "cpu"


def test_cache_info_and_clear(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, add_ir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYASC_CACHE_DIR", str(tmp_path / "cache"))
    assert run(capsys, "run", add_ir, "--kernel", "twice", "--arg", "s=1.5")[0] == 0
    assert "entries    1\n" in run(capsys, "cache", "info")[1]
    assert "removed 1 entries" in run(capsys, "cache", "clear")[1]
    assert "entries    0\n" in run(capsys, "cache", "info")[1]


def test_a_device_or_a_pipe_is_written_to_and_never_replaced(
    capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code, _, err = run(capsys, "compile", add_ir, "-o", str(pipe))
    assert code == 2 and "is no regular file; an object file needs a name of its own" in err
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run(capsys, "compile", add_ir, "--emit", "ir=py", "-o", str(pipe))[0] == 0
        assert os.read(reader, 100).startswith(b"func.module {")
    finally:
        os.close(reader)
    assert pipe.is_fifo() and sorted(each.name for each in tmp_path.iterdir()) == ["add.ir", "pipe"]


def test_a_folder_is_no_output(capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path) -> None:
    code, _, err = run(capsys, "compile", add_ir, "-o", str(tmp_path))
    assert code == 2 and f"{tmp_path} is a folder; an object file needs a name of its own" in err
    code, _, err = run(capsys, "compile", add_ir, "--emit", "cpp", "-o", str(tmp_path))
    assert code == 1 and err == f"error: {tmp_path}: Is a directory\n"


def test_no_output_is_written_where_one_has_no_array(
    capsys: pytest.CaptureFixture[str], add_ir: str, tmp_path: Path
) -> None:
    outputs = ["--out", f"out={tmp_path / 'out.npy'}", "--out", f"other={tmp_path / 'other.npy'}"]
    code, _, err = run(capsys, "run", add_ir, "--kernel", "add", *ARGUMENTS, *outputs)
    assert code == 2 and "there is no array 'other'" in err
    assert not (tmp_path / "out.npy").exists()


def test_an_array_beyond_the_memory_is_no_bug(capsys: pytest.CaptureFixture[str], add_ir: str) -> None:
    huge = ["--arg", "x=zeros:float32:99999999999999", *ARGUMENTS[2:]]
    code, _, err = run(capsys, "run", add_ir, "--kernel", "add", *huge)
    assert code == 1 and err.startswith("error: out of memory: ")


@pytest.mark.parametrize("status", [0, 5])
def test_a_file_that_ends_the_program(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, status: int
) -> None:
    source = tmp_path / "ends.py"
    source.write_text(f"raise SystemExit({status})\n")
    code, _, err = run(capsys, "compile", str(source), "-o", str(tmp_path / "ends.o"))
    assert code == 1 and err == (
        f"error: {source} ends the program when it is executed: SystemExit({status})\n"
    )
