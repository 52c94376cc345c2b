# SPDX-License-Identifier: Apache-2.0
"""The `Kernel` object: what `@asc.kernel` makes of a function, and what calling it does.

A call first tries the launchers of earlier calls (see `launcher`). When none of them takes the arguments,
`_launch_cold` binds and checks them, finds or compiles the specialisation for their types, brings them into the
form that its launcher takes, and launches.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from pyasc import knobs
from pyasc.ir.diagnostics import CompileError, InternalError, KernelTypeError, LaunchError, UnsupportedError
from pyasc.ir.sizes import Assumptions
from pyasc.runtime.bug_reports import reporting_bugs
from pyasc.runtime.collection import collection_paused
from pyasc.runtime.device import Device, current_device, soc_for
from pyasc.runtime.faults import failed_kernel
from pyasc.runtime.launcher import MISS, Launch, Launcher
from pyasc.runtime.options import KernelOptions

if TYPE_CHECKING:
    from pyasc.frontend.dependencies import Dependencies
    from pyasc.frontend.signature import Signature
    from pyasc.frontend.source import KernelSource
    from pyasc.passes.base import Remark
    from pyasc.runtime.abi import KernelABI
    from pyasc.runtime.arguments import ArgumentType
    from pyasc.runtime.lowering import Lowering
    from pyasc.runtime.specialise import Specialisation

WARM_LAUNCHERS = 4
"""How many launchers a call tries before it looks the argument types up."""

_NOT_LOWERED = "PA0290"
"""The code of what a device does not run."""
Types = tuple["ArgumentType", ...]
Sizes = tuple[tuple[str, int], ...]
"""Symbolic sizes and their values."""
Same = tuple[tuple[str, str], ...]
"""Parameters, and earlier ones that are the same array."""


class CacheInfo(NamedTuple):
    """What a kernel keeps in memory: its specialisations, and how many it has compiled so far."""

    specialisations: int
    compilations: int


@dataclass(frozen=True)
class Compiled:
    """A specialisation that a device has made callable; a `guarded` one answers MISS to what it was not made for."""

    specialisation: Specialisation
    launcher: Launcher
    guarded: bool = True


@dataclass(frozen=True)
class Refused:
    """A specialisation that a device does not run for all sizes, and why: it is not tried again for each launch."""

    error: UnsupportedError
    specialisation: Specialisation


class Kernel:
    """A Python function compiled for the argument types it is called with, and run on the current device.

    Arrays that the kernel writes are written in place; arrays that it returns are new. Calling it raises
    CompileError for a mistake in the kernel, LaunchError (KernelTypeError for a wrong dtype) for arguments that
    do not fit, and the exception of a check that fails while it runs, such as IndexError.
    """

    def __init__(self, function: Callable[..., Any] | KernelSource, options: KernelOptions) -> None:
        self.options = options
        self._lock = threading.RLock()
        self._warm: dict[Device, tuple[Launch, ...]] = {}
        self._compiled: dict[tuple[str, Types, Sizes, Same], Compiled] = {}
        self._refused: dict[tuple[str, Types], Refused] = {}
        self._compilations = 0
        self._signature: tuple[Signature, Dependencies] | None = None
        self._source: KernelSource | None = None
        if callable(function):
            self.py_func: Callable[..., Any] | None = function
            functools.update_wrapper(self, function)
        else:
            self.py_func = None
            self._source = function
            self.__name__ = self.__qualname__ = function.name
            self.__doc__ = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch on the current device. Raises as the class says."""
        for launch in self._warm.get(current_device(), ()):
            try:
                result = launch(*args, **kwargs)
            except TypeError as error:
                if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                    raise
                # The call itself does not fit the parameters, which the slow path explains.
                break
            except Exception as error:
                if failed_kernel(error) is None or knobs.read().internal_traceback:
                    raise
                raise error.with_traceback(None) from None
            if result is not MISS:
                return result
        try:
            return self._launch_cold(args, kwargs)
        except Exception as error:
            if not _for_users(error) or knobs.read().internal_traceback:
                raise
            # How pyasc got there is of no use to whoever wrote the kernel.
            raise error.with_traceback(None) from error.__cause__

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bound to an object, as a method: the object is a compile-time value of the first parameter."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<kernel {self.__qualname__}>"

    def __reduce__(self) -> str:
        # Pickled by name, as functions are, so that it reaches worker processes.
        return self.__qualname__

    @property
    def source_code(self) -> KernelSource:
        """The source of the function. Raises CompileError when it cannot be found."""
        if self._source is None:
            from pyasc.frontend.source import KernelSource

            assert self.py_func is not None
            self._source = KernelSource.from_function(self.py_func)
        return self._source

    @property
    def signature(self) -> Signature:
        """The parameters and results as annotated. Raises CompileError for an annotation that is wrong."""
        known = self._signature
        if known is None or not known[1].still_valid():
            from pyasc.frontend.dependencies import Dependencies
            from pyasc.frontend.signature import parse_signature

            dependencies = Dependencies()
            dependencies.read_source(self.source_code)
            known = self._signature = (parse_signature(self.source_code, dependencies), dependencies)
        return known[0]

    def compile(self, *args: Any, **kwargs: Any) -> Kernel:
        """Compile for these arguments and the current device, without a launch; the kernel itself.

        Arguments may be types, such as `asc.float32[N, 4]`; none are needed where the annotations say all.
        What a device does not run for all sizes is compiled for those of the arguments, as in a call.
        """
        device, types = current_device(), self.types_of(args, kwargs)
        try:
            self._compiled_for(types, device)
        except UnsupportedError:
            plain = self._values(args, kwargs)
            if plain is None:
                raise
            self._compiled_or_fixed(types, device, plain)
        return self

    def _values(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The arguments by name, if they are what a call takes and not types in place of it."""
        from pyasc.runtime.binding import bind, classify

        try:
            bound = bind(self.__name__, self.signature, args, kwargs)
            return classify(self.__name__, self.signature, bound)[1]
        except (LaunchError, KernelTypeError):
            return None

    def lower(self, *args: Any, **kwargs: Any) -> Lowering:
        """The IR at every level and the emitted source, as text, for arguments as in `compile`."""
        from pyasc.runtime.lowering import lowering_of

        types = self.types_of(args, kwargs)
        with reporting_bugs(self, types):
            return lowering_of(lambda: self.specialise(types), self.options.target)

    def source(self, target: str | None = None, *args: Any, **kwargs: Any) -> str:
        """The source that a target's compiler gets: C++ for `"cpu"` (the default), Ascend C for `"ascend910b1"`.

        Further arguments are as in `compile`. Raises UnsupportedError for a target whose back end is missing.
        """
        from pyasc.runtime.lowering import source_of

        types = self.types_of(args, kwargs)
        with collection_paused(), reporting_bugs(self, types):
            specialisation = self.specialise(types)
            return source_of(specialisation, target or self.options.target or "cpu")

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What the passes have to say about the lines of the kernel, for the specialisations compiled so far."""
        compiled = [each.specialisation for each in self._compiled.values()]
        found = dict.fromkeys(remark for each in compiled for remark in each.remarks)
        return tuple(sorted(found, key=lambda remark: (remark.loc.line, remark.loc.column)))

    def cost(self, *args: Any, **kwargs: Any) -> float:
        """The predicted time of a launch on an Ascend 910B1, in seconds; the arguments are left as they are.

        Raises DeviceMissing where the model cannot run, and what a launch on it raises.
        """
        from pyasc.runtime.binding import bind, classify
        from pyasc.runtime.device import usable_device
        from pyasc.runtime.model import predicted_seconds

        usable_device("model")
        types, plain = classify(
            self.__name__, self.signature, bind(self.__name__, self.signature, args, kwargs)
        )
        return predicted_seconds(self.specialise(types).lowered("ascend"), plain)

    def cache_info(self) -> CacheInfo:
        """How many specialisations are in memory, and how many compilations it took."""
        return CacheInfo(len(self._compiled), self._compilations)

    def types_of(self, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Types:
        """What arguments, or types in their place, specialise the kernel to.

        Parameters whose annotations say all may be left out. Raises LaunchError for one that is missing.
        """
        from pyasc.runtime.binding import declared_types

        return declared_types(self.__name__, self.signature, args, kwargs or {})

    def specialise(
        self, types: Types, sizes: Mapping[str, int] | None = None, known: Sizes = (), same: Same = ()
    ) -> Specialisation:
        """The kernel in the IR for arguments of these types, with the given symbolic sizes fixed."""
        from pyasc.runtime.specialise import specialise

        return specialise(self, types, sizes or {}, known, same)

    def has(self, device: Device, types: Types, known: Sizes = (), same: Same = ()) -> bool:
        """Whether a launch for these types needs no compilation."""
        found = self._compiled.get((device.name, types, known, same))
        return found is not None and found.specialisation.fresh()

    def adopt(self, device: Device, specialisation: Specialisation, launcher: Launcher) -> Compiled:
        """Keep what a device built, in place of an older build for the same types."""
        with self._lock:
            # What was made for one array would take separate ones for it too.
            found = Compiled(specialisation, launcher, guarded=not specialisation.same)
            key = device.name, specialisation.types, specialisation.known, specialisation.same
            self._compiled[key] = found
            self._compilations += 1
            self._warm.pop(device, None)
        return found

    def _compiled_for(self, types: Types, device: Device, known: Sizes = (), same: Same = ()) -> Compiled:
        """The specialisation for these types, compiled now if there is none or if what it read has changed."""
        if not self.has(device, types, known, same):
            with self._lock:
                if not self.has(device, types, known, same):
                    with reporting_bugs(self, types):
                        with collection_paused():
                            specialisation = self.specialise(types, known=known, same=same)
                            soc = soc_for(device, self.options.target)
                            lowered = specialisation.lowered(device.pipeline, soc=soc)
                        (launcher,) = device.build([lowered])
                    return self.adopt(device, specialisation, launcher)
        return self._compiled[device.name, types, known, same]

    def _for_same_arrays(
        self, types: Types, device: Device, found: Compiled, plain: Mapping[str, Any]
    ) -> Compiled:
        """What to launch where parameters are one array: a kernel that knows it, where the one that was `found` would
        read its copy of what is written meanwhile."""
        from pyasc.runtime.prepare import same_arrays

        same = same_arrays(found.specialisation.abi, plain)
        if not same:
            return found
        with suppress(CompileError):
            return self._compiled_for(types, device, found.specialisation.known, same)
        return found

    def _compiled_or_fixed(self, types: Types, device: Device, plain: Mapping[str, Any]) -> Compiled:
        """The specialisation for these types; where a device cannot run it for all sizes, the one for exactly these."""
        refused = self._refused.get((device.name, types))
        if refused is None or not refused.specialisation.fresh():
            try:
                return self._compiled_for(types, device)
            except UnsupportedError as error:
                if device.name == "cpu" or any(each.code != _NOT_LOWERED for each in error.diagnostics):
                    raise
                refused = self._refused[device.name, types] = Refused(error, self.specialise(types))
        known = _sizes_of(refused.specialisation.abi, plain)
        if known:
            with suppress(CompileError):
                return self._compiled_for(types, device, known)
        raise refused.error.with_traceback(None)

    def _for_odd_sizes(
        self, types: Types, device: Device, found: Compiled, plain: Mapping[str, Any]
    ) -> Compiled:
        """What to launch for arrays whose sizes may break the assumptions of the kernel that was `found`: one that is
        compiled for exactly these sizes, or the same without its guard where that is no kernel."""
        known = _sizes_of(found.specialisation.abi, plain)
        if found.specialisation.abi.assumptions.hold(dict(known)):
            return found
        try:
            return self._compiled_for(types, device, known)
        except CompileError:
            bare = Compiled(found.specialisation, found.launcher.unguarded(), guarded=False)
            with self._lock:
                self._compiled[device.name, types, known, ()] = bare
            return bare

    def _launch_cold(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        from pyasc.runtime.binding import bind, is_mapped

        bound = bind(self.__name__, self.signature, args, kwargs)
        if is_mapped(self.signature, bound):
            from pyasc.runtime.mapped import launch_mapped

            return launch_mapped(self, bound)
        return self.launch_bound(bound)

    def launch_bound(self, bound: Mapping[str, Any]) -> Any:
        """Launch with an argument for every parameter, by name."""
        from pyasc.runtime.binding import classify
        from pyasc.runtime.prepare import prepare

        device = current_device()
        types, plain = classify(self.__name__, self.signature, bound)
        compiled = self._compiled_or_fixed(types, device, plain)
        if compiled.specialisation.abi.assumptions != Assumptions():
            compiled = self._for_odd_sizes(types, device, compiled, plain)
        compiled = self._for_same_arrays(types, device, compiled, plain)
        prepared = prepare(compiled.specialisation.abi, plain)
        result = compiled.launcher.by_name(prepared.arguments)
        if result is MISS:
            raise InternalError(f"the launcher of `{self.__name__}` refuses arguments that were checked")
        prepared.finish()
        if compiled.guarded:
            self._remember(device, compiled.launcher.launch)
        return result

    def _remember(self, device: Device, launch: Launch) -> None:
        with self._lock:
            others = [each for each in self._warm.get(device, ()) if each is not launch]
            self._warm[device] = (launch, *others)[:WARM_LAUNCHERS]


def _sizes_of(abi: KernelABI, plain: Mapping[str, Any]) -> Sizes:
    """The sizes of arguments. Raises LaunchError for shapes that contradict each other."""
    from pyasc.runtime.shapes import bind_sizes

    shapes = {each.name: plain[each.name].shape for each in abi.arrays if not each.returned}
    return tuple(bind_sizes(abi, shapes).items())


def _for_users(error: Exception) -> bool:
    """Whether the message says all there is to know: a mistake in the kernel or the call, or a failed compiler."""
    if isinstance(error, (CompileError, LaunchError, InternalError)) or failed_kernel(error) is not None:
        return True
    return any(each.__name__ == "ToolchainError" for each in type(error).__mro__)
