# SPDX-License-Identifier: Apache-2.0
"""Objects that a kernel reads and that give their name to others: classes, modules, lists of objects, properties."""

from __future__ import annotations

import builtins
import enum
from collections import namedtuple
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pyasc as asc

X = np.arange(4, dtype=np.float32)
Names = dict[str, Any]


def doubled(a):
    return a * RATE  # pyright: ignore[reportUndefinedVariable]


def with_rate(rate: int) -> type:
    """Another class of the same name each time, as a notebook makes them when a cell is run again."""

    class Settings:
        RATE = rate

    return Settings


def with_attribute(rate: int) -> Any:
    def helper(a):
        return a

    helper.RATE = rate  # pyright: ignore[reportFunctionMemberAccess]
    return helper


def as_module(rate: int) -> ModuleType:
    module = ModuleType("settings")
    module.RATE = rate  # pyright: ignore[reportAttributeAccessIssue]
    return module


@pytest.mark.parametrize("make", [with_rate, with_attribute, as_module], ids=lambda make: make.__name__)
def test_a_global_that_is_replaced_by_one_of_the_same_name(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asc.kernel
    def k(x):
        return x * SETTINGS.RATE  # pyright: ignore[reportUndefinedVariable]

    for rate in (1, 2, 1):
        monkeypatch.setitem(globals(), "SETTINGS", make(rate))
        np.testing.assert_array_equal(k(X), X * rate)


@asc.kernel
def scaled_by(x, settings: asc.constexpr):
    return x * settings.RATE


@pytest.mark.parametrize("make", [with_rate, with_attribute])
def test_a_compile_time_argument_of_the_same_name(make: Any) -> None:
    for rate in (1, 2, 1):
        np.testing.assert_array_equal(scaled_by(X, make(rate)), X * rate)


def test_functions_of_one_text_in_two_modules() -> None:
    @asc.kernel
    def k(x, function: asc.constexpr):
        return function(x)

    for rate in (2, 3, 2):
        here = FunctionType(doubled.__code__, {**globals(), "RATE": rate}, "doubled")
        np.testing.assert_array_equal(k(X, here), X * rate)


def test_a_function_of_the_same_file_reads_the_globals_of_its_own_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @asc.kernel
    def k(x, function: asc.constexpr):
        return function(x) + RATE  # pyright: ignore[reportUndefinedVariable]

    elsewhere = {**globals(), "RATE": 2}
    there = FunctionType(doubled.__code__, elsewhere, "doubled")
    for here, rate in ((2, 2), (2, 5), (7, 5), (2, 2)):
        monkeypatch.setitem(globals(), "RATE", here)
        elsewhere["RATE"] = rate
        np.testing.assert_array_equal(k(X, there), X * rate + here)


def test_defaults_that_change_places() -> None:
    def helper(a, *, b=1, c=2):
        return a * b + c

    @asc.kernel
    def k(x):
        return helper(x)

    np.testing.assert_array_equal(k(X), X + 2)
    helper.__kwdefaults__ = {"c": 1, "b": 2}
    np.testing.assert_array_equal(k(X), X * 2 + 1)


def test_lists_of_objects() -> None:
    layers = [SimpleNamespace(w=1.0), SimpleNamespace(w=2.0)]

    @asc.kernel
    def k(x):
        for layer in layers:
            x = x * layer.w + 1
        return x

    def same() -> None:
        assert k.py_func is not None
        np.testing.assert_array_equal(k(X), k.py_func(X))

    same()
    same()
    assert k.cache_info().compilations == 1
    layers[0].w = 3.0
    same()
    layers[1] = SimpleNamespace(w=5.0)
    same()
    layers.append(layers[0])
    same()
    del layers[1]
    same()
    assert k.cache_info().compilations == 5


Pair = namedtuple("Pair", "first second")


def test_lists_in_tuples() -> None:
    pair = Pair(1, [2, (3, [4])])

    @asc.kernel
    def k(x):
        return x * pair[0] + pair[1][1][1][0]

    np.testing.assert_array_equal(k(X), X + 4)
    pair[1][1][1][0] = 5
    np.testing.assert_array_equal(k(X), X + 5)


def test_named_tuples() -> None:
    pair = Pair(2, Pair(3, 4.0))

    @asc.kernel
    def k(x, settings: asc.constexpr):
        return x * pair.first + pair.second.second + settings.second

    np.testing.assert_array_equal(k(X, Pair(0, 1)), X * 2 + 5)
    pair = Pair(5, Pair(3, 6.0))
    np.testing.assert_array_equal(k(X, Pair(0, 2)), X * 5 + 8)
    with pytest.raises(asc.CompileError, match="a tuple of 2 has no attribute `second`"):
        k(X, (0, 2))


class Computed:
    rate = 2

    @property
    def parts(self) -> Any:
        return self.rate, [self.rate + 1]

    @property
    def other(self) -> Any:
        return SimpleNamespace(rate=self.rate)


def test_properties_that_compute_lists() -> None:
    computed = Computed()

    @asc.kernel
    def k(x):
        return x * computed.parts[0] + computed.parts[1][0]

    for rate in (2, 2, 3):
        computed.rate = rate
        np.testing.assert_array_equal(k(X), X * rate + rate + 1)
    assert k.cache_info().compilations == 2


def test_arrays_of_one_number() -> None:
    factor = np.array(3.0, np.float32)

    @asc.kernel
    def k(x):
        return np.max(x * factor)

    assert k(X) == 9
    factor[...] = 5
    assert k(X) == 15
    assert k(X) == 15 and k.cache_info().compilations == 2


def test_a_property_that_makes_an_object_each_time_is_refused() -> None:
    computed = Computed()

    @asc.kernel
    def k(x):
        return x * computed.other.rate

    with pytest.raises(asc.CompileError, match=r"`computed\.other` is another object each time it is read"):
        k(X)


class Mode(enum.IntEnum):
    FAST = 1
    SMALL = 2


class Other(enum.IntEnum):
    FAST = 1


@asc.kernel
def by_identity(x, mode: asc.constexpr):
    result = 0
    if mode is Mode.FAST:
        result += 1
    if mode is Other.FAST:
        result += 2
    if mode == Mode.FAST:
        result += 4
    if mode is None:
        result += 8
    if mode is not True:
        result += 16
    return x + result


@pytest.mark.parametrize("mode", [Mode.FAST, Mode.SMALL, Other.FAST, 1, 1.0, True, None, "FAST"])
def test_members_that_are_ints_are_told_apart(mode: Any) -> None:
    assert by_identity.py_func is not None
    np.testing.assert_array_equal(by_identity(X, mode), by_identity.py_func(X, mode))


def test_members_that_are_ints_have_names() -> None:
    @asc.kernel
    def k(x, mode: asc.constexpr):
        return x + len(mode.name) * mode.value + mode

    np.testing.assert_array_equal(k(X, Mode.SMALL), X + 12)


def test_is_of_two_numbers_is_refused() -> None:
    @asc.kernel
    def k(x, mode: asc.constexpr, other: asc.constexpr):
        return x + (1 if mode is other else 2)

    with pytest.raises(asc.CompileError, match="`is` compares objects") as caught:
        k(X, 300, 300)
    assert caught.value.diagnostics[0].hint == "use `==`"


def twice(a, b):
    return a * b * 2


def test_a_builtin_that_the_module_hides_and_one_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    @asc.kernel
    def k(x):
        return pow(x, 1)

    np.testing.assert_array_equal(k(X), X)
    for owner in (globals(), vars(builtins)):
        with monkeypatch.context() as patched:
            patched.setitem(owner, "pow", twice)
            np.testing.assert_array_equal(k(X), X * 2)
            np.testing.assert_array_equal(k(X), X * 2)
        np.testing.assert_array_equal(k(X), X)
