# SPDX-License-Identifier: Apache-2.0
# asc.atomic_add is one operation, under Python's index rules.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def histogram(x: asc.int32[N], counts: asc.int32[16]):
    for i in asc.parallel_for(N):
        asc.atomic_add(counts, x[i] % 16, 1)


# CHECK:        func.func {symbol = "histogram", sizes = ["N"], written = [1]} {
# CHECK-NEXT:   ^(%x: ref<N x i32>, %counts: ref<16 x i32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 16} : i32
# CHECK-NEXT:     %3 = arith.constant {value = 1} : i32
# CHECK-NEXT:     scf.for %0, %N, %1, [] {kind = "parallel"} {
# CHECK-NEXT:     ^(%i: i64):
# CHECK-NEXT:       %4 = py.load %x, [%i]
# CHECK-NEXT:       %5 = arith.mod %4, %2
# CHECK-NEXT:       %6 = arith.cast %5 : i64
# CHECK-NEXT:       py.atomic %3, %counts, [%6] {fn = "add"}
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
