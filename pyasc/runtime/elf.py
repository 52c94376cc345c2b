# SPDX-License-Identifier: Apache-2.0
"""Reads sections of 64-bit ELF files by name, and adds one: objects and libraries, either byte order.

Layout as in the System V ABI, chapters "Object Files" and "Sections".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

ET_REL = 1
ET_DYN = 3

_MAGIC = b"\x7fELF"
_CLASS_64 = 2
_BYTE_ORDERS = {1: "<", 2: ">"}
_SHT_PROGBITS = 1
_SHT_NOBITS = 8
_SHF_COMPRESSED = 1 << 11
_SHN_LORESERVE = 0xFF00
_SHN_XINDEX = 0xFFFF
# e_type, e_machine, e_version, e_entry, e_phoff, e_shoff, e_flags, e_ehsize, e_phentsize, e_phnum,
# e_shentsize, e_shnum, e_shstrndx
_FILE_HEADER = "HHIQQQIHHHHHH"
# sh_name, sh_type, sh_flags, sh_addr, sh_offset, sh_size, sh_link, sh_info, sh_addralign, sh_entsize
_SECTION_HEADER = "IIQQQQIIQQ"
_IDENT_SIZE = 16


class ElfError(ValueError):
    """The bytes are not a well-formed 64-bit ELF file."""


@dataclass(frozen=True)
class Section:
    """One section header, with the offset of its name in the table of names."""

    name_offset: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class ElfFile:
    """The headers of a file, and its bytes. `kind` is ET_REL, ET_DYN or another `e_type`."""

    data: bytes
    kind: int
    machine: int
    sections: tuple[Section, ...]
    names: Section | None

    def named(self, name: str) -> Iterator[bytes]:
        """The content of each section called `name`, in file order. Raises ElfError."""
        if self.names is None:
            return
        table = self.content(self.names)
        wanted = name.encode() + b"\0"
        for section in self.sections:
            if table[section.name_offset : section.name_offset + len(wanted)] == wanted:
                yield self.content(section)

    def content(self, section: Section) -> bytes:
        """The bytes of `section`. Raises ElfError if they lie outside the file or are compressed."""
        if section.kind == _SHT_NOBITS:
            return b""
        if section.flags & _SHF_COMPRESSED:
            raise ElfError("compressed sections are not supported")
        if section.offset + section.size > len(self.data):
            raise ElfError("a section lies outside the file: it is truncated")
        return self.data[section.offset : section.offset + section.size]


def parse_elf(data: bytes) -> ElfFile:
    """The headers of an ELF file. Raises ElfError if `data` is none, or is damaged."""
    if data[:4] != _MAGIC:
        raise ElfError("not an ELF file")
    if len(data) < _IDENT_SIZE or data[4] != _CLASS_64 or data[5] not in _BYTE_ORDERS:
        raise ElfError("not a 64-bit ELF file")
    order = _BYTE_ORDERS[data[5]]
    fields = _unpack(order + _FILE_HEADER, data, _IDENT_SIZE)
    kind, machine, table, entry_size, count, names_index = *fields[:2], fields[5], *fields[10:13]
    if table == 0:
        return ElfFile(data, kind, machine, (), None)
    if entry_size < struct.calcsize(order + _SECTION_HEADER):
        raise ElfError("its section headers are too small")
    first = _section(order, data, table)
    # Numbers that do not fit the file header stand in the first section header instead.
    count = count or first.size
    names_index = first.link if names_index == _SHN_XINDEX else names_index
    if table + count * entry_size > len(data):
        raise ElfError("its section headers lie outside the file: it is truncated")
    sections = tuple(_section(order, data, table + index * entry_size) for index in range(count))
    if names_index >= count:
        raise ElfError("its table of section names does not exist")
    return ElfFile(data, kind, machine, sections, sections[names_index] if names_index else None)


def _section(order: str, data: bytes, offset: int) -> Section:
    name, kind, flags, _, start, size, link, *_ = _unpack(order + _SECTION_HEADER, data, offset)
    return Section(name, kind, flags, start, size, link)


def _unpack(form: str, data: bytes, offset: int) -> tuple[int, ...]:
    if offset + struct.calcsize(form) > len(data):
        raise ElfError("its headers lie outside the file: it is truncated")
    return struct.unpack_from(form, data, offset)


def with_section(data: bytes, name: str, content: bytes) -> bytes:
    """The file with one more section, which is not loaded. Raises ElfError for a file without a table of sections.

    The section, a longer table of names and a longer table of headers are put behind all that is there.
    """
    file = parse_elf(data)
    if file.names is None:
        raise ElfError("it has no table of sections")
    order = _BYTE_ORDERS[data[5]]
    names_index = file.sections.index(file.names)
    names = file.content(file.names) + name.encode() + b"\0"
    out = bytearray(data)
    content_at = _append(out, content)
    names_at = _append(out, names)
    table, entry_size = (
        _unpack(order + _FILE_HEADER, data, _IDENT_SIZE)[5],
        struct.calcsize(order + _SECTION_HEADER),
    )
    headers = bytearray(data[table : table + len(file.sections) * entry_size])
    struct.pack_into(f"{order}QQ", headers, names_index * entry_size + 24, names_at, len(names))
    fields = (file.names.size, _SHT_PROGBITS, 0, 0, content_at, len(content), 0, 0, 1, 0)
    headers += struct.pack(order + _SECTION_HEADER, *fields)
    table_at = _append(out, bytes(headers))
    count = len(file.sections) + 1
    if count >= _SHN_LORESERVE:
        raise ElfError("it has too many sections")
    struct.pack_into(f"{order}Q", out, 40, table_at)
    struct.pack_into(f"{order}H", out, 60, count)
    return bytes(out)


def _append(out: bytearray, content: bytes) -> int:
    """Put bytes at the end, at a multiple of 8; where they are."""
    out += bytes(-len(out) % 8)
    offset = len(out)
    out += content
    return offset
