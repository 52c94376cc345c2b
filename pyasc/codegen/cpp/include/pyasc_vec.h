// SPDX-License-Identifier: Apache-2.0
// Explicit vectors, for micro-kernels and scans that plain loops do not become. They are the compilers'
// vector extensions, so + - * /, comparisons and m ? a : b are the language's own operators, lane by lane.
#ifndef PYASC_VEC_H
#define PYASC_VEC_H

#include "pyasc_num.h"

#if defined(__AVX512F__)
#define PA_VEC_BYTES 64
#elif defined(__AVX__)
#define PA_VEC_BYTES 32
#else
#define PA_VEC_BYTES 16
#endif

// Everything here is inlined, so how a vector wider than a register is passed does not matter.
#if defined(__clang__)
#if __has_warning("-Wpsabi")
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma)
#define PA_HAS_VECTOR_FMA 1
#endif
#endif

// A vector that no register holds, as two that may: compilers keep a vector type of such a size in memory.
template <class H> struct pa_halves { H low, high; };
template <class V> struct pa_is_wide { static constexpr bool value = false; };
template <class H> struct pa_is_wide<pa_halves<H>> { static constexpr bool value = true; };

// pa_vec<T, n>: n lanes of T, n a power of two. pa_native<T>: as many lanes as fill a register.
template <class T, int n, bool wide> struct pa_vec_of {
  typedef T type __attribute__((vector_size(n * sizeof(T))));
};
template <class T, int n> struct pa_vec_of<T, n, true> {
  typedef pa_halves<typename pa_vec_of<T, n / 2, (n / 2 * (int)sizeof(T) > PA_VEC_BYTES)>::type> type;
};
template <class T, int n> using pa_vec = typename pa_vec_of<T, n, (n * (int)sizeof(T) > PA_VEC_BYTES)>::type;
template <class T> struct pa_native_lanes { static constexpr int value = PA_VEC_BYTES / (int)sizeof(T); };
template <class T> using pa_native = pa_vec<T, pa_native_lanes<T>::value>;

template <class T> struct pa_plain { typedef T type; };
template <class T> struct pa_plain<T&> { typedef T type; };
template <class T> struct pa_plain<T&&> { typedef T type; };

// The element type of a vector type, its number of lanes, and the integer vector of its shape. Empty for other
// types, so that older compilers, which look at templates also where a plain function fits, pass over them.
template <class T> struct pa_void { typedef void type; };
template <class V, class = void> struct pa_shape {};
template <class V> struct pa_shape<V, typename pa_void<decltype(V{}[0])>::type> {
  typedef typename pa_plain<decltype(V{}[0])>::type element;
  static constexpr int lanes = (int)(sizeof(V) / sizeof(element));
  typedef pa_vec<typename pa_int_of_size<sizeof(element)>::s, lanes> mask;
};
template <class H> struct pa_shape<pa_halves<H>> {
  typedef typename pa_shape<H>::element element;
  static constexpr int lanes = 2 * pa_shape<H>::lanes;
  typedef pa_halves<typename pa_shape<H>::mask> mask;
};
template <class V> using pa_half = pa_vec<typename pa_shape<V>::element, pa_shape<V>::lanes / 2>;

#define PA_ON_HALVES(op)                                                                                       \
  template <class H> PA_FN pa_halves<H> operator op(pa_halves<H> a, pa_halves<H> b) {                          \
    return {a.low op b.low, a.high op b.high};                                                                 \
  }                                                                                                            \
  template <class H> PA_FN pa_halves<H> operator op(pa_halves<H> a, typename pa_shape<H>::element b) {         \
    return {a.low op b, a.high op b};                                                                          \
  }                                                                                                            \
  template <class H> PA_FN pa_halves<H> operator op(typename pa_shape<H>::element a, pa_halves<H> b) {         \
    return {a op b.low, a op b.high};                                                                          \
  }
PA_ON_HALVES(+) PA_ON_HALVES(-) PA_ON_HALVES(*) PA_ON_HALVES(/) PA_ON_HALVES(&) PA_ON_HALVES(|) PA_ON_HALVES(^)
#undef PA_ON_HALVES
template <class H> PA_FN pa_halves<H> operator-(pa_halves<H> a) { return {-a.low, -a.high}; }
template <class H> PA_FN pa_halves<H> operator~(pa_halves<H> a) { return {~a.low, ~a.high}; }

// Loads and stores need no alignment.
template <class V> PA_FN V pa_load(const typename pa_shape<V>::element* from) {
  if constexpr (pa_is_wide<V>::value) {
    return {pa_load<pa_half<V>>(from), pa_load<pa_half<V>>(from + pa_shape<V>::lanes / 2)};
  } else {
    V v;
    __builtin_memcpy(&v, from, sizeof(V));
    return v;
  }
}
template <class V> PA_FN void pa_store(typename pa_shape<V>::element* to, V v) {
  if constexpr (pa_is_wide<V>::value) {
    pa_store(to, v.low);
    pa_store(to + pa_shape<V>::lanes / 2, v.high);
  } else {
    __builtin_memcpy(to, &v, sizeof(V));
  }
}

// The first `count` lanes only; the others are `fill`, or are not written.
template <class V> PA_FN V pa_load_first(const typename pa_shape<V>::element* from, int64_t count,
                                         typename pa_shape<V>::element fill) {
  typename pa_shape<V>::element lanes[pa_shape<V>::lanes];
  for (int i = 0; i < pa_shape<V>::lanes; i++) lanes[i] = i < count ? from[i] : fill;
  return pa_load<V>(lanes);
}
template <class V> PA_FN void pa_store_first(typename pa_shape<V>::element* to, V v, int64_t count) {
  typename pa_shape<V>::element lanes[pa_shape<V>::lanes];
  pa_store(lanes, v);
  for (int i = 0; i < pa_shape<V>::lanes && i < count; i++) to[i] = lanes[i];
}

// Subtracting zero keeps every value, -0.0 included, and becomes one broadcast.
template <class V> PA_FN V pa_broadcast(typename pa_shape<V>::element s) { return s - V{}; }

// a * b + c lane by lane, with the rounding of the scalar pa_fma or pa_mad. g++ is given the instruction itself:
// it makes one of the loop over lanes too, but too late to keep an array of accumulators in registers.
template <class V> PA_FN V pa_fma_lanes(V a, V b, V c) {
  typedef typename pa_shape<V>::element T;
  T x[pa_shape<V>::lanes], y[pa_shape<V>::lanes], z[pa_shape<V>::lanes];
  pa_store(x, a);
  pa_store(y, b);
  pa_store(z, c);
  for (int i = 0; i < pa_shape<V>::lanes; i++) z[i] = pa_fma(x[i], y[i], z[i]);
  return pa_load<V>(z);
}

template <class V, class T = typename pa_shape<V>::element> PA_FN V pa_fma(V a, V b, V c) {
  if constexpr (pa_is_wide<V>::value) return {pa_fma(a.low, b.low, c.low), pa_fma(a.high, b.high, c.high)};
  else
#if defined(PA_HAS_VECTOR_FMA)
  return __builtin_elementwise_fma(a, b, c);
#else
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(T) == 4) return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
  else if constexpr (sizeof(V) == 64 && sizeof(T) == 8) return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4);
  else
#endif
#if defined(__FMA__)
  if constexpr (sizeof(V) == 32 && sizeof(T) == 4) return __builtin_ia32_vfmaddps256(a, b, c);
  else if constexpr (sizeof(V) == 32 && sizeof(T) == 8) return __builtin_ia32_vfmaddpd256(a, b, c);
  else if constexpr (sizeof(V) == 16 && sizeof(T) == 4) return __builtin_ia32_vfmaddps(a, b, c);
  else if constexpr (sizeof(V) == 16 && sizeof(T) == 8) return __builtin_ia32_vfmaddpd(a, b, c);
  else
#endif
  return pa_fma_lanes(a, b, c);
#endif
}
template <class V, class T = typename pa_shape<V>::element> PA_FN V pa_mad(V a, V b, V c) {
#if PA_HAS_FMA
  return pa_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Lane numbers as a pack.
template <int... i> struct pa_lane_list {};
template <int n, int... i> struct pa_make_lanes : pa_make_lanes<n - 1, n - 1, i...> {};
template <int... i> struct pa_make_lanes<0, i...> { typedef pa_lane_list<i...> type; };
template <class V> using pa_lanes_of = typename pa_make_lanes<pa_shape<V>::lanes>::type;

// The lanes of `low` followed by those of `high`, picked by constant numbers.
template <int... pick, class V> PA_FN V pa_pick(V low, V high) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(low, high, pick...);
#else
  return __builtin_shuffle(low, high, typename pa_shape<V>::mask{pick...});
#endif
}

// The halves of a vector, and a vector of two halves.
template <class V, int... i> PA_FN pa_half<V> pa_half_at(V v, pa_lane_list<i...>, int first) {
  pa_half<V> half;
#if defined(__clang__) || __GNUC__ >= 12
  if (first == 0) half = __builtin_shufflevector(v, v, i...);
  else half = __builtin_shufflevector(v, v, (i + (int)sizeof...(i))...);
#else
  __builtin_memcpy(&half, (const char*)&v + first * sizeof(v[0]), sizeof(half));
#endif
  return half;
}
template <class V> PA_FN pa_half<V> pa_low(V v) {
  if constexpr (pa_is_wide<V>::value) return v.low;
  else return pa_half_at(v, pa_lanes_of<pa_half<V>>(), 0);
}
template <class V> PA_FN pa_half<V> pa_high(V v) {
  if constexpr (pa_is_wide<V>::value) return v.high;
  else return pa_half_at(v, pa_lanes_of<pa_half<V>>(), pa_shape<V>::lanes / 2);
}
template <class V, int... i> PA_FN V pa_join_lanes(pa_half<V> low, pa_half<V> high, pa_lane_list<i...>) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(low, high, i...);
#else
  V v;
  __builtin_memcpy(&v, &low, sizeof(low));
  __builtin_memcpy((char*)&v + sizeof(low), &high, sizeof(high));
  return v;
#endif
}
template <class V> PA_FN V pa_join(pa_half<V> low, pa_half<V> high) {
  if constexpr (pa_is_wide<V>::value) return {low, high};
  else return pa_join_lanes<V>(low, high, pa_lanes_of<V>());
}

// C++'s conversion of every lane.
template <class To, class From> PA_FN To pa_convert(From x) {
  if constexpr (pa_is_wide<To>::value || pa_is_wide<From>::value)
    return pa_join<To>(pa_convert<pa_half<To>>(pa_low(x)), pa_convert<pa_half<To>>(pa_high(x)));
  else return __builtin_convertvector(x, To);
}

// The last `by` lanes of `before`, then the first of `v`.
template <int by, class V, int... i> PA_FN V pa_shift_in(V before, V v, pa_lane_list<i...>) {
  if constexpr (pa_is_wide<V>::value) {
    constexpr int half = pa_shape<V>::lanes / 2;
    const pa_lanes_of<pa_half<V>> list;
    if constexpr (by < half) return {pa_shift_in<by>(before.high, v.low, list), pa_shift_in<by>(v.low, v.high, list)};
    else if constexpr (by == half) return {before.high, v.low};
    else
      return {pa_shift_in<by - half>(before.low, before.high, list), pa_shift_in<by - half>(before.high, v.low, list)};
  } else {
    return pa_pick<(pa_shape<V>::lanes + i - by)...>(before, v);
  }
}
// Lane i becomes lane i ^ by.
template <int by, class V, int... i> PA_FN V pa_swap_lanes(V v, pa_lane_list<i...>) {
  return pa_pick<(i ^ by)...>(v, v);
}
template <class V, int... i> PA_FN V pa_repeat_last(V v, pa_lane_list<i...>) {
  return pa_pick<(i - i + pa_shape<V>::lanes - 1)...>(v, v);
}
// The last lane in all lanes: the carry of a scan.
template <class V> PA_FN V pa_broadcast_last(V v) {
  if constexpr (pa_is_wide<V>::value) {
    const pa_half<V> last = pa_broadcast_last(v.high);
    return {last, last};
  } else {
    return pa_repeat_last(v, pa_lanes_of<V>());
  }
}

// The vector type arithmetic is done in: unsigned for integers, whose overflow wraps.
template <class T, int n, int kind> struct pa_wrapping_of { typedef pa_vec<T, n> type; };
template <class T, int n> struct pa_wrapping_of<T, n, 0> { typedef pa_vec<typename pa_int<T>::unsigned_type, n> type; };
template <class V> using pa_wrapping = typename pa_wrapping_of<typename pa_shape<V>::element, pa_shape<V>::lanes,
                                                               pa_kind<typename pa_shape<V>::element>::value>::type;

// Combiners, with their neutral elements. Those of NaN and zeros are pa_minimum's and pa_maximum's.
struct pa_op_add {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return (V)((pa_wrapping<V>)a + (pa_wrapping<V>)b); }
  template <class T> static PA_ALWAYS T neutral() { return T(0) * T(-1); }
};
struct pa_op_mul {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return (V)((pa_wrapping<V>)a * (pa_wrapping<V>)b); }
  template <class T> static PA_ALWAYS T neutral() { return T(1); }
};
struct pa_op_min {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return ((a < b) | (a != a)) ? a : b; }
  template <class T> static PA_ALWAYS T neutral() { return pa_highest<T>(); }
};
struct pa_op_max {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return ((a > b) | (a != a)) ? a : b; }
  template <class T> static PA_ALWAYS T neutral() { return pa_lowest<T>(); }
};

template <class Op, class V> PA_FN V pa_apply(V a, V b) {
  if constexpr (pa_is_wide<V>::value) return {pa_apply<Op>(a.low, b.low), pa_apply<Op>(a.high, b.high)};
  else return Op::apply(a, b);
}

// The combination of all lanes in a fixed order: lanes i and i + n/2 first, then halves of those.
template <class Op, int by, class V> PA_FN V pa_reduce_steps(V v) {
  if constexpr (by == 0) return v;
  else return pa_reduce_steps<Op, by / 2>(Op::apply(v, pa_swap_lanes<by>(v, pa_lanes_of<V>())));
}
template <class Op, class V> PA_FN typename pa_shape<V>::element pa_reduce(V v) {
  if constexpr (pa_is_wide<V>::value) return pa_reduce<Op>(pa_apply<Op>(v.low, v.high));
  else return pa_reduce_steps<Op, pa_shape<V>::lanes / 2>(v)[0];
}

// Lane i becomes the combination of lanes 0 to i, in log2(n) steps: each lane takes in the one 1, 2, 4, ...
// places before it.
template <class Op, int by, class V> PA_FN V pa_scan_steps(V v, V neutral) {
  if constexpr (by >= pa_shape<V>::lanes) return v;
  else
    return pa_scan_steps<Op, 2 * by>(pa_apply<Op>(pa_shift_in<by>(neutral, v, pa_lanes_of<V>()), v), neutral);
}
template <class Op, class V> PA_FN V pa_scan(V v) {
  return pa_scan_steps<Op, 1>(v, pa_broadcast<V>(Op::template neutral<typename pa_shape<V>::element>()));
}

template <class V> PA_FN typename pa_shape<V>::element pa_sum_lanes(V v) { return pa_reduce<pa_op_add>(v); }
template <class V> PA_FN V pa_scan_add(V v) { return pa_scan<pa_op_add>(v); }

#endif
