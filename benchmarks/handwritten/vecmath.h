// SPDX-License-Identifier: Apache-2.0
//
// exp and log of sixteen float32 lanes, within 2 units in the last place over the whole range: infinities, NaN
// and subnormal arguments and results included. benchmarks/check_baselines.py measures the bound.
#pragma once

#include "simd.h"

namespace hw {

// e**x = 2**n * e**r with n = round(x / ln 2) and |r| <= ln(2) / 2; e**r by a polynomial of degree 6, fitted for
// the least maximal relative error with its first two coefficients held at 1.
template <class V>
HW_INLINE V exp(V x) {
  // Below half the smallest subnormal's logarithm all is 0, above the largest finite value's all is infinite.
  x = clamped(x, splat(-104.0f), splat(89.0f));
  const float shift = 12582912.0f;  // 1.5 * 2**23: adding it rounds to an integer
  const V n = fma(x, splat(1.44269504088896341f), splat(shift)) - shift;
  V r = fma(n, splat(-0.693145751953125f), x);  // ln 2 cut to 15 bits, so n times it is exact
  r = fma(n, splat(-1.42860682030941723e-6f), r);
  V p = fma(r, splat(1.381453825e-3f), splat(8.368745446e-3f));
  p = fma(p, r, splat(4.166838899e-2f));
  p = fma(p, r, splat(1.666652113e-1f));
  p = fma(p, r, splat(4.999999404e-1f));
  p = fma(p, r, splat(1.0f));
  p = fma(p, r, splat(1.0f));
  return scaled_by_power(p, n);
}

// log x = e ln 2 + log(1 + f) with 1 + f in [0.75, 1.5), and log(1 + f) = f - f*f/2 + f*f*f*p(f), p of degree 7. The
// small terms are added before the large ones. Zero, infinity and NaN come out right by the parts they have.
template <class V>
HW_INLINE V log(V x) {
  const auto parts = parts_of(x);
  const V e = parts.exponent;
  const V f = parts.mantissa - 1.0f;
  V p = fma(f, splat(-0.0450744666f), splat(0.104629956f));
  p = fma(p, f, splat(-0.131611958f));
  p = fma(p, f, splat(0.144784003f));
  p = fma(p, f, splat(-0.16647312f));
  p = fma(p, f, splat(0.199908614f));
  p = fma(p, f, splat(-0.250000954f));
  p = fma(p, f, splat(0.333334506f));
  const V square = f * f;
  V tail = p * f * square;
  tail = fma(e, splat(1.42860682e-6f), tail);
  tail = fma(square, splat(-0.5f), tail);
  return fma(e, splat(0.693145751953125f), f + tail);
}

}  // namespace hw
