// SPDX-License-Identifier: Apache-2.0
// Temporaries and failures of a generated kernel.
#ifndef PYASC_BUFFER_H
#define PYASC_BUFFER_H

#include "pyasc_abi.h"
#include "pyasc_num.h"

// The first check that failed in this launch; loops on several threads share it.
struct pa_failure {
  int32_t site;
  pyasc_fault* fault;
};

constexpr int32_t PA_NO_MEMORY = -1;

static inline int32_t pa_fail(pa_failure* failure, int32_t site, int64_t v0 = 0, int64_t v1 = 0, int64_t v2 = 0,
                              int64_t v3 = 0) {
  int32_t none = 0;
  if (__atomic_compare_exchange_n(&failure->site, &none, site, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
      failure->fault) {
    int64_t* values = failure->fault->values;
    values[0] = v0, values[1] = v1, values[2] = v2, values[3] = v3;
  }
  return site;
}

// Iterations that make a chunk of about grain operations, when one iteration costs work of them.
static inline int64_t pa_grain(int64_t grain, int64_t work) {
  return work < 1 || work > grain ? (work < 1 ? grain : 1) : grain / work;
}

static inline int64_t pa_trip_count(int64_t lower, int64_t upper, int64_t step) {
  if (step > 0) return upper > lower ? (upper - lower + step - 1) / step : 0;
  return lower > upper ? (lower - upper - step - 1) / -step : 0;
}

// A flag that chunks begun later wait for. Whoever began the earlier chunk is running it, so the wait ends. The flag
// is an element like the value that it announces, so that one cache line brings both.
template <class T> PA_FN void pa_signal(T* flag) {
  typedef typename pa_int_of_size<sizeof(T)>::s bits;
  __atomic_store_n((bits*)flag, bits(1), __ATOMIC_RELEASE);
}
extern "C" int sched_yield(void) noexcept;
template <class T> PA_FN void pa_await(const T* flag) {
  typedef typename pa_int_of_size<sizeof(T)>::s bits;
  for (int spins = 0; !__atomic_load_n((const bits*)flag, __ATOMIC_ACQUIRE); spins++) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (spins > 1000) sched_yield();
  }
}

// The number of elements behind extents; one too large to be counted is more than any memory holds.
template <class... Rest> PA_FN int64_t pa_extents(int64_t first, Rest... rest) {
  int64_t count = first;
  bool large = false;
  ((large = __builtin_mul_overflow(count, (int64_t)rest, &count) || large), ...);
  return large ? INT64_MAX : count;
}

PA_FN int64_t pa_extents() { return 1; }

// Memory that lives until the end of its scope; data is null when there is none to be had.
template <class T> struct pa_array {
  explicit pa_array(int64_t count, int64_t alignment) : data(nullptr), block(nullptr) {
    const uint64_t elements = count > 0 ? (uint64_t)count : 1;
    if (elements > ((uint64_t)INT64_MAX - (uint64_t)alignment) / sizeof(T)) return;
    block = __builtin_malloc(elements * sizeof(T) + (uint64_t)alignment);
    if (block) data = (T*)(((uintptr_t)block + (uintptr_t)alignment - 1) & ~((uintptr_t)alignment - 1));
  }
  ~pa_array() { __builtin_free(block); }
  pa_array(const pa_array&) = delete;
  pa_array& operator=(const pa_array&) = delete;

  T* data;

 private:
  void* block;
};

#endif
