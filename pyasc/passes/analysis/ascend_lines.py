# SPDX-License-Identifier: Apache-2.0
"""Vector calls on one long line: in counter mode an instruction runs over any number of elements and masks the tail.

A number of the row is read with block and repeat stride 0 from a block that it fills. A line is folded into 256 bytes
by one instruction, whose second source is its destination with repeat stride 0: the one overlap between repeats that
the instruction set allows.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import asc_vector
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_rows import FOLDS, WHOLE
from pyasc.passes.analysis.ascend_vector import BINARY

_REPEAT_BLOCKS = 8


def fold(at: Builder, fn: str, lanes: Value, line: Value, count: Value) -> None:
    """Combine `count` elements into the lanes of one repeat."""
    strides = [index(at, each) for each in (1, 1, 1, 0, _REPEAT_BLOCKS, 0)]
    _counted(at, FOLDS[fn], lanes, [line, lanes], strides, count)


def line_binary(
    at: Builder, fn: str, target: Value, sources: Sequence[tuple[Value, int]], count: Value
) -> None:
    """A binary function of lines (block stride 1) and of numbers that fill a block (0)."""
    blocks = [block for _, block in sources]
    strides = [
        index(at, each) for each in (1, *blocks, _REPEAT_BLOCKS, *(_REPEAT_BLOCKS * each for each in blocks))
    ]
    _counted(at, BINARY[fn], target, [tensor for tensor, _ in sources], strides, count)


def reduce_lanes(at: Builder, fn: str, target: Value, lanes: Value, count: Value) -> None:
    """One number of at most 256 bytes."""
    one = index(at, 1)
    at.insert(
        asc_vector.WholeReduce(
            call=WHOLE[fn],
            dst=target,
            src=lanes,
            amount=[count, one],
            strides=[one, one, index(at, _REPEAT_BLOCKS)],
            order=None if fn == "add" else "ORDER_ONLY_VALUE",
        )
    )


def _counted(
    at: Builder, call: str, target: Value, sources: Sequence[Value], strides: Sequence[Value], count: Value
) -> None:
    at.insert(asc_vector.MaskMode(call="SetMaskCount"))
    at.insert(
        asc_vector.SetVectorMask(high=index(at, 0), low=count, dtype=dtype_of(target.type).name, counter=True)
    )
    at.insert(
        asc_vector.Binary(
            call=call,
            dst=target,
            src0=sources[0],
            src1=sources[1],
            amount=[count, index(at, 1)],
            strides=strides,
            set_mask=False,
        )
    )
    at.insert(asc_vector.MaskMode(call="SetMaskNorm"))
    at.insert(asc_vector.MaskMode(call="ResetMask"))
