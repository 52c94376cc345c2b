# SPDX-License-Identifier: Apache-2.0
# A Python number that is carried takes the type of what it meets.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def total(x: asc.int16[N]):
    s = 0
    for i in range(N):
        s += x[i]
    return s


# CHECK:        func.func {symbol = "total", sizes = ["N"], written = [1], outputs = [1]} {
# CHECK-NEXT:   ^(%x: ref<N x i16>, %out: ref<i16>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 0} : i16
# CHECK-NEXT:     %s = scf.for %0, %N, %1, [%2] : i16 {
# CHECK-NEXT:     ^(%i: i64, %s_1: i16):
# CHECK-NEXT:       %3 = py.load %x, [%i]
# CHECK-NEXT:       %s_2 = arith.add %s_1, %3
# CHECK-NEXT:       scf.yield %s_2
# CHECK-NEXT:     }
# CHECK-NEXT:     py.store %s, %out, []
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
