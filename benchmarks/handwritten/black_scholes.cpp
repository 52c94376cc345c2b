// SPDX-License-Identifier: Apache-2.0
// European call and put prices. The normal distribution function is Abramowitz and Stegun's 26.2.17 (absolute
// error under 7.5e-8 before rounding), each operation rounded by itself.
#include "pool.h"
#include "vecmath.h"

namespace {

using hw::kLanes;
using hw::vf;

HW_INLINE vf normal_cdf(vf d) {
  const vf t = 1.0f / (1.0f + 0.2316419f * hw::absolute(d));
  const vf series =
      t * (0.31938153f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
  const vf tail = 0.3989422804f * hw::exp(-0.5f * d * d) * series;
  return d > hw::splat(0.0f) ? 1.0f - tail : tail;
}

struct Prices {
  vf call, put;
};

HW_INLINE Prices price(vf spot, vf strike, vf years, float rate, float volatility) {
  const vf deviation = volatility * hw::square_root(years);
  const vf d1 = (hw::log(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / deviation;
  const vf d2 = d1 - deviation;
  const vf discounted = strike * hw::exp(-rate * years);
  const vf n1 = normal_cdf(d1), n2 = normal_cdf(d2);
  return {spot * n1 - discounted * n2, discounted * (1.0f - n2) - spot * (1.0f - n1)};
}

}  // namespace

extern "C" void hw_black_scholes(const float* spot, const float* strike, const float* years, float rate,
                                 float volatility, float* call, float* put, int64_t n) {
  hw::parallel_for(n, 1 << 14, [=](int64_t begin, int64_t end) {
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      const Prices prices = price(hw::load(spot + i), hw::load(strike + i), hw::load(years + i), rate, volatility);
      hw::store(call + i, prices.call);
      hw::store(put + i, prices.put);
    }
    if (const int64_t rest = end - i) {
      const Prices prices = price(hw::load_first<vf>(spot + i, hw::First(rest), 1.0f), hw::load_first<vf>(strike + i, hw::First(rest), 1.0f),
                                  hw::load_first<vf>(years + i, hw::First(rest), 1.0f), rate, volatility);
      hw::store_first(call + i, hw::First(rest), prices.call);
      hw::store_first(put + i, hw::First(rest), prices.put);
    }
  });
}
