// SPDX-License-Identifier: Apache-2.0
// Copies between global memory, which the host's caches do not hold, and on-chip memory, which they do.
#pragma once
#include <stdint.h>
#include <string.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace pyasc_model {

constexpr uint64_t BULK_STEP = 256, HOST_LINE = 64;
// Arrays of so many bytes do not stay in a cache until they are read again: writing past the caches saves reading them.
constexpr uint64_t STREAMED_BYTES = 4 << 20;

// Into memory that the caches hold. In small pieces, which compilers write out: one memcpy of a block is slower.
inline void copy_near(uint8_t* to, const uint8_t* from, uint64_t bytes)
{
    uint64_t i = 0;
    for (; i + BULK_STEP <= bytes; i += BULK_STEP) {
        memcpy(to + i, from + i, BULK_STEP);
    }
    memcpy(to + i, from + i, bytes - i);
}

inline void copy_far(uint8_t* to, const uint8_t* from, uint64_t bytes)
{
    constexpr uint64_t AHEAD = 1024;
    uint64_t i = 0;
    for (; i + BULK_STEP <= bytes; i += BULK_STEP) {
        for (uint64_t k = 0; k < BULK_STEP; k += HOST_LINE) {
            __builtin_prefetch(to + i + AHEAD + k, 1);
        }
        memcpy(to + i, from + i, BULK_STEP);
    }
    memcpy(to + i, from + i, bytes - i);
}

// As copy_far, past the caches where the host has such stores; end_streams comes before another thread reads them.
inline void copy_streamed(uint8_t* to, const uint8_t* from, uint64_t bytes)
{
#if defined(__AVX__)
    constexpr uint64_t WIDTH = 32;
    if (bytes < BULK_STEP) {
        memcpy(to, from, bytes);
        return;
    }
    uint64_t i = -reinterpret_cast<uintptr_t>(to) % HOST_LINE;
    memcpy(to, from, i);
    for (; i + HOST_LINE <= bytes; i += HOST_LINE) {
#if defined(__AVX512F__)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#else
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
        const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + WIDTH));
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), low);
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + WIDTH), high);
#endif
    }
    memcpy(to + i, from + i, bytes - i);
#else
    copy_far(to, from, bytes);
#endif
}

inline void end_streams()
{
#if defined(__AVX__)
    _mm_sfence();
#endif
}

}  // namespace pyasc_model
