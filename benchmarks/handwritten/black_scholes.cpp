// SPDX-License-Identifier: Apache-2.0
// European call and put prices. The normal distribution function is Abramowitz and Stegun's 26.2.17 (absolute
// error under 7.5e-8 before rounding), each operation rounded by itself.
#include "pool.h"
#include "vecmath.h"

namespace {

using hw::kLanes;
using hw::vf;

constexpr int kVectors = 2;
using Vectors = hw::Wide<kVectors>;

HW_INLINE vf chosen_tail(vf d, vf tail) { return d > hw::splat(0.0f) ? 1.0f - tail : tail; }

HW_INLINE Vectors normal_cdf(Vectors d) {
  const Vectors t = 1.0f / (1.0f + 0.2316419f * hw::absolute(d));
  const Vectors series =
      t * (0.31938153f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
  const Vectors tail = 0.3989422804f * hw::exp(-0.5f * d * d) * series;
  return hw::each<kVectors>(chosen_tail, d, tail);
}

struct Prices {
  Vectors call, put;
};

HW_INLINE Prices price(const Vectors& spot, const Vectors& strike, const Vectors& years, float rate,
                       float volatility) {
  const Vectors deviation = volatility * hw::square_root(years);
  const Vectors drift = (rate + 0.5f * volatility * volatility) * years;
  const Vectors d1 = (hw::log(spot / strike) + drift) / deviation;
  const Vectors d2 = d1 - deviation;
  const Vectors discounted = strike * hw::exp(-rate * years);
  const Vectors n1 = normal_cdf(d1), n2 = normal_cdf(d2);
  return {spot * n1 - discounted * n2, discounted * (1.0f - n2) - spot * (1.0f - n1)};
}

HW_INLINE Vectors load(const float* from) {
  Vectors value;
  for (int v = 0; v < kVectors; ++v) value.part[v] = hw::load(from + v * kLanes);
  return value;
}
HW_INLINE void store(float* to, const Vectors& value) {
  for (int v = 0; v < kVectors; ++v) hw::store(to + v * kLanes, value.part[v]);
}

struct Options {
  const float *spot, *strike, *years;
  float rate, volatility;
  float *call, *put;
};

HW_INLINE void block(const Options& o, const float* spot, const float* strike, const float* years, float* call,
                     float* put) {
  const Prices prices = price(load(spot), load(strike), load(years), o.rate, o.volatility);
  store(call, prices.call);
  store(put, prices.put);
}

void last_block(const Options& o, int64_t i, int64_t rest) {
  constexpr int kBlock = kVectors * kLanes;
  float spot[kBlock], strike[kBlock], years[kBlock], call[kBlock], put[kBlock];
  for (int lane = 0; lane < kBlock; ++lane) {
    const int64_t from = i + (lane < rest ? lane : 0);
    spot[lane] = o.spot[from];
    strike[lane] = o.strike[from];
    years[lane] = o.years[from];
  }
  block(o, spot, strike, years, call, put);
  std::memcpy(o.call + i, call, rest * sizeof(float));
  std::memcpy(o.put + i, put, rest * sizeof(float));
}

}  // namespace

extern "C" void hw_black_scholes(const float* spot, const float* strike, const float* years, float rate,
                                 float volatility, float* call, float* put, int64_t n) {
  const Options o = {spot, strike, years, rate, volatility, call, put};
  hw::parallel_for(n, 1 << 14, [=](int64_t begin, int64_t end) {
    int64_t i = begin;
    for (; i + kVectors * kLanes <= end; i += kVectors * kLanes)
      block(o, spot + i, strike + i, years + i, call + i, put + i);
    if (i < end) last_block(o, i, end - i);
  });
}
