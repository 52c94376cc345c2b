// SPDX-License-Identifier: Apache-2.0
// Exponentials and logarithms. The float32 functions are straight lines of arithmetic and selects, so that
// g++ and clang vectorise a loop that calls them; docs/math-accuracy.md has their measured errors.
// Special values (NaN, infinities, signed zeros, subnormals) are those of NumPy. The polynomials are
// minimax fits rounded to float32, made by tools/fit_math_polynomials.py. The float64 functions are libm's.
#ifndef PYASC_MATH_H
#define PYASC_MATH_H

#include "pyasc_num.h"

// Adding it to |x| < 2^22 leaves rint(x) in the low bits of the sum.
#define PA_ROUND_F32 0x1.8p23f
// ln 2 in two parts, the first of 15 bits: its product with an exponent is exact without an fma.
#define PA_LN2_HI 0x1.62e4p-1f
#define PA_LN2_LO 0x1.7f7d1cp-20f

// Horner's rule, coefficients from the constant term up.
PA_FN float pa_poly(float, float c) { return c; }
template <class... Rest> PA_FN float pa_poly(float x, float c, Rest... rest) {
  return pa_fma(pa_poly(x, rest...), x, c);
}
PA_FN double pa_poly(double, double c) { return c; }
template <class... Rest> PA_FN double pa_poly(double x, double c, Rest... rest) {
  return pa_fma(pa_poly(x, rest...), x, c);
}

// p * 2^n for p near 1 and n in [-151, 129], rounded once also where the result is subnormal.
// `rounded` is n + PA_ROUND_F32.
PA_FN float pa_scale_by_rounded(float p, float rounded) {
  const bool down = rounded <= PA_ROUND_F32;
  const uint32_t bias = down ? 127u + 100u : 127u - 100u;
  const float part = pa_bits<float>((pa_bits<uint32_t>(rounded) + bias) << 23);
  return p * part * (down ? 0x1p-100f : 0x1p100f);
}

// 2^n for n in [-126, 127], from n + PA_ROUND_F32.
PA_FN float pa_exp2_of_rounded(float rounded) {
  return pa_bits<float>((pa_bits<uint32_t>(rounded) + 127u) << 23);
}

// e^r for |r| <= ln(2)/2.
PA_FN float pa_exp_reduced(float r) {
  const float q = pa_poly(r, 0x1.fffffcp-2f, 0x1.55548ap-3f, 0x1.5558dcp-5f, 0x1.123fb4p-7f, 0x1.6a1a6cp-10f);
  return pa_fma(r * r, q, r) + 1.0f;
}

// e^r - 1 for |r| <= ln(2)/2.
PA_FN float pa_expm1_reduced(float r) {
  const float q = pa_poly(r, 0x1p-1f, 0x1.555554p-3f, 0x1.5554cap-5f, 0x1.11123p-7f, 0x1.6d78dcp-10f, 0x1.a0332ep-13f);
  return pa_fma(r * r, q, r);
}

// x = n ln2 + r; gives n + PA_ROUND_F32 and r.
struct pa_exp_split { float rounded, r; };
PA_FN pa_exp_split pa_split_exp(float x) {
  const float rounded = pa_fma(x, 0x1.715476p0f, PA_ROUND_F32);
  const float n = rounded - PA_ROUND_F32;
  return {rounded, pa_fma(n, -PA_LN2_LO, pa_fma(n, -PA_LN2_HI, x))};
}

// NaN passes through, since it is neither above nor below.
PA_FN float pa_limit(float x, float low, float high) {
  const float capped = x > high ? high : x;
  return capped < low ? low : capped;
}

PA_FN float pa_exp(float x) {
  const pa_exp_split s = pa_split_exp(pa_limit(x, -104.0f, 89.0f));
  return pa_scale_by_rounded(pa_exp_reduced(s.r), s.rounded);
}

PA_FN float pa_exp2(float x) {
  const float limited = pa_limit(x, -151.0f, 129.0f);
  const float rounded = limited + PA_ROUND_F32;
  const float r = limited - (rounded - PA_ROUND_F32);
  const float q = pa_poly(r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6b084p-5f, 0x1.3b2a06p-7f, 0x1.5d8ae2p-10f,
                          0x1.44635p-13f, 0x1.fddc48p-17f);
  return pa_scale_by_rounded(pa_fma(r, q, 1.0f), rounded);
}

// Half of the result is formed, since 2^128 is not a float32.
PA_FN float pa_expm1(float x) {
  const pa_exp_split s = pa_split_exp(pa_limit(x, -18.0f, 89.0f));
  const float half_power = pa_exp2_of_rounded(s.rounded - 1.0f);
  const float result = 2.0f * pa_fma(pa_expm1_reduced(s.r), half_power, half_power - 0.5f);
  return __builtin_fabsf(x) < 0x1p-25f ? x : result;
}

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x; subnormal ones are scaled first.
struct pa_log_split { float k, f; };
PA_FN pa_log_split pa_split_log(float x) {
  const bool tiny = x < 0x1p-126f;
  const uint32_t bits = pa_bits<uint32_t>(tiny ? x * 0x1p23f : x);
  const uint32_t exponent = (bits - 0x3f3504f3u) & 0xff800000u;
  const float k = pa_fma((float)(int32_t)exponent, 0x1p-23f, tiny ? -23.0f : 0.0f);
  return {k, pa_bits<float>(bits - exponent) - 1.0f};
}

// The result of a logarithm outside (0, inf): NaN, -inf, inf, NaN.
PA_FN float pa_log_special(float x, float result) {
  const float special = x < 0.0f ? __builtin_nanf("") : (x == 0.0f ? -__builtin_inff() : x);
  return ((x > 0.0f) & (x < __builtin_inff())) ? result : special;
}

// k ln2 + log(1 + f).
PA_FN float pa_log_join(float k, float f) {
  const float q = pa_poly(f, -0x1.fffff8p-2f, 0x1.55555p-2f, -0x1.000428p-2f, 0x1.99a3fap-3f, -0x1.542772p-3f,
                          0x1.227198p-3f, -0x1.0f376cp-3f, 0x1.08488p-3f, -0x1.383046p-4f);
  const float low = pa_fma(k, PA_LN2_LO, f * f * q);
  return pa_fma(k, PA_LN2_HI, low + f);
}

PA_FN float pa_log(float x) {
  const pa_log_split s = pa_split_log(x);
  return pa_log_special(x, pa_log_join(s.k, s.f));
}

PA_FN float pa_log2(float x) {
  const pa_log_split s = pa_split_log(x);
  const float q = pa_poly(s.f, -0x1.71547p-1f, 0x1.ec7096p-2f, -0x1.715a7ep-2f, 0x1.277e42p-2f, -0x1.eabd12p-3f,
                          0x1.a3059p-3f, -0x1.87485ep-3f, 0x1.7d47b4p-3f, -0x1.c26494p-4f);
  const float low = pa_fma(s.f * s.f, q, s.f * 0x1.4ae0cp-26f);
  return pa_log_special(x, pa_fma(s.f, 0x1.715476p0f, low) + s.k);
}

PA_FN float pa_log10(float x) {
  const pa_log_split s = pa_split_log(x);
  const float q = pa_poly(s.f, -0x1.bcb7aap-3f, 0x1.287a7p-3f, -0x1.bcbef4p-4f, 0x1.63cf5cp-4f, -0x1.27745ep-4f,
                          0x1.f88d6cp-5f, -0x1.d726bcp-5f, 0x1.cb1b62p-5f, -0x1.0f29dep-5f);
  const float tail = pa_fma(s.f * s.f, q, s.f * -0x1.5b235ep-27f);
  const float fraction = pa_fma(s.f, 0x1.bcb7b2p-2f, tail);
  // log10(2) in two parts, the first of 11 bits.
  return pa_log_special(x, pa_fma(s.k, 0x1.344p-2f, pa_fma(s.k, 0x1.3509f8p-18f, fraction)));
}

// 1 + x = 2^k (1 + f), where f is formed from x itself so that nothing of a small x is lost.
PA_FN float pa_log1p(float x) {
  const bool large = x > 0x1p100f;
  const float scaled = large ? x * 0x1p-64f : x;
  const float sum = scaled + (large ? 0.0f : 1.0f);
  const uint32_t exponent = (pa_bits<uint32_t>(sum) - 0x3f3504f3u) & 0xff800000u;
  const float four = pa_bits<float>(0x40800000u - exponent);
  const float f = 0.25f * pa_fma(scaled, four, (large ? 0.0f : four) - 4.0f);
  const float k = pa_fma((float)(int32_t)exponent, 0x1p-23f, large ? 64.0f : 0.0f);
  const float result = pa_log_join(k, f);
  const float special = x < -1.0f ? __builtin_nanf("") : (x == -1.0f ? -__builtin_inff() : x);
  return ((x > -1.0f) & (x < __builtin_inff()) & (__builtin_fabsf(x) >= 0x1p-25f)) ? result : special;
}

PA_FN float pa_sqrt(float x) { return __builtin_sqrtf(x); }
PA_FN float pa_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }

PA_FN double pa_exp(double x) { return __builtin_exp(x); }
PA_FN double pa_exp2(double x) { return __builtin_exp2(x); }
PA_FN double pa_expm1(double x) { return __builtin_expm1(x); }
PA_FN double pa_log(double x) { return __builtin_log(x); }
PA_FN double pa_log2(double x) { return __builtin_log2(x); }
PA_FN double pa_log10(double x) { return __builtin_log10(x); }
PA_FN double pa_log1p(double x) { return __builtin_log1p(x); }
PA_FN double pa_sqrt(double x) { return __builtin_sqrt(x); }
PA_FN double pa_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

#endif
