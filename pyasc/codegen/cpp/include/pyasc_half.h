// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 as storage types: their bits, and conversions that round to nearest even.
// Arithmetic on them is done in float32 by the caller.
#ifndef PYASC_HALF_H
#define PYASC_HALF_H

#include "pyasc_num.h"

struct pyasc_f16 { uint16_t bits; };
struct pyasc_bf16 { uint16_t bits; };

template <> struct pa_kind<pyasc_f16> { static constexpr int value = 3; };
template <> struct pa_kind<pyasc_bf16> { static constexpr int value = 3; };

// The compiler's own half type, where a loop of conversions becomes vector instructions. g++ on x86
// has the type but does not vectorise the conversion; the integer form below it does.
#if defined(__clang__) && defined(__F16C__) && defined(__FLT16_MANT_DIG__)
typedef _Float16 pa_native_half;
#define PA_NATIVE_HALF 1
#elif defined(__aarch64__) && defined(__ARM_FP16_FORMAT_IEEE)
typedef __fp16 pa_native_half;
#define PA_NATIVE_HALF 1
#else
#define PA_NATIVE_HALF 0
#endif

// By integer arithmetic: exponents are rebased by a multiplication that is exact for every half,
// subnormal ones included.
PA_FN float pa_f16_to_f32_portable(uint16_t h) {
  const uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
  const float finite = pa_bits<float>(magnitude) * 0x1p112f;
  const uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  return pa_bits<float>(pa_bits<uint32_t>(finite) | special | ((uint32_t)(h & 0x8000) << 16));
}

// Normal results are rounded by an integer addition whose carry may reach the exponent. Subnormal
// ones are rounded by the adder: the unit of 0.5f is the smallest subnormal half.
PA_FN uint16_t pa_f32_to_f16_portable(float x) {
  const uint32_t bits = pa_bits<uint32_t>(x);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t tiny = pa_bits<uint32_t>(pa_bits<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t h = magnitude < 0x38800000u ? tiny : normal;
  h = magnitude >= 0x477ff000u ? 0x7c00u : h;
  h = magnitude > 0x7f800000u ? (0x7e00u | ((magnitude >> 13) & 0x3ffu)) : h;
  return (uint16_t)(h | sign);
}

PA_FN float pa_f16_to_f32(pyasc_f16 h) {
#if PA_NATIVE_HALF
  return (float)pa_bits<pa_native_half>(h.bits);
#else
  return pa_f16_to_f32_portable(h.bits);
#endif
}

PA_FN pyasc_f16 pa_f32_to_f16(float x) {
#if PA_NATIVE_HALF
  return {pa_bits<uint16_t>((pa_native_half)x)};
#else
  return {pa_f32_to_f16_portable(x)};
#endif
}

PA_FN float pa_bf16_to_f32(pyasc_bf16 h) { return pa_bits<float>((uint32_t)h.bits << 16); }

PA_FN pyasc_bf16 pa_f32_to_bf16(float x) {
  const uint32_t bits = pa_bits<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return {(uint16_t)(x != x ? ((bits >> 16) | 0x40u) : rounded)};
}

// Double to float rounded to odd, so that a second rounding to a type of at most 22 bits gives what
// one rounding would have given.
PA_FN float pa_f64_to_f32_odd(double x) {
  const float nearest = (float)x;
  const double error = x - (double)nearest;
  const uint32_t bits = pa_bits<uint32_t>(nearest);
  const bool adjust = (error != 0.0) & ((bits & 1u) == 0u) & (__builtin_fabsf(nearest) < __builtin_inff());
  const bool outward = (error > 0.0) == (x > 0.0);
  return pa_bits<float>(adjust ? (outward ? bits + 1u : bits - 1u) : bits);
}

// A 64-bit integer as a double whose dropped bits stay visible in the last one.
template <class T> PA_FN double pa_int_to_f64_odd(T x) {
  if constexpr (sizeof(T) < 8) {
    return (double)x;
  } else {
    const uint64_t magnitude = x < T(0) ? (uint64_t)0 - (uint64_t)x : (uint64_t)x;
    const uint64_t sticky = (magnitude & ~(uint64_t)0x7ff) | ((magnitude & 0x7ff) != 0 ? 0x800u : 0u);
    const double r = (double)(magnitude >> 53 != 0 ? sticky : magnitude);
    return x < T(0) ? -r : r;
  }
}

PA_FN pyasc_f16 pa_f64_to_f16(double x) { return pa_f32_to_f16(pa_f64_to_f32_odd(x)); }
PA_FN pyasc_bf16 pa_f64_to_bf16(double x) { return pa_f32_to_bf16(pa_f64_to_f32_odd(x)); }

// Loops should read halves through these: a local variable of struct type keeps g++ from vectorising.
PA_FN float pa_get(const pyasc_f16* from) { return pa_f16_to_f32(*from); }
PA_FN float pa_get(const pyasc_bf16* from) { return pa_bf16_to_f32(*from); }
PA_FN void pa_put(pyasc_f16* to, float value) { *to = pa_f32_to_f16(value); }
PA_FN void pa_put(pyasc_bf16* to, float value) { *to = pa_f32_to_bf16(value); }

// Widening to float is exact, so every cast from a half goes through it.
template <class To> struct pa_caster<To, pyasc_f16> {
  PA_FN To cast(pyasc_f16 x) { return pa_cast<To>(pa_f16_to_f32(x)); }
};
template <class To> struct pa_caster<To, pyasc_bf16> {
  PA_FN To cast(pyasc_bf16 x) { return pa_cast<To>(pa_bf16_to_f32(x)); }
};
template <class From> struct pa_caster<pyasc_f16, From> {
  PA_FN pyasc_f16 cast(From x) {
    if constexpr (pa_kind<From>::value == 2 && sizeof(From) == 4) return pa_f32_to_f16(x);
    else if constexpr (pa_kind<From>::value == 2) return pa_f64_to_f16(x);
    else if constexpr (sizeof(From) <= 2) return pa_f32_to_f16((float)x);
    else return pa_f64_to_f16(pa_int_to_f64_odd(x));
  }
};
template <class From> struct pa_caster<pyasc_bf16, From> {
  PA_FN pyasc_bf16 cast(From x) {
    if constexpr (pa_kind<From>::value == 2 && sizeof(From) == 4) return pa_f32_to_bf16(x);
    else if constexpr (pa_kind<From>::value == 2) return pa_f64_to_bf16(x);
    else if constexpr (sizeof(From) <= 2) return pa_f32_to_bf16((float)x);
    else return pa_f64_to_bf16(pa_int_to_f64_odd(x));
  }
};
template <> struct pa_caster<pyasc_f16, pyasc_f16> {
  PA_FN pyasc_f16 cast(pyasc_f16 x) { return x; }
};
template <> struct pa_caster<pyasc_bf16, pyasc_bf16> {
  PA_FN pyasc_bf16 cast(pyasc_bf16 x) { return x; }
};
template <> struct pa_caster<pyasc_f16, pyasc_bf16> {
  PA_FN pyasc_f16 cast(pyasc_bf16 x) { return pa_f32_to_f16(pa_bf16_to_f32(x)); }
};
template <> struct pa_caster<pyasc_bf16, pyasc_f16> {
  PA_FN pyasc_bf16 cast(pyasc_f16 x) { return pa_f32_to_bf16(pa_f16_to_f32(x)); }
};

#endif
