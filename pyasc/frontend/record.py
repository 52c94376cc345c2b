# SPDX-License-Identifier: Apache-2.0
"""Immutable records, written like dataclasses: a class costs nothing until it is used, which keeps start-up short.

A frozen dataclass takes about a millisecond to make, and the frontend has fifty of them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from typing_extensions import dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """Base of records: fields are the annotated names, compared and hashed by value. Never assign to a field."""

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = tuple(cls.__annotations__)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        cls.__init__ = _constructor(cls)
        cls.__init__(self, *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({fields})"


def _constructor(cls: type[Record]) -> Any:
    """An `__init__` that takes the fields in order, with the class attributes of their names as defaults."""
    names = cls.__match_args__
    defaults = {f"_{name}": cls.__dict__[name] for name in names if name in cls.__dict__}
    params = ", ".join(f"{name}=_{name}" if f"_{name}" in defaults else name for name in names)
    body = "; ".join(f"self.{name} = {name}" for name in names) or "pass"
    scope: dict[str, Any] = dict(defaults)
    exec(f"def __init__(self, {params}): {body}", scope)
    return scope["__init__"]
