# SPDX-License-Identifier: Apache-2.0
"""Records behave as frozen dataclasses do, and builders that share emit an equal value once."""

from __future__ import annotations

import gc
from typing import ClassVar

import pytest

from pyasc.ir import dtypes
from pyasc.ir.core import Builder
from pyasc.ir.parser import parse
from pyasc.ir.record import Record, changed
from pyasc.passes.analysis.emit import Emitter
from pyasc.runtime.collection import collection_paused


class Point(Record):
    x: int
    y: int = 2
    unit: ClassVar[str] = "cm"


class Point3(Point):
    z: int = 3


class Node(Record, frozen=False):
    body: list[int]


def test_fields_come_in_order_with_those_of_the_base_first() -> None:
    assert Point3.__match_args__ == ("x", "y", "z")
    assert Point3(1) == Point3(x=1, y=2, z=3)
    match Point3(1, 5):
        case Point3(x, y, z):
            assert (x, y, z) == (1, 5, 3)


def test_a_base_that_was_used_before_leaves_its_subclass_alone() -> None:
    assert Point(1).y == 2
    assert repr(Point3(7, z=8)) == "Point3(x=7, y=2, z=8)"


def test_records_are_equal_by_class_and_value() -> None:
    assert Point(1) != Point3(1)
    assert hash(Point(1)) == hash(Point(1, 2))
    assert {Point(1): "a"}[Point(1, 2)] == "a"


def test_wrong_fields_are_refused() -> None:
    with pytest.raises(TypeError):
        Point()  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Point(1, unit="m")  # pyright: ignore[reportCallIssue]


def test_changed_copies() -> None:
    before = Point3(1, z=4)
    assert changed(before, y=9) == Point3(1, 9, 4)
    assert before == Point3(1, 2, 4)


def test_fields_of_a_record_that_is_not_frozen_may_be_set() -> None:
    node = Node([1])
    node.body = [2]
    assert node == Node([2])


def test_dtypes_are_single_objects() -> None:
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(dtypes.bf16)) is dtypes.bf16
    assert copy.deepcopy(dtypes.f32) is dtypes.f32


def test_equal_values_are_emitted_once() -> None:
    module = parse(
        'func.module { func.func {symbol = "f", sizes = ["N"]} { ^(%x: i64): func.return } }', "test"
    )
    (func,) = module.functions
    e = Emitter(Builder(func.body.block, func.body.block.first))
    (x,) = func.params
    doubled = e.mul(x, 2)

    def inside(inner: Emitter, i: object, _: object) -> None:
        assert inner.mul(x, 2) is doubled
        assert inner.add(doubled, 5) is inner.add(doubled, 5)
        assert inner.index(2) is e.index(2)

    e.loop(0, x, inside)
    names = [op.name for op in func.walk()]
    assert names.count("arith.mul") == 1
    assert names.count("arith.add") == 1
    assert [op.name for op in func.body.block][:4] == ["arith.constant"] * 4


def test_collection_is_paused_and_goes_on() -> None:
    assert gc.isenabled()
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
