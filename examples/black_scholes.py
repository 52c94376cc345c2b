# SPDX-License-Identifier: Apache-2.0
"""Prices of options by the formula of Black and Scholes; a helper function is compiled into the kernel."""

from __future__ import annotations

import math

import numpy as np

import pyasc as asc

N = asc.dims("N")


def normal_cdf(d):
    """The distribution function of the normal distribution."""
    return 0.5 * asc.erfc(-d * math.sqrt(0.5))


@asc.kernel
def black_scholes(
    spot: asc.float32[N],
    strike: asc.float32[N],
    years: asc.float32[N],
    rate: float,
    volatility: float,
    call: asc.float32[N],
    put: asc.float32[N],
):
    for i in asc.parallel_for(N):
        deviation = volatility * asc.sqrt(years[i])
        drift = (rate + 0.5 * volatility * volatility) * years[i]
        d1 = (asc.log(spot[i] / strike[i]) + drift) / deviation
        d2 = d1 - deviation
        discounted = strike[i] * asc.exp(-rate * years[i])
        call[i] = spot[i] * normal_cdf(d1) - discounted * normal_cdf(d2)
        put[i] = discounted * normal_cdf(-d2) - spot[i] * normal_cdf(-d1)


def reference(spot, strike, years, rate, volatility):
    """Calls and puts in double precision."""
    spot, strike, years = (each.astype(np.float64) for each in (spot, strike, years))
    cdf = np.vectorize(lambda d: 0.5 * math.erfc(-d * math.sqrt(0.5)))
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * np.exp(-rate * years)
    return spot * cdf(d1) - discounted * cdf(d2), discounted * cdf(-d2) - spot * cdf(-d1)


def market(n):
    """Spot and strike prices between 5 and 100, terms between 3 months and 10 years."""
    rng = np.random.default_rng(0)
    return [rng.uniform(low, high, n).astype(np.float32) for low, high in ((5, 30), (1, 100), (0.25, 10))]


def check() -> str:
    spot, strike, years = market(10_007)
    call, put = np.empty_like(spot), np.empty_like(spot)
    black_scholes(spot, strike, years, 0.02, 0.3, call, put)
    expected = reference(spot, strike, years, 0.02, 0.3)
    np.testing.assert_allclose([call, put], expected, rtol=0, atol=1e-4)
    return "prices of 10,007 calls and puts equal the formula in double precision within 0.0001"


if __name__ == "__main__":
    print(check())
