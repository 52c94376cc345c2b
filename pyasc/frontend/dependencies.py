# SPDX-License-Identifier: Apache-2.0
"""What a compilation read besides its arguments: globals, closure values, the sources of helpers."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from pyasc.frontend.source import KernelSource
from pyasc.ir.record import Record
from pyasc.language.dtypes import ArrayAnnotation, ElementType, Marker, SizeSymbol

_ABSENT = object()
_CONSTANT_MODULES = ("pyasc", "numpy", "math")
_BUILTIN_TYPES = ("builtins", "numpy")
"""The modules of classes whose attributes nobody sets."""


class Dependency(Record):
    """One value that was read: `kind` is `"global"`, `"closure"`, `"attribute"`, `"source"` or
    `"defaults"`.

    `fingerprint` is the same in every process for equal values and tells `1`, `True` and `1.0` apart. `value` is what
    was read at the time: of a list, a copy.
    """

    kind: str
    path: str
    fingerprint: str
    value: Any
    read: Callable[[], Any]

    def still_valid(self) -> bool:
        """Whether reading again would give the same value."""
        return alike(self.read(), self.value)


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
        # Functions of one module share its globals, but each has cells of its own.
        key = (id(source.closure.get(name, source.globals)), name)
        if key not in self.entries and not is_constant_module(value):
            kind = "closure" if name in source.closure else "global"
            self._note(key, kind, f"{source.file}:{name}", value, _reader(source, name))
        return value

    def read_attribute(self, owner: Any, name: str) -> Any:
        """The attribute of a module or class, noted. Raises AttributeError when there is none."""
        value = getattr(owner, name)
        path = f"{getattr(owner, '__name__', type(owner).__name__)}.{name}"
        key = (id(owner), name)
        if key in self.entries or is_constant_module(value) or _is_builtin_method(value):
            return value
        if isinstance(value, types.MethodType):
            # Each look-up makes another object of the same method.
            self._note(key, "attribute", path, value.__func__, lambda: _function_of(owner, name))
        else:
            self._note(key, "attribute", path, value, lambda: getattr(owner, name, _ABSENT))
        return value

    def is_steady(self, owner: Any, name: str) -> bool:
        """Whether an attribute that was read is the same when it is read again, not made anew by a property."""
        entry = self.entries.get((id(owner), name))
        return entry is None or entry.still_valid()

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
        if function is not None and (function.__defaults__ or function.__kwdefaults__):
            self._read_defaults(source, function)

    def _read_defaults(self, source: KernelSource, function: types.FunctionType) -> None:
        def defaults() -> Any:
            named = tuple((function.__kwdefaults__ or {}).items())
            return (function.__defaults__, named) if named and is_plain(named) else function.__defaults__

        path = f"{source.file}:{source.name}"
        self._note((id(source.node), "defaults"), "defaults", path, defaults(), defaults)

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
            self.entries[key] = Dependency(kind, path, text, _kept(value), read)


def _reader(source: KernelSource, name: str) -> Callable[[], Any]:
    """Reads a name again, as each launch does: as quickly as Python itself where that finds the same."""
    names = source.globals
    if name in source.closure or not isinstance(names, dict) or "__builtins__" not in names:
        return lambda: source.lookup(name, _ABSENT)
    if name in names:
        return partial(names.get, name, _ABSENT)
    made: dict[str, Any] = {"absent": _ABSENT}
    exec(_reading(name), names, made)
    return made["read"]


@cache
def _reading(name: str) -> types.CodeType:
    text = f"def read(absent=absent):\n    try:\n        return {name}\n    except NameError:\n        return absent\n"
    return compile(text, f"<reads {name}>", "exec")


def is_constant_module(value: Any) -> bool:
    """Whether a value is a module that nobody gives another name's place: pyasc, NumPy or math."""
    return isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] in _CONSTANT_MODULES


def _is_builtin_method(value: Any) -> bool:
    return isinstance(value, types.BuiltinMethodType) and not isinstance(value.__self__, types.ModuleType)


def _function_of(owner: Any, name: str) -> Any:
    return getattr(getattr(owner, name, _ABSENT), "__func__", _ABSENT)


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
            return f"function:{value.__module__}.{value.__qualname__}:{_function_text(value)}"
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


def _kept(value: Any) -> Any:
    """A value as it is now: lists and arrays of one number, which change while they stay one object, are copied."""
    if isinstance(value, list):
        copy = list.__new__(type(value))
        list.extend(copy, map(_kept, value))
        return copy
    if isinstance(value, tuple):
        parts = [_kept(each) for each in value]
        unchanged = all(a is b for a, b in zip(parts, value, strict=True))
        return value if unchanged else tuple.__new__(type(value), parts)
    return value.copy() if _is_numpy_array(value) and not value.ndim else value


def _is_numpy_array(value: Any) -> bool:
    return (type(value).__module__, type(value).__name__) == ("numpy", "ndarray")


def alike(a: Any, b: Any) -> bool:
    """Whether two values compile alike: objects with a state are one object, numbers, text and lists of them equal."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(alike, a, b))
    if a is b and not _is_numpy_array(a):
        return True
    if isinstance(a, types.CodeType) or not is_plain(a):
        return False
    same_globals = not isinstance(a, types.FunctionType) or a.__globals__ is b.__globals__
    return same_globals and fingerprint(a) == fingerprint(b)


def is_plain(value: Any) -> bool:
    """Whether equal fingerprints mean equal values: true of numbers and text, not of what has a state."""
    match value:
        case bool() | int() | float() | complex() | str() | bytes() | None | types.CodeType():
            return True
        case type():
            return value.__module__ in _BUILTIN_TYPES
        case ElementType() | ArrayAnnotation() | Marker() | SizeSymbol() | KernelSource():
            return True
        case tuple() | list():
            return all(map(is_plain, value))
        case types.FunctionType():
            return not value.__dict__ and all(map(is_plain, _bound_values(value)[0]))
        case _:
            return type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0


def _bound_values(function: types.FunctionType) -> tuple[list[Any], list[types.FunctionType]]:
    """What two functions of one text may have different: the defaults and closure values of a function and of the
    functions among these, and those functions, each once."""
    values: list[Any] = []
    functions = [function]
    for each in functions:
        bound: list[Any] = [*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values()]
        bound += [_contents(cell) for cell in each.__closure__ or ()]
        values += [value for value in bound if not isinstance(value, types.FunctionType)]
        functions += [
            f for f in bound if isinstance(f, types.FunctionType) and all(f is not g for g in functions)
        ]
    return values, functions


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty cell"


def _function_text(function: types.FunctionType) -> str:
    values, functions = _bound_values(function)
    codes = ", ".join(_code_text(each.__code__) for each in functions)
    return f"{codes}({', '.join(map(fingerprint, values))})"


def _code_text(code: types.CodeType) -> str:
    import hashlib

    digest = hashlib.sha256(code.co_code)
    for const in code.co_consts:
        digest.update(
            _code_text(const).encode() if isinstance(const, types.CodeType) else repr(const).encode()
        )
    digest.update(" ".join(code.co_names).encode())
    return digest.hexdigest()[:16]
