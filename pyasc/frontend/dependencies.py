# SPDX-License-Identifier: Apache-2.0
"""What a compilation read besides its arguments: globals, closure values, the sources of helpers."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pyasc.frontend.record import Record
from pyasc.frontend.source import KernelSource
from pyasc.language.dtypes import ArrayAnnotation, ElementType, Marker, SizeSymbol

_ABSENT = object()


class Dependency(Record):
    """One value that was read: `kind` is `"global"`, `"closure"`, `"attribute"` or `"source"`.

    `fingerprint` is the same in every process for equal values and tells `1`, `True` and `1.0` apart.
    """

    kind: str
    path: str
    fingerprint: str
    value: Any
    read: Callable[[], Any]

    def still_valid(self) -> bool:
        """Whether reading again would give the same value."""
        now = self.read()
        return now is self.value or (type(now) is type(self.value) and fingerprint(now) == self.fingerprint)


@dataclass(slots=True)
class Dependencies:
    """Everything read during one compilation, each once, in the order of reading."""

    entries: dict[tuple[int, str], Dependency] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Dependency]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)

    def still_valid(self) -> bool:
        """Whether nothing that was read has changed. Costs a look-up and an identity test for each entry."""
        return all(entry.still_valid() for entry in self.entries.values())

    def fingerprints(self) -> tuple[tuple[str, str, str], ...]:
        """Kind, path and fingerprint of every entry, for the key of a cache on disk."""
        return tuple((e.kind, e.path, e.fingerprint) for e in self.entries.values())

    def read_name(self, source: KernelSource, name: str) -> Any:
        """The value of a global or closure name of `source`, noted. Raises KeyError when there is none."""
        value = source.lookup(name)
        key = (id(source.globals), name)
        if key not in self.entries and not isinstance(value, types.ModuleType):
            kind = "closure" if name in source.closure else "global"
            self._note(key, kind, f"{source.file}:{name}", value, lambda: source.lookup(name, _ABSENT))
        return value

    def read_attribute(self, owner: Any, name: str) -> Any:
        """The attribute of a module or class, noted. Raises AttributeError when there is none."""
        value = getattr(owner, name)
        path = f"{getattr(owner, '__name__', type(owner).__name__)}.{name}"
        key = (id(owner), name)
        if key not in self.entries and not isinstance(value, types.ModuleType):
            self._note(key, "attribute", path, value, lambda: getattr(owner, name, _ABSENT))
        return value

    def read_source(self, source: KernelSource) -> None:
        """Note the text of the kernel or of a helper that was compiled into it."""
        function = source.function
        code = function.__code__ if function is not None else None
        self._note(
            (id(source.node), "source"),
            "source",
            f"{source.file}:{source.name}",
            code,
            lambda: None if function is None else function.__code__,
            source.fingerprint,
        )

    def _note(
        self,
        key: tuple[int, str],
        kind: str,
        path: str,
        value: Any,
        read: Callable[[], Any],
        digest: str | None = None,
    ) -> None:
        if key not in self.entries:
            text = fingerprint(value) if digest is None else digest
            self.entries[key] = Dependency(kind, path, text, value, read)


def fingerprint(value: Any) -> str:
    """A text that differs for values that would compile differently; the same in every process."""
    match value:
        case bool() | int() | float() | complex() | str() | bytes() | None:
            return f"{type(value).__name__}:{value!r}"
        case tuple() | list():
            return f"{type(value).__name__}({', '.join(fingerprint(v) for v in value)})"
        case ElementType() | ArrayAnnotation() | Marker() | SizeSymbol():
            return str(value)
        case types.FunctionType():
            return f"function:{value.__module__}.{value.__qualname__}:{_code_text(value.__code__)}"
        case type():
            return f"type:{value.__module__}.{value.__qualname__}"
        case KernelSource():
            return f"source:{value.fingerprint}"
        case _:
            return _object_fingerprint(value)


def _object_fingerprint(value: Any) -> str:
    module, name = type(value).__module__, type(value).__qualname__
    if module == "numpy" and hasattr(value, "tobytes") and getattr(value, "ndim", 0) == 0:
        return f"{module}.{name}:{value.tobytes().hex() if hasattr(value, 'dtype') else value!r}"
    function = getattr(value, "py_func", None)
    if isinstance(function, types.FunctionType):
        return fingerprint(function)
    # Builtins and other objects are told apart by name; `still_valid` compares identity first.
    return f"{module}.{name}:{getattr(value, '__qualname__', getattr(value, '__name__', ''))}"


def _code_text(code: types.CodeType) -> str:
    import hashlib

    digest = hashlib.sha256(code.co_code)
    for const in code.co_consts:
        digest.update(
            _code_text(const).encode() if isinstance(const, types.CodeType) else repr(const).encode()
        )
    digest.update(" ".join(code.co_names).encode())
    return digest.hexdigest()[:16]
