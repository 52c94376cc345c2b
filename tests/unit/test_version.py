# SPDX-License-Identifier: Apache-2.0
"""The order of versions, and what the package says its own is."""

from __future__ import annotations

import itertools
from importlib import metadata

import pytest

import pyasc as asc
from pyasc._version import Version, VersionInfo

IN_ORDER = [
    "0.9",
    "1.0.dev1",
    "1.0a1.dev1",
    "1.0a1",
    "1.0a2",
    "1.0b1",
    "1.0rc1",
    "1.0",
    "1.0.post1",
    "1.0.1",
    "1.9",
    "1.10",
    "9.1",
    "10.0",
]


def test_order() -> None:
    versions = [Version(text) for text in IN_ORDER]
    assert sorted(versions) == versions
    assert all(a < b and b > a and not a >= b for a, b in itertools.pairwise(versions))


def test_compares_with_plain_text_on_either_side() -> None:
    assert Version("10.0") >= "9.1"
    assert "9.1" <= Version("10.0")  # noqa: SIM300
    assert Version("3.0") >= "3" and Version("3.0") <= "3.0.0"


def test_equality_is_that_of_the_text() -> None:
    assert Version("3.0") == "3.0" and Version("3.0") != "3.0.0"
    assert {Version("3.0"): 1}["3.0"] == 1


def test_text_that_is_no_version_is_refused() -> None:
    with pytest.raises(ValueError, match="'three' is not a version"):
        assert Version("3.0") < "three"


@pytest.mark.parametrize(
    ("text", "info"),
    [("1.2.3", (1, 2, 3, "final", 0)), ("2.0rc4", (2, 0, 0, "candidate", 4)), ("3b1", (3, 0, 0, "beta", 1))],
)
def test_info(text: str, info: tuple[int, int, int, str, int]) -> None:
    assert Version(text).info == info


def test_the_package_states_one_version() -> None:
    assert asc.__version__ == metadata.version("pyasc-compiler")
    assert asc.version_info == asc.__version__.info
    assert asc.version_info >= VersionInfo(0, 1, 0)
