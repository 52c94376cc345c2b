# SPDX-License-Identifier: Apache-2.0
"""Cutting a threaded loop into tasks: an outer loop with one iteration a task around the loop itself."""

from __future__ import annotations

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import scf
from pyasc.ir.sizes import constant
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.analysis.structured import size_value


def split_tasks(loop: scf.For, multiple: int, least: int = 1) -> scf.For:
    """Put a loop over tasks around a threaded loop of step one, which runs a task's iterations from then on.

    A task has as many iterations as make up `grain`, but at least `least`, rounded up to a multiple of `multiple`.
    Returns the new loop.
    """
    e = Emitter(Builder.before(loop))
    length = _iterations(loop, e, multiple, least)
    count = e.floordiv(
        e.add(e.call("pymax", e.sub(loop.upper, loop.lower), e.index(0)), e.sub(length, 1)), length
    )
    grain, loop.grain = loop.grain, 0
    lower, upper = loop.lower, loop.upper

    def task(inner: Emitter, number: Value, _: list[Value]) -> None:
        low = inner.add(lower, inner.mul(number, length))
        high = inner.minimum(inner.add(low, length), upper)
        low.name, high.name = "low", "high"
        inner.insert(loop)
        loop.set_operands("lower", [low])
        loop.set_operands("upper", [high])

    e.loop(0, count, task, kind="parallel", name="task")
    outer = loop.parent_op
    assert isinstance(outer, scf.For)
    outer.grain, outer.work = grain, constant(grain)
    return outer


def _iterations(loop: scf.For, e: Emitter, multiple: int, least: int) -> Value:
    known = loop.work.as_constant
    if known is not None:
        return e.index(-(-max(least, loop.grain // max(1, known)) // multiple) * multiple)
    work = e.call("pymax", size_value(e.builder, loop.work), e.index(1))
    return e.call("pymax", e.floordiv(e.index(loop.grain), work), e.index(least))
