// SPDX-License-Identifier: Apache-2.0
//
// Stores that go past the caches, for results too large to stay in them: the lines are not read before they are
// written.
#pragma once

#include "simd.h"

namespace hw {

// Results from here on do not fit the second-level caches, so nobody finds them there anyway.
constexpr int64_t kStreamedBytes = 4 << 20;

inline bool too_large_to_cache(int64_t elements) { return elements * 4 >= kStreamedBytes; }

// `to` must lie on a multiple of the vector's size.
template <class T, class V>
HW_INLINE void stream(T* to, V value) {
#if defined(__AVX512F__)
  _mm512_stream_si512((__m512i*)to, (__m512i)value);
#else
  store(to, value);
#endif
}

// To be called by a thread that has streamed, before it says that its results are there; waits for them, so not
// often.
HW_INLINE void finish_streams() {
#if defined(__AVX512F__)
  _mm_sfence();
#endif
}

// Elements before the first one on a vector boundary, at most `count`.
template <class T>
HW_INLINE int64_t unaligned_head(const T* at, int64_t count) {
  const int64_t head = (-reinterpret_cast<intptr_t>(at) & (4 * kLanes - 1)) / 4;
  return head < count ? head : count;
}

// y[i] = f(lanes, i) for begin <= i < end, a vector at a time; `lanes` is All or First.
template <class F>
HW_INLINE void map_row(float* y, int64_t begin, int64_t end, bool streamed, F&& f) {
  int64_t i = begin;
  if (const int64_t head = unaligned_head(y + i, end - i)) {
    store_first(y + i, First(head), f(First(head), i));
    i += head;
  }
  if (streamed) {
    for (; i + kLanes <= end; i += kLanes) stream(y + i, f(All{}, i));
  } else {
    for (; i + kLanes <= end; i += kLanes) store(y + i, f(All{}, i));
  }
  if (const int64_t rest = end - i) store_first(y + i, First(rest), f(First(rest), i));
}

}  // namespace hw
