// SPDX-License-Identifier: Apache-2.0
// exp and log over arrays, for benchmarks/check_baselines.py to measure their error. n is a multiple of 16.
#include "vecmath.h"

extern "C" void hw_exp(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += hw::kLanes) hw::store(y + i, hw::exp(hw::load(x + i)));
}
extern "C" void hw_log(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += hw::kLanes) hw::store(y + i, hw::log(hw::load(x + i)));
}
