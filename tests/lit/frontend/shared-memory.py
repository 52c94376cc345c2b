# SPDX-License-Identifier: Apache-2.0
# A shared buffer with symbolic sizes, filled by a block copy.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(weight: asc.float32[F, 3], out: asc.float32[F]):
    held = asc.shared_memory((F, 3), asc.float32)
    asc.copy(weight, held)
    for f in asc.parallel_for(F):
        out[f] = held[f, 0] + held[f, -1]


# CHECK:        func.func {symbol = "k", sizes = ["F"], written = [1]} {
# CHECK-NEXT:   ^(%weight: ref<F x 3 x f32>, %out: ref<F x f32>):
# CHECK-NEXT:     %F = func.size {symbol = "F"}
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 2} : i64
# CHECK-NEXT:     %held = mem.alloc {purpose = "shared"} : ref<F x 3 x f32, local>
# CHECK-NEXT:     mem.copy %weight, %held
# CHECK-NEXT:     scf.for %0, %F, %1, [] {kind = "parallel"} {
# CHECK-NEXT:     ^(%f: i64):
# CHECK-NEXT:       %3 = py.load %held, [%f, %0]
# CHECK-NEXT:       %4 = py.load %held, [%f, %2]
# CHECK-NEXT:       %5 = arith.add %3, %4
# CHECK-NEXT:       py.store %5, %out, [%f]
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
