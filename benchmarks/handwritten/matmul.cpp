// SPDX-License-Identifier: Apache-2.0
// c = a @ b with a[m, k], b[k, n], row-major float32.
//
// b is packed into panels two vectors wide, a into panels of up to fourteen rows; the micro-kernel keeps the
// fourteen by two vectors of c in registers. A panel of a stays in L1 while those of b stream through from L2.
#include <cstdlib>
#include <memory>

#include "pool.h"
#include "simd.h"

namespace {

using hw::kLanes;
using hw::vf;

constexpr int kRows = 14;
constexpr int kColumns = 2 * kLanes;
constexpr int64_t kDepth = 512;     // k of one pass
constexpr int64_t kWidth = 1024;    // columns of b packed at a time: 2 MiB

struct Aligned {
  explicit Aligned(int64_t count)
      : data(static_cast<float*>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64))) {}
  ~Aligned() { std::free(data); }
  float* data;
};

// a: [k][R], b: [k][kColumns]; c has columns lanes of interest.
template <int R>
void micro(const float* __restrict a, const float* __restrict b, float* __restrict c, int64_t c_stride,
           int64_t depth, int64_t columns, bool add) {
  vf sum[R][2] = {};
  for (int64_t k = 0; k < depth; ++k) {
    const vf left = hw::load(b + k * kColumns), right = hw::load(b + k * kColumns + kLanes);
    for (int r = 0; r < R; ++r) {
      const vf factor = hw::splat(a[k * R + r]);
      sum[r][0] = hw::fma(factor, left, sum[r][0]);
      sum[r][1] = hw::fma(factor, right, sum[r][1]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < 2; ++v) {
      float* to = c + r * c_stride + v * kLanes;
      const int64_t lanes = columns - v * kLanes;
      if (lanes >= kLanes)
        hw::store(to, add ? hw::load(to) + sum[r][v] : sum[r][v]);
      else if (lanes > 0)
        hw::store_first(to, lanes, add ? hw::load_first<vf>(to, lanes) + sum[r][v] : sum[r][v]);
    }
}

using Micro = void (*)(const float*, const float*, float*, int64_t, int64_t, int64_t, bool);
constexpr Micro kMicro[kRows] = {micro<1>, micro<2>, micro<3>,  micro<4>,  micro<5>,  micro<6>,  micro<7>,
                                 micro<8>, micro<9>, micro<10>, micro<11>, micro<12>, micro<13>, micro<14>};

void pack_rows(const float* a, int64_t a_stride, float* packed, int64_t rows, int64_t depth) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t r = 0; r < rows; ++r) packed[k * rows + r] = a[r * a_stride + k];
}

void pack_columns(const float* b, int64_t b_stride, float* packed, int64_t depth, int64_t columns) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t j = 0; j < kColumns; ++j) packed[k * kColumns + j] = j < columns ? b[k * b_stride + j] : 0.0f;
}

}  // namespace

extern "C" void hw_matmul(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n) {
  if (k == 0) {
    for (int64_t i = 0; i < m * n; ++i) c[i] = 0.0f;
    return;
  }
  hw::Pool& pool = hw::Pool::instance();
  const int64_t bands = (m + kRows - 1) / kRows;
  const Aligned packed_b((n < kWidth ? (n + kColumns - 1) / kColumns * kColumns : kWidth) * (k < kDepth ? k : kDepth));
  for (int64_t j0 = 0; j0 < n; j0 += kWidth) {
    const int64_t width = n - j0 < kWidth ? n - j0 : kWidth;
    const int64_t panels = (width + kColumns - 1) / kColumns;
    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
      const int64_t depth = k - k0 < kDepth ? k - k0 : kDepth;
      pool.run(panels, [&](int64_t panel) {
        pack_columns(b + k0 * n + j0 + panel * kColumns, n, packed_b.data + panel * kColumns * depth, depth,
                     width - panel * kColumns);
      });
      pool.run(bands, [&](int64_t band) {
        alignas(64) float packed_a[kRows * kDepth];
        const int64_t i0 = band * m / bands, rows = (band + 1) * m / bands - i0;
        pack_rows(a + i0 * k + k0, k, packed_a, rows, depth);
        for (int64_t panel = 0; panel < panels; ++panel)
          kMicro[rows - 1](packed_a, packed_b.data + panel * kColumns * depth, c + i0 * n + j0 + panel * kColumns,
                           n, depth, width - panel * kColumns, k0 > 0);
      });
    }
  }
}
