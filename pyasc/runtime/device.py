# SPDX-License-Identifier: Apache-2.0
"""Devices: the interface that a launch asks for one, the table of those there are, and which one is chosen.

The table and the process's default are the only global state of pyasc, and this module is the one place that
changes it. A `with asc.device(...)` block holds for its thread (or task) alone and comes before the default,
which comes before PYASC_DEVICE.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from pyasc import knobs
from pyasc.ir.diagnostics import LaunchError

if TYPE_CHECKING:
    from pyasc.runtime.compiler import LoweredKernel
    from pyasc.runtime.launcher import Launcher


class DeviceMissing(LaunchError, RuntimeError):
    """The device that was asked for does not exist or cannot be used here; the message says what to do."""


class Device(Protocol):
    """What a launch needs of a device: whether it can be used, and functions for lowered kernels."""

    @property
    def name(self) -> str:
        """The name in `asc.set_device`."""
        ...

    @property
    def pipeline(self) -> str:
        """The name of the pipeline that kernels go through before `build`."""
        ...

    @property
    def soc(self) -> str | None:
        """The SoC that kernels are lowered for, if it is one."""
        ...

    def unavailable(self) -> str:
        """Why the device cannot be used here and what to do about it; empty if it can be used."""
        ...

    def build(self, kernels: Sequence[LoweredKernel]) -> list[Launcher]:
        """Compile and load the kernels as one unit; the launcher of each, in order."""
        ...


DEVICES: dict[str, str] = {
    "npu": "pyasc.runtime.npu:NpuDevice",
    "cpu": "pyasc.runtime.cpu:CpuDevice",
    "model": "pyasc.runtime.model:ModelDevice",
}
"""From the name of a device to `module:class`, in the order in which a default is looked for."""

DEFAULTS = ("npu", "cpu")


def soc_for(device: Device, target: str | None) -> str | None:
    """The SoC that a kernel with the option `target` is lowered for on a device, if the device is one.

    Raises UnsupportedError for a SoC that code is not emitted for, and LaunchError where the device is another one.
    """
    if target in (None, "cpu") or device.name == "cpu":
        return device.soc
    from pyasc.passes.analysis.soc import soc_named

    wanted = soc_named(target).name
    if device.name == "npu" and device.soc != wanted:
        raise LaunchError(f"the kernel is for {target}, and the device is another SoC; leave out the target")
    return wanted


@dataclass
class _State:
    loaded: dict[str, Device] = field(default_factory=dict)
    default: Device | None = None


_STATE = _State()
_IN_BLOCK: ContextVar[Device | None] = ContextVar("pyasc device", default=None)


def get_device(name: str) -> Device:
    """The device of that name, usable or not. Raises DeviceMissing for an unknown name."""
    if name not in _STATE.loaded:
        if name not in DEVICES:
            close = difflib.get_close_matches(name, DEVICES, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise DeviceMissing(f"no device is called {name!r}: there are {', '.join(DEVICES)}{hint}")
        module, _, attribute = DEVICES[name].partition(":")
        make: Callable[[], Device] = getattr(import_module(module), attribute)
        _STATE.loaded[name] = make()
    return _STATE.loaded[name]


def usable_device(name: str) -> Device:
    """The device of that name. Raises DeviceMissing when it cannot be used here."""
    found = get_device(name)
    reason = found.unavailable()
    if reason:
        raise DeviceMissing(f"the {name} device is not available: {reason}")
    return found


def current_device() -> Device:
    """The device that a launch in this thread runs on now. Raises DeviceMissing if PYASC_DEVICE names a bad one."""
    return _IN_BLOCK.get() or _STATE.default or _choose_default()


def _choose_default() -> Device:
    asked_for = knobs.read().device
    if asked_for is not None:
        _STATE.default = usable_device(asked_for)
    else:
        usable = [found for found in map(get_device, DEFAULTS) if not found.unavailable()]
        # A missing compiler is better told by the build that looks for it.
        _STATE.default = usable[0] if usable else get_device("cpu")
    return _STATE.default


def set_device(name: str) -> None:
    """Make `name` (`"cpu"`, `"model"` or `"npu"`) the device of later launches in this process.

    Raises DeviceMissing, and changes nothing, when it cannot be used here.
    """
    _STATE.default = usable_device(name)


@contextmanager
def device(name: str) -> Iterator[Device]:
    """Launches in the `with` block, in this thread, run on the device `name`. Raises DeviceMissing."""
    token = _IN_BLOCK.set(usable_device(name))
    try:
        yield current_device()
    finally:
        _IN_BLOCK.reset(token)
