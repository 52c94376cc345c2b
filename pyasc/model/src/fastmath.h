// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm in double steps that compilers vectorise; the float results are within 1 ulp.
// Written with fma, which gives the same on every host, whether it has the instruction or not.
#pragma once
#include <math.h>
#include <stdint.h>

namespace pyasc_model {

inline float exp_lane(float x)
{
    // The bounds give infinity and 0 in float; a NaN passes.
    const float above = x > 89.0f ? 89.0f : x;
    const double clamped = above < -105.0f ? -105.0f : above;
    const double shifted = fma(clamped, 1.4426950408889634, 6755399441055744.0);
    const double k = shifted - 6755399441055744.0;
    const double r = fma(k, -0.6931471805599453, clamped);
    // Taylor to r^8: |r| <= 0.35, so the remainder is below 2^-32.
    double p = 1.0 / 40320;
    p = fma(p, r, 1.0 / 5040);
    p = fma(p, r, 1.0 / 720);
    p = fma(p, r, 1.0 / 120);
    p = fma(p, r, 1.0 / 24);
    p = fma(p, r, 1.0 / 6);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    // The low bits of `shifted` are k, which becomes the exponent of 2^k.
    const uint64_t e = __builtin_bit_cast(uint64_t, shifted) + 1023;
    const float y = static_cast<float>(p * __builtin_bit_cast(double, e << 52));
    return x != x ? x : y;
}

inline float log_lane(float x)
{
    const double d = x;
    const int64_t bits = __builtin_bit_cast(int64_t, d);
    // Centre the mantissa on 1: [sqrt(1/2), sqrt(2)).
    const int64_t shifted = bits - 0x3fe6a09e667f3bcdll;
    const int64_t k = shifted >> 52;
    const double m = __builtin_bit_cast(double, bits - (k << 52));
    const double f = (m - 1.0) / (m + 1.0);
    const double f2 = f * f;
    double p = 1.0 / 15;
    p = fma(p, f2, 1.0 / 13);
    p = fma(p, f2, 1.0 / 11);
    p = fma(p, f2, 1.0 / 9);
    p = fma(p, f2, 1.0 / 7);
    p = fma(p, f2, 1.0 / 5);
    p = fma(p, f2, 1.0 / 3);
    p = fma(p, f2, 1.0);
    const double logarithm = fma(static_cast<double>(static_cast<int32_t>(k)), 0.6931471805599453, 2.0 * f * p);
    const float y = static_cast<float>(logarithm);
    const float positive = x == INFINITY ? x : y;
    return x > 0 ? positive : x == 0 ? -INFINITY : NAN;
}

}  // namespace pyasc_model
