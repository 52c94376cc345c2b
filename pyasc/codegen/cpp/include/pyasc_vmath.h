// SPDX-License-Identifier: Apache-2.0
// The functions of the language on vectors: pa_v_NAME gives in each lane the very bits of the scalar pa_NAME.
// What matters most has a form of its own, made of the same operations in the same order; of the rest, the
// scalar function runs over the lanes, which compilers turn into vector code.
#ifndef PYASC_VMATH_H
#define PYASC_VMATH_H

#include "pyasc_mask.h"
#include "pyasc_special.h"
#include "pyasc_trig.h"

#define PA_RELATION(name)                                                                                     \
  template <class V> PA_FN pa_mask_of<V> pa_v_##name(V a, V b) { return pa_compare<pa_##name>(a, b); }
PA_RELATION(lt)
PA_RELATION(le)
PA_RELATION(gt)
PA_RELATION(ge)
PA_RELATION(eq)
PA_RELATION(ne)
#undef PA_RELATION

template <class V> using pa_element = typename pa_shape<V>::element;

template <class V> PA_FN V pa_v_lanes(pa_element<V> start) {
  pa_element<V> number[pa_shape<V>::lanes];
  for (int i = 0; i < pa_shape<V>::lanes; i++) number[i] = (pa_element<V>)i;
  return pa_broadcast<V>(start) + pa_load<V>(number);
}

// The lanes of low from number `by` on, followed by the first of high.
template <class V> PA_FN V pa_v_shift(V low, V high, int64_t by) {
#if !defined(__clang__)
  if constexpr (!pa_is_wide<V>::value) {
    typedef typename pa_shape<V>::mask I;
    return __builtin_shuffle(low, high, pa_v_lanes<I>((pa_element<I>)by));
  } else
#endif
  {
    pa_element<V> both[2 * pa_shape<V>::lanes];
    pa_store(both, low);
    pa_store(both + pa_shape<V>::lanes, high);
    return pa_load<V>(both + by);
  }
}

// The scalar function in every lane.
#define PA_LANEWISE_1(name)                                                                                    \
  template <class V> PA_FN V pa_lanes_##name(V a) {                                                            \
    pa_element<V> x[pa_shape<V>::lanes];                                                                       \
    pa_store(x, a);                                                                                            \
    for (int i = 0; i < pa_shape<V>::lanes; i++) x[i] = pa_##name(x[i]);                                       \
    return pa_load<V>(x);                                                                                      \
  }
#define PA_LANEWISE_2(name)                                                                                    \
  template <class V> PA_FN V pa_lanes_##name(V a, V b) {                                                       \
    pa_element<V> x[pa_shape<V>::lanes], y[pa_shape<V>::lanes];                                                \
    pa_store(x, a);                                                                                            \
    pa_store(y, b);                                                                                            \
    for (int i = 0; i < pa_shape<V>::lanes; i++) x[i] = pa_##name(x[i], y[i]);                                 \
    return pa_load<V>(x);                                                                                      \
  }
#define PA_ALIAS_1(name)                                                                                       \
  PA_LANEWISE_1(name)                                                                                          \
  template <class V> PA_FN V pa_v_##name(V a) { return pa_lanes_##name(a); }
#define PA_ALIAS_2(name)                                                                                       \
  PA_LANEWISE_2(name)                                                                                          \
  template <class V> PA_FN V pa_v_##name(V a, V b) { return pa_lanes_##name(a, b); }
PA_ALIAS_1(sign) PA_ALIAS_1(rsqrt) PA_ALIAS_1(cbrt) PA_ALIAS_1(exp2) PA_ALIAS_1(expm1)
PA_ALIAS_1(log2) PA_ALIAS_1(log10) PA_ALIAS_1(log1p) PA_ALIAS_1(sin) PA_ALIAS_1(cos) PA_ALIAS_1(tan)
PA_ALIAS_1(asin) PA_ALIAS_1(acos) PA_ALIAS_1(atan) PA_ALIAS_1(sinh) PA_ALIAS_1(cosh) PA_ALIAS_1(tanh)
PA_ALIAS_1(asinh) PA_ALIAS_1(acosh) PA_ALIAS_1(atanh) PA_ALIAS_1(erf) PA_ALIAS_1(erfc)
PA_ALIAS_1(floor) PA_ALIAS_1(ceil) PA_ALIAS_1(trunc) PA_ALIAS_1(rint)
PA_ALIAS_2(floordiv) PA_ALIAS_2(mod) PA_ALIAS_2(fmod) PA_ALIAS_2(pow) PA_ALIAS_2(shl) PA_ALIAS_2(shr)
PA_ALIAS_2(atan2) PA_ALIAS_2(hypot) PA_ALIAS_2(copysign)
PA_LANEWISE_1(exp) PA_LANEWISE_1(log) PA_LANEWISE_1(sqrt)
#undef PA_LANEWISE_1
#undef PA_LANEWISE_2
#undef PA_ALIAS_1
#undef PA_ALIAS_2

template <class V> PA_FN V pa_v_abs(V a) {
  if constexpr (pa_is_wide<V>::value) return {pa_v_abs(a.low), pa_v_abs(a.high)};
  else {
    typedef typename pa_shape<V>::mask I;
    if constexpr (pa_kind<pa_element<V>>::value == 2) return (V)((I)a & pa_int<pa_element<I>>::max);
    else return a < 0 ? -a : a;
  }
}
template <class V> PA_FN pa_mask_of<V> pa_v_isnan(V a) { return pa_v_ne(a, a); }
template <class V> PA_FN V pa_v_infinity() { return pa_broadcast<V>((pa_element<V>)__builtin_inff()); }
template <class V> PA_FN pa_mask_of<V> pa_v_isinf(V a) { return pa_v_eq(pa_v_abs(a), pa_v_infinity<V>()); }
template <class V> PA_FN pa_mask_of<V> pa_v_isfinite(V a) { return pa_v_lt(pa_v_abs(a), pa_v_infinity<V>()); }
template <class V> PA_FN pa_mask_of<V> pa_v_signbit(V a) {
  typedef typename pa_shape<V>::mask I;
  if constexpr (pa_is_wide<V>::value)
    return pa_join_masks<pa_shape<V>::lanes>(pa_v_signbit(a.low), pa_v_signbit(a.high));
  else return pa_v_lt((I)a, I{});
}

// a > b ? a : b and a < b ? a : b, which are one instruction on x86.
template <class V> PA_FN V pa_v_larger(V a, V b) {
  if constexpr (pa_is_wide<V>::value) return {pa_v_larger(a.low, b.low), pa_v_larger(a.high, b.high)};
  else
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && pa_kind<pa_element<V>>::value == 2) {
#if defined(__clang__)
    if constexpr (sizeof(pa_element<V>) == 4) return __builtin_ia32_maxps512(a, b, 4);
    else return __builtin_ia32_maxpd512(a, b, 4);
#else
    if constexpr (sizeof(pa_element<V>) == 4) return __builtin_ia32_maxps512_mask(a, b, a, -1, 4);
    else return __builtin_ia32_maxpd512_mask(a, b, a, -1, 4);
#endif
  } else
#endif
  return a > b ? a : b;
}
template <class V> PA_FN V pa_v_smaller(V a, V b) {
  if constexpr (pa_is_wide<V>::value) return {pa_v_smaller(a.low, b.low), pa_v_smaller(a.high, b.high)};
  else
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && pa_kind<pa_element<V>>::value == 2) {
#if defined(__clang__)
    if constexpr (sizeof(pa_element<V>) == 4) return __builtin_ia32_minps512(a, b, 4);
    else return __builtin_ia32_minpd512(a, b, 4);
#else
    if constexpr (sizeof(pa_element<V>) == 4) return __builtin_ia32_minps512_mask(a, b, a, -1, 4);
    else return __builtin_ia32_minpd512_mask(a, b, a, -1, 4);
#endif
  } else
#endif
  return a < b ? a : b;
}
template <class V> PA_FN V pa_v_pymax(V a, V b) { return pa_v_larger(b, a); }
template <class V> PA_FN V pa_v_pymin(V a, V b) { return pa_v_smaller(b, a); }
template <class V> PA_FN V pa_v_maximum(V a, V b) {
  if constexpr (pa_kind<pa_element<V>>::value == 2) return pa_v_select(pa_v_ne(a, a), a, pa_v_larger(a, b));
  else return pa_v_larger(a, b);
}
template <class V> PA_FN V pa_v_minimum(V a, V b) {
  if constexpr (pa_kind<pa_element<V>>::value == 2) return pa_v_select(pa_v_ne(a, a), a, pa_v_smaller(a, b));
  else return pa_v_smaller(a, b);
}
template <class V> PA_FN V pa_v_fma(V a, V b, V c) { return pa_fma(a, b, c); }

template <class V> PA_FN V pa_v_sqrt(V a) {
  if constexpr (pa_is_wide<V>::value) return {pa_v_sqrt(a.low), pa_v_sqrt(a.high)};
  else
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (sizeof(V) == 64 && sizeof(pa_element<V>) == 4) return __builtin_ia32_sqrtps512_mask(a, a, -1, 4);
  else if constexpr (sizeof(V) == 64) return __builtin_ia32_sqrtpd512_mask(a, a, -1, 4);
  else
#endif
  return pa_lanes_sqrt(a);
}

// Horner's rule, coefficients from the constant term up: pa_poly.
template <class V> PA_FN V pa_v_poly(V, float c) { return pa_broadcast<V>(c); }
template <class V, class... Rest> PA_FN V pa_v_poly(V x, float c, Rest... rest) {
  return pa_mad(pa_v_poly(x, rest...), x, pa_broadcast<V>(c));
}

// |x| at most bound; NaN passes through.
template <class V> PA_FN V pa_v_limit(V x, float bound) {
  return pa_v_larger(pa_broadcast<V>(-bound), pa_v_smaller(pa_broadcast<V>(bound), x));
}

// p * 2^n for p near 1, rounded once: pa_scale_by_rounded.
template <class V> PA_FN V pa_v_scale_by_rounded(V p, V rounded) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64)
    return __builtin_ia32_scalefps512_mask(p, rounded - PA_ROUND_F32, p, -1, 4);
  else
#endif
  {
    typedef pa_vec<uint32_t, pa_shape<V>::lanes> U;
    const auto down = rounded <= PA_ROUND_F32;
    const V part = (V)(((U)rounded + (down ? U{} + 227u : U{} + 27u)) << 23);
    return p * part * (down ? V{} + 0x1p-100f : V{} + 0x1p100f);
  }
}

template <class V> PA_FN V pa_v_exp(V x) {
  if constexpr (pa_is_wide<V>::value) {
    return {pa_v_exp(x.low), pa_v_exp(x.high)};
  } else if constexpr (sizeof(pa_element<V>) == 8) {
    return pa_lanes_exp(x);
  } else {
    const V limited = pa_v_limit(x, 104.0f);
    const V rounded = pa_mad(limited, pa_broadcast<V>(0x1.715476p0f), pa_broadcast<V>(PA_ROUND_F32));
    const V n = rounded - PA_ROUND_F32;
    const V r = pa_mad(n, pa_broadcast<V>(-PA_LN2_LO), pa_mad(n, pa_broadcast<V>(-PA_LN2_HI), limited));
    return pa_v_scale_by_rounded(pa_v_poly(r, 1.0f, 1.0f, PA_EXP_COEFFICIENTS), rounded);
  }
}

// x = 2^k (1 + f) with 1 + f in [3/4, 3/2); of what has no logarithm, k or f is such that the result comes out.
template <class V> struct pa_v_log_split { V k, f; };
template <class V> PA_FN pa_v_log_split<V> pa_v_split_log(V x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    const V mantissa = __builtin_ia32_getmantps512_mask(x, 11, x, -1, 4);
    const V k = __builtin_ia32_getexpps512_mask(x, x, -1, 4) -
                __builtin_ia32_getexpps512_mask(mantissa, x, -1, 4);
    return {k, mantissa - 1.0f};
  } else
#endif
  {
    typedef pa_vec<uint32_t, pa_shape<V>::lanes> U;
    typedef typename pa_shape<V>::mask I;
    const auto tiny = x < 0x1p-126f;
    const U bits = (U)(tiny ? x * 0x1p23f : x);
    const U exponent = (bits - 0x3f400000u) & 0xff800000u;
    const V k = pa_mad(__builtin_convertvector((I)exponent, V), pa_broadcast<V>(0x1p-23f),
                       tiny ? V{} - 23.0f : V{});
    return {k, (V)(bits - exponent) - 1.0f};
  }
}

template <class V> PA_FN V pa_v_log(V x) {
  if constexpr (pa_is_wide<V>::value) {
    return {pa_v_log(x.low), pa_v_log(x.high)};
  } else if constexpr (sizeof(pa_element<V>) == 8) {
    return pa_lanes_log(x);
  } else {
    const pa_v_log_split<V> s = pa_v_split_log(x);
    const V f = s.f;
    const V q = pa_v_poly(f, PA_LOG_COEFFICIENTS);
    const V low = pa_mad(s.k, pa_broadcast<V>(PA_LN2_LO), f * f * q);
    const V result = pa_mad(s.k, pa_broadcast<V>(PA_LN2_HI), low + f);
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) return result;
#endif
    const V infinity = pa_v_infinity<V>();
    const V special = x < 0.0f ? V{} + __builtin_nanf("") : (x == 0.0f ? -infinity : x);
    return ((x > 0.0f) & (x < infinity)) ? result : special;
  }
}

// The conversion of the language, lane by lane: pa_cast.
template <class V, class From> PA_FN V pa_v_cast(From x) {
  constexpr int to_kind = pa_kind<pa_element<V>>::value, from_kind = pa_kind<pa_element<From>>::value;
  if constexpr (to_kind == 0 && from_kind == 2) {
    pa_element<From> from[pa_shape<From>::lanes];
    pa_element<V> to[pa_shape<V>::lanes];
    pa_store(from, x);
    for (int i = 0; i < pa_shape<V>::lanes; i++) to[i] = pa_cast<pa_element<V>>(from[i]);
    return pa_load<V>(to);
  } else {
    return pa_convert<V>(x);
  }
}
template <class V> PA_FN V pa_v_from_mask(pa_mask_of<V> m) {
  return pa_v_select(m, pa_broadcast<V>(pa_element<V>(1)), V{});
}

struct pa_op_pymax {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return b > a ? b : a; }
};
struct pa_op_pymin {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return b < a ? b : a; }
};
struct pa_op_and {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return a & b; }
};
struct pa_op_or {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return a | b; }
};
struct pa_op_xor {
  template <class V> static PA_ALWAYS V apply(V a, V b) { return a ^ b; }
};

#endif
