// SPDX-License-Identifier: Apache-2.0
// y[i] = x[0] + ... + x[i], for float32 and for int32 (which wraps).
//
// Blocks are summed first, then scanned from the sum of the blocks before them; within a block, sixteen elements
// at a time are scanned in a register. A block's sum is published as soon as it is known and a block waits only
// for those before it, so each block is read from memory once.
#include <memory>

#include "pool.h"
#include "stream.h"

namespace {

using hw::kLanes;
using hw::vf;
using hw::vi;

constexpr int64_t kBlock = 1 << 13;  // 32 KiB: the second reading comes from L1

template <class V, class M>
HW_INLINE V shifted_in_zeros(V value, M lanes) {
  return __builtin_shuffle(V{}, value, lanes);
}

// Lanes below 16 are the zeros.
template <class V>
HW_INLINE V scan_lanes(V v) {
  v += shifted_in_zeros(v, vi{0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30});
  v += shifted_in_zeros(v, vi{0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29});
  v += shifted_in_zeros(v, vi{0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27});
  v += shifted_in_zeros(v, vi{0, 0, 0, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23});
  return v;
}

template <class V>
HW_INLINE V last_lane_everywhere(V v) {
  return __builtin_shuffle(v, vi{15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15});
}

template <class V, class T>
T block_sum(const T* x, int64_t count) {
  V total[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes)
    for (int k = 0; k < 4; ++k) total[k] += hw::load(x + i + k * kLanes);
  T sum = hw::sum_of_lanes((total[0] + total[1]) + (total[2] + total[3]));
  for (; i < count; ++i) sum += x[i];
  return sum;
}

// Only the carry depends on the step before: one addition and one permutation.
template <class V, class T>
void block_scan(const T* x, T* y, int64_t count, T before) {
  int64_t i = 0;
  for (const int64_t head = hw::unaligned_head(y, count); i < head; ++i) y[i] = before += x[i];
  V carry = hw::splat(before);
  for (; i + kLanes <= count; i += kLanes) {
    const V scanned = scan_lanes(hw::load(x + i));
    hw::store(y + i, scanned + carry);
    carry += last_lane_everywhere(scanned);
  }
  T sum = carry[0];
  for (; i < count; ++i) y[i] = sum += x[i];
}

template <class V, class T>
void prefix_sum(const T* x, T* y, int64_t n) {
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  struct Published {
    std::atomic<bool> known{false};
    T before_next{};
  };
  const std::unique_ptr<Published[]> published(new Published[blocks + 1]);
  published[0].known.store(true, std::memory_order_relaxed);
  hw::parallel_for(n, kBlock, [&](int64_t begin, int64_t end) {
    Published* const mine = published.get() + begin / kBlock;
    const T sum = block_sum<V>(x + begin, end - begin);
    for (int spins = 0; !mine[0].known.load(std::memory_order_acquire); ++spins) {
      hw::cpu_relax();
      if (spins > 1000) std::this_thread::yield();
    }
    mine[1].before_next = mine[0].before_next + sum;
    mine[1].known.store(true, std::memory_order_release);
    block_scan<V>(x + begin, y + begin, end - begin, mine[0].before_next);
  });
}

}  // namespace

extern "C" void hw_prefix_sum_f32(const float* x, float* y, int64_t n) { prefix_sum<vf>(x, y, n); }
extern "C" void hw_prefix_sum_i32(const int32_t* x, int32_t* y, int64_t n) { prefix_sum<vi>(x, y, n); }
