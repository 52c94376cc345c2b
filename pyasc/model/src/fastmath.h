// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm in steps that compilers vectorise; the results are within 1 ulp.
// Written with fma, which gives the same on every host, whether it has the instruction or not.
#pragma once
#include <math.h>
#include <stdint.h>

namespace pyasc_model {

// A power of two that a float holds.
inline float power_of_two(int32_t k) { return __builtin_bit_cast(float, static_cast<uint32_t>(k + 127) << 23); }

inline float exp_lane(float x)
{
    // The bounds give infinity and 0 in float; a NaN passes.
    const float above = x > 89.0f ? 89.0f : x;
    const float clamped = above < -105.0f ? -105.0f : above;
    // x = k ln 2 + r with ln 2 in two parts (Cody and Waite), the first of which k times is exact.
    constexpr float TO_WHOLE = 12582912.0f;
    const float shifted = fmaf(clamped, 1.44269504f, TO_WHOLE);
    const float k = shifted - TO_WHOLE;
    const float r = fmaf(k, -0x1.7f7d1cp-20f, fmaf(k, -0x1.62e4p-1f, clamped));
    // The polynomial of the cpu device, which is nearest to exp on |r| <= 0.35 with a constant and a slope of 1.
    float p = 0x1.6a1a3ep-10f;
    p = fmaf(p, r, 0x1.123fccp-7f);
    p = fmaf(p, r, 0x1.5558dep-5f);
    p = fmaf(p, r, 0x1.55548ap-3f);
    p = fmaf(p, r, 0x1.fffffcp-2f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    // In two halves, each of which a float holds, so that what is subnormal is rounded once.
    const int32_t whole = __builtin_bit_cast(int32_t, shifted) - __builtin_bit_cast(int32_t, TO_WHOLE);
    const int32_t half = whole >> 1;
    const float y = p * power_of_two(half) * power_of_two(whole - half);
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
