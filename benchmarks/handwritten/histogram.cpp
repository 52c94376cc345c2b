// SPDX-License-Identifier: Apache-2.0
// counts[v] += 1 for every v of x, all of them in [0, 256).
//
// A thread's task has eight tables of its own, used in turn, so that equal neighbours do not wait for each other's
// stores; values are fetched two in one load.
#include <mutex>

#include "pool.h"
#include "simd.h"

namespace {

constexpr int kBins = 256;
constexpr int kTables = 8;
constexpr int64_t kTask = 1 << 18;

void count(const int32_t* x, int64_t n, int32_t (*tables)[kBins]) {
  int64_t i = 0;
  for (; i + kTables <= n; i += kTables) {
    uint64_t pairs[kTables / 2];
    std::memcpy(pairs, x + i, sizeof pairs);
    for (int k = 0; k < kTables / 2; ++k) {
      ++tables[2 * k][static_cast<uint32_t>(pairs[k])];
      ++tables[2 * k + 1][pairs[k] >> 32];
    }
  }
  for (; i < n; ++i) ++tables[0][x[i]];
}

}  // namespace

extern "C" void hw_histogram(const int32_t* x, int32_t* counts, int64_t n) {
  std::mutex mutex;
  hw::parallel_for(n, kTask, [&](int64_t begin, int64_t end) {
    alignas(64) int32_t tables[kTables][kBins] = {};
    count(x + begin, end - begin, tables);
    std::lock_guard<std::mutex> lock(mutex);
    for (int table = 0; table < kTables; ++table)
      for (int bin = 0; bin < kBins; ++bin) counts[bin] += tables[table][bin];
  });
}
