# SPDX-License-Identifier: Apache-2.0
"""Device objects: the commands that make them, Python lines in messages, and sections added to ELF files."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import pyasc as asc
from pyasc.runtime.acl import AclError
from pyasc.runtime.ascend import ascend_kernel
from pyasc.runtime.bisheng import DeviceUnit, compile_commands, link_command, python_line, units_of
from pyasc.runtime.cann import Cann
from pyasc.runtime.elf import ElfError, parse_elf, with_section
from pyasc.runtime.npu import packed
from pyasc.runtime.toolchain import default_toolchain

CANN = Cann(Path("/cann"), Path("/cann/bin/bisheng"), Path("/cann/bin/ld.lld"))
TIKCFW = "/cann/compiler/tikcpp/tikcfw"
HEADERS = f"-I {TIKCFW} -I {TIKCFW}/impl -I {TIKCFW}/interface"
START = "/cann/bin/bisheng -c -x cce -std=c++17 -O3 -fwrapv"
OPTIONS = (
    "--cce-aicore-only --cce-disable-kernel-global-attr-check -mllvm -cce-aicore-stack-size=0x8000 "
    "-mllvm -cce-aicore-function-stack-size=0x8000 -mllvm -cce-aicore-dcci-insert-for-scalar=false "
    "-mllvm -cce-aicore-record-overflow=false -mllvm -cce-aicore-addr-transform -mllvm -cce-aicore-mask-opt=false"
)
MACROS = "-D__NPU_TILING__ -DTILING_KEY_VAR=0 -DASCENDC_DUMP=0"
MIX = "-cce-enable-mix -D__MIX_CORE_MACRO__=1"


@pytest.mark.parametrize(
    "cores, expected",
    [
        ("vector", [("vec", "", "k.o")]),
        ("cube", [("cube", "", "k.o")]),
        ("mixed 1:2", [("cube", f"{MIX} ", "k_cube.o"), ("vec", f"{MIX} ", "k_vector.o")]),
        (
            "mixed 1:1",
            [
                ("cube", f"{MIX} -D__MIX_CORE_AIC_RATION__=1 ", "k_cube.o"),
                ("vec", f"{MIX} -D__MIX_CORE_AIC_RATION__=1 ", "k_vector.o"),
            ],
        ),
    ],
)
def test_commands(cores: str, expected: list[tuple[str, str, str]]) -> None:
    made = compile_commands(DeviceUnit("k", "", cores), CANN, Path("/s/k.cpp"))
    assert [" ".join(command) for command, _ in made] == [
        f"{START} --cce-aicore-arch=dav-c220-{arch} {OPTIONS} {mix}{MACROS} {HEADERS} /s/k.cpp -o /s/{output}"
        for arch, mix, output in expected
    ]


def test_the_version_header_comes_first_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cann_version.h").touch()
    cann = replace(CANN, home=tmp_path)
    ((command, _),) = compile_commands(DeviceUnit("k", "", "vector"), cann, Path("/s/k.cpp"))
    assert command[-5:-3] == ["-include", "cann_version.h"] and f"{tmp_path}/include" in command


def test_the_linker_makes_one_object_of_all() -> None:
    command = link_command([Path("a.o"), Path("b.o")], Path("k.o"), CANN)
    assert " ".join(command) == "/cann/bin/ld.lld -m aicorelinux -Ttext=0 a.o b.o -static -o k.o"


def test_phases_for_other_cores_are_files_of_their_own() -> None:
    softmax = asc.kernel_from_source(
        "import pyasc as asc\ndef softmax(x: asc.float32[R, C]):\n    return asc.softmax(x)\n"
    )
    kernel = ascend_kernel(softmax.specialise(softmax.types_of()).lowered("ascend"))
    assert [(unit.name, unit.cores) for unit in units_of(kernel)] == [("softmax", "vector")]
    first, second = kernel.phases
    made = units_of(replace(kernel, phases=(replace(first, cores="cube"), second)))
    assert [(unit.name, unit.cores) for unit in made] == [
        ("softmax_part1", "cube"),
        ("softmax_part2", "vector"),
    ]
    assert "void softmax_1(" in made[0].text and "void softmax_2(" not in made[0].text
    assert "void softmax_2(" in made[1].text and "void softmax_1(" not in made[1].text


def test_python_lines() -> None:
    text = """\
class K {
    void F()
    {
        // k.py:3
        A();
        for (;;) {
            // k.py:7
            B();
        }
        C(
          4);
    }
};
void entry()
{
    K k;
}
""".splitlines()
    lines = {line.strip(): python_line(text, number) for number, line in enumerate(text, 1)}
    assert lines["A();"] == 3 and lines["B();"] == 7 and lines["C("] == 3 and lines["4);"] == 3
    assert lines["K k;"] == 0 and lines["class K {"] == 0 and python_line(text, 99) == 0


def test_a_section_is_added_and_the_file_works_as_before(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    source.write_text('extern "C" int seven(void) { return 7; }')
    library = tmp_path / "k.so"
    subprocess.run(
        [*default_toolchain().argv, "-shared", "-fPIC", str(source), "-o", str(library)], check=True
    )
    before = library.read_bytes()
    after = with_section(with_section(before, ".pyasc.one", b"first"), ".pyasc.two", b"second" * 1000)
    library.write_bytes(after)
    assert ctypes.CDLL(str(library)).seven() == 7
    elf = parse_elf(after)
    assert list(elf.named(".pyasc.one")) == [b"first"]
    assert list(elf.named(".pyasc.two")) == [b"second" * 1000]
    assert list(elf.named(".text")) == list(parse_elf(before).named(".text"))


def test_a_file_without_sections_gets_none() -> None:
    header = b"\x7fELF\x02\x01" + bytes(58)
    with pytest.raises(ElfError, match="no table of sections"):
        with_section(header, ".pyasc", b"")


def test_small_numbers_are_widened() -> None:
    assert packed(b"\x01\x02") == b"\x01\x02\0\0" and packed(b"12345678") == b"12345678"


def test_errors_of_acl_say_what_they_mean() -> None:
    assert str(AclError("aclrtSynchronizeStream", 507035, "core 3")) == (
        "aclrtSynchronizeStream failed with error 507035: a fault of a vector core (an address outside its memory, "
        "or misaligned)\ncore 3"
    )
