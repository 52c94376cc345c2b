# SPDX-License-Identifier: Apache-2.0
"""Each kind of node of Python's grammar is handled, refused with words of its own, or part of another."""

from __future__ import annotations

import ast

import pytest

from pyasc.frontend.contents import CONTENTS, PARTS
from pyasc.frontend.refusals import REFUSED

HANDLED = {**CONTENTS.statements, **CONTENTS.expressions}
# Nodes that no function body contains, and names that old Python versions have kept.
OUTSIDE = {"mod", "Module", "Interactive", "Expression", "FunctionType", "type_ignore", "TypeIgnore", "AST"}
DEPRECATED = {
    "Num",
    "Str",
    "Bytes",
    "NameConstant",
    "Ellipsis",
    "Index",
    "ExtSlice",
    "Suite",
    "AugLoad",
    "AugStore",
    "Param",
    "slice",
}
ABSTRACT = {"stmt", "expr", "pattern", "excepthandler", "type_param"}


def node_classes() -> list[type[ast.AST]]:
    found = [
        member
        for name, member in vars(ast).items()
        if isinstance(member, type)
        and issubclass(member, ast.AST)
        and name not in OUTSIDE | DEPRECATED | ABSTRACT
    ]
    return [cls for cls in found if cls.__module__ in ("ast", "_ast") and cls.__name__ not in DEPRECATED]


@pytest.mark.parametrize("cls", node_classes(), ids=lambda cls: cls.__name__)
def test_every_node_has_its_place(cls: type[ast.AST]) -> None:
    inside_refused = issubclass(cls, (ast.excepthandler, ast.pattern)) or cls.__name__ in (
        "match_case",
        *TYPE_PARAMETERS,
    )
    places = [cls in HANDLED, cls in REFUSED, issubclass(cls, PARTS), inside_refused]
    assert sum(places) == 1, f"{cls.__name__} is in {sum(places)} places"


TYPE_PARAMETERS = ("TypeVar", "ParamSpec", "TypeVarTuple")


@pytest.mark.parametrize("refusal", REFUSED.values(), ids=lambda refusal: refusal.name)
def test_a_refusal_says_why(refusal: object) -> None:
    assert refusal.name  # pyright: ignore[reportAttributeAccessIssue]
    assert refusal.reason  # pyright: ignore[reportAttributeAccessIssue]
    assert not refusal.reason.endswith(".")  # pyright: ignore[reportAttributeAccessIssue]


def test_handlers_are_functions_of_topical_modules() -> None:
    homes = {handler.__module__ for handler in HANDLED.values()}
    assert len(homes) >= 6
    assert all(home.startswith("pyasc.frontend.") for home in homes)
