// SPDX-License-Identifier: Apache-2.0
// pa_mask<n>: one truth value for each of n lanes. A mask register of AVX-512 where n lanes of 4 or 8 bytes fill
// a vector, else a vector of integers that are 0 or -1.
#ifndef PYASC_MASK_H
#define PYASC_MASK_H

#include "pyasc_vec.h"

// clang keeps comparisons in mask registers by itself.
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && !defined(__clang__)
#define PA_MASK_REGISTERS 1
#else
#define PA_MASK_REGISTERS 0
#endif

template <int n> struct pa_mask_lane {
  static constexpr int fit = PA_VEC_BYTES / n;
  typedef typename pa_int_of_size<(fit > 8 ? 8 : fit < 1 ? 1 : fit)>::s type;
};

template <int n> struct pa_mask;

template <int n> struct pa_mask_lanes {
  typedef pa_vec<typename pa_mask_lane<n>::type, n> lanes_type;
  lanes_type lanes;

  // From and to a vector of integers of any width.
  template <class I> PA_FN pa_mask<n> of(I found) {
    if constexpr (sizeof(I) == sizeof(lanes_type) && !pa_is_wide<I>::value) return {{(lanes_type)found}};
    else return {{pa_convert<lanes_type>(found)}};
  }
  template <class I> PA_ALWAYS I as() const {
    if constexpr (sizeof(I) == sizeof(lanes_type) && !pa_is_wide<I>::value) return (I)lanes;
    else return pa_convert<I>(lanes);
  }
  PA_ALWAYS bool any() const {
    uint64_t words[(sizeof(lanes) + 7) / 8] = {}, all = 0;
    __builtin_memcpy(words, &lanes, sizeof(lanes));
    for (uint64_t word : words) all |= word;
    return all != 0;
  }
  PA_ALWAYS pa_mask<n> operator&(pa_mask<n> other) const { return {{lanes & other.lanes}}; }
  PA_ALWAYS pa_mask<n> operator|(pa_mask<n> other) const { return {{lanes | other.lanes}}; }
  PA_ALWAYS pa_mask<n> operator^(pa_mask<n> other) const { return {{lanes ^ other.lanes}}; }
  PA_ALWAYS pa_mask<n> operator~() const { return {{~lanes}}; }
  PA_FN pa_mask<n> same(bool value) { return {{pa_broadcast<lanes_type>(value ? -1 : 0)}}; }
  PA_FN pa_mask<n> first(int64_t count) {
    typename pa_mask_lane<n>::type number[n];
    const int inside = count > n ? n : (int)count;
    for (int i = 0; i < n; i++) number[i] = i < inside ? -1 : 0;
    return {{pa_load<lanes_type>(number)}};
  }
};

// Two masks, where the lanes that they are for take several registers.
template <int n> struct pa_mask_halves {
  pa_mask<n / 2> low, high;

  template <class I> PA_FN pa_mask<n> of(I found) {
    return {{pa_mask<n / 2>::of(pa_low(found)), pa_mask<n / 2>::of(pa_high(found))}};
  }
  template <class I> PA_ALWAYS I as() const {
    return pa_join<I>(low.template as<pa_half<I>>(), high.template as<pa_half<I>>());
  }
  PA_ALWAYS bool any() const { return low.any() || high.any(); }
  PA_ALWAYS pa_mask<n> operator&(pa_mask<n> other) const { return {{low & other.low, high & other.high}}; }
  PA_ALWAYS pa_mask<n> operator|(pa_mask<n> other) const { return {{low | other.low, high | other.high}}; }
  PA_ALWAYS pa_mask<n> operator^(pa_mask<n> other) const { return {{low ^ other.low, high ^ other.high}}; }
  PA_ALWAYS pa_mask<n> operator~() const { return {{~low, ~high}}; }
  PA_FN pa_mask<n> same(bool value) { return {{pa_mask<n / 2>::same(value), pa_mask<n / 2>::same(value)}}; }
  PA_FN pa_mask<n> first(int64_t count) {
    return {{pa_mask<n / 2>::first(count), pa_mask<n / 2>::first(count - n / 2)}};
  }
};

// Lanes of four bytes are what most masks are for; as many lanes as a register has bytes are surely for bytes.
template <int n> struct pa_mask_is_split {
  static constexpr bool value = PA_VEC_BYTES < 64 && 4 * n > PA_VEC_BYTES && !(n == PA_VEC_BYTES && n > 16);
};
template <int n, bool split> struct pa_mask_kind { typedef pa_mask_lanes<n> type; };
template <int n> struct pa_mask_kind<n, true> { typedef pa_mask_halves<n> type; };
template <int n> struct pa_mask : pa_mask_kind<n, pa_mask_is_split<n>::value>::type {};

#if PA_MASK_REGISTERS
// Both sizes of mask register hold their bits the same way.
template <class Bits, int n> struct pa_mask_bits {
  Bits bits;

  template <class I> PA_FN pa_mask<n> of(I found) {
    typedef pa_vec<typename pa_int_of_size<64 / n>::s, n> full;
    full lanes;
    if constexpr (sizeof(I) == 64) lanes = (full)found;
    else lanes = pa_convert<full>(found);
    if constexpr (n == 16) return {{(Bits)__builtin_ia32_cvtd2mask512(lanes)}};
    else return {{(Bits)__builtin_ia32_cvtq2mask512((pa_vec<long long, 8>)lanes)}};
  }
  template <class I> PA_ALWAYS I as() const {
    typedef pa_vec<typename pa_int_of_size<64 / n>::s, n> full;
    full lanes;
    if constexpr (n == 16) lanes = (full)__builtin_ia32_cvtmask2d512(bits);
    else lanes = (full)__builtin_ia32_cvtmask2q512(bits);
    if constexpr (sizeof(I) == 64) return (I)lanes;
    else return pa_convert<I>(lanes);
  }
  PA_ALWAYS bool any() const { return bits != 0; }
  PA_ALWAYS pa_mask<n> operator&(pa_mask<n> other) const { return {{(Bits)(bits & other.bits)}}; }
  PA_ALWAYS pa_mask<n> operator|(pa_mask<n> other) const { return {{(Bits)(bits | other.bits)}}; }
  PA_ALWAYS pa_mask<n> operator^(pa_mask<n> other) const { return {{(Bits)(bits ^ other.bits)}}; }
  PA_ALWAYS pa_mask<n> operator~() const { return {{(Bits)~bits}}; }
  PA_FN pa_mask<n> same(bool value) { return {{(Bits)(value ? -1 : 0)}}; }
  PA_FN pa_mask<n> first(int64_t count) {
    return {{(Bits)(count >= n ? -1 : (1u << count) - 1u)}};
  }
};
template <> struct pa_mask<16> : pa_mask_bits<uint16_t, 16> {};
template <> struct pa_mask<8> : pa_mask_bits<uint8_t, 8> {};
#endif

// A mask has a shape too, so that overloads for vectors can be considered, and lose, where masks are selected.
template <int n> struct pa_shape<pa_mask<n>> {
  static constexpr int lanes = n;
};
template <class V> using pa_mask_of = pa_mask<pa_shape<V>::lanes>;

// The masks of both halves, and the mask of two.
template <int n> PA_FN pa_mask<n / 2> pa_low_mask(pa_mask<n> m) {
#if PA_MASK_REGISTERS
  if constexpr (n == 16) return {{(uint8_t)m.bits}};
  else
#endif
  if constexpr (pa_mask_is_split<n>::value) return m.low;
  else return pa_mask<n / 2>::of(pa_low(m.template as<pa_vec<typename pa_mask_lane<n>::type, n>>()));
}
template <int n> PA_FN pa_mask<n / 2> pa_high_mask(pa_mask<n> m) {
#if PA_MASK_REGISTERS
  if constexpr (n == 16) return {{(uint8_t)(m.bits >> 8)}};
  else
#endif
  if constexpr (pa_mask_is_split<n>::value) return m.high;
  else return pa_mask<n / 2>::of(pa_high(m.template as<pa_vec<typename pa_mask_lane<n>::type, n>>()));
}
template <int n> PA_FN pa_mask<n> pa_join_masks(pa_mask<n / 2> low, pa_mask<n / 2> high) {
#if PA_MASK_REGISTERS
  if constexpr (n == 16) return {{(uint16_t)(low.bits | high.bits << 8)}};
  else
#endif
  if constexpr (pa_mask_is_split<n>::value) return {{low, high}};
  else {
    typedef pa_vec<typename pa_mask_lane<n>::type, n / 2> half;
    return pa_mask<n>::of(pa_join<pa_vec<typename pa_mask_lane<n>::type, n>>(low.template as<half>(),
                                                                             high.template as<half>()));
  }
}

// Comparisons by number: what AVX-512 calls them for floats (NaN compares false, or unequal) and for integers.
enum pa_relation { pa_lt, pa_le, pa_gt, pa_ge, pa_eq, pa_ne };
constexpr int pa_float_predicate[] = {0x11, 0x12, 0x1e, 0x1d, 0x00, 0x04};
constexpr int pa_int_predicate[] = {1, 2, 6, 5, 0, 4};

template <pa_relation r, class V> PA_FN auto pa_compare_lanes(V a, V b) {
  if constexpr (r == pa_lt) return a < b;
  else if constexpr (r == pa_le) return a <= b;
  else if constexpr (r == pa_gt) return a > b;
  else if constexpr (r == pa_ge) return a >= b;
  else if constexpr (r == pa_eq) return a == b;
  else return a != b;
}
template <pa_relation r, class V> PA_FN pa_mask_of<V> pa_compare(V a, V b) {
  if constexpr (pa_is_wide<V>::value)
    return pa_join_masks<pa_shape<V>::lanes>(pa_compare<r>(a.low, b.low), pa_compare<r>(a.high, b.high));
  else
#if PA_MASK_REGISTERS
  if constexpr (sizeof(V) == 64 && sizeof(typename pa_shape<V>::element) >= 4) {
    typedef typename pa_shape<V>::element T;
    constexpr bool is_float = pa_kind<T>::value == 2, is_unsigned = !is_float && T(-1) > T(0);
    typedef pa_vec<int, 16> ints;
    typedef pa_vec<long long, 8> longs;
    if constexpr (is_float && sizeof(T) == 4)
      return {{(uint16_t)__builtin_ia32_cmpps512_mask(a, b, pa_float_predicate[r], -1, 4)}};
    else if constexpr (is_float)
      return {{(uint8_t)__builtin_ia32_cmppd512_mask(a, b, pa_float_predicate[r], -1, 4)}};
    else if constexpr (sizeof(T) == 4 && is_unsigned)
      return {{(uint16_t)__builtin_ia32_ucmpd512_mask((ints)a, (ints)b, pa_int_predicate[r], -1)}};
    else if constexpr (sizeof(T) == 4)
      return {{(uint16_t)__builtin_ia32_cmpd512_mask((ints)a, (ints)b, pa_int_predicate[r], -1)}};
    else if constexpr (is_unsigned)
      return {{(uint8_t)__builtin_ia32_ucmpq512_mask((longs)a, (longs)b, pa_int_predicate[r], -1)}};
    else
      return {{(uint8_t)__builtin_ia32_cmpq512_mask((longs)a, (longs)b, pa_int_predicate[r], -1)}};
  } else
#endif
  return pa_mask_of<V>::of(pa_compare_lanes<r>(a, b));
}

// Lane by lane a where the mask is true, else b.
template <class V> PA_FN V pa_v_select(pa_mask_of<V> m, V a, V b) {
  if constexpr (pa_is_wide<V>::value)
    return {pa_v_select(pa_low_mask(m), a.low, b.low), pa_v_select(pa_high_mask(m), a.high, b.high)};
  else
#if PA_MASK_REGISTERS
  if constexpr (sizeof(V) == 64 && sizeof(typename pa_shape<V>::element) >= 4) {
    typedef typename pa_shape<V>::element T;
    if constexpr (pa_kind<T>::value == 2 && sizeof(T) == 4) return __builtin_ia32_blendmps_512_mask(b, a, m.bits);
    else if constexpr (pa_kind<T>::value == 2) return __builtin_ia32_blendmpd_512_mask(b, a, m.bits);
    else if constexpr (sizeof(T) == 4)
      return (V)__builtin_ia32_blendmd_512_mask((pa_vec<int, 16>)b, (pa_vec<int, 16>)a, m.bits);
    else return (V)__builtin_ia32_blendmq_512_mask((pa_vec<long long, 8>)b, (pa_vec<long long, 8>)a, m.bits);
  } else
#endif
  return m.template as<typename pa_shape<V>::mask>() ? a : b;
}
template <int n> PA_FN pa_mask<n> pa_v_select(pa_mask<n> m, pa_mask<n> a, pa_mask<n> b) {
  return (m & a) | (~m & b);
}

// The first `count` lanes of memory, the others zero; and the first `count` lanes to memory.
template <class V> PA_FN V pa_load(const typename pa_shape<V>::element* from, int64_t count) {
  constexpr int n = pa_shape<V>::lanes;
#if PA_MASK_REGISTERS
  typedef typename pa_shape<V>::element T;
  if constexpr (sizeof(V) == 64 && sizeof(T) >= 4) {
    const auto bits = pa_mask<n>::first(count).bits;
    if constexpr (sizeof(T) == 4)
      return (V)__builtin_ia32_loaddqusi512_mask((const int*)from, pa_vec<int, 16>{}, bits);
    else return (V)__builtin_ia32_loaddqudi512_mask((const long long*)from, pa_vec<long long, 8>{}, bits);
  } else
#endif
  return count >= n ? pa_load<V>(from) : pa_load_first<V>(from, count, typename pa_shape<V>::element(0));
}
template <class V> PA_FN void pa_store(typename pa_shape<V>::element* to, V v, int64_t count) {
  constexpr int n = pa_shape<V>::lanes;
#if PA_MASK_REGISTERS
  typedef typename pa_shape<V>::element T;
  if constexpr (sizeof(V) == 64 && sizeof(T) >= 4) {
    const auto bits = pa_mask<n>::first(count).bits;
    if constexpr (sizeof(T) == 4) __builtin_ia32_storedqusi512_mask((int*)to, (pa_vec<int, 16>)v, bits);
    else __builtin_ia32_storedqudi512_mask((long long*)to, (pa_vec<long long, 8>)v, bits);
    return;
  }
#endif
  if (count >= n) pa_store(to, v);
  else pa_store_first(to, v, count);
}

// The scan of the vector at p, in front of which memory has an element. Where lanes can be masked, the first step
// takes the neighbours from there, since shuffles are what a scan waits for.
template <class Op, class V> PA_FN V pa_scan_at(const typename pa_shape<V>::element* p) {
  const V v = pa_load<V>(p);
#if PA_MASK_REGISTERS
  typedef typename pa_shape<V>::element T;
  if constexpr (sizeof(V) == 64 && sizeof(T) >= 4) {
    const V pairs = pa_v_select(~pa_mask<pa_shape<V>::lanes>::first(1), Op::apply(pa_load<V>(p - 1), v), v);
    return pa_scan_steps<Op, 2>(pairs, pa_broadcast<V>(Op::template neutral<T>()));
  } else
#endif
  return pa_scan<Op>(v);
}

// Past the caches where `streamed` says so and the processor can; `to` is then a multiple of the vector's size.
template <class V> PA_FN void pa_stream(typename pa_shape<V>::element* to, V v, bool streamed) {
  if constexpr (pa_is_wide<V>::value) {
    pa_stream(to, v.low, streamed);
    pa_stream(to + pa_shape<V>::lanes / 2, v.high, streamed);
    return;
  }
#if defined(__clang__)
  if constexpr (sizeof(V) == PA_VEC_BYTES) {
    if (streamed) return (void)__builtin_nontemporal_store(v, (V*)to);
  }
#elif defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    if (streamed) return __builtin_ia32_movntps512((float*)to, (pa_vec<float, 16>)v);
  }
#elif defined(__AVX__)
  if constexpr (sizeof(V) == 32) {
    if (streamed) return __builtin_ia32_movntps256((float*)to, (pa_vec<float, 8>)v);
  }
#endif
  pa_store(to, v);
}
// Streamed stores are seen by other threads once this has returned.
PA_FN void pa_drain() {
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}
// Elements from `at` on before the next multiple of `bytes`.
template <class T> PA_FN int64_t pa_misaligned(const T* at, int64_t bytes) {
  return (int64_t)((0 - (uintptr_t)at) & (uintptr_t)(bytes - 1)) / (int64_t)sizeof(T);
}

#endif
