# SPDX-License-Identifier: Apache-2.0
"""Kernel objects: their description, their C header, and reading both back."""

from __future__ import annotations

import dataclasses
import errno
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from pyasc.runtime import objects as module
from pyasc.runtime.build import BuildOptions, build_object, link_shared
from pyasc.runtime.cache import KernelCache
from pyasc.runtime.elf import ET_DYN, ET_REL, ElfError, parse_elf
from pyasc.runtime.files import DiskFullError
from pyasc.runtime.header import c_header, prototype
from pyasc.runtime.loader import load_library
from pyasc.runtime.objects import (
    CheckSite,
    KernelDescription,
    ModuleDescription,
    ObjectError,
    ParameterDescription,
    build_kernel_object,
    check_runs_here,
    description_source,
    prepare_object,
    read_modules,
)
from pyasc.runtime.toolchain import BuildError, Toolchain, available_toolchains, find_toolchain
from tests.compilers import compile_without_warnings

SCALE = KernelDescription(
    name="scale",
    symbol="scale",
    parameters=(
        ParameterDescription("x", "array", "f32", ("N", "2*N", 3)),
        ParameterDescription("y", "array", "bf16", ("N",), "strided", written=True, returned=True),
        ParameterDescription("register", "scalar", "f32", default=0.5),
        ParameterDescription("N", "size", "i64"),
    ),
    signature=("x", "register"),
    check_sites=(CheckSite('index "i" out of range? \\ */', "käse.py", 14),),
)
SOURCE = """\
#include "pyasc_rt.h"
extern "C" int32_t scale(const float* x, pyasc_bf16* y, int64_t y_stride0, float s, int64_t N, pyasc_fault* f) {
  for (int64_t i = 0; i < N; ++i) y[i * y_stride0].bits = uint16_t(x[i] * s);
  if (f) f->values[0] = N;
  return N == 7 ? 1 : 0;
}
"""


@pytest.fixture(scope="module")
def compiler() -> Toolchain:
    return find_toolchain()


@pytest.fixture
def made(tmp_path: Path, compiler: Toolchain) -> Path:
    path = tmp_path / "kernel.o"
    build_kernel_object(SOURCE, ModuleDescription.for_this_machine([SCALE]), path, compiler)
    return path


def test_a_description_survives_json():
    described = ModuleDescription.for_this_machine([SCALE])
    assert ModuleDescription.from_json(described.to_json()) == described


@pytest.mark.parametrize("value", [float("inf"), -0.0, True, 1 << 60])
def test_defaults_keep_value_and_type(value: module.Scalar):
    parameter = ParameterDescription("s", "scalar", "f64", default=value)
    kernel = dataclasses.replace(SCALE, parameters=(parameter,))
    back = ModuleDescription.from_json(ModuleDescription.for_this_machine([kernel]).to_json())
    assert repr(back.kernels[0].parameters[0].default) == repr(value)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": 1}', '{"format": 1, "machine": "m", "features": "", "kernels": [{}]}'],
)
def test_a_damaged_description_is_refused(text: str):
    with pytest.raises(ObjectError, match="damaged"):
        ModuleDescription.from_json(text)


def test_a_later_format_is_refused():
    text = ModuleDescription.for_this_machine([]).to_json().replace('"format": 1', '"format": 2')
    with pytest.raises(ObjectError, match="format 2, and this pyasc reads 1"):
        ModuleDescription.from_json(text)


@pytest.mark.parametrize("each", available_toolchains(), ids=lambda each: each.kind)
@pytest.mark.parametrize("level", [0, 3])
def test_the_description_is_in_the_object_and_in_what_is_linked_of_it(
    each: Toolchain, level: int, tmp_path: Path
):
    described = ModuleDescription.for_this_machine([SCALE])
    source = 'extern "C" int one() { return 1; }\n' + description_source(described)
    built = build_object(source, tmp_path / "k.o", each, BuildOptions(level))
    assert read_modules(built) == (described,)
    second = build_object(description_source(ModuleDescription((), "m", ())), tmp_path / "l.o", each)
    linked = link_shared([built, second], tmp_path / "k.so", each)
    assert read_modules(linked) == (described, ModuleDescription((), "m", ()))


def test_an_object_comes_with_its_header(made: Path):
    assert {path.name for path in made.parent.iterdir()} == {"kernel.o", "kernel.h"}
    assert parse_elf(made.read_bytes()).kind == ET_REL
    assert made.with_suffix(".h").read_text() == c_header("kernel", [SCALE])


def test_the_header_reads_well():
    assert (
        prototype(SCALE)
        == "int32_t scale(const float* x, pyasc_bf16* y, int64_t y_stride0, float register_, int64_t N,\n"
        "              pyasc_fault* fault);"
    )
    text = c_header("my-kernel", [SCALE])
    assert "#ifndef PYASC_MY_KERNEL_H" in text
    assert " *   x         [N, 2*N, 3], read, contiguous\n" in text
    assert " *   y         [N], read and written, with strides in elements\n" in text
    assert ' *   1  käse.py:14: index "i" out of range? \\ * /\n' in text
    assert "pyasc_f16" not in text


@pytest.mark.parametrize("language", [["-xc", "-std=c11"], ["-xc++", "-std=c++17"]])
def test_the_header_is_c_and_cpp(language: list[str], compiler: Toolchain, tmp_path: Path):
    every = [
        ParameterDescription(f"a_{t}", "array", t, ("N",))
        for t in ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "i1")
    ]
    text = c_header("k", [SCALE, KernelDescription("e", "e", tuple(every))])
    (tmp_path / "twice").write_text(text * 2)
    compile_without_warnings([*compiler.argv, *language, "-Wextra"], tmp_path / "twice")


def test_an_object_that_does_not_compile_leaves_both_files_alone(tmp_path: Path, compiler: Toolchain):
    for suffix in (".o", ".h"):
        (tmp_path / f"k{suffix}").write_text("old")
    options = BuildOptions(keep_failed=tmp_path / "failed")
    with pytest.raises(BuildError):
        build_kernel_object("nonsense", ModuleDescription((), "", ()), tmp_path / "k.o", compiler, options)
    assert {(tmp_path / f"k{suffix}").read_text() for suffix in (".o", ".h")} == {"old"}
    assert {path.name for path in tmp_path.iterdir()} == {"k.o", "k.h", "failed"}


def test_a_disk_that_is_full_at_the_header_leaves_both_files_alone(
    tmp_path: Path, compiler: Toolchain, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "c_header", full)
    with pytest.raises(DiskFullError):
        build_kernel_object("", ModuleDescription((), "", ()), tmp_path / "k.o", compiler)
    assert list(tmp_path.iterdir()) == []


def test_an_object_is_linked_once_and_called(made: Path, tmp_path: Path, compiler: Toolchain):
    import ctypes

    cache = KernelCache(tmp_path / "cache", 1 << 30)
    ready = prepare_object(made, cache, compiler)
    assert ready.kernels == (SCALE,)
    types = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_float,
        ctypes.c_int64,
        ctypes.c_void_p,
    ]
    scale = load_library(ready.library).function("scale", types)
    x = (ctypes.c_float * 3)(1, 2, 3)
    y = (ctypes.c_uint16 * 6)()
    fault = (ctypes.c_int64 * 4)()
    assert scale(x, y, 2, 10.0, 3, fault) == 0
    assert list(y) == [10, 0, 20, 0, 30, 0]
    assert fault[0] == 3
    gone = Toolchain("gcc", ("no-such-compiler",), compiler.version, compiler.flags, compiler.stamp)
    with pytest.raises(BuildError):
        prepare_object(made, cache, gone)
    assert prepare_object(made, cache, compiler) == ready
    assert cache.info().entries == 1


def test_a_shared_library_of_kernels_needs_no_compiler(made: Path, tmp_path: Path, compiler: Toolchain):
    library = link_shared([made], tmp_path / "kernels.so", compiler)
    assert parse_elf(library.read_bytes()).kind == ET_DYN
    cache = KernelCache(tmp_path / "cache", 1 << 30)
    assert prepare_object(library, cache, None).library == library
    with pytest.raises(ObjectError, match="neither"):
        prepare_object(made, cache, None)


def test_code_for_a_better_processor_is_refused(tmp_path: Path):
    here = ModuleDescription.for_this_machine([])
    check_runs_here(here, tmp_path)
    with pytest.raises(ObjectError, match=r"a processor with warp9, which this one lacks"):
        check_runs_here(dataclasses.replace(here, features=(*here.features, "warp9")), tmp_path)
    with pytest.raises(ObjectError, match="was compiled for z80"):
        check_runs_here(dataclasses.replace(here, machine="z80"), tmp_path)


def test_an_ordinary_object_is_no_kernel_object(tmp_path: Path, compiler: Toolchain):
    path = build_object("int x;", tmp_path / "x.o", compiler)
    with pytest.raises(ObjectError, match=r"x\.o is not a kernel object of pyasc: it has no section"):
        read_modules(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not an ELF file"),
        (b"MZ\x90\0", "not an ELF file"),
        (b"\x7fELF\1\1" + bytes(60), "not a 64-bit ELF file"),
    ],
)
def test_other_files_are_no_kernel_objects(tmp_path: Path, data: bytes, message: str):
    (tmp_path / "x.o").write_bytes(data)
    with pytest.raises(ObjectError, match=message):
        read_modules(tmp_path / "x.o")


def test_an_object_cut_anywhere_is_refused_or_whole(made: Path):
    data = made.read_bytes()
    whole = read_modules(made)
    for length in range(0, len(data), 61):
        made.write_bytes(data[:length])
        try:
            assert read_modules(made) == whole
        except ObjectError:
            continue
    made.write_bytes(data)
    assert read_modules(made) == whole


def test_an_object_with_wrong_bytes_in_its_headers_raises_nothing_else(made: Path):
    data = made.read_bytes()
    table = struct.unpack_from("<Q", data, 40)[0]
    places = [*range(64), *range(table, len(data), 7)]
    refused = 0
    for place in places:
        made.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            read_modules(made)
        except ObjectError:
            refused += 1
    assert refused > len(places) // 10


def big_endian_elf(content: bytes) -> bytes:
    """A minimal big-endian file with one section `.pyasc.kernels`, its counts in the first header."""
    names = b"\0.pyasc.kernels\0.names\0"
    body = 64
    table = body + len(content) + len(names)
    ident = b"\x7fELF\2\2\1" + bytes(9)
    head = ident + struct.pack(">HHIQQQIHHHHHH", 1, 22, 1, 0, 0, table, 0, 64, 0, 0, 64, 0, 0xFFFF)

    def section(name: int, kind: int, offset: int, size: int, link: int = 0) -> bytes:
        return struct.pack(">IIQQQQIIQQ", name, kind, 0, 0, offset, size, link, 0, 1, 0)

    sections = section(0, 0, 0, 3, 2) + section(1, 1, body, len(content))
    return head + content + names + sections + section(16, 3, body + len(content), len(names))


def test_the_other_byte_order_and_extended_counts():
    elf = parse_elf(big_endian_elf(b"hello"))
    assert elf.machine == 22
    assert list(elf.named(".pyasc.kernels")) == [b"hello"]
    assert list(elf.named(".pyasc")) == []


def test_a_file_without_sections_has_none():
    data = bytearray(big_endian_elf(b""))
    data[40:48] = bytes(8)
    assert list(parse_elf(bytes(data)).named(".pyasc.kernels")) == []


def test_a_compressed_section_is_refused():
    data = bytearray(big_endian_elf(b"hello"))
    table: Any = struct.unpack_from(">Q", data, 40)[0]
    struct.pack_into(">Q", data, table + 64 + 8, 1 << 11)
    with pytest.raises(ElfError, match="compressed"):
        list(parse_elf(bytes(data)).named(".pyasc.kernels"))
