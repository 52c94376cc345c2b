# SPDX-License-Identifier: Apache-2.0
"""The entry of a kernel that runs parts on cube and on vector cores."""

from __future__ import annotations

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.expressions import CTYPES
from pyasc.codegen.ascendc.lower import EmitOptions, class_name
from pyasc.ir.dialects import asc, func
from pyasc.ir.types import RefType, dtype_of


def lower_mixed(function: func.Func, options: EmitOptions) -> nodes.Mixed:
    """The entry of a kernel that runs parts on cube and vector cores."""
    params = [
        nodes.Variable(
            "GM_ADDR" if isinstance(param.type, RefType) else CTYPES[dtype_of(param.type)], param.name
        )
        for param in function.params
    ]
    params += [nodes.Variable("int64_t", symbol) for symbol in function.sizes]
    runs: list[nodes.Run | None] = []
    for op in function.body.block:
        if isinstance(op, asc.SyncAll):
            runs.append(None)
        elif isinstance(op, asc.Run):
            args = ["&pipe", *(value.name for value in op.args), *function.sizes]
            side = "ASCEND_IS_AIC" if op.unit == "cube" else "ASCEND_IS_AIV"
            again = any(run is not None and run.side == side for run in runs)
            runs.append(nodes.Run(class_name(op.callee), side, op.cores.name, ", ".join(args), again))
    kind = next(op.type for op in function.body.block if isinstance(op, asc.KernelType))
    sync = "hardwareSync" if options.sync_parameter else ""
    if sync:
        params.insert(0, nodes.Variable("GM_ADDR", sync))
    return nodes.Mixed(function.symbol, tuple(params), tuple(runs), kind, sync)
