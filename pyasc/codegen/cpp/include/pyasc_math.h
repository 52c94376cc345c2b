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
  return pa_mad(pa_poly(x, rest...), x, c);
}
PA_FN double pa_poly(double, double c) { return c; }
template <class... Rest> PA_FN double pa_poly(double x, double c, Rest... rest) {
  return pa_mad(pa_poly(x, rest...), x, c);
}

// p * 2^n for p near 1 and n in [-151, 151], rounded once also where the result is subnormal.
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

// e^r - 1 to the absolute accuracy that e^r needs, for |r| <= ln(2)/2.
#define PA_EXP_COEFFICIENTS 0x1.fffffcp-2f, 0x1.55548ap-3f, 0x1.5558dep-5f, 0x1.123fccp-7f, 0x1.6a1a3ep-10f
PA_FN float pa_exp_beyond_one(float r) {
  const float q = pa_poly(r, PA_EXP_COEFFICIENTS);
  return pa_mad(r * r, q, r);
}
// e^r, one operation shorter than adding one to the above.
PA_FN float pa_exp_reduced(float r) { return pa_poly(r, 1.0f, 1.0f, PA_EXP_COEFFICIENTS); }

// e^r - 1 to its own accuracy.
PA_FN float pa_expm1_reduced(float r) {
  const float q = pa_poly(r, 0x1p-1f, 0x1.555554p-3f, 0x1.5554cap-5f, 0x1.11122cp-7f, 0x1.6d794ep-10f,
                          0x1.a033acp-13f);
  return pa_mad(r * r, q, r);
}

// x = n ln2 + r; gives n + PA_ROUND_F32 and r.
struct pa_exp_split { float rounded, r; };
PA_FN pa_exp_split pa_split_exp(float x) {
  const float rounded = pa_mad(x, 0x1.715476p0f, PA_ROUND_F32);
  const float n = rounded - PA_ROUND_F32;
  return {rounded, pa_mad(n, -PA_LN2_LO, pa_mad(n, -PA_LN2_HI, x))};
}

// x brought into [-bound, bound]; NaN passes through. One comparison of |x|: two of x would be merged
// by g++ with what follows into a tangle of masks.
PA_FN float pa_limit(float x, float bound) {
  const float magnitude = __builtin_fabsf(x);
  return __builtin_copysignf(magnitude > bound ? bound : magnitude, x);
}

PA_FN float pa_exp(float x) {
  const pa_exp_split s = pa_split_exp(pa_limit(x, 104.0f));
  return pa_scale_by_rounded(pa_exp_reduced(s.r), s.rounded);
}

PA_FN float pa_exp2(float x) {
  const float limited = pa_limit(x, 151.0f);
  const float rounded = limited + PA_ROUND_F32;
  const float r = limited - (rounded - PA_ROUND_F32);
  const float q = pa_poly(r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6b086p-5f, 0x1.3b2a1p-7f, 0x1.5d8a6ep-10f,
                          0x1.44637ep-13f, 0x1.fddc48p-17f);
  return pa_scale_by_rounded(pa_mad(r, q, 1.0f), rounded);
}

// Half of the result is formed, since 2^128 is not a float32.
PA_FN float pa_expm1(float x) {
  const float capped = x > 89.0f ? 89.0f : x;
  const pa_exp_split s = pa_split_exp(capped < -18.0f ? -18.0f : capped);
  const float half_power = pa_exp2_of_rounded(s.rounded - 1.0f);
  const float result = 2.0f * pa_mad(pa_expm1_reduced(s.r), half_power, half_power - 0.5f);
  return __builtin_fabsf(x) < 0x1p-25f ? x : result;
}

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x; subnormal ones are scaled first.
struct pa_log_split { float k, f; };
PA_FN pa_log_split pa_split_log(float x) {
  const bool tiny = x < 0x1p-126f;
  const uint32_t bits = pa_bits<uint32_t>(tiny ? x * 0x1p23f : x);
  const uint32_t exponent = (bits - 0x3f3504f3u) & 0xff800000u;
  const float k = pa_mad((float)(int32_t)exponent, 0x1p-23f, tiny ? -23.0f : 0.0f);
  return {k, pa_bits<float>(bits - exponent) - 1.0f};
}

// The result of a logarithm outside (0, inf): NaN, -inf, inf, NaN.
PA_FN float pa_log_special(float x, float result) {
  const float special = x < 0.0f ? __builtin_nanf("") : (x == 0.0f ? -__builtin_inff() : x);
  return ((x > 0.0f) & (x < __builtin_inff())) ? result : special;
}

// k ln2 + log(1 + f).
PA_FN float pa_log_join(float k, float f) {
  const float q = pa_poly(f, -0x1.fffff8p-2f, 0x1.55555p-2f, -0x1.000428p-2f, 0x1.99a3fap-3f, -0x1.542776p-3f,
                          0x1.2271a4p-3f, -0x1.0f376cp-3f, 0x1.08488p-3f, -0x1.383046p-4f);
  const float low = pa_mad(k, PA_LN2_LO, f * f * q);
  return pa_mad(k, PA_LN2_HI, low + f);
}

// As pa_split_log with 1 + f in [3/4, 3/2), the range that getmant of AVX-512 can give.
PA_FN pa_log_split pa_split_log_at_three_quarters(float x) {
  const bool tiny = x < 0x1p-126f;
  const uint32_t bits = pa_bits<uint32_t>(tiny ? x * 0x1p23f : x);
  const uint32_t exponent = (bits - 0x3f400000u) & 0xff800000u;
  const float k = pa_mad((float)(int32_t)exponent, 0x1p-23f, tiny ? -23.0f : 0.0f);
  return {k, pa_bits<float>(bits - exponent) - 1.0f};
}

#define PA_LOG_COEFFICIENTS                                                                               \
  -0x1p-1f, 0x1.5555a6p-2f, -0x1.000028p-2f, 0x1.996872p-3f, -0x1.54f26ep-3f, 0x1.2897d4p-3f,             \
      -0x1.0d9002p-3f, 0x1.abf6b8p-4f, -0x1.6fe652p-5f

PA_FN float pa_log(float x) {
  const pa_log_split s = pa_split_log_at_three_quarters(x);
  const float low = pa_mad(s.k, PA_LN2_LO, s.f * s.f * pa_poly(s.f, PA_LOG_COEFFICIENTS));
  return pa_log_special(x, pa_mad(s.k, PA_LN2_HI, low + s.f));
}

PA_FN float pa_log2(float x) {
  const pa_log_split s = pa_split_log(x);
  const float q = pa_poly(s.f, -0x1.71547p-1f, 0x1.ec7096p-2f, -0x1.715a7cp-2f, 0x1.277e3ep-2f, -0x1.eabd18p-3f,
                          0x1.a3059p-3f, -0x1.87485ep-3f, 0x1.7d47b4p-3f, -0x1.c26494p-4f);
  const float low = pa_mad(s.f * s.f, q, s.f * 0x1.4ae0cp-26f);
  return pa_log_special(x, pa_mad(s.f, 0x1.715476p0f, low) + s.k);
}

PA_FN float pa_log10(float x) {
  const pa_log_split s = pa_split_log(x);
  const float q = pa_poly(s.f, -0x1.bcb7aap-3f, 0x1.287a72p-3f, -0x1.bcbeecp-4f, 0x1.63cf1cp-4f, -0x1.27743ep-4f,
                          0x1.f88d6ep-5f, -0x1.d726bcp-5f, 0x1.cb1b62p-5f, -0x1.0f29dep-5f);
  const float tail = pa_mad(s.f * s.f, q, s.f * -0x1.5b235ep-27f);
  const float fraction = pa_mad(s.f, 0x1.bcb7b2p-2f, tail);
  // log10(2) in two parts, the first of 11 bits.
  return pa_log_special(x, pa_mad(s.k, 0x1.344p-2f, pa_mad(s.k, 0x1.3509f8p-18f, fraction)));
}

// 1 + x = 2^k (1 + f), where f is formed from x itself so that nothing of a small x is lost.
PA_FN float pa_log1p(float x) {
  const bool large = x > 0x1p100f;
  const float scaled = large ? x * 0x1p-64f : x;
  const float sum = scaled + (large ? 0.0f : 1.0f);
  const uint32_t exponent = (pa_bits<uint32_t>(sum) - 0x3f3504f3u) & 0xff800000u;
  const float four = pa_bits<float>(0x40800000u - exponent);
  const float f = 0.25f * pa_mad(scaled, four, (large ? 0.0f : four) - 4.0f);
  const float k = pa_mad((float)(int32_t)exponent, 0x1p-23f, large ? 64.0f : 0.0f);
  const float result = pa_log_join(k, f);
  const float special = x < -1.0f ? __builtin_nanf("") : (x == -1.0f ? -__builtin_inff() : x);
  return ((x > -1.0f) & (x < __builtin_inff()) & (__builtin_fabsf(x) >= 0x1p-25f)) ? result : special;
}

PA_FN float pa_sqrt(float x) { return __builtin_sqrtf(x); }
PA_FN float pa_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }

// log2 of |x| in double, to about 2^-36 of itself; infinities and NaN as libm's.
PA_FN double pa_log2_wide(float magnitude) {
  const pa_log_split s = pa_split_log(magnitude);
  const double f = (double)s.f;
  const double q = pa_poly(f, 0x1.71547652a1e97p0, -0x1.715476565d2b7p-1, 0x1.ec709ebb96137p-2,
                           -0x1.71547097ae438p-2, 0x1.277651fb7bb12p-2, -0x1.ec72b58ee5332p-3,
                           0x1.a63f4491691c6p-3, -0x1.714171b7dadabp-3, 0x1.4529171b7981bp-3,
                           -0x1.252f2d26c28e4p-3, 0x1.2871e80098ffp-3, -0x1.248924868f40dp-3, 0x1.3ce90b587ec82p-4);
  const double result = pa_mad(f, q, (double)s.k);
  const double special = magnitude == 0.0f ? -__builtin_inf() : (double)magnitude;
  return ((magnitude > 0.0f) & (magnitude < __builtin_inff())) ? result : special;
}

// 2^u for any double u, rounded once to float32.
PA_FN float pa_exp2_wide(double u) {
  const double magnitude = __builtin_fabs(u);
  const double limited = __builtin_copysign(magnitude > 160.0 ? 160.0 : magnitude, u);
  const double rounded = limited + 0x1.8p52;
  const double r = limited - (rounded - 0x1.8p52);
  const double q = pa_poly(r, 0x1.62e42ff0e1915p-1, 0x1.ebfbe077872d1p-3, 0x1.c6b08ac06cf79p-5,
                           0x1.3b29f39d4941p-7, 0x1.5d8a85fd9702bp-10, 0x1.445c8406769ddp-13,
                           0x1.fde5ff50125cap-17);
  return (float)(pa_mad(r, q, 1.0) * pa_bits<double>((pa_bits<uint64_t>(rounded) + 1023u) << 52));
}

// The power function of C, whose special cases are NumPy's: 1^y = x^0 = 1 even for NaN, (-1)^inf = 1,
// a negative number to a fraction is NaN.
PA_FN float pa_pow(float x, float y) {
  const float magnitude = __builtin_fabsf(x);
  const double exponent = (double)y * pa_log2_wide(magnitude);
  const float power = pa_exp2_wide(((magnitude == 1.0f) & (y == y)) ? 0.0 : exponent);
  // Beyond 2^24 every float32 is an even integer. The mask is arithmetic: a second select on `fraction`
  // would be merged by g++ with the one below into branches.
  const double small = (double)pa_limit(y, 0x1p24f);
  const double rounded = small + 0x1.8p52;
  const bool fraction = rounded - 0x1.8p52 != small;
  const uint32_t odd = (uint32_t)pa_bits<uint64_t>(rounded) & ((uint32_t)fraction - 1u);
  const uint32_t odd_sign = (odd << 31) & pa_bits<uint32_t>(x);
  const float with_sign = pa_bits<float>(pa_bits<uint32_t>(power) ^ odd_sign);
  const bool undefined = (x < 0.0f) & (magnitude < __builtin_inff()) & fraction;
  const float result = undefined ? __builtin_nanf("") : with_sign;
  return ((y == 0.0f) | (x == 1.0f)) ? 1.0f : result;
}

// A first guess by dividing the exponent by three, then two steps of Halley's iteration, the last in double.
PA_FN float pa_cbrt(float x) {
  const float magnitude = __builtin_fabsf(x);
  const bool tiny = magnitude < 0x1p-100f;
  const float a = tiny ? magnitude * 0x1p48f : magnitude;
  const float guess = pa_bits<float>(pa_bits<uint32_t>(a) / 3u + 0x2a5107c5u);
  const float cube = 0.25f * guess * guess * guess, quarter = 0.25f * a;
  const double near = (double)(guess * ((cube + 2.0f * quarter) / (2.0f * cube + quarter)));
  const double wide = (double)a, near_cube = near * near * near;
  const float root = (float)(near * (near_cube + 2.0 * wide) / (2.0 * near_cube + wide));
  const float result = __builtin_copysignf(tiny ? root * 0x1p-16f : root, x);
  return ((magnitude > 0.0f) & (magnitude < __builtin_inff())) ? result : x;
}

PA_FN float pa_hypot(float x, float y) {
  const double dx = (double)x, dy = (double)y;
  const float result = (float)__builtin_sqrt(dx * dx + dy * dy);
  const bool infinite = (__builtin_fabsf(x) == __builtin_inff()) | (__builtin_fabsf(y) == __builtin_inff());
  return infinite ? __builtin_inff() : result;
}

PA_FN double pa_exp(double x) { return __builtin_exp(x); }
PA_FN double pa_exp2(double x) { return __builtin_exp2(x); }
PA_FN double pa_expm1(double x) { return __builtin_expm1(x); }
PA_FN double pa_log(double x) { return __builtin_log(x); }
PA_FN double pa_log2(double x) { return __builtin_log2(x); }
PA_FN double pa_log10(double x) { return __builtin_log10(x); }
PA_FN double pa_log1p(double x) { return __builtin_log1p(x); }
PA_FN double pa_pow(double x, double y) { return __builtin_pow(x, y); }
PA_FN double pa_cbrt(double x) { return __builtin_cbrt(x); }
PA_FN double pa_hypot(double x, double y) { return __builtin_hypot(x, y); }
PA_FN double pa_sqrt(double x) { return __builtin_sqrt(x); }
PA_FN double pa_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

#endif
