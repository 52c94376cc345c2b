// SPDX-License-Identifier: Apache-2.0
// Hyperbolic functions, the error function, and the activation functions built on them, of the same make as
// those of pyasc_math.h.
#ifndef PYASC_SPECIAL_H
#define PYASC_SPECIAL_H

#include "pyasc_math.h"

// e / (e + 2) with e = e^(2|x|) - 1. The rounding of the sum is taken back to first order, by way of
// 1/(e + 2) = (1 - quotient)/2.
PA_FN float pa_tanh(float x) {
  const float magnitude = __builtin_fabsf(x);
  const pa_exp_split s = pa_split_exp(2.0f * (magnitude > 10.0f ? 10.0f : magnitude));
  const float power = pa_exp2_of_rounded(s.rounded);
  const float e = pa_mad(pa_expm1_reduced(s.r), power, power - 1.0f);
  const float sum = e + 2.0f, lost = e < 4.0f ? e - (sum - 2.0f) : 0.0f;
  const float quotient = e / sum;
  return __builtin_copysignf(pa_mad(quotient * lost, 0.5f * (quotient - 1.0f), quotient), x);
}

// sinh and cosh from a quarter of e^|x|, which is finite for every |x| they are finite for.
PA_FN float pa_sinh(float x) {
  const float magnitude = __builtin_fabsf(x);
  const pa_exp_split s = pa_split_exp(magnitude > 89.5f ? 89.5f : magnitude);
  const float quarter = pa_exp2_of_rounded(s.rounded - 2.0f);
  const float e = pa_mad(pa_expm1_reduced(s.r), quarter, quarter - 0.25f);
  const float result = 2.0f * (e + e / pa_mad(4.0f, e, 1.0f));
  return __builtin_copysignf(magnitude < 0x1p-12f ? magnitude : result, x);
}

PA_FN float pa_cosh(float x) {
  const float magnitude = __builtin_fabsf(x);
  const pa_exp_split s = pa_split_exp(magnitude > 89.5f ? 89.5f : magnitude);
  const float e = pa_exp_reduced(s.r) * pa_exp2_of_rounded(s.rounded - 2.0f);
  return pa_mad(2.0f, e, 1.0f / (8.0f * e));
}

PA_FN float pa_asinh(float x) {
  const float magnitude = __builtin_fabsf(x);
  const bool large = magnitude > 0x1p40f;
  const float square = magnitude * magnitude;
  const float near = magnitude + square / (1.0f + __builtin_sqrtf(square + 1.0f));
  const float r = pa_log1p(large ? magnitude : near) + (large ? 0x1.62e43p-1f : 0.0f);
  return __builtin_copysignf(r, x);
}

PA_FN float pa_acosh(float x) {
  const float t = x - 1.0f;
  const bool large = x > 0x1p40f;
  const float near = t + __builtin_sqrtf(pa_mad(t, t, 2.0f * t));
  const float r = pa_log1p(large ? x : near) + (large ? 0x1.62e43p-1f : 0.0f);
  return x < 1.0f ? __builtin_nanf("") : r;
}

PA_FN float pa_atanh(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float r = 0.5f * pa_log1p(2.0f * magnitude / (1.0f - magnitude));
  return __builtin_copysignf(magnitude < 0x1p-12f ? magnitude : r, x);
}

// e^u = (1 + more) 2^n, as `more` and n + PA_ROUND_F32. Factors are multiplied in by pa_times before the sum
// is rounded, and the power of two is applied last, so that nothing is lost in subnormal numbers.
struct pa_scaled { float more, rounded; };
PA_FN float pa_times(float factor, pa_scaled e) { return pa_mad(factor, e.more, factor); }

// For |u| <= 170, in double where a float32 exponent would not be exact enough.
PA_FN pa_scaled pa_exp_scaled(float u) {
  const pa_exp_split s = pa_split_exp(u);
  return {pa_exp_beyond_one(s.r), s.rounded};
}
PA_FN pa_scaled pa_exp_scaled(double u) {
  const double round_to_1 = 0x1.8p52;
  const double n = pa_mad(u, 0x1.71547652b82fep0, round_to_1) - round_to_1;
  const double r = pa_mad(n, -0x1.62e42fefa39efp-1, u);
  return {pa_exp_beyond_one((float)r), (float)n + PA_ROUND_F32};
}

// erf x for |x| <= 0.92.
PA_FN float pa_erf_inner(float x) {
  const float q = pa_poly(x * x, 0x1.06eba6p-3f, -0x1.8126e8p-2f, 0x1.ce1abep-4f, -0x1.b68ffp-6f, 0x1.47575ep-8f,
                          -0x1.3a8ab2p-11f);
  return pa_mad(x, q, x);
}

PA_FN float pa_erf(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float t = magnitude > 3.93f ? 3.93f : magnitude;
  const float minus_log_erfc = pa_poly(t, 0x1.9a5cbp-13f, 0x1.20af5ap0f, 0x1.463ccp-1f, 0x1.a9b42ap-4f,
                                       -0x1.6c2a76p-6f, 0x1.8ee17p-9f, -0x1.9ae8fcp-13f);
  const pa_exp_split s = pa_split_exp(-minus_log_erfc);
  const float outer = 1.0f - pa_exp_reduced(s.r) * pa_exp2_of_rounded(s.rounded);
  return magnitude > 0.92f ? __builtin_copysignf(outer, x) : pa_erf_inner(x);
}

// e^(a^2) erfc(a) for 0 <= a <= 10.6: a slowly varying function, fitted in t = (a - 3)/(a + 3).
PA_FN float pa_erfc_scaled(float a) {
  const float v = 1.0f / (a + 3.0f);
  const float t = (a - 3.0f) * v;
  return v * pa_poly(t, 0x1.12f21ep0f, -0x1.c44c48p-1f, 0x1.2e3266p-1f, -0x1.3dead2p-2f, 0x1.e99732p-4f,
                     -0x1.b7bcf8p-6f, -0x1.41470ap-10f, 0x1.93b234p-9f, -0x1.fc67dcp-12f, -0x1.560bf8p-12f);
}

PA_FN float pa_erfc(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float a = magnitude > 10.5f ? 10.5f : magnitude;
  const pa_scaled e = pa_exp_scaled(-((double)a * (double)a));
  const float tail = pa_scale_by_rounded(pa_times(pa_erfc_scaled(a), e), e.rounded);
  const float outer = x < 0.0f ? 2.0f - tail : tail;
  return magnitude < 0.86f ? 1.0f - pa_erf_inner(x) : outer;
}

// x / (1 + e^-|w|) for w >= 0, and limited e^-|w| / (1 + e^-|w|) for w < 0, given e^-|w|. `limited` is x cut
// off where the result is 0.
PA_FN float pa_logistic_times(float x, float limited, bool negative, pa_scaled e) {
  const float denominator = 1.0f + pa_scale_by_rounded(1.0f + e.more, e.rounded);
  const float quotient = (negative ? pa_times(limited, e) : x) / denominator;
  return negative ? pa_scale_by_rounded(quotient, e.rounded) : quotient;
}

// Multiplying -inf by a vanishing factor is NaN, as the formulas of silu and gelu have it.
PA_FN float pa_nan_at_minus_inf(float x, float result) {
  return x == -__builtin_inff() ? __builtin_nanf("") : result;
}

PA_FN float pa_sigmoid(float x) {
  return pa_logistic_times(1.0f, 1.0f, x < 0.0f, pa_exp_scaled(-__builtin_fabsf(pa_limit(x, 110.0f))));
}

PA_FN float pa_silu(float x) {
  const float limited = pa_limit(x, 115.0f);
  const pa_scaled e = pa_exp_scaled(-__builtin_fabsf(limited));
  return pa_nan_at_minus_inf(x, pa_logistic_times(x, limited, x < 0.0f, e));
}

// x Phi(x), outside the middle by way of erfc so that the left tail keeps its relative accuracy.
PA_FN float pa_gelu(float x) {
  const float limited = pa_limit(x, 14.5f);
  const pa_scaled e = pa_exp_scaled(-0.5 * ((double)limited * (double)limited));
  const float a = limited * 0x1.6a09e6p-1f;
  const float half_scaled = 0.5f * pa_erfc_scaled(__builtin_fabsf(a));
  const float left = pa_scale_by_rounded(pa_times(limited * half_scaled, e), e.rounded);
  const float right = x * (1.0f - pa_scale_by_rounded(pa_times(half_scaled, e), e.rounded));
  const float outer = x < 0.0f ? left : right;
  const float middle = x * pa_mad(0.5f, pa_erf_inner(a), 0.5f);
  return pa_nan_at_minus_inf(x, __builtin_fabsf(a) < 0.92f ? middle : outer);
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is x sigmoid(w) with w twice the argument of tanh.
PA_FN float pa_gelu_tanh(float x) {
  const float limited = pa_limit(x, 11.0f);
  const double wide = (double)limited;
  const double w = 0x1.9884533d43651p0 * wide * pa_mad(wide * wide, 0.044715, 1.0);
  return pa_nan_at_minus_inf(x, pa_logistic_times(x, limited, x < 0.0f, pa_exp_scaled(-__builtin_fabs(w))));
}

PA_FN double pa_tanh(double x) { return __builtin_tanh(x); }
PA_FN double pa_sinh(double x) { return __builtin_sinh(x); }
PA_FN double pa_cosh(double x) { return __builtin_cosh(x); }
PA_FN double pa_asinh(double x) { return __builtin_asinh(x); }
PA_FN double pa_acosh(double x) { return __builtin_acosh(x); }
PA_FN double pa_atanh(double x) { return __builtin_atanh(x); }
PA_FN double pa_erf(double x) { return __builtin_erf(x); }
PA_FN double pa_erfc(double x) { return __builtin_erfc(x); }
PA_FN double pa_sigmoid(double x) {
  const double e = __builtin_exp(-__builtin_fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}
PA_FN double pa_silu(double x) { return x * pa_sigmoid(x); }
PA_FN double pa_gelu(double x) { return x * (0.5 * __builtin_erfc(-x * 0x1.6a09e667f3bcdp-1)); }
PA_FN double pa_gelu_tanh(double x) {
  return x * pa_sigmoid(0x1.9884533d43651p0 * x * pa_mad(x * x, 0.044715, 1.0));
}

#endif
