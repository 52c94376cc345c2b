// SPDX-License-Identifier: Apache-2.0
// Scalar types and qualifiers of Ascend C, as a host compiler can express them.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __vector__
#define __cube__
#define __mix__(cubes, vectors)
#define __schedmode__(mode)
#define __NPU_ARCH__ 2201

typedef uint8_t* GM_ADDR;

namespace pyasc_model {

constexpr uint16_t half_bits(float value)
{
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return static_cast<uint16_t>(sign | 0x7e00u);
    }
    if (magnitude >= 0x477ff000u) {
        return static_cast<uint16_t>(sign | 0x7c00u);
    }
    if (magnitude < 0x33000000u) {
        return static_cast<uint16_t>(sign);
    }
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const int shift = exponent < -14 ? 13 + (-14 - exponent) : 13;
    const uint32_t mantissa = exponent < -14 ? (magnitude & 0x7fffffu) | 0x800000u
                                             : magnitude - (112u << 23);
    const uint32_t rest = mantissa & ((1u << shift) - 1);
    const uint32_t half_way = 1u << (shift - 1);
    uint32_t rounded = mantissa >> shift;
    if (rest > half_way || (rest == half_way && (rounded & 1))) {
        ++rounded;
    }
    return static_cast<uint16_t>(sign | rounded);
}

constexpr float half_value(uint16_t bits)
{
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 31u;
    const uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 31) {
        return __builtin_bit_cast(float, sign | 0x7f800000u | (mantissa << 13));
    }
    if (exponent == 0) {
        const float tiny = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // 2^-24
        return sign ? -tiny : tiny;
    }
    return __builtin_bit_cast(float, sign | ((exponent + 112) << 23) | (mantissa << 13));
}

constexpr uint16_t bfloat16_bits(float value)
{
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return static_cast<uint16_t>((bits >> 16) | 0x40u);
    }
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float bfloat16_value(uint16_t bits)
{
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

}  // namespace pyasc_model

// The scalar unit moves halfs and converts them, but has no half arithmetic (api.md section 8), so neither has this.
struct half {
    uint16_t bits;
    half() = default;
    constexpr half(float value) : bits(pyasc_model::half_bits(value)) {}
    constexpr half(double value) : half(static_cast<float>(value)) {}
    constexpr half(int value) : half(static_cast<float>(value)) {}
    constexpr half(unsigned value) : half(static_cast<float>(value)) {}
    constexpr explicit operator float() const { return pyasc_model::half_value(bits); }
};

struct bfloat16_t {
    uint16_t bits;
    bfloat16_t() = default;
    constexpr bfloat16_t(float value) : bits(pyasc_model::bfloat16_bits(value)) {}
    constexpr bfloat16_t(double value) : bfloat16_t(static_cast<float>(value)) {}
    constexpr bfloat16_t(int value) : bfloat16_t(static_cast<float>(value)) {}
    constexpr explicit operator float() const { return pyasc_model::bfloat16_value(bits); }
};

namespace pyasc_model {

enum class DType : uint8_t { F16, BF16, F32, I8, U8, I16, U16, I32, U32, I64, U64 };

template <typename T>
struct DTypeOf;
template <> struct DTypeOf<half> { static constexpr DType value = DType::F16; };
template <> struct DTypeOf<bfloat16_t> { static constexpr DType value = DType::BF16; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::F32; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::I8; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::U8; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::I16; };
template <> struct DTypeOf<uint16_t> { static constexpr DType value = DType::U16; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::I32; };
template <> struct DTypeOf<uint32_t> { static constexpr DType value = DType::U32; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::I64; };
template <> struct DTypeOf<uint64_t> { static constexpr DType value = DType::U64; };

constexpr uint32_t dtype_bytes(DType t)
{
    return t == DType::I8 || t == DType::U8                                            ? 1
           : t == DType::F16 || t == DType::BF16 || t == DType::I16 || t == DType::U16 ? 2
           : t == DType::I64 || t == DType::U64                                        ? 8
                                                                                       : 4;
}

// A scalar operand, carried in both forms so that the core library needs one function per operation.
struct Scalar {
    double f = 0;
    int64_t i = 0;
};
inline Scalar to_scalar(half v) { return {static_cast<float>(v), v.bits}; }
inline Scalar to_scalar(bfloat16_t v) { return {static_cast<float>(v), v.bits}; }
inline Scalar to_scalar(float v) { return {v, __builtin_bit_cast(int32_t, v)}; }
template <typename T>
inline Scalar to_scalar(T v)
{
    return {static_cast<double>(v), static_cast<int64_t>(v)};
}

}  // namespace pyasc_model
