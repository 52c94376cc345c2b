# SPDX-License-Identifier: Apache-2.0
# A loop that can be left is a while loop with a counter and a flag.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def find(x: asc.int32[N], wanted: int):
    at = -1
    for i in range(N):
        if x[i] == wanted:
            at = i
            break
    return at


# CHECK:        func.func {symbol = "find", sizes = ["N"], written = [2], outputs = [2]} {
# CHECK-NEXT:   ^(%x: ref<N x i32>, %wanted: i64, %out: ref<i64>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %2 = arith.constant {value = false} : i1
# CHECK-NEXT:     %3 = arith.constant {value = -1} : i64
# CHECK-NEXT:     %4, %5, %at = scf.while %0, %2, %3 : i64, i1, i64 {
# CHECK-NEXT:     ^(%6: i64, %7: i1, %at_1: i64):
# CHECK-NEXT:       %8 = arith.not %7
# CHECK-NEXT:       %9 = arith.lt %6, %N
# CHECK-NEXT:       %10 = arith.and %8, %9
# CHECK-NEXT:       scf.condition %10, [%6, %7, %at_1]
# CHECK-NEXT:     } {
# CHECK-NEXT:     ^(%i: i64, %11: i1, %at_2: i64):
# CHECK-NEXT:       %12 = py.load %x, [%i]
# CHECK-NEXT:       %13 = arith.cast %12 : i64
# CHECK-NEXT:       %14 = arith.eq %13, %wanted
# CHECK-NEXT:       %at_3 = arith.select %14, %i, %at_2
# CHECK-NEXT:       %15 = arith.add %i, %1
# CHECK-NEXT:       scf.yield %15, %14, %at_3
# CHECK-NEXT:     }
# CHECK-NEXT:     py.store %at, %out, []
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
