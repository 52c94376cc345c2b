// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm in double steps that compilers vectorise; the float results are within 1 ulp.
#pragma once
#include <math.h>
#include <stdint.h>

namespace pyasc_model {

inline float exp_lane(float x)
{
    const double clamped = x > 89.0f ? 89.0 : x < -105.0f ? -105.0 : static_cast<double>(x);
    const double shifted = clamped * 1.4426950408889634 + 6755399441055744.0;
    const double k = shifted - 6755399441055744.0;
    const double r = clamped - k * 0.6931471805599453;
    // Taylor to r^8: |r| <= 0.35, so the remainder is below 2^-32.
    double p = 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const int64_t e = static_cast<int64_t>(static_cast<int32_t>(k)) + 1023;
    const double scale = __builtin_bit_cast(double, e << 52);
    const float y = static_cast<float>(p * scale);
    const float big = x > 88.8f ? INFINITY : y;
    return x != x ? x : x < -104.5f ? 0.0f : big;
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
    p = p * f2 + 1.0 / 13;
    p = p * f2 + 1.0 / 11;
    p = p * f2 + 1.0 / 9;
    p = p * f2 + 1.0 / 7;
    p = p * f2 + 1.0 / 5;
    p = p * f2 + 1.0 / 3;
    p = p * f2 + 1.0;
    const float y = static_cast<float>(static_cast<double>(static_cast<int32_t>(k)) * 0.6931471805599453 + 2.0 * f * p);
    const float positive = x == INFINITY ? x : y;
    return x > 0 ? positive : x == 0 ? -INFINITY : NAN;
}

}  // namespace pyasc_model
