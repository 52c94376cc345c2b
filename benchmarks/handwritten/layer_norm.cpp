// SPDX-License-Identifier: Apache-2.0
// Layer norm of every row of x[rows, columns]: mean, mean squared deviation, scaling, while the row is in L1.
#include "pool.h"
#include "stream.h"

namespace {

using hw::kLanes;
using hw::vf;

// The sum of term(j, lanes) over a row; four accumulators hide the latency of the additions.
template <class Full, class Partial>
HW_INLINE float row_sum(int64_t columns, Full&& full, Partial&& partial) {
  vf total[4] = {};
  int64_t j = 0;
  for (; j + 4 * kLanes <= columns; j += 4 * kLanes)
    for (int k = 0; k < 4; ++k) total[k] = full(j + k * kLanes, total[k]);
  for (; j + kLanes <= columns; j += kLanes) total[0] = full(j, total[0]);
  if (const int64_t rest = columns - j) total[1] = partial(j, rest, total[1]);
  return hw::sum_of_lanes((total[0] + total[1]) + (total[2] + total[3]));
}

HW_INLINE float row_mean(const float* x, int64_t columns) {
  const float total =
      row_sum(columns, [&](int64_t j, vf sum) { return sum + hw::load(x + j); },
              [&](int64_t j, int64_t rest, vf sum) { return sum + hw::load_first<vf>(x + j, hw::First(rest)); });
  return total / static_cast<float>(columns);
}

HW_INLINE float row_variance(const float* x, int64_t columns, float mean) {
  const auto squared = [](vf value, vf sum) { return hw::fma(value, value, sum); };
  const float total = row_sum(
      columns, [&](int64_t j, vf sum) {
        __builtin_prefetch(x + columns + j);
        return squared(hw::load(x + j) - mean, sum); },
      [&](int64_t j, int64_t rest, vf sum) { return squared(hw::load_first<vf>(x + j, hw::First(rest), mean) - mean, sum); });
  return total / static_cast<float>(columns);
}

}  // namespace

extern "C" void hw_layer_norm(const float* x, const float* gain, const float* bias, float* y, float epsilon,
                              int64_t rows, int64_t columns) {
  const int64_t grain = columns >= 8192 ? 1 : 8192 / (columns + 1) + 1;
  hw::parallel_for(rows, grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* from = x + i * columns;
      const float mean = row_mean(from, columns);
      const float scale = 1.0f / __builtin_sqrtf(row_variance(from, columns, mean) + epsilon);
      hw::map_row(y + i * columns, 0, columns, false, [=](auto lanes, int64_t j) {
        return (hw::load(from + j, lanes) - mean) * scale * hw::load(gain + j, lanes) + hw::load(bias + j, lanes);
      });
    }
  });
}
