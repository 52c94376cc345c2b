// SPDX-License-Identifier: Apache-2.0
// y[j] = sum over i of x[i, j]. Strips of rows are summed into private accumulators that stay in L1, so that x is
// read once and in order; the strips' results are added at the end.
#include "pool.h"
#include "scratch.h"

namespace {

// Eight rows at once: eight streams for the prefetcher and one store per eight loads.
void add_rows(const float* __restrict x, float* __restrict total, int64_t rows, int64_t columns) {
  int64_t i = 0;
  for (; i + 8 <= rows; i += 8) {
    const float* r = x + i * columns;
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) {
      const float low = (r[j] + r[j + columns]) + (r[j + 2 * columns] + r[j + 3 * columns]);
      const float high =
          (r[j + 4 * columns] + r[j + 5 * columns]) + (r[j + 6 * columns] + r[j + 7 * columns]);
      total[j] += low + high;
    }
  }
  for (; i < rows; ++i) {
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) total[j] += x[i * columns + j];
  }
}

hw::Scratch scratch;

}  // namespace

extern "C" void hw_column_sum(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t strip = rows < 4096 ? rows / 16 / 8 * 8 + 8 : 256;
  const int64_t strips = (rows + strip - 1) / strip;
  float* const partials = scratch.floats(strips * columns);
  hw::parallel_for(rows, strip, [=](int64_t begin, int64_t end) {
    float* const total = partials + begin / strip * columns;
    for (int64_t j = 0; j < columns; ++j) total[j] = 0.0f;
    add_rows(x + begin * columns, total, end - begin, columns);
  });
  for (int64_t j = 0; j < columns; ++j) y[j] = 0.0f;
  add_rows(partials, y, strips, columns);
}
