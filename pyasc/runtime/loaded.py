# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled already: `asc.load("kernel.o")`, and units built from files of IR."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyasc.frontend.signature import NO_DEFAULT, ArrayKind, Kind, Parameter, ScalarKind, Signature, WeakKind
from pyasc.ir.diagnostics import InternalError, LaunchError
from pyasc.passes.analysis.soc import SOCS
from pyasc.runtime.abi import REQUIRED, ArrayParam, KernelABI, PythonParam, abi_of_description
from pyasc.runtime.binding import argument_type, bind
from pyasc.runtime.cache import default_cache
from pyasc.runtime.elf import ET_REL, parse_elf
from pyasc.runtime.faults import Faults, Site
from pyasc.runtime.launcher import MISS, Launcher
from pyasc.runtime.objects import KernelDescription, prepare_object, read_modules
from pyasc.runtime.prepare import prepare


class LoadedKernel:
    """A compiled kernel whose types are fixed. Calling it checks the arguments and launches it.

    Raises LaunchError (KernelTypeError for a wrong dtype) for arguments that do not fit.
    """

    def __init__(self, launcher: Launcher) -> None:
        self.abi = launcher.abi
        self.signature = signature_of(self.abi)
        self.__name__ = self.abi.name
        self._launcher = launcher

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch."""
        bound = bind(self.__name__, self.signature, args, kwargs)
        plain: dict[str, Any] = {}
        for param in self.signature.parameters:
            _, plain[param.name] = argument_type(self.__name__, param, bound[param.name])
        prepared = prepare(self.abi, plain)
        result = self._launcher.by_name(prepared.arguments)
        if result is MISS:
            raise InternalError(f"the launcher of `{self.__name__}` refuses arguments that were checked")
        prepared.finish()
        return result

    def __repr__(self) -> str:
        params = ", ".join(f"{p.name}: {p.kind}" for p in self.signature.parameters)
        return f"<compiled kernel {self.__name__}({params})>"


class KernelLibrary(Mapping[str, LoadedKernel]):
    """The kernels of one object, by name; also as attributes, and callable when there is just one."""

    def __init__(self, path: str, kernels: Sequence[LoadedKernel]) -> None:
        self.path = path
        self._kernels = {kernel.__name__: kernel for kernel in kernels}

    def __getitem__(self, name: str) -> LoadedKernel:
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __getattr__(self, name: str) -> LoadedKernel:
        try:
            return self.__dict__["_kernels"][name]
        except KeyError:
            raise AttributeError(f"{self.path} has no kernel {name!r}", name=name) from None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch the only kernel. Raises LaunchError when there are several."""
        if len(self._kernels) != 1:
            raise LaunchError(f"{self.path} has the kernels {', '.join(self)}; call one of them by name")
        return next(iter(self._kernels.values()))(*args, **kwargs)


def load(path: str | os.PathLike[str]) -> KernelLibrary:
    """The kernels of an object (or shared library) that pyasc compiled, ready to be called.

    Those of an object for an Ascend SoC run on the `npu` device: it raises DeviceMissing where there is none, and
    NpuError where it is another SoC. Raises ObjectError for a file that is no kernel object or was compiled for
    another processor, BuildError if it cannot be linked, ToolchainMissing if nothing can link it, and OSError if it
    cannot be read.
    """
    from pyasc.runtime.threads import load_kernel_library
    from pyasc.runtime.toolchain import ToolchainError, default_toolchain

    file = Path(path)
    if any(module.machine in SOCS for module in read_modules(file)):
        return _load_for_npu(file)
    try:
        toolchain = default_toolchain()
    except ToolchainError:
        # A shared library needs no linker; read_modules refuses what is no kernel object with a better message.
        if read_modules(file) and parse_elf(file.read_bytes()).kind == ET_REL:
            raise
        toolchain = None
    loadable = prepare_object(file, default_cache(), toolchain)
    library = load_kernel_library(loadable.library)
    return KernelLibrary(os.fspath(path), [_kernel(each, library) for each in loadable.kernels])


def _load_for_npu(file: Path) -> KernelLibrary:
    from pyasc.runtime.device import usable_device
    from pyasc.runtime.device_object import read_device_object
    from pyasc.runtime.npu import NpuDevice

    found = read_device_object(file)
    device = usable_device("npu")
    assert isinstance(device, NpuDevice)
    return KernelLibrary(os.fspath(file), [LoadedKernel(each) for each in device.load(found, file)])


def _kernel(description: KernelDescription, library: Any) -> LoadedKernel:
    from pyasc.runtime.cpu import entry_of
    from pyasc.runtime.launcher import make_launcher

    abi = abi_of_description(description)
    faults = Faults(abi.name, tuple(_site(each) for each in description.check_sites))
    return LoadedKernel(make_launcher(abi, entry_of(library, abi, faults)))


def _site(check: Any) -> Site:
    from pyasc.ir.location import Location

    error, _, message = check.message.partition(": ")
    return Site(error, message, Location(check.file, check.line, 0, check.line, 0))


def signature_of(abi: KernelABI) -> Signature:
    """The signature that the compiled function alone tells."""
    kinds: dict[str, Kind] = {}
    for param in abi.params:
        if isinstance(param, ArrayParam):
            kinds[param.name] = ArrayKind(param.dtype, param.shape)
        else:
            kinds[param.name] = WeakKind(param.weak) if param.weak else ScalarKind(param.dtype)
    return Signature(tuple(_parameter(p, kinds) for p in abi.signature if not p.constexpr))


def _parameter(param: PythonParam, kinds: Mapping[str, Kind]) -> Parameter:
    default = NO_DEFAULT if param.default is REQUIRED else param.default
    return Parameter(param.name, kinds[param.name], default, param.keyword_only, param.positional_only)
