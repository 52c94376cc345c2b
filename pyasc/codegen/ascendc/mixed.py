# SPDX-License-Identifier: Apache-2.0
"""The entry of a kernel that runs parts on cube and on vector cores."""

from __future__ import annotations

from collections.abc import Mapping

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.kernel import EmitOptions, KernelLowering, class_name, entry_parameters
from pyasc.codegen.names import VendorNames
from pyasc.ir.dialects import asc, func


def lower_mixed(
    function: func.Func, options: EmitOptions, parts: Mapping[str, KernelLowering]
) -> nodes.Mixed:
    """The entry of a kernel that runs parts on cube and vector cores; `parts` by the functions they come from."""
    names = VendorNames()
    for taken in ("pipe", "op"):
        names.reserve(taken)
    sync = names.fresh("hardwareSync") if options.sync_parameter else ""
    given, sizes = entry_parameters(function, names)
    named = dict(zip(function.sizes, (size.name for size in sizes), strict=True))
    shown = dict(zip(function.params, (param.name for param in given), strict=True))
    runs: list[nodes.Run | None] = []
    for op in function.body.block:
        if isinstance(op, asc.SyncAll):
            runs.append(None)
        elif isinstance(op, asc.Run):
            part = parts[op.callee]
            used = set(part.used_params())
            given_ = zip(part.function.params, op.args, strict=True)
            args = ["&pipe", *(shown[value] for param, value in given_ if param in used)]
            args += [named[symbol] for symbol in part.used_sizes()]
            side = "ASCEND_IS_AIC" if op.unit == "cube" else "ASCEND_IS_AIV"
            again = any(run is not None and run.side == side for run in runs)
            runs.append(nodes.Run(class_name(op.callee), side, shown[op.cores], ", ".join(args), again))
    kind = next(op.type for op in function.body.block if isinstance(op, asc.KernelType))
    params = [*([nodes.Variable("GM_ADDR", sync)] if sync else []), *given, *sizes]
    return nodes.Mixed(function.symbol, tuple(params), tuple(runs), kind, sync)
