// SPDX-License-Identifier: Apache-2.0
// Iterations until |z| > 2, at most `limit`, for every pixel. A lane is a pixel; the vectors of four rows run side by
// side because one iteration is a chain of dependent operations, and rows because near pixels take alike long.
#include "pool.h"
#include "simd.h"

namespace {

using hw::kLanes;
using hw::vf;
using hw::vi;
using hw::vm;

constexpr int kRows = 4;

HW_INLINE void iterate(vf cr, const vf* ci, int32_t limit, vi* steps) {
  vf zr[kRows] = {}, zi[kRows] = {};
  vm inside[kRows];
  for (int r = 0; r < kRows; ++r) {
    steps[r] = vi{};
    inside[r] = hw::kAllLanes;
  }
  for (int32_t n = 0; n < limit; ++n) {
    vm running{};
    for (int r = 0; r < kRows; ++r) {
      const vf rr = zr[r] * zr[r], ii = zi[r] * zi[r];
      inside[r] = hw::and_at_most(inside[r], rr + ii, hw::splat(4.0f));
      running |= inside[r];
      steps[r] = hw::increment(inside[r], steps[r]);
      zi[r] = 2.0f * zr[r] * zi[r] + ci[r];
      zr[r] = rr - ii + cr;
    }
    if (!hw::any(running)) return;
  }
}

}  // namespace

extern "C" void hw_mandelbrot(float x0, float y0, float dx, float dy, int32_t limit, int32_t* steps, int64_t height,
                              int64_t width) {
  const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  hw::parallel_for(height, kRows, [=](int64_t begin, int64_t end) {
    vf ci[kRows];
    for (int r = 0; r < kRows; ++r) ci[r] = hw::splat(y0 + static_cast<float>(begin + r) * dy);
    for (int64_t j = 0; j < width; j += kLanes) {
      const vi column = lane + static_cast<int32_t>(j);
      vi counted[kRows];
      iterate(x0 + __builtin_convertvector(column, vf) * dx, ci, limit, counted);
      const int64_t rest = width - j;
      for (int r = 0; r < end - begin; ++r) {
        int32_t* const to = steps + (begin + r) * width + j;
        if (rest >= kLanes)
          hw::store(to, counted[r]);
        else
          hw::store_first(to, hw::First(rest), counted[r]);
      }
    }
  });
}
