# SPDX-License-Identifier: Apache-2.0
"""The `npu` device: the Ascend C of a kernel, compiled by CANN and launched through AscendCL.

None of this was tried on a device. The test suite runs it with a stand-in for CANN (tests/standin).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyasc.ir.diagnostics import CompileError, LaunchError
from pyasc.passes.analysis.ascend_scalar import FAULT_WORDS
from pyasc.passes.analysis.phases import FAULT
from pyasc.passes.analysis.soc import soc_named
from pyasc.runtime.cann import Cann, CannMissing, find_cann, find_home, find_library
from pyasc.runtime.faults import Faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from pyasc.runtime.acl import Acl
    from pyasc.runtime.ascend import AscendKernel, LaunchPlan, Parameter, Phase, PhaseLaunch
    from pyasc.runtime.compiler import LoweredKernel, Watched
    from pyasc.runtime.device_object import DeviceObject
    from pyasc.runtime.launcher import Launcher

_SMALLEST_ARGUMENT = 4
_FAULT_BYTES = FAULT_WORDS * 8


class NpuError(LaunchError, RuntimeError):
    """A kernel failed on the device, or the device could not be used; the message has what AscendCL says."""


@dataclass(frozen=True)
class Session:
    """An NPU in use: the library, and the target that kernels are compiled for."""

    acl: Acl
    target: str


@dataclass(frozen=True, eq=False)
class NpuDevice:
    """The first Ascend NPU that this process may use."""

    name: str = "npu"
    pipeline: str = "ascend"
    _sessions: dict[str, Session] = field(default_factory=dict)

    @property
    def soc(self) -> str:
        """The SoC of the device. Raises NpuError or CannMissing where there is none."""
        return self.session().target

    def session(self) -> Session:
        """The device, opened at the first call. Raises NpuError or CannMissing."""
        home = find_home()
        if str(home) not in self._sessions:
            self._sessions[str(home)] = open_session(home)
        return self._sessions[str(home)]

    def unavailable(self) -> str:
        """What of CANN, of its driver or of the device is missing; empty if the device can be used."""
        try:
            find_cann()
            self.session()
        except (CannMissing, NpuError) as error:
            return str(error)
        return ""

    def build(self, kernels: Sequence[LoweredKernel]) -> list[Launcher]:
        """Compile the kernels as one object, unless the cache has it, and load it.

        Raises CannMissing, BuildError or NpuError.
        """
        from pyasc.runtime.ascend import ascend_kernel

        session = self.session()
        made = [ascend_kernel(kernel, line_comments=True) for kernel in kernels]
        path = _cached_object(made, session.target, find_cann())
        watched = [kernel.watched for kernel in kernels]
        return _launchers(session, path, made, watched)

    def load(self, found: DeviceObject, path: Path) -> list[Launcher]:
        """Load an object that was compiled elsewhere. Raises NpuError, also for an object for another SoC."""
        session = self.session()
        if found.target != session.target:
            raise NpuError(
                f"{path} was compiled for {found.target}, and this is {session.target}; compile it again with "
                f"--target {session.target}"
            )
        return _launchers(session, path, found.plans, [()] * len(found.plans))


def open_session(home: Path) -> Session:
    """Load AscendCL and find out what the device is. Raises NpuError."""
    from pyasc.runtime.acl import Acl, AclError

    library = find_library(home)
    try:
        acl = Acl.load(library)
        if acl.device_count() == 0:
            raise NpuError("AscendCL finds no NPU; `npu-smi info` should list one")
        target = acl.soc_name().lower()
        return Session(acl, soc_named(target).name)
    except OSError as error:
        raise NpuError(
            f"AscendCL does not load ({error}). Install the driver of the NPU and the CANN runtime, and source "
            "set_env.sh, which puts both into LD_LIBRARY_PATH"
        ) from None
    except AttributeError as error:
        raise NpuError(
            f"{library} lacks a function that CANN 8.1 has ({error}); install CANN 8.1 or later"
        ) from None
    except AclError as error:
        raise NpuError(f"no NPU can be used: {error}") from None
    except CompileError as error:
        raise NpuError(f"this NPU is not supported: {error}") from None


def _cached_object(kernels: Sequence[AscendKernel], target: str, cann: Cann) -> Path:
    from pyasc import __version__
    from pyasc.runtime.bisheng import build_device_object, units_of
    from pyasc.runtime.cache import CacheKey, default_cache

    units = [unit for kernel in kernels for unit in units_of(kernel)]
    parts = [("pyasc version", __version__), ("target", target), ("cann", f"{cann.home} {cann.identity}")]
    parts += [(f"{unit.name} ({unit.cores})", unit.text) for unit in units]
    key = CacheKey.of(kernels[0].abi.symbol, parts)

    def fill(directory: Path) -> None:
        build_device_object(kernels, directory / "kernel.o", cann)

    return default_cache().get_or_build(key, fill).file("kernel.o")


def _launchers(
    session: Session, path: Path, plans: Sequence[LaunchPlan], watched: Sequence[tuple[Watched, ...]]
) -> list[Launcher]:
    from pyasc.runtime.launcher import Entry, make_launcher

    kinds = {phase.cores for plan in plans for phase in plan.phases}
    (cores,) = kinds if len(kinds) == 1 else ("mixed",)
    with _told():
        session.acl.use_device()
        binary = session.acl.load_binary(path, "mixed" if cores.startswith("mixed") else cores)
    made: list[Launcher] = []
    for plan, values in zip(plans, watched, strict=True):
        with _told():
            functions = {p.entry: session.acl.function(binary, p.entry) for p in plan.phases}
        runner = NpuRunner(session.acl, plan, functions)
        entry = Entry(runner, runner, Faults(plan.abi.name, ()).fail, False, values)
        made.append(make_launcher(plan.abi, entry))
    return made


@contextmanager
def _told() -> Iterator[None]:
    """Turns a failure of AscendCL into one of the device."""
    from pyasc.runtime.acl import AclError

    try:
        yield
    except AclError as error:
        raise NpuError(str(error)) from None


@dataclass
class NpuRunner:
    """Runs the phases of a kernel. It is called as the C function of a kernel would be: addresses, numbers, sizes."""

    acl: Acl
    plan: LaunchPlan
    functions: Mapping[str, int]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, *values: Any) -> int:
        """Copy the arrays to the device, run all phases, copy back what they write. Raises NpuError."""
        from pyasc.runtime.ascend import arrays_at, split_arguments

        addresses, scalars, sizes = split_arguments(self.plan.abi, values)
        arrays = arrays_at(self.plan.abi, addresses, sizes)
        launches = self.plan.launches(scalars, sizes)
        with _told(), self._lock:
            self.acl.use_device()
            with DeviceMemory(self.acl) as memory:
                self._run(launches, memory, arrays, sizes)
        return 0

    def _run(
        self,
        launches: Sequence[PhaseLaunch],
        memory: DeviceMemory,
        arrays: Mapping[str, np.ndarray],
        sizes: Mapping[str, int],
    ) -> None:
        written: set[str] = set()
        for launch in launches:
            phase = launch.phase
            arguments = self._sync_address(phase)
            arguments += [self._argument(param, launch, memory, arrays, sizes) for param in phase.parameters]
            arguments += [int(sizes[name]).to_bytes(8, "little", signed=True) for name in phase.sizes]
            self.acl.launch(self.functions[phase.entry], launch.blocks, arguments)
            written |= {param.name for param in phase.parameters if param.written}
            self._check(phase, memory)
        for name in written & arrays.keys():
            memory.read(name, arrays[name])

    def _sync_address(self, phase: Phase) -> list[bytes]:
        """The first argument of a mixed kernel, which others do not have."""
        if not phase.cores.startswith("mixed"):
            return []
        try:
            return [self.acl.hardware_sync_address().to_bytes(8, "little")]
        except OSError as error:
            raise NpuError(
                f"this CANN cannot launch kernels on cube and vector cores together: {error}"
            ) from None

    def _argument(
        self,
        param: Parameter,
        launch: PhaseLaunch,
        memory: DeviceMemory,
        arrays: Mapping[str, np.ndarray],
        sizes: Mapping[str, int],
    ) -> bytes:
        from pyasc.runtime.ascend import workspace_shape

        if not param.array:
            return packed(param.passed(launch.scalars[param.name]).tobytes())
        if param.name == FAULT:
            address = memory.cleared(FAULT, _FAULT_BYTES)
        elif param.name in arrays and not self._is_result(param.name):
            address = memory.holding(param.name, arrays[param.name])
        else:
            size = param.dtype.bytes
            for extent in workspace_shape(param, sizes):
                size *= extent
            address = memory.reserve(param.name, size)
        return address.to_bytes(8, "little")

    def _is_result(self, name: str) -> bool:
        return any(param.name == name for param in self.plan.abi.returned)

    def _check(self, phase: Phase, memory: DeviceMemory) -> None:
        import numpy as np

        if any(param.name == FAULT for param in phase.parameters):
            fault = np.zeros(FAULT_WORDS, np.int64)
            memory.read(FAULT, fault)
            if fault[0]:
                self.plan.fail(phase, fault.tolist())


def packed(value: bytes) -> bytes:
    """A number as an argument: at least four bytes (toolchain page, section 5)."""
    return value.ljust(_SMALLEST_ARGUMENT, b"\0")


@dataclass
class DeviceMemory:
    """The device memory of one launch, by the names of the arrays in it; given back when the block ends."""

    acl: Acl
    _addresses: dict[str, int] = field(default_factory=dict)

    def __enter__(self) -> DeviceMemory:
        return self

    def __exit__(self, *_: object) -> None:
        for address in self._addresses.values():
            self.acl.free(address)

    def holding(self, name: str, array: np.ndarray) -> int:
        """The address of an array, copied there the first time."""
        return self._made(
            name, array.nbytes, lambda at: self.acl.to_device(at, array.ctypes.data, array.nbytes)
        )

    def reserve(self, name: str, size: int) -> int:
        """The address of memory that holds nothing yet."""
        return self._made(name, size, lambda _: None)

    def cleared(self, name: str, size: int) -> int:
        """The address of memory, set to 0 each time."""
        address = self.reserve(name, size)
        self.acl.clear(address, size)
        return address

    def read(self, name: str, target: np.ndarray) -> None:
        """Copy an array back."""
        self.acl.to_host(target.ctypes.data, self._addresses[name], target.nbytes)

    def _made(self, name: str, size: int, fill: Callable[[int], None]) -> int:
        if name not in self._addresses:
            self._addresses[name] = self.acl.allocate(size)
            fill(self._addresses[name])
        return self._addresses[name]
