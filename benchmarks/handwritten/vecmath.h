// SPDX-License-Identifier: Apache-2.0
//
// exp and log of sixteen float32 lanes, within 2 units in the last place over the whole range: infinities, NaN
// and subnormal arguments and results included. benchmarks/check_vecmath.py measures the bound.
#pragma once

#include "simd.h"

namespace hw {

// e**x = 2**n * e**r with n = round(x / ln 2) and |r| <= ln(2) / 2; e**r by a polynomial of degree 6, fitted for
// the least maximal relative error with its first two coefficients held at 1.
HW_INLINE vf exp(vf x) {
  const vf low = splat(-104.0f);   // below the logarithm of half the smallest subnormal
  const vf high = splat(89.0f);    // above the logarithm of the largest finite value
  const vf shift = splat(12582912.0f);  // 1.5 * 2**23: adding it rounds to an integer
  x = larger(low, smaller(high, x));  // operands in this order let NaN through
  const vf shifted = fma(x, splat(1.44269504088896341f), shift);
  const vf n = shifted - shift;
  vf r = fma(n, splat(-0.693145751953125f), x);  // ln 2 cut to 15 bits, so n times it is exact
  r = fma(n, splat(-1.42860682030941723e-6f), r);
  vf p = splat(1.381453825e-3f);
  p = fma(p, r, splat(8.368745446e-3f));
  p = fma(p, r, splat(4.166838899e-2f));
  p = fma(p, r, splat(1.666652113e-1f));
  p = fma(p, r, splat(4.999999404e-1f));
  p = fma(p, r, splat(1.0f));
  p = fma(p, r, splat(1.0f));
#if defined(__AVX512F__)
  return (vf)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
  // Two factors, since 2**n itself may be subnormal or infinite while the product is neither.
  const vi exponent = as_int(shifted) - as_int(shift);
  const vi half = exponent >> 1;
  const vf first = as_float((half + 127) << 23);
  const vf second = as_float((exponent - half + 127) << 23);
  return p * first * second;
#endif
}

// log x = e ln 2 + log(1 + f) with 1 + f in [sqrt(1/2), sqrt 2), and log(1 + f) = f - f*f/2 + f*f*f*p(f), p of
// degree 7. The small terms are added before the large ones.
HW_INLINE vf log(vf x) {
  const vf smallest_normal = splat(1.17549435e-38f);
  const vi subnormal = x < smallest_normal;
  const vf scaled = subnormal ? x * splat(8388608.0f) : x;
  const vi bits = as_int(scaled) - 0x3f3504f3;  // sqrt(1/2)
  const vi exponent = (bits >> 23) - (subnormal & 23);
  const vf f = as_float((bits & 0x007fffff) + 0x3f3504f3) - splat(1.0f);
  const vf e = __builtin_convertvector(exponent, vf);
  vf p = splat(-7.63442963e-2f);
  p = fma(p, f, splat(1.27615497e-1f));
  p = fma(p, f, splat(-1.31601945e-1f));
  p = fma(p, f, splat(1.42017618e-1f));
  p = fma(p, f, splat(-1.66233569e-1f));
  p = fma(p, f, splat(2.00012267e-1f));
  p = fma(p, f, splat(-2.50008225e-1f));
  p = fma(p, f, splat(3.33333313e-1f));
  const vf square = f * f;
  vf tail = p * f * square;
  tail = fma(e, splat(1.42860682e-6f), tail);
  tail = fma(square, splat(-0.5f), tail);
  vf result = fma(e, splat(0.693145751953125f), f + tail);
  const vf infinity = splat(__builtin_inff());
  result = x < infinity ? result : x;  // infinity and NaN stand for themselves
  result = x == splat(0.0f) ? -infinity : result;
  return x < splat(0.0f) ? splat(__builtin_nanf("")) : result;
}

}  // namespace hw
