# SPDX-License-Identifier: Apache-2.0
# What a while loop carries has the types that all paths agree on.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def halve(n: int):
    steps = 0
    while n > 1:
        n //= 2
        steps += 1
    return steps


# CHECK:        func.func {symbol = "halve", written = [1], outputs = [1]} {
# CHECK-NEXT:   ^(%n: i64, %out: ref<i64>):
# CHECK-NEXT:     %0 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 2} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %n_1, %steps = scf.while %n, %2 : i64, i64 {
# CHECK-NEXT:     ^(%n_2: i64, %steps_1: i64):
# CHECK-NEXT:       %3 = arith.gt %n_2, %0
# CHECK-NEXT:       scf.condition %3, [%n_2, %steps_1]
# CHECK-NEXT:     } {
# CHECK-NEXT:     ^(%n_3: i64, %steps_2: i64):
# CHECK-NEXT:       %n_4 = arith.floordiv %n_3, %1
# CHECK-NEXT:       %steps_3 = arith.add %steps_2, %0
# CHECK-NEXT:       scf.yield %n_4, %steps_3
# CHECK-NEXT:     }
# CHECK-NEXT:     py.store %steps, %out, []
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
