# SPDX-License-Identifier: Apache-2.0
"""Records, written like dataclasses: a class costs nothing until it is used, which keeps start-up short.

A frozen dataclass takes about half a millisecond to make, and a compilation would need two hundred of them.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar, TypeVar

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:
    from typing_extensions import dataclass_transform

RecordT = TypeVar("RecordT", bound="Record")


@dataclass_transform(frozen_default=True)
class Record:
    """Base of records: fields are the annotated names, those of the base first, compared and hashed by value.

    Never assign to a field, except in a class made with `frozen=False`, which must not be hashed.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, frozen: bool = True) -> None:
        own = [name for name, type_ in cls.__annotations__.items() if not str(type_).startswith("ClassVar")]
        cls.__match_args__ = (*cls.__match_args__, *own)
        if cls.__init__ is not Record.__init__:
            _keep_own_constructor(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        for derived in cls.__subclasses__():
            _keep_own_constructor(derived)
        cls.__init__ = _constructor(cls)
        cls.__init__(self, *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({fields})"


def changed(record: RecordT, **values: Any) -> RecordT:
    """A copy with other values in some fields, as `dataclasses.replace` makes it."""
    return type(record)(**{name: getattr(record, name) for name in record.__match_args__} | values)


def _keep_own_constructor(cls: type[Record]) -> None:
    """Make sure that a class does not inherit the constructor that its base has got or is about to get."""
    if "__init__" not in cls.__dict__:
        cls.__init__ = Record.__init__


def _constructor(cls: type[Record]) -> Any:
    """An `__init__` that takes the fields in order, with the class attributes of their names as defaults."""
    names = cls.__match_args__
    defaults = {f"_{name}": getattr(cls, name) for name in names if hasattr(cls, name)}
    params = ", ".join(f"{name}=_{name}" if f"_{name}" in defaults else name for name in names)
    body = "; ".join(f"self.{name} = {name}" for name in names) or "pass"
    scope: dict[str, Any] = dict(defaults)
    exec(f"def __init__(self, {params}): {body}", scope)
    return scope["__init__"]
