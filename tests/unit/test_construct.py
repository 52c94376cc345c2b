# SPDX-License-Identifier: Apache-2.0
"""The constructors that are written from declarations."""

from __future__ import annotations

import pytest

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Value, block_of
from pyasc.ir.dialects import arith, mem, operations, scf
from pyasc.ir.types import RefType, ScalarType

I64 = ScalarType(dtypes.i64)


@pytest.fixture
def values() -> tuple[Value, Value, Value]:
    ref, i, j = Block([RefType((4, 4), dtypes.f32, "global"), I64, I64]).args
    return ref, i, j


def test_a_field_of_each_kind(values: tuple[Value, Value, Value]) -> None:
    ref, i, j = values
    load = mem.Load(ref=ref, indices=[i, i])
    assert load.operands == [ref, i, i] and load.indices == (i, i) and load.segments == (1, 2)
    assert ref.uses == {load: 1} and i.uses == {load: 2}
    assert load.value.type == ScalarType(dtypes.f32) and load.value.op is load
    body = block_of([I64])
    loop = scf.For(lower=i, upper=j, step=i, kind="parallel", types=[], body=body)
    assert loop.body is body and body.parent is loop and loop.kind == "parallel" and loop.grain == 0
    assert loop.segments == (1, 1, 1, 0) and loop.results == ()
    branch = scf.If(condition=i, types=[])
    assert [region.parent for region in branch.regions] == [branch, branch]
    assert branch.then is not branch.otherwise


def test_result_types_that_are_given_replace_those_that_follow(values: tuple[Value, Value, Value]) -> None:
    _, i, _ = values
    wide = arith.Elementwise(fn="add", args=[i, i], types=[ScalarType(dtypes.f64)])
    assert wide.result.type == ScalarType(dtypes.f64)


def test_what_is_missing_or_unknown_is_named(values: tuple[Value, Value, Value]) -> None:
    ref, i, _ = values
    with pytest.raises(TypeError, match=r"arith\.elementwise\(\) missing .* argument: 'fn'"):
        arith.Elementwise(args=[i, i])  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match=r"mem\.load\(\) missing .* argument: 'ref'"):
        mem.Load(indices=[i])  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match=r"mem\.load\(\) got an unexpected keyword argument 'index'"):
        mem.Load(ref=ref, index=[i])  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match=r"arith\.constant needs types= for its result 'result'"):
        arith.Constant(value=1)


def test_every_declaration_has_a_constructor() -> None:
    """The names of fields are names of parameters, whatever they are."""
    for cls in operations().values():
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'no_such_field'"):
            cls(no_such_field=1)
