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
#define HW_LAMBDA __attribute__((always_inline))

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

// Stands for all lanes where a First could stand.
struct All {};
HW_INLINE vf load(const float* from, All, float = 0.0f) { return load(from); }
HW_INLINE vf load(const float* from, First first, float rest = 0.0f) { return load_first<vf>(from, first, rest); }

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

// x kept within [low, high]; NaN stays.
HW_INLINE vf clamped(vf x, vf low, vf high) { return larger(low, smaller(high, x)); }

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

// 2**n * p with n integral, rounded once even where 2**n alone is subnormal or infinite.
HW_INLINE vf scaled_by_power(vf p, vf n) {
#if defined(__AVX512F__)
  return (vf)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
  const vi exponent = __builtin_convertvector(n, vi);
  const vi half = exponent >> 1;
  return p * as_float((half + 127) << 23) * as_float((exponent - half + 127) << 23);
#endif
}

// x = 2**exponent * mantissa with the mantissa in [0.75, 1.5). Zero and infinity have an infinite exponent and
// mantissa 1; NaN and what is below zero give NaN.
struct Parts {
  vf exponent, mantissa;
};
HW_INLINE Parts parts_of(vf x) {
#if defined(__AVX512F__)
  const __m512 mantissa = _mm512_getmant_ps((__m512)x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
  return {(vf)_mm512_getexp_ps((__m512)x) - (vf)_mm512_getexp_ps(mantissa), (vf)mantissa};
#else
  const vf infinity = splat(__builtin_inff());
  const vi subnormal = x < splat(1.17549435e-38f);
  const vi bits = as_int(subnormal ? x * splat(8388608.0f) : x) - 0x3f400000;
  vf exponent = __builtin_convertvector((bits >> 23) - (subnormal & 23), vf);
  vf mantissa = as_float((bits & 0x007fffff) + 0x3f400000);
  const vi ordinary = (x > splat(0.0f)) & (x < infinity);
  exponent = ordinary ? exponent : (x == splat(0.0f) ? -infinity : infinity);
  mantissa = ordinary ? mantissa : splat(1.0f);
  return {exponent, (x >= splat(0.0f)) ? mantissa : splat(__builtin_nanf(""))};
#endif
}

// Several vectors as one value. Long dependent chains need it: it puts independent operations side by side in the
// program, within reach of the processor's schedulers.
template <int N>
struct Wide {
  vf part[N];
};

template <int N>
HW_INLINE vf part_of(const Wide<N>& wide, int i) { return wide.part[i]; }
HW_INLINE vf part_of(vf same, int) { return same; }
HW_INLINE vf part_of(float same, int) { return splat(same); }

template <int N, class F, class... Operands>
HW_INLINE Wide<N> each(F&& f, const Operands&... operands) {
  Wide<N> result;
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) result.part[i] = f(part_of(operands, i)...);
  return result;
}

#define HW_WIDE_OPERATOR(op)                                                                       \
  template <int N>                                                                                 \
  HW_INLINE Wide<N> operator op(const Wide<N>& a, const Wide<N>& b) {                              \
    return each<N>([](vf x, vf y) HW_LAMBDA { return x op y; }, a, b);                             \
  }                                                                                                \
  template <int N>                                                                                 \
  HW_INLINE Wide<N> operator op(const Wide<N>& a, float b) {                                       \
    return each<N>([](vf x, vf y) HW_LAMBDA { return x op y; }, a, b);                             \
  }                                                                                                \
  template <int N>                                                                                 \
  HW_INLINE Wide<N> operator op(float a, const Wide<N>& b) {                                       \
    return each<N>([](vf x, vf y) HW_LAMBDA { return x op y; }, a, b);                             \
  }
HW_WIDE_OPERATOR(+)
HW_WIDE_OPERATOR(-)
HW_WIDE_OPERATOR(*)
HW_WIDE_OPERATOR(/)
#undef HW_WIDE_OPERATOR

template <int N, class B, class C>
HW_INLINE Wide<N> fma(const Wide<N>& a, const B& b, const C& c) {
  return each<N>([](vf x, vf y, vf z) HW_LAMBDA { return fma(x, y, z); }, a, b, c);
}
template <int N>
HW_INLINE Wide<N> clamped(const Wide<N>& x, vf low, vf high) {
  return each<N>([](vf v, vf l, vf h) HW_LAMBDA { return clamped(v, l, h); }, x, low, high);
}
template <int N>
HW_INLINE Wide<N> scaled_by_power(const Wide<N>& p, const Wide<N>& n) {
  return each<N>([](vf x, vf y) HW_LAMBDA { return scaled_by_power(x, y); }, p, n);
}
template <int N>
HW_INLINE Wide<N> absolute(const Wide<N>& x) {
  return each<N>([](vf v) HW_LAMBDA { return absolute(v); }, x);
}
template <int N>
HW_INLINE Wide<N> square_root(const Wide<N>& x) {
  return each<N>([](vf v) HW_LAMBDA { return square_root(v); }, x);
}
template <int N>
struct WideParts {
  Wide<N> exponent, mantissa;
};
template <int N>
HW_INLINE WideParts<N> parts_of(const Wide<N>& x) {
  WideParts<N> result;
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    const Parts parts = parts_of(x.part[i]);
    result.exponent.part[i] = parts.exponent;
    result.mantissa.part[i] = parts.mantissa;
  }
  return result;
}

}  // namespace hw
