# SPDX-License-Identifier: Apache-2.0
"""The entry of a kernel that runs parts on cube and on vector cores."""

from __future__ import annotations

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.kernel import EmitOptions, class_name, entry_parameters
from pyasc.codegen.names import VendorNames
from pyasc.ir.dialects import asc, func


def lower_mixed(function: func.Func, options: EmitOptions) -> nodes.Mixed:
    """The entry of a kernel that runs parts on cube and vector cores."""
    names = VendorNames()
    for taken in ("pipe", "op"):
        names.reserve(taken)
    sync = names.fresh("hardwareSync") if options.sync_parameter else ""
    given, sizes = entry_parameters(function, names)
    shown = dict(zip(function.params, (param.name for param in given), strict=True))
    runs: list[nodes.Run | None] = []
    for op in function.body.block:
        if isinstance(op, asc.SyncAll):
            runs.append(None)
        elif isinstance(op, asc.Run):
            args = ["&pipe", *(shown[value] for value in op.args), *(size.name for size in sizes)]
            side = "ASCEND_IS_AIC" if op.unit == "cube" else "ASCEND_IS_AIV"
            again = any(run is not None and run.side == side for run in runs)
            runs.append(nodes.Run(class_name(op.callee), side, shown[op.cores], ", ".join(args), again))
    kind = next(op.type for op in function.body.block if isinstance(op, asc.KernelType))
    params = [*([nodes.Variable("GM_ADDR", sync)] if sync else []), *given, *sizes]
    return nodes.Mixed(function.symbol, tuple(params), tuple(runs), kind, sync)
