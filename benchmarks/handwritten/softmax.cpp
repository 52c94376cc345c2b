// SPDX-License-Identifier: Apache-2.0
// Softmax of every row of x[rows, columns]: largest, exponentials and their sum, scaling, while the row is in L1.
#include "pool.h"
#include "stream.h"
#include "vecmath.h"

namespace {

using hw::kLanes;
using hw::vf;

HW_INLINE float row_largest(const float* x, int64_t columns) {
  const vf lowest = hw::splat(-__builtin_inff());
  vf best[4] = {lowest, lowest, lowest, lowest};
  int64_t j = 0;
  for (; j + 4 * kLanes <= columns; j += 4 * kLanes)
    for (int k = 0; k < 4; ++k) best[k] = hw::larger(hw::load(x + j + k * kLanes), best[k]);
  for (; j + kLanes <= columns; j += kLanes) best[0] = hw::larger(hw::load(x + j), best[0]);
  if (const int64_t rest = columns - j)
    best[1] = hw::larger(hw::load_first<vf>(x + j, hw::First(rest), -__builtin_inff()), best[1]);
  return hw::largest_of_lanes(hw::larger(hw::larger(best[0], best[1]), hw::larger(best[2], best[3])));
}

HW_INLINE float row_exponentials(const float* x, float* y, int64_t columns, float largest) {
  vf total[2] = {};
  int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes)
    for (int k = 0; k < 2; ++k) {
      __builtin_prefetch(x + columns + j + k * kLanes);
      __builtin_prefetch(y + columns + j + k * kLanes, 1);
      const vf e = hw::exp(hw::load(x + j + k * kLanes) - largest);
      hw::store(y + j + k * kLanes, e);
      total[k] += e;
    }
  for (; j < columns; j += kLanes) {
    const int64_t rest = columns - j;
    if (rest >= kLanes) {
      const vf e = hw::exp(hw::load(x + j) - largest);
      hw::store(y + j, e);
      total[0] += e;
    } else {
      const vf e = hw::exp(hw::load_first<vf>(x + j, hw::First(rest), -__builtin_inff()) - largest);
      hw::store_first(y + j, hw::First(rest), e);
      total[1] += e;  // the lanes past the end are exp(-inf) = 0
    }
  }
  return hw::sum_of_lanes(total[0] + total[1]);
}

}  // namespace

extern "C" void hw_softmax(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t grain = columns >= 8192 ? 1 : 8192 / (columns + 1) + 1;
  hw::parallel_for(rows, grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* from = x + i * columns;
      float* __restrict to = y + i * columns;
      const float largest = row_largest(from, columns);
      const float scale = 1.0f / row_exponentials(from, to, columns, largest);
      hw::map_row(to, 0, columns, false, [=](auto lanes, int64_t j) { return hw::load(to + j, lanes) * scale; });
    }
  });
}
