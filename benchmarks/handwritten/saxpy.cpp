// SPDX-License-Identifier: Apache-2.0
// y = a * x + y, rounded after the product and after the sum.
#include "pool.h"

extern "C" void hw_saxpy(float a, const float* x, float* y, int64_t n) {
  hw::parallel_for(n, 1 << 16, [=](int64_t begin, int64_t end) {
    const float* __restrict from = x;
    float* __restrict to = y;
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) to[i] = a * from[i] + to[i];
  });
}
