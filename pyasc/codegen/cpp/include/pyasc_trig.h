// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions and their inverses, of the same make as those of pyasc_math.h. Arguments of any
// size are reduced exactly, without a branch or a table.
#ifndef PYASC_TRIG_H
#define PYASC_TRIG_H

#include "pyasc_math.h"

// The bits of 2/pi that matter for one range of |x|, in three parts: the products of a float32 with the
// first two (29 bits each) are exact doubles. Bits that contribute only multiples of 4 are left out.
struct pa_two_over_pi { double high, middle, low; };

PA_FN pa_two_over_pi pa_select_two_over_pi(double magnitude) {
  const bool b = magnitude >= 0x1p52, c = magnitude >= 0x1p79, d = magnitude >= 0x1p106;
  const double high = b ? 0x1.c9c882ap-29 : 0x1.45f306dp-1;
  const double middle = b ? 0x1.4fe13a8p-59 : 0x1.9391054p-30;
  const double low = b ? 0x1.f47d4d377036dp-86 : 0x1.4fe13abe8fa9ap-59;
  const double far_high = d ? 0x1.5f47d4dp-82 : 0x1.29fc274p-56;
  const double far_middle = d ? 0x1.bb81b6cp-113 : 0x1.7d1f534p-84;
  const double far_low = d ? 0x1.4acc9e21c8208p-143 : 0x1.bb81b6c52b327p-113;
  return {c ? far_high : high, c ? far_middle : middle, c ? far_low : low};
}

// |x| = (4 m + quadrant) pi/2 + r with |r| <= pi/4. A float32 is never nearer than about 2^-30 to a multiple
// of pi/2 (in units of pi/2), and the sums below keep 2^-58.
struct pa_quadrant { float r; uint32_t quadrant; };

PA_FN pa_quadrant pa_reduce_pi(float x) {
  const double magnitude = (double)__builtin_fabsf(x);
  const pa_two_over_pi f = pa_select_two_over_pi(magnitude);
  const double round_to_4 = 0x1.8p54, round_to_1 = 0x1.8p52;
  const double high = magnitude * f.high, middle = magnitude * f.middle;
  const double turned = high - ((high + round_to_4) - round_to_4);
  const double rounded = (turned + middle) + round_to_1;
  const double rest = ((turned - (rounded - round_to_1)) + middle) + magnitude * f.low;
  return {(float)(rest * 0x1.921fb54442d18p0), (uint32_t)pa_bits<uint64_t>(rounded)};
}

// sin r and cos r for |r| <= pi/4.
PA_FN float pa_sin_reduced(float r) {
  const float z = r * r;
  return pa_mad(r * z, pa_poly(z, -0x1.555544p-3f, 0x1.110714p-7f, -0x1.99407ep-13f), r);
}
PA_FN float pa_cos_reduced(float r) {
  const float z = r * r;
  return pa_mad(z, pa_poly(z, -0.5f, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f), 1.0f);
}

PA_FN float pa_flip_sign(float x, uint32_t sign_bit) { return pa_bits<float>(pa_bits<uint32_t>(x) ^ sign_bit); }

PA_FN float pa_sin(float x) {
  const pa_quadrant q = pa_reduce_pi(x);
  const float magnitude = (q.quadrant & 1u) != 0 ? pa_cos_reduced(q.r) : pa_sin_reduced(q.r);
  return pa_flip_sign(magnitude, ((q.quadrant & 2u) << 30) ^ (pa_bits<uint32_t>(x) & 0x80000000u));
}

PA_FN float pa_cos(float x) {
  const pa_quadrant q = pa_reduce_pi(x);
  const float magnitude = (q.quadrant & 1u) != 0 ? pa_sin_reduced(q.r) : pa_cos_reduced(q.r);
  return pa_flip_sign(magnitude, ((q.quadrant + 1u) & 2u) << 30);
}

PA_FN float pa_tan(float x) {
  const pa_quadrant q = pa_reduce_pi(x);
  const float s = pa_sin_reduced(q.r), c = pa_cos_reduced(q.r);
  const bool odd = (q.quadrant & 1u) != 0;
  const float magnitude = (odd ? -c : s) / (odd ? s : c);
  return pa_flip_sign(magnitude, pa_bits<uint32_t>(x) & 0x80000000u);
}

// pi/2 and pi in two parts.
#define PA_HALF_PI_HI 0x1.921fb6p0f
#define PA_HALF_PI_LO -0x1.777a5cp-25f
#define PA_PI_HI 0x1.921fb6p1f
#define PA_PI_LO -0x1.777a5cp-24f

// atan t for 0 <= t <= 1.
PA_FN float pa_atan_reduced(float t) {
  const float z = t * t;
  const float q = pa_poly(z, -0x1.55553ep-2f, 0x1.9991fcp-3f, -0x1.2421b6p-3f, 0x1.c099fep-4f, -0x1.58349p-4f,
                          0x1.dac9ecp-5f, -0x1.fed16cp-6f, 0x1.65a66ap-7f, -0x1.d63008p-10f);
  return pa_mad(t * z, q, t);
}

PA_FN float pa_atan(float x) {
  const float magnitude = __builtin_fabsf(x);
  const bool inverted = magnitude > 1.0f;
  const float r = pa_atan_reduced(inverted ? 1.0f / magnitude : magnitude);
  return __builtin_copysignf(inverted ? PA_HALF_PI_HI - (r - PA_HALF_PI_LO) : r, x);
}

// The octant gives a multiple of pi/2 and whether the angle of the smaller over the larger is added or taken.
PA_FN float pa_atan2(float y, float x) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
  const bool steep = ay > ax, left = pa_signbit(x);
  const float larger = steep ? ay : ax, smaller = steep ? ax : ay;
  const float ratio = smaller / larger;
  const float t = larger == 0.0f ? 0.0f : (smaller == __builtin_inff() ? 1.0f : ratio);
  const float r = pa_atan_reduced(t);
  const float base_high = steep ? PA_HALF_PI_HI : (left ? PA_PI_HI : 0.0f);
  const float base_low = steep ? PA_HALF_PI_LO : (left ? PA_PI_LO : 0.0f);
  const float angle = base_high + ((steep != left ? -r : r) + base_low);
  return ((x != x) | (y != y)) ? x + y : __builtin_copysignf(angle, y);
}

// asin s from s and z = s^2 <= 1/4.
PA_FN float pa_asin_reduced(float s, float z) {
  const float q = pa_poly(z, 0x1.5555cap-3f, 0x1.33016ap-4f, 0x1.748b3ep-5f, 0x1.8b9e5ep-6f, 0x1.59ea3cp-5f);
  return pa_mad(s * z, q, s);
}

// asin of |x|, or half of pi/2 - asin |x| when |x| > 1/2: asin x = pi/2 - 2 asin sqrt((1 - x)/2). The root is
// the smaller of the two numbers exactly there; computing it always keeps the loop free of branches.
PA_FN float pa_asin_or_half_rest(float magnitude) {
  const float square = 0.5f - 0.5f * magnitude;
  const float s = pa_minimum(magnitude, __builtin_sqrtf(square));
  return pa_asin_reduced(s, magnitude > 0.5f ? square : magnitude * magnitude);
}

PA_FN float pa_asin(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float r = pa_asin_or_half_rest(magnitude);
  const float outer = PA_HALF_PI_HI - (2.0f * r - PA_HALF_PI_LO);
  return __builtin_copysignf(magnitude > 0.5f ? outer : r, x);
}

PA_FN float pa_acos(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float r = pa_asin_or_half_rest(magnitude);
  const float inner = PA_HALF_PI_HI - (__builtin_copysignf(r, x) - PA_HALF_PI_LO);
  const float twice = 2.0f * r;
  const float outer = x < 0.0f ? PA_PI_HI - (twice - PA_PI_LO) : twice;
  return magnitude > 0.5f ? outer : inner;
}

PA_FN double pa_sin(double x) { return __builtin_sin(x); }
PA_FN double pa_cos(double x) { return __builtin_cos(x); }
PA_FN double pa_tan(double x) { return __builtin_tan(x); }
PA_FN double pa_asin(double x) { return __builtin_asin(x); }
PA_FN double pa_acos(double x) { return __builtin_acos(x); }
PA_FN double pa_atan(double x) { return __builtin_atan(x); }
PA_FN double pa_atan2(double y, double x) { return __builtin_atan2(y, x); }

#endif
