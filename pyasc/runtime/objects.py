# SPDX-License-Identifier: Apache-2.0
"""Kernel objects: `kernel.o`, its C header, and the description of its kernels inside it.

The object is an ordinary ELF object for C programs to link. Its section `.pyasc.kernels` holds JSON
documents, each ended by a zero byte, so that the sections of several objects linked together still read
as a list. `read_modules` finds them in objects and in shared libraries alike.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast

from pyasc import __version__
from pyasc.runtime.build import BuildOptions, build_object, environment_parts, link_shared
from pyasc.runtime.cache import CacheKey, KernelCache
from pyasc.runtime.elf import ET_DYN, ET_REL, ElfError, parse_elf
from pyasc.runtime.files import naming_full_disk, put_in_place, scratch_directory
from pyasc.runtime.header import c_header
from pyasc.runtime.host import processor
from pyasc.runtime.toolchain import Toolchain

FORMAT = 1
SECTION = ".pyasc.kernels"

ParameterKind = Literal["array", "scalar", "size"]
Layout = Literal["contiguous", "strided"]
Scalar = int | float | bool


class ObjectError(ValueError):
    """A file is not a kernel object, is damaged, or was compiled for another processor."""


@dataclass(frozen=True)
class ParameterDescription:
    """One parameter of a kernel's C function.

    `dtype` is spelled as in the IR (`f32`; sizes are `i64`). `shape` has an int for a static size and
    the text of an expression in the sizes' names for any other; it is empty for scalars, sizes and
    0-d arrays. An array with `layout="strided"` is followed by one element stride for each dimension. A
    `returned` array is not passed by the Python caller but made for, and given back to it. `default`
    is that of a scalar.
    """

    name: str
    kind: ParameterKind
    dtype: str
    shape: tuple[int | str, ...] = ()
    layout: Layout = "contiguous"
    written: bool = False
    returned: bool = False
    default: Scalar | None = None


@dataclass(frozen=True)
class CheckSite:
    """What went wrong when a kernel returns this site's number (the first site's is 1)."""

    message: str
    file: str
    line: int


@dataclass(frozen=True)
class KernelDescription:
    """How to call one kernel.

    `parameters` are in the order of the C function `symbol`, which ends with a `pyasc_fault*`;
    `signature` has the names of the arrays and scalars in the order of the Python function.
    """

    name: str
    symbol: str
    parameters: tuple[ParameterDescription, ...]
    signature: tuple[str, ...] = ()
    check_sites: tuple[CheckSite, ...] = ()
    late_reads: tuple[tuple[str, str, bool], ...] = ()
    container: str = ""
    target: str = "cpu"
    pyasc_version: str = __version__

    def parameter(self, name: str) -> ParameterDescription:
        """The parameter called `name`. Raises KeyError."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """As objects that `json` can write."""
        return asdict(self)

    @staticmethod
    def from_json(value: Any) -> KernelDescription:
        """The inverse of `to_json`. Raises ObjectError for anything that it cannot have made."""
        known = _fields_of(KernelDescription, value)
        known["parameters"] = tuple(_parameter(each) for each in known["parameters"])
        known["check_sites"] = tuple(
            CheckSite(**_fields_of(CheckSite, each)) for each in known["check_sites"]
        )
        known["signature"] = tuple(known["signature"])
        known["late_reads"] = tuple((str(a), str(b), bool(own)) for a, b, own in known["late_reads"])
        return KernelDescription(**known)


@dataclass(frozen=True)
class ModuleDescription:
    """The kernels of one translation unit, and the processor they were compiled for.

    `machine` is the architecture, and `features` the instruction sets that the code may use.
    """

    kernels: tuple[KernelDescription, ...]
    machine: str
    features: tuple[str, ...]

    @staticmethod
    def for_this_machine(kernels: Sequence[KernelDescription]) -> ModuleDescription:
        """The description of kernels compiled here and now."""
        here = processor()
        return ModuleDescription(tuple(kernels), here.machine, here.features)

    def to_json(self) -> str:
        """The text of the document in an object's section."""
        kernels = [kernel.to_json() for kernel in self.kernels]
        document = {"format": FORMAT, "machine": self.machine, "features": " ".join(self.features)}
        return json.dumps(document | {"kernels": kernels}, indent=1, allow_nan=True)

    @staticmethod
    def from_json(text: str) -> ModuleDescription:
        """The inverse of `to_json`. Raises ObjectError for anything that it cannot have made."""
        try:
            document = json.loads(text)
            if document["format"] != FORMAT:
                raise ObjectError(
                    f"its description has format {document['format']}, and this pyasc reads {FORMAT}"
                )
            kernels = tuple(KernelDescription.from_json(each) for each in document["kernels"])
            return ModuleDescription(kernels, document["machine"], tuple(document["features"].split()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, ObjectError):
                raise
            raise ObjectError(f"its description is damaged: {error}") from error


def _fields_of(kind: type, value: Any) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    if not isinstance(value, dict) or set(value) != names:
        raise ObjectError(f"its description is damaged: not a {kind.__name__}: {value!r}")
    return cast("dict[str, Any]", dict(value))


def _parameter(value: Any) -> ParameterDescription:
    known = _fields_of(ParameterDescription, value)
    known["shape"] = tuple(known["shape"])
    return ParameterDescription(**known)


def description_source(module: ModuleDescription) -> str:
    """C++ text that puts the description of `module` into the object's section. Ends a unit."""
    lines = "\n".join(f'    "{_escape(line)}\\n"' for line in module.to_json().splitlines())
    return (
        f'\n__attribute__((section("{SECTION}"), used, aligned(1)))\n'
        f"static const char pyasc_description[] =\n{lines};\n"
    )


def _escape(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")


def build_kernel_object(
    source: str,
    module: ModuleDescription,
    output: Path,
    toolchain: Toolchain,
    options: BuildOptions | None = None,
) -> Path:
    """Compiles kernels to `output` with their description inside, and writes the header beside it.

    Returns the header's path. Raises as `build.build_unit`; both files are then as they were.
    """
    output = output.absolute()
    header = output.with_suffix(".h")
    with naming_full_disk(output.parent, output.name), scratch_directory(output.parent, ".pyasc-") as scratch:
        built = build_object(source + description_source(module), scratch / output.name, toolchain, options)
        text = c_header(header.stem, module.kernels)
        written = scratch / header.name
        written.write_text(text, encoding="utf-8")
        put_in_place(built, output)
        put_in_place(written, header)
    return header


def read_modules(path: Path) -> tuple[ModuleDescription, ...]:
    """The descriptions in an object or shared library. Raises ObjectError, or OSError if unreadable."""
    return _modules_in(path.read_bytes(), path)


def _modules_in(data: bytes, path: Path) -> tuple[ModuleDescription, ...]:
    try:
        documents = b"".join(parse_elf(data).named(SECTION)).split(b"\0")
        modules = tuple(ModuleDescription.from_json(each.decode()) for each in documents if each)
    except (ElfError, ObjectError, UnicodeDecodeError) as error:
        raise ObjectError(f"{path} is not a kernel object of pyasc: {error}") from error
    if not modules:
        raise ObjectError(f"{path} is not a kernel object of pyasc: it has no section {SECTION}")
    return modules


def check_runs_here(module: ModuleDescription, path: Path) -> None:
    """Raises ObjectError if code in `path` may use instructions that this processor lacks."""
    if module.machine != platform.machine():
        raise ObjectError(f"{path} was compiled for {module.machine}, and this is {platform.machine()}")
    missing = sorted(set(module.features) - set(processor().features))
    if missing:
        raise ObjectError(
            f"{path} was compiled for a processor with {' '.join(missing)}, which this one lacks; "
            "compile it again here"
        )


@dataclass(frozen=True)
class LoadableObject:
    """A kernel object ready to be loaded: its descriptions, and a shared library of its code."""

    modules: tuple[ModuleDescription, ...]
    library: Path

    @property
    def kernels(self) -> tuple[KernelDescription, ...]:
        """Every kernel of the object."""
        return tuple(kernel for module in self.modules for kernel in module.kernels)


def prepare_object(path: Path, cache: KernelCache, toolchain: Toolchain | None) -> LoadableObject:
    """Makes the object or shared library `path` loadable, linking it into `cache` if need be.

    `toolchain` may be None for a shared library. Raises ObjectError if it is not a kernel object that
    runs here, BuildError if it cannot be linked.
    """
    data = path.read_bytes()
    modules = _modules_in(data, path)
    for module in modules:
        check_runs_here(module, path)
    kind = parse_elf(data).kind
    if kind == ET_DYN:
        return LoadableObject(modules, path)
    if kind != ET_REL or toolchain is None:
        raise ObjectError(f"{path} is neither an object nor a shared library")
    linker = toolchain
    parts = [("object", data), *environment_parts(linker, BuildOptions())]
    key = CacheKey.of(path.stem, parts)
    # Linked from the bytes that were checked: the file may change meanwhile.
    entry = cache.get_or_build(key, lambda directory: _link(data, directory, linker))
    return LoadableObject(modules, entry.library)


def _link(data: bytes, directory: Path, toolchain: Toolchain) -> None:
    copy = directory / "kernel.o"
    copy.write_bytes(data)
    link_shared([copy], directory / "kernel.so", toolchain)
