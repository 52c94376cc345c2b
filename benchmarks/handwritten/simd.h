// SPDX-License-Identifier: Apache-2.0
//
// Sixteen float32 or int32 lanes as one value, on GCC vector extensions.
//
// One AVX-512 register where the machine has them; elsewhere the compiler splits the value over what there is.
// Only what vector extensions cannot say (fused multiply-add, NaN-exact min and max, masks in memory) has a
// special form for AVX-512.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define HW_INLINE inline __attribute__((always_inline))

namespace hw {

constexpr int kLanes = 16;

typedef float vf __attribute__((vector_size(4 * kLanes)));
typedef int32_t vi __attribute__((vector_size(4 * kLanes)));

HW_INLINE vf splat(float value) { return value - vf{}; }
HW_INLINE vi splat(int32_t value) { return value - vi{}; }

HW_INLINE vf load(const float* from) {
  vf value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
HW_INLINE vi load(const int32_t* from) {
  vi value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
HW_INLINE void store(float* to, vf value) { std::memcpy(to, &value, sizeof value); }
HW_INLINE void store(int32_t* to, vi value) { std::memcpy(to, &value, sizeof value); }

HW_INLINE vi as_int(vf value) { return reinterpret_cast<vi>(value); }
HW_INLINE vf as_float(vi bits) { return reinterpret_cast<vf>(bits); }

// The first `count` lanes, 0 < count <= kLanes: memory behind them is not touched.
struct First {
#if defined(__AVX512F__)
  explicit First(int64_t count) : mask(static_cast<__mmask16>(0xffffu >> (kLanes - count))) {}
  __mmask16 mask;
#else
  explicit First(int64_t count) : bytes(4 * count) {}
  int64_t bytes;
#endif
};

// The other lanes are `rest`.
template <class V, class T>
HW_INLINE V load_first(const T* from, First first, T rest = T{}) {
#if defined(__AVX512F__)
  return (V)_mm512_mask_loadu_epi32((__m512i)splat(rest), first.mask, from);
#else
  V value = splat(rest);
  std::memcpy(&value, from, first.bytes);
  return value;
#endif
}
template <class V, class T>
HW_INLINE void store_first(T* to, First first, V value) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_epi32(to, first.mask, (__m512i)value);
#else
  std::memcpy(to, &value, first.bytes);
#endif
}

// a * b + c, rounded once.
HW_INLINE vf fma(vf a, vf b, vf c) {
#if defined(__AVX512F__)
  return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
  vf result;
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  return result;
#endif
}

// a > b ? a : b and a < b ? a : b: b wherever either is NaN.
HW_INLINE vf larger(vf a, vf b) {
#if defined(__AVX512F__)
  return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#else
  return a > b ? a : b;
#endif
}
HW_INLINE vf smaller(vf a, vf b) {
#if defined(__AVX512F__)
  return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#else
  return a < b ? a : b;
#endif
}

HW_INLINE vf absolute(vf value) { return as_float(as_int(value) & 0x7fffffff); }

HW_INLINE vf square_root(vf value) {
#if defined(__AVX512F__)
  return (vf)_mm512_sqrt_ps((__m512)value);
#else
  vf result;
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = __builtin_sqrtf(value[lane]);
  return result;
#endif
}

// One truth value a lane.
#if defined(__AVX512F__)
typedef __mmask16 vm;
constexpr vm kAllLanes = 0xffff;
HW_INLINE vm and_at_most(vm lanes, vf a, vf b) { return _mm512_mask_cmp_ps_mask(lanes, (__m512)a, (__m512)b, _CMP_LE_OQ); }
HW_INLINE vi increment(vm lanes, vi value) {
  return (vi)_mm512_mask_add_epi32((__m512i)value, lanes, (__m512i)value, _mm512_set1_epi32(1));
}
HW_INLINE bool any(vm lanes) { return lanes != 0; }
#else
typedef vi vm;
const vm kAllLanes = vm{} - 1;
HW_INLINE vm and_at_most(vm lanes, vf a, vf b) { return lanes & (a <= b); }
HW_INLINE vi increment(vm lanes, vi value) { return value - lanes; }
HW_INLINE bool any(vm lanes) {
  int32_t bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) bits |= lanes[lane];
  return bits != 0;
}
#endif

template <class V>
HW_INLINE auto sum_of_lanes(V value) {
  V folded = value;
  folded += __builtin_shuffle(folded, vi{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7});
  folded += __builtin_shuffle(folded, vi{4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11});
  folded += __builtin_shuffle(folded, vi{2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13});
  folded += __builtin_shuffle(folded, vi{1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14});
  return folded[0];
}
HW_INLINE float largest_of_lanes(vf value) {
  vf folded = value;
  folded = larger(folded, __builtin_shuffle(folded, vi{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7}));
  folded = larger(folded, __builtin_shuffle(folded, vi{4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11}));
  folded = larger(folded, __builtin_shuffle(folded, vi{2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13}));
  folded = larger(folded, __builtin_shuffle(folded, vi{1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14}));
  return folded[0];
}

}  // namespace hw
