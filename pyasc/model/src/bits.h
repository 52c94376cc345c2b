// SPDX-License-Identifier: Apache-2.0
// Masks of one bit a lane: made from flags, and lanes picked by them.
#pragma once
#include <stdint.h>
#include <string.h>

#include <algorithm>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace pyasc_model {

// `n` bytes of 0 or 1 become bits; `flags` is readable, and 0, up to a multiple of eight bytes.
inline void pack_bits(const uint8_t* flags, uint64_t n, uint8_t* out)
{
    uint64_t i = 0;
#if defined(__AVX512BW__)
    for (; i + 64 <= n; i += 64) {
        const __m512i some = _mm512_loadu_si512(flags + i);
        const uint64_t bits = _mm512_test_epi8_mask(some, some);
        memcpy(out + i / 8, &bits, 8);
    }
#endif
    for (; i < n; i += 8) {
        // The product moves byte k to bit 56 + k, and no two of its terms meet.
        uint64_t eight;
        memcpy(&eight, flags + i, 8);
        out[i / 8] = static_cast<uint8_t>((eight * 0x0102040810204080ull) >> 56);
    }
}

#if defined(__AVX512BW__)
inline __m512i blend(const uint32_t*, const uint8_t* bits, __m512i other, __m512i picked)
{
    __mmask16 mask;
    memcpy(&mask, bits, sizeof mask);
    return _mm512_mask_blend_epi32(mask, other, picked);
}

inline __m512i blend(const uint16_t*, const uint8_t* bits, __m512i other, __m512i picked)
{
    __mmask32 mask;
    memcpy(&mask, bits, sizeof mask);
    return _mm512_mask_blend_epi16(mask, other, picked);
}

// Whole vectors of lanes; returns how many lanes they are.
template <typename T>
uint64_t pick_vectors(T* out, const T* a, const T* b, bool scalar, const uint8_t* bits, uint64_t n)
{
    constexpr uint64_t WIDTH = 64 / sizeof(T);
    T same[WIDTH];
    std::fill(same, same + WIDTH, b[0]);
    __m512i other = _mm512_loadu_si512(same);
    uint64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        other = scalar ? other : _mm512_loadu_si512(b + i);
        _mm512_storeu_si512(out + i, blend(out, bits + i / 8, other, _mm512_loadu_si512(a + i)));
    }
    return i;
}
#else
// The eight bits of each byte as eight lanes of all ones or none.
template <typename T>
struct LaneMasks {
    T of[256][8];
    LaneMasks()
    {
        for (int byte = 0; byte < 256; ++byte) {
            for (int k = 0; k < 8; ++k) {
                of[byte][k] = static_cast<T>(T(0) - T((byte >> k) & 1));
            }
        }
    }
};

template <typename T>
uint64_t pick_vectors(T* out, const T* a, const T* b, bool scalar, const uint8_t* bits, uint64_t n)
{
    static const LaneMasks<T> MASKS;
    T other[8];
    std::fill(other, other + 8, b[0]);
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        T from[8], mask[8];
        memcpy(from, a + i, sizeof from);
        memcpy(mask, MASKS.of[bits[i / 8]], sizeof mask);
        if (!scalar) {
            memcpy(other, b + i, sizeof other);
        }
        for (int k = 0; k < 8; ++k) {
            from[k] = static_cast<T>((from[k] & mask[k]) | (other[k] & static_cast<T>(~mask[k])));
        }
        memcpy(out + i, from, sizeof from);
    }
    return i;
}
#endif

// Lanes of `a` where the bit is 1, else of `b`, which is one lane for all when it is a scalar.
template <typename T>
void pick_lanes(T* out, const T* a, const T* b, bool scalar, const uint8_t* bits, uint64_t n)
{
    for (uint64_t i = pick_vectors(out, a, b, scalar, bits, n); i < n; ++i) {
        out[i] = ((bits[i / 8] >> (i % 8)) & 1) != 0 ? a[i] : scalar ? b[0] : b[i];
    }
}

}  // namespace pyasc_model
