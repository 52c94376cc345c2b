// SPDX-License-Identifier: Apache-2.0
// Flat kernels of Cast and its relatives: the pairs, rounding modes and clamps of api.md section 5.
#include <math.h>

#include <limits>

#include "lanes.h"

namespace pyasc_model {

namespace {

using AscendC::RoundMode;

template <RoundMode MODE, typename F>
inline F to_integral(F v)
{
    if (MODE == RoundMode::CAST_FLOOR) {
        return __builtin_floor(v);
    }
    if (MODE == RoundMode::CAST_CEIL) {
        return __builtin_ceil(v);
    }
    if (MODE == RoundMode::CAST_TRUNC) {
        return __builtin_trunc(v);
    }
    if (MODE == RoundMode::CAST_ROUND) {
        return __builtin_round(v);
    }
    return __builtin_nearbyint(v);  // RINT, and NONE where precision is lost
}

template <typename I>
inline I clamp_to(double v)
{
    constexpr double low = static_cast<double>(std::numeric_limits<I>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<I>::max());
    if (v != v) {
        return 0;
    }
    return v <= low ? std::numeric_limits<I>::min() : v >= high ? std::numeric_limits<I>::max() : static_cast<I>(v);
}

// A value between two neighbours of the narrow format: `down` towards zero, `up` away from it.
template <RoundMode MODE>
inline bool away_from_zero(double v, double down, double up, bool odd)
{
    const double a = fabs(v), d = fabs(down), u = fabs(up);
    if (a == d) {
        return false;
    }
    switch (MODE) {
    case RoundMode::CAST_FLOOR: return v < 0;
    case RoundMode::CAST_CEIL: return v > 0;
    case RoundMode::CAST_TRUNC: return false;
    case RoundMode::CAST_ODD: return !odd;
    case RoundMode::CAST_ROUND: return a - d >= u - a;
    default: return a - d > u - a || (a - d == u - a && odd);
    }
}

template <RoundMode MODE, uint16_t (*BITS)(float), float (*VALUE)(uint16_t), uint16_t INF>
inline float narrow(float v)
{
    const uint16_t nearest = BITS(v);
    const float back = VALUE(nearest);
    if (MODE == RoundMode::CAST_RINT || MODE == RoundMode::CAST_NONE || v != v || back == v || isinf(v)) {
        return back;
    }
    const bool over = fabsf(back) > fabsf(v);
    const uint16_t down = static_cast<uint16_t>(over ? nearest - 1 : nearest);
    const uint16_t up = static_cast<uint16_t>(down + 1);
    const double up_value = (up & 0x7fff) == INF ? ldexp(v < 0 ? -1 : 1, INF == 0x7c00 ? 16 : 128) : VALUE(up);
    return VALUE(away_from_zero<MODE>(v, VALUE(down), up_value, down & 1) ? up : down);
}

template <RoundMode MODE>
inline float integer_to_float(int64_t v)
{
    const float nearest = static_cast<float>(v);
    if (MODE == RoundMode::CAST_RINT || MODE == RoundMode::CAST_NONE) {
        return nearest;
    }
    const long double exact = v;
    if (static_cast<long double>(nearest) == exact) {
        return nearest;
    }
    const bool over = fabsl(nearest) > fabsl(exact);
    const float down = over ? nextafterf(nearest, 0) : nearest;
    const float up = nextafterf(down, v < 0 ? -INFINITY : INFINITY);
    // Differences of neighbours fit a double exactly.
    const double past = static_cast<double>(fabsl(exact) - fabsl(down));
    const double gap = static_cast<double>(fabsl(up) - fabsl(down));
    const bool away = MODE == RoundMode::CAST_FLOOR ? v < 0 : MODE == RoundMode::CAST_CEIL ? v > 0
                    : MODE == RoundMode::CAST_ROUND && past * 2 >= gap;
    return away ? up : down;
}

struct ToHalf {
    template <RoundMode MODE> static float apply(float v) { return narrow<MODE, half_bits, half_value, 0x7c00>(v); }
};
struct ToBfloat16 {
    template <RoundMode MODE>
    static float apply(float v) { return narrow<MODE, bfloat16_bits, bfloat16_value, 0x7f80>(v); }
};
struct Integral {
    template <RoundMode MODE> static float apply(float v) { return to_integral<MODE>(v); }
};
template <typename I>
struct ToInteger {
    template <RoundMode MODE> static I apply(float v) { return clamp_to<I>(to_integral<MODE>(static_cast<double>(v))); }
};
struct Widen {
    template <RoundMode, typename T> static float apply(T v) { return static_cast<float>(v); }
};
struct FromInteger {
    template <RoundMode MODE, typename T> static float apply(T v) { return integer_to_float<MODE>(v); }
};
struct ShortToHalf {
    // Every int16 is exact in float, so only the step to half rounds.
    template <RoundMode MODE>
    static float apply(int16_t v) { return narrow<MODE, half_bits, half_value, 0x7c00>(static_cast<float>(v)); }
};
template <typename I>
struct Clamp {
    template <RoundMode, typename T>
    static I apply(T v)
    {
        constexpr int64_t low = std::numeric_limits<I>::min(), high = std::numeric_limits<I>::max();
        const int64_t w = v;
        return static_cast<I>(w < low ? low : w > high ? high : w);
    }
};

template <RoundMode MODE, typename F, typename S, typename D>
struct Lane {
    static D apply(S a, S, D, const FlatArgs&, size_t) { return F::template apply<MODE>(a); }
};
struct Dequant {
    static float apply(int32_t a, int32_t, float, const FlatArgs& args, size_t)
    {
        return static_cast<float>(a) * args.deq;
    }
};
template <typename I>
struct DequantByte {
    static I apply(int16_t a, int16_t, I, const FlatArgs& args, size_t)
    {
        return clamp_to<I>(__builtin_nearbyint(static_cast<double>(static_cast<float>(a) * args.deq)) + args.deq_offset);
    }
};
template <typename I>
struct MulByte {
    static I apply(float a, float b, I, const FlatArgs&, size_t)
    {
        return clamp_to<I>(__builtin_nearbyint(static_cast<double>(a * b)));
    }
};
struct ReluByteAdd {
    static int8_t apply(float a, float b, int8_t, const FlatArgs&, size_t)
    {
        return clamp_to<int8_t>(__builtin_nearbyint(a + b > 0 ? a + b : 0.0f));
    }
};

template <typename D, typename S, typename F>
void by_mode(void* d, const void* const* s, size_t n, const FlatArgs& args)
{
    using Sc = typename S::Comp;
    using Dc = typename D::Comp;
    switch (args.mode) {
    case RoundMode::CAST_FLOOR: flat<D, S, 1, false, Lane<RoundMode::CAST_FLOOR, F, Sc, Dc>>(d, s, n, args); break;
    case RoundMode::CAST_CEIL: flat<D, S, 1, false, Lane<RoundMode::CAST_CEIL, F, Sc, Dc>>(d, s, n, args); break;
    case RoundMode::CAST_ROUND: flat<D, S, 1, false, Lane<RoundMode::CAST_ROUND, F, Sc, Dc>>(d, s, n, args); break;
    case RoundMode::CAST_TRUNC: flat<D, S, 1, false, Lane<RoundMode::CAST_TRUNC, F, Sc, Dc>>(d, s, n, args); break;
    case RoundMode::CAST_ODD: flat<D, S, 1, false, Lane<RoundMode::CAST_ODD, F, Sc, Dc>>(d, s, n, args); break;
    default: flat<D, S, 1, false, Lane<RoundMode::CAST_RINT, F, Sc, Dc>>(d, s, n, args); break;
    }
}

constexpr uint8_t NONE = 1, FIVE = 0x3e, ODD = 0x40;

template <typename D, typename S, typename F>
void pair(FlatTable& t, DType d, DType s, uint8_t modes)
{
    const bool long_lanes = dtype_bytes(d) == 8 || dtype_bytes(s) == 8;
    const bool narrow_lanes = dtype_bytes(d) <= 2 && dtype_bytes(s) <= 2;
    FlatKernel& k = slot(t, Op::Cast, d, s);
    k.fn = by_mode<D, S, F>;
    k.rate = long_lanes ? 32 : narrow_lanes ? 128 : 64;
    k.modes = modes;
}

}  // namespace

void add_cast_kernels(FlatTable& t)
{
    using I8 = Int<int8_t>;
    using U8 = Int<uint8_t>;
    using I16 = Int<int16_t>;
    using I32 = Int<int32_t>;
    using I64 = Int<int64_t>;
    pair<F16, I8, Widen>(t, DType::F16, DType::I8, NONE);
    pair<F16, U8, Widen>(t, DType::F16, DType::U8, NONE);
    pair<F32, I16, Widen>(t, DType::F32, DType::I16, NONE);
    pair<F32, F16, Widen>(t, DType::F32, DType::F16, NONE);
    pair<F32, BF16, Widen>(t, DType::F32, DType::BF16, NONE);
    pair<I8, F16, ToInteger<int8_t>>(t, DType::I8, DType::F16, FIVE | NONE);
    pair<U8, F16, ToInteger<uint8_t>>(t, DType::U8, DType::F16, FIVE | NONE);
    pair<I16, F16, ToInteger<int16_t>>(t, DType::I16, DType::F16, FIVE);
    pair<I32, F16, ToInteger<int32_t>>(t, DType::I32, DType::F16, FIVE);
    pair<I32, BF16, ToInteger<int32_t>>(t, DType::I32, DType::BF16, FIVE);
    pair<I16, I32, Clamp<int16_t>>(t, DType::I16, DType::I32, NONE);
    pair<I64, I32, Clamp<int64_t>>(t, DType::I64, DType::I32, NONE);
    // The behaviour out of range of int64 -> int32 is not published; clamping is `assumed`.
    pair<I32, I64, Clamp<int32_t>>(t, DType::I32, DType::I64, NONE);
    pair<F32, I32, FromInteger>(t, DType::F32, DType::I32, FIVE | NONE);
    pair<F32, I64, FromInteger>(t, DType::F32, DType::I64, FIVE);
    pair<F16, F32, ToHalf>(t, DType::F16, DType::F32, FIVE | ODD | NONE);
    pair<BF16, F32, ToBfloat16>(t, DType::BF16, DType::F32, FIVE);
    pair<I16, F32, ToInteger<int16_t>>(t, DType::I16, DType::F32, FIVE);
    pair<I32, F32, ToInteger<int32_t>>(t, DType::I32, DType::F32, FIVE);
    pair<I64, F32, ToInteger<int64_t>>(t, DType::I64, DType::F32, FIVE);
    pair<F32, F32, Integral>(t, DType::F32, DType::F32, FIVE);
    pair<F16, I16, ShortToHalf>(t, DType::F16, DType::I16, FIVE | NONE);

    FlatKernel& deq = slot(t, Op::Cast, DType::F16, DType::I32);
    deq = kernel<F16, I32, 1, Dequant>(64);
    deq.needs_deq = true;
    slot(t, Op::CastDequant, DType::F16, DType::I32) = deq;
    FlatKernel signed_byte = kernel<I8, I16, 1, DequantByte<int8_t>>(128);
    signed_byte.needs_deq = true;
    slot(t, Op::CastDequant, DType::I8, DType::I16) = signed_byte;
    FlatKernel unsigned_byte = kernel<U8, I16, 1, DequantByte<uint8_t>>(128);
    unsigned_byte.needs_deq = true;
    slot(t, Op::CastDequant, DType::U8, DType::I16) = unsigned_byte;
    slot(t, Op::MulCast, DType::I8, DType::F16) = kernel<I8, F16, 2, MulByte<int8_t>>(128);
    slot(t, Op::MulCast, DType::U8, DType::F16) = kernel<U8, F16, 2, MulByte<uint8_t>>(128);
    slot(t, Op::AddReluCast, DType::I8, DType::F16) = kernel<I8, F16, 2, ReluByteAdd>(128);
}

}  // namespace pyasc_model
