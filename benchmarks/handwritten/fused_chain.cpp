// SPDX-License-Identifier: Apache-2.0
// u = a * b + c; y = u / (1 + exp(-u)) - 0.5 * a: six operations and an exponential in one pass over memory.
#include "pool.h"
#include "vecmath.h"

namespace {

HW_INLINE hw::vf chain(hw::vf a, hw::vf b, hw::vf c) {
  const hw::vf u = a * b + c;
  return u / (1.0f + hw::exp(-u)) - 0.5f * a;
}

}  // namespace

extern "C" void hw_fused_chain(const float* a, const float* b, const float* c, float* y, int64_t n) {
  hw::parallel_for(n, 1 << 15, [=](int64_t begin, int64_t end) {
    int64_t i = begin;
    for (; i + hw::kLanes <= end; i += hw::kLanes)
      hw::store(y + i, chain(hw::load(a + i), hw::load(b + i), hw::load(c + i)));
    if (const int64_t rest = end - i) {
      hw::store_first(y + i, hw::First(rest), chain(hw::load_first<hw::vf>(a + i, hw::First(rest)), hw::load_first<hw::vf>(b + i, hw::First(rest)),
                                         hw::load_first<hw::vf>(c + i, hw::First(rest))));
    }
  });
}
