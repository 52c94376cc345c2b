# SPDX-License-Identifier: Apache-2.0
"""AscendCL through ctypes: the calls of libascendcl that a launch needs, all of which CANN 8.1 and later ones have.

Prototypes, constants and error codes are those of the project's toolchain page, sections 7 and 8. What that page does
not say is marked `assumed` here; none of it was tried on a device.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_VOID_P, _SIZE, _U32, _I32 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_int32
_OUT = ctypes.POINTER(ctypes.c_void_p)

_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2
_HUGE_PAGES_FIRST = 0
_OPTION_MAGIC = 2
_INIT_REPEATED = 100002

MAGICS = {"vector": 0x41415246, "cube": 0x41494343, "mixed": 0x43554245}
"""What tells the loader which cores an object is for. One with several kinds gets that of mixed ones (assumed)."""

_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "aclInit": (ctypes.c_char_p,),
    "aclrtSetDevice": (_I32,),
    "aclrtGetDeviceCount": (ctypes.POINTER(_U32),),
    "aclrtGetVersion": (ctypes.POINTER(_I32),) * 3,
    "aclrtCreateStream": (_OUT,),
    "aclrtSynchronizeStream": (_VOID_P,),
    "aclrtMalloc": (_OUT, _SIZE, ctypes.c_int),
    "aclrtFree": (_VOID_P,),
    "aclrtMemcpy": (_VOID_P, _SIZE, _VOID_P, _SIZE, ctypes.c_int),
    "aclrtMemset": (_VOID_P, _SIZE, _I32, _SIZE),
    "aclrtBinaryLoadFromFile": (ctypes.c_char_p, _VOID_P, _OUT),
    "aclrtBinaryGetFunction": (_VOID_P, ctypes.c_char_p, _OUT),
    "aclrtKernelArgsInit": (_VOID_P, _OUT),
    "aclrtKernelArgsAppend": (_VOID_P, _VOID_P, _SIZE, _OUT),
    "aclrtKernelArgsFinalize": (_VOID_P,),
    "aclrtLaunchKernelWithConfig": (_VOID_P, _U32, _VOID_P, _VOID_P, _VOID_P, _VOID_P),
}

_MEANINGS = {
    100000: "an invalid parameter",
    100003: "an invalid file",
    100029: "no such kernel in the object",
    100039: "the library is the stub to link against, not the one of the driver",
    107001: "no such device",
    107002: "no device was set in this thread",
    107019: "a timeout",
    207001: "out of memory on the device",
    207018: "out of memory on the device",
    507008: "an object for another SoC",
    507014: "a cube core hangs (a flag that is never set, or a barrier with too few blocks)",
    507015: "a fault of a cube core (an address outside its memory, or misaligned)",
    507034: "a vector core hangs (a flag that is never set, or a barrier with too few blocks)",
    507035: "a fault of a vector core (an address outside its memory, or misaligned)",
    507046: "the stream does not finish",
    507048: "a mixed kernel hangs (a flag that is never set, or a barrier with too few blocks)",
    507049: "a fault in a mixed kernel",
}


class AclError(RuntimeError):
    """A call of AscendCL failed; `code` is its aclError."""

    def __init__(self, call: str, code: int, detail: str) -> None:
        self.code = code
        meaning = f": {_MEANINGS[code]}" if code in _MEANINGS else ""
        said = f"\n{detail}" if detail else ""
        super().__init__(f"{call} failed with error {code}{meaning}{said}")


class _LoadOption(ctypes.Structure):
    """`aclrtBinaryLoadOption`: its type, and a union of 16 bytes."""

    _fields_ = (("type", ctypes.c_int), ("value", _U32 * 4))


class _LoadOptions(ctypes.Structure):
    """`aclrtBinaryLoadOptions`."""

    _fields_ = (("options", ctypes.POINTER(_LoadOption)), ("count", _SIZE))


@dataclass
class Acl:
    """The library, initialised. A method fails with AclError."""

    library: Any
    device: int = 0
    _streams: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def load(path: Path) -> Acl:
        """Load the library and initialise it. Raises OSError if it does not load, AclError if it does not start."""
        library = ctypes.CDLL(str(path))
        for name, types in _PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = _I32, types
        for name in ("aclrtGetSocName", "aclGetRecentErrMsg"):
            getattr(library, name).restype = ctypes.c_char_p
        acl = Acl(library)
        code = library.aclInit(None)
        # Another user of the library in this process may have done it.
        if code not in (0, _INIT_REPEATED):
            raise acl._error("aclInit", code)
        return acl

    def device_count(self) -> int:
        """How many devices there are."""
        count = _U32()
        self._call("aclrtGetDeviceCount", ctypes.byref(count))
        return count.value

    def version(self) -> str:
        """The version of the runtime."""
        parts = [_I32() for _ in range(3)]
        self._call("aclrtGetVersion", *map(ctypes.byref, parts))
        return ".".join(str(part.value) for part in parts)

    def use_device(self) -> None:
        """Make the device that of the calling thread."""
        self._call("aclrtSetDevice", self.device)

    def soc_name(self) -> str:
        """The SoC of the device, such as `Ascend910B1`."""
        self.use_device()
        return (self.library.aclrtGetSocName() or b"").decode()

    def allocate(self, size: int) -> int:
        """The address of device memory."""
        address = _VOID_P()
        # The library refuses 0 bytes (assumed).
        self._call("aclrtMalloc", ctypes.byref(address), max(size, 1), _HUGE_PAGES_FIRST)
        return address.value or 0

    def free(self, address: int) -> None:
        """Give device memory back."""
        self._call("aclrtFree", address)

    def to_device(self, target: int, source: int, size: int) -> None:
        """Copy bytes of the host to the device."""
        if size:
            self._call("aclrtMemcpy", target, size, source, size, _HOST_TO_DEVICE)

    def to_host(self, target: int, source: int, size: int) -> None:
        """Copy bytes of the device to the host."""
        if size:
            self._call("aclrtMemcpy", target, size, source, size, _DEVICE_TO_HOST)

    def clear(self, address: int, size: int) -> None:
        """Set device memory to 0."""
        self._call("aclrtMemset", address, size, 0, size)

    def load_binary(self, path: Path, cores: str) -> int:
        """The handle of an object for `"vector"`, `"cube"` or `"mixed"` cores."""
        option = _LoadOption(_OPTION_MAGIC, (_U32 * 4)(MAGICS[cores]))
        options = _LoadOptions(ctypes.pointer(option), 1)
        handle = _VOID_P()
        self._call("aclrtBinaryLoadFromFile", str(path).encode(), ctypes.byref(options), ctypes.byref(handle))
        return handle.value or 0

    def function(self, binary: int, name: str) -> int:
        """The handle of an entry."""
        handle = _VOID_P()
        self._call("aclrtBinaryGetFunction", binary, name.encode(), ctypes.byref(handle))
        return handle.value or 0

    def launch(self, function: int, blocks: int, arguments: Sequence[bytes]) -> None:
        """Launch an entry and wait for its end. Faults of the cores surface here."""
        handle, param = _VOID_P(), _VOID_P()
        self._call("aclrtKernelArgsInit", function, ctypes.byref(handle))
        for argument in arguments:
            value = ctypes.create_string_buffer(argument, len(argument))
            self._call("aclrtKernelArgsAppend", handle, value, len(argument), ctypes.byref(param))
        self._call("aclrtKernelArgsFinalize", handle)
        stream = self._stream()
        self._call("aclrtLaunchKernelWithConfig", function, blocks, stream, None, handle, None)
        self._call("aclrtSynchronizeStream", stream)

    def hardware_sync_address(self) -> int:
        """Where the cores of a mixed kernel keep their flags. Raises OSError where no library can tell."""
        address = _VOID_P()
        if hasattr(self.library, "aclrtGetHardwareSyncAddr"):
            ask = self.library.aclrtGetHardwareSyncAddr
            ask.restype, ask.argtypes = _I32, (_OUT,)
            self._call("aclrtGetHardwareSyncAddr", ctypes.byref(address))
            return address.value or 0
        # CANN 8.1 has it in the library beneath alone.
        runtime = ctypes.CDLL("libruntime.so")
        length = _U32()
        code = runtime.rtGetC2cCtrlAddr(ctypes.byref(address), ctypes.byref(length))
        if code != 0:
            raise AclError("rtGetC2cCtrlAddr", code, "")
        return address.value or 0

    def _stream(self) -> Any:
        if "default" not in self._streams:
            stream = _VOID_P()
            self._call("aclrtCreateStream", ctypes.byref(stream))
            self._streams["default"] = stream
        return self._streams["default"]

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise self._error(name, code)

    def _error(self, name: str, code: int) -> AclError:
        detail = self.library.aclGetRecentErrMsg() or b""
        return AclError(name, code, detail.decode("utf-8", "replace").strip())
