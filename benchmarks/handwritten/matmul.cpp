// SPDX-License-Identifier: Apache-2.0
// c = a @ b with a[m, k], b[k, n], row-major float32.
//
// b is packed into panels two vectors wide, a into panels of up to fourteen rows; the micro-kernel keeps the
// fourteen by two vectors of c in registers. A panel of a stays in L1 while those of b stream through from L2.
#include <array>
#include <utility>

#include "pool.h"
#include "scratch.h"
#include "simd.h"

namespace {

using hw::kLanes;
using hw::vf;
using hw::vi;

constexpr int kRows = 14;
constexpr int kColumns = 2 * kLanes;
constexpr int64_t kDepth = 512;     // k of one pass
constexpr int64_t kWidth = 1024;    // columns of b packed at a time: 2 MiB

hw::Scratch scratch_b;

// a: [k][R], b: [k][kColumns]; c has columns lanes of interest.
template <int R>
void micro(const float* __restrict a, const float* __restrict b, float* __restrict c, int64_t c_stride,
           int64_t depth, int64_t columns, bool add) {
  vf sum[R][2];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = vf{};
  for (int64_t k = 0; k < depth; ++k) {
    const vf left = hw::load(b + k * kColumns), right = hw::load(b + k * kColumns + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const vf factor = hw::splat(a[k * R + r]);
      sum[r][0] = hw::fma(factor, left, sum[r][0]);
      sum[r][1] = hw::fma(factor, right, sum[r][1]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      float* to = c + r * c_stride + v * kLanes;
      const int64_t lanes = columns - v * kLanes;
      if (lanes >= kLanes)
        hw::store(to, add ? hw::load(to) + sum[r][v] : sum[r][v]);
      else if (lanes > 0)
        hw::store_first(to, hw::First(lanes), add ? hw::load_first<vf>(to, hw::First(lanes)) + sum[r][v] : sum[r][v]);
    }
}

// Sixteen rows of sixteen become sixteen columns, in four rounds of pairwise interleaving.
HW_INLINE void transpose(vf* v) {
  const vi low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  const vi high = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
    vf next[16];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = __builtin_shuffle(v[i], v[i + 8], low);
      next[2 * i + 1] = __builtin_shuffle(v[i], v[i + 8], high);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) v[i] = next[i];
  }
}

// packed[k][r]; each store of a full vector spills over into the place of later k, written after it.
template <int R>
void pack_rows(const float* a, int64_t a_stride, float* packed, int64_t depth) {
  int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) {
    vf v[16];
#pragma GCC unroll 16
    for (int r = 0; r < 16; ++r) v[r] = r < R ? hw::load(a + r * a_stride + k) : vf{};
    transpose(v);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) hw::store(packed + (k + i) * R, v[i]);
  }
  for (; k < depth; ++k)
    for (int r = 0; r < R; ++r) packed[k * R + r] = a[r * a_stride + k];
}

void pack_columns(const float* b, int64_t b_stride, float* packed, int64_t depth, int64_t columns) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t j = 0; j < kColumns; ++j) packed[k * kColumns + j] = j < columns ? b[k * b_stride + j] : 0.0f;
}

struct Band {  // the two functions for a band of rows
  void (*pack)(const float*, int64_t, float*, int64_t);
  void (*multiply)(const float*, const float*, float*, int64_t, int64_t, int64_t, bool);
};
template <int... R>
constexpr std::array<Band, kRows> bands_of(std::integer_sequence<int, R...>) {
  return {Band{pack_rows<R + 1>, micro<R + 1>}...};
}
constexpr std::array<Band, kRows> kBands = bands_of(std::make_integer_sequence<int, kRows>());

}  // namespace

extern "C" void hw_matmul(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n) {
  if (k == 0) {
    for (int64_t i = 0; i < m * n; ++i) c[i] = 0.0f;
    return;
  }
  hw::Pool& pool = hw::Pool::instance();
  const int64_t bands = (m + kRows - 1) / kRows;
  const int64_t widest = n < kWidth ? (n + kColumns - 1) / kColumns * kColumns : kWidth;
  float* const packed_b = scratch_b.floats(widest * (k < kDepth ? k : kDepth));
  for (int64_t j0 = 0; j0 < n; j0 += kWidth) {
    const int64_t width = n - j0 < kWidth ? n - j0 : kWidth;
    const int64_t panels = (width + kColumns - 1) / kColumns;
    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
      const int64_t depth = k - k0 < kDepth ? k - k0 : kDepth;
      pool.run(panels, [&](int64_t panel) {
        pack_columns(b + k0 * n + j0 + panel * kColumns, n, packed_b + panel * kColumns * depth, depth,
                     width - panel * kColumns);
      });
      pool.run(bands, [&](int64_t band) {
        alignas(64) float packed_a[kRows * kDepth + kLanes];
        const int64_t i0 = band * m / bands, rows = (band + 1) * m / bands - i0;
        kBands[rows - 1].pack(a + i0 * k + k0, k, packed_a, depth);
        for (int64_t panel = 0; panel < panels; ++panel)
          kBands[rows - 1].multiply(packed_a, packed_b + panel * kColumns * depth,
                                    c + i0 * n + j0 + panel * kColumns, n, depth, width - panel * kColumns, k0 > 0);
      });
    }
  }
}
