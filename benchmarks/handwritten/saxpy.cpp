// SPDX-License-Identifier: Apache-2.0
// y = a * x + y, rounded after the product and after the sum.
#include "pool.h"
#include "stream.h"

extern "C" void hw_saxpy(float a, const float* x, float* y, int64_t n) {
  hw::parallel_for(n, 1 << 16, [=](int64_t begin, int64_t end) {
    hw::map_row(y, begin, end, false,
                [=](auto lanes, int64_t i) { return a * hw::load(x + i, lanes) + hw::load(y + i, lanes); });
  });
}
