# SPDX-License-Identifier: Apache-2.0
"""Tiles structured ops for caches and registers of a host processor.

Product-sums get a register tile of rows by vectors with their vector operand packed into panels; long
reductions and scans are cut into chunks whose partial results are combined in order; ops that walk two arrays in
different directions get square tiles. What an op is follows
from its maps and iterators; ops that gain nothing are left to the plain lowering.

    st.apply [...], [%a, %b], [%zero], [%c] {iterators = ["parallel", "parallel", "reduction"], ...}

becomes loops over panels and rows around

    %total = scf.for %0, %depth, %1, [%zeros] {kind = "reduction"} : tile<14 x 2 x 16 x f32> {
    ^(%k: i64, %running: tile<14 x 2 x 16 x f32>):
      %left = vec.load %packed, [%panel, %k, %0], [] : vec<16 x f32>
      %right = vec.load %packed, [%panel, %k, %16], [] : vec<16 x f32>
      %next = vec.fma_tile %running, [%left, %right], %a, [%row, %k] {steps = [1, 0]}
      scf.yield %next
    }
"""

from __future__ import annotations

from pyasc.ir.dialects import st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.cache_tiles import tile_transposed
from pyasc.passes.analysis.chunking import chunk_columns, chunk_reduction, chunk_scan
from pyasc.passes.analysis.contraction import match_contraction
from pyasc.passes.analysis.register_tiles import Machine
from pyasc.passes.analysis.tile_contraction import tile_contraction
from pyasc.passes.base import Context, FunctionPass


class ScheduleCpu(FunctionPass):
    """Chooses a schedule for each structured op.

    `vector_bytes` and `registers` describe the processor's vector unit; `chunk` is the number of elements
    that one step of a cut reduction takes, `scan_bytes` the size of a step of a scan, which is read twice and is still
    in a level-1 cache of 48 KiB then.
    """

    name = "schedule-cpu"
    vector_bytes: int = 64
    registers: int = 32
    chunk: int = 24576
    scan_bytes: int = 32768

    def run(self, func: Func, context: Context) -> bool:
        """Schedule every structured op of the function."""
        machine = Machine(self.vector_bytes, self.registers)
        changed = False
        for op in [op for op in func.nests() if isinstance(op, st.Apply)]:
            contraction = match_contraction(op)
            if contraction is not None and tile_contraction(contraction, machine):
                context.count("register tiles")
            elif chunk_reduction(op, self.chunk) or chunk_columns(op) or chunk_scan(op, self.scan_bytes):
                context.count("chunked ops")
            elif tile_transposed(op):
                context.count("cache tiles")
            else:
                continue
            changed = True
        return changed
