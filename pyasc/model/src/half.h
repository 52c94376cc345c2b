// SPDX-License-Identifier: Apache-2.0
// Arrays of halfs and bfloat16s to and from float, with the processor's conversions where it has them.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "../include/pyasc_model/scalar_types.h"

namespace pyasc_model {

inline void half_to_float(const uint16_t* in, float* out, size_t n)
{
    size_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
    }
#endif
    for (; i < n; ++i) {
        out[i] = half_value(in[i]);
    }
}

inline void float_to_half(const float* in, uint16_t* out, size_t n)
{
    size_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
    }
#endif
    for (; i < n; ++i) {
        out[i] = half_bits(in[i]);
    }
}

inline void bfloat16_to_float(const uint16_t* in, float* out, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        out[i] = bfloat16_value(in[i]);
    }
}

inline void float_to_bfloat16(const float* in, uint16_t* out, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        out[i] = bfloat16_bits(in[i]);
    }
}

}  // namespace pyasc_model
