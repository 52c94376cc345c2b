// SPDX-License-Identifier: Apache-2.0
// Iterations until |z| > 2, at most `limit`, for every pixel. A lane is a pixel; several vectors of pixels run
// side by side because one iteration is a chain of dependent operations.
#include "pool.h"
#include "simd.h"

namespace {

using hw::kLanes;
using hw::vf;
using hw::vi;
using hw::vm;

constexpr int kGroups = 3;
constexpr int kPixels = kGroups * kLanes;

HW_INLINE void iterate(const vf* cr, vf ci, int32_t limit, vi* steps) {
  vf zr[kGroups] = {}, zi[kGroups] = {};
  vm inside[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    steps[g] = vi{};
    inside[g] = hw::kAllLanes;
  }
  for (int32_t n = 0; n < limit; ++n) {
    vm running{};
    for (int g = 0; g < kGroups; ++g) {
      const vf rr = zr[g] * zr[g], ii = zi[g] * zi[g];
      inside[g] = hw::and_at_most(inside[g], rr + ii, hw::splat(4.0f));
      running |= inside[g];
      steps[g] = hw::increment(inside[g], steps[g]);
      zi[g] = 2.0f * zr[g] * zi[g] + ci;
      zr[g] = rr - ii + cr[g];
    }
    if (!hw::any(running)) return;
  }
}

}  // namespace

extern "C" void hw_mandelbrot(float x0, float y0, float dx, float dy, int32_t limit, int32_t* steps, int64_t height,
                              int64_t width) {
  const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  hw::parallel_for(height, 2, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const vf ci = hw::splat(y0 + static_cast<float>(i) * dy);
      for (int64_t j = 0; j < width; j += kPixels) {
        vf cr[kGroups];
        vi counted[kGroups];
        for (int g = 0; g < kGroups; ++g) {
          const vi column = lane + static_cast<int32_t>(j + g * kLanes);
          cr[g] = x0 + __builtin_convertvector(column, vf) * dx;
        }
        iterate(cr, ci, limit, counted);
        for (int g = 0; g < kGroups; ++g) {
          const int64_t rest = width - j - g * kLanes;
          if (rest >= kLanes)
            hw::store(steps + i * width + j + g * kLanes, counted[g]);
          else if (rest > 0)
            hw::store_first(steps + i * width + j + g * kLanes, hw::First(rest), counted[g]);
        }
      }
    }
  });
}
