// SPDX-License-Identifier: Apache-2.0
// Flat kernels of integer and bitwise operations, fills and UB copies. Integers wrap (hardware.md section 4).
#include "lanes.h"

namespace pyasc_model {

namespace {

template <typename T> struct Unsigned;
template <> struct Unsigned<int16_t> { using type = uint16_t; };
template <> struct Unsigned<uint16_t> { using type = uint16_t; };
template <> struct Unsigned<int32_t> { using type = uint32_t; };
template <> struct Unsigned<uint32_t> { using type = uint32_t; };

// Arithmetic in 32 unsigned bits: wraps, and keeps the product of two 16-bit values out of signed overflow.
template <typename T>
inline uint32_t wide(T v) { return static_cast<uint32_t>(v); }

#define BODY(NAME, EXPRESSION)                                                                                     \
    template <typename T>                                                                                          \
    struct NAME {                                                                                                  \
        static T apply([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T d,                           \
                       [[maybe_unused]] const FlatArgs& args, [[maybe_unused]] size_t i)                           \
        {                                                                                                          \
            return static_cast<T>(EXPRESSION);                                                                     \
        }                                                                                                          \
    };

template <typename T>
inline T scalar_of(const FlatArgs& args) { return static_cast<T>(args.scalar.i); }

template <typename T>
inline T shift_left(T a, const FlatArgs& args)
{
    const int64_t n = args.scalar.i;
    using U = typename Unsigned<T>::type;
    // A shift by the width or more is not published; all bits leaving is `assumed`.
    return n < 0 || n >= static_cast<int64_t>(sizeof(T) * 8) ? T(0) : static_cast<T>(static_cast<U>(a) << n);
}

template <typename T>
inline T shift_right(T a, const FlatArgs& args, bool round)
{
    const int64_t width = sizeof(T) * 8;
    const int64_t n = args.scalar.i;
    if (n <= 0) {
        return a;
    }
    const int64_t v = a;
    const int64_t kept = n >= width ? (v < 0 ? -1 : 0) : v >> n;
    const int64_t half_bit = round && n < width ? (v >> (n - 1)) & 1 : 0;
    return static_cast<T>(kept + half_bit);
}

BODY(AddOp, wide(a) + wide(b))
BODY(SubOp, wide(a) - wide(b))
BODY(MulOp, wide(a) * wide(b))
BODY(MaxOp, a > b ? a : b)
BODY(MinOp, a < b ? a : b)
BODY(AndOp, a & b)
BODY(OrOp, a | b)
BODY(NotOp, ~a)
BODY(ReluOp, a > 0 ? a : 0)
BODY(AddReluOp, static_cast<T>(wide(a) + wide(b)) > 0 ? wide(a) + wide(b) : 0u)
BODY(SubReluOp, static_cast<T>(wide(a) - wide(b)) > 0 ? wide(a) - wide(b) : 0u)
BODY(AddsOp, wide(a) + wide(scalar_of<T>(args)))
BODY(MulsOp, wide(a) * wide(scalar_of<T>(args)))
BODY(MaxsOp, a > scalar_of<T>(args) ? a : scalar_of<T>(args))
BODY(MinsOp, a < scalar_of<T>(args) ? a : scalar_of<T>(args))
BODY(ShiftLeftOp, shift_left(a, args))
BODY(ShiftRightOp, shift_right(a, args, false))
BODY(ShiftRightRoundOp, shift_right(a, args, true))
BODY(IndexOp, wide(scalar_of<T>(args)) + wide(args.index + i))
BODY(FillOp, scalar_of<T>(args))
BODY(CopyOp, a)
#undef BODY

template <typename T>
void arithmetic(FlatTable& t, DType type, float rate, bool chain)
{
    using L = Int<T>;
    slot(t, Op::Add, type, type) = kernel<L, L, 2, AddOp<T>>(rate, chain);
    slot(t, Op::Sub, type, type) = kernel<L, L, 2, SubOp<T>>(rate, chain);
    slot(t, Op::Mul, type, type) = kernel<L, L, 2, MulOp<T>>(rate, chain);
    slot(t, Op::Max, type, type) = kernel<L, L, 2, MaxOp<T>>(rate, chain);
    slot(t, Op::Min, type, type) = kernel<L, L, 2, MinOp<T>>(rate, chain);
    slot(t, Op::Adds, type, type) = kernel<L, L, 1, AddsOp<T>>(rate);
    slot(t, Op::Muls, type, type) = kernel<L, L, 1, MulsOp<T>>(rate);
    slot(t, Op::Maxs, type, type) = kernel<L, L, 1, MaxsOp<T>>(rate);
    slot(t, Op::Mins, type, type) = kernel<L, L, 1, MinsOp<T>>(rate);
    slot(t, Op::CreateVecIndex, type, type) = kernel<L, L, 0, IndexOp<T>>(rate);
}

template <typename T>
void shifts(FlatTable& t, DType type, float rate)
{
    using L = Int<T>;
    slot(t, Op::ShiftLeft, type, type) = kernel<L, L, 1, ShiftLeftOp<T>>(rate);
    slot(t, Op::ShiftRight, type, type) = kernel<L, L, 1, ShiftRightOp<T>>(rate);
    slot(t, Op::ShiftRightRound, type, type) = kernel<L, L, 1, ShiftRightRoundOp<T>>(rate);
}

template <typename T>
void bitwise(FlatTable& t, DType type)
{
    using L = Int<T>;
    slot(t, Op::And, type, type) = kernel<L, L, 2, AndOp<T>>(128);
    slot(t, Op::Or, type, type) = kernel<L, L, 2, OrOp<T>>(128);
    slot(t, Op::Not, type, type) = kernel<L, L, 1, NotOp<T>>(128);
    for (Op op : {Op::And, Op::Or, Op::Not}) {
        slot(t, op, type, type).shadow = Shadow::BITWISE;
    }
}

template <typename T>
void moves(FlatTable& t, DType type, float rate, bool fill)
{
    using L = Int<T>;
    slot(t, Op::Copy, type, type) = kernel<L, L, 1, CopyOp<T>>(rate);
    slot(t, Op::Copy, type, type).shadow = Shadow::BITWISE;
    if (fill) {
        slot(t, Op::Duplicate, type, type) = kernel<L, L, 0, FillOp<T>>(rate);
    }
}

}  // namespace

void add_integer_kernels(FlatTable& t)
{
    arithmetic<int16_t>(t, DType::I16, 128, false);
    arithmetic<int32_t>(t, DType::I32, 64, true);
    slot(t, Op::Relu, DType::I32, DType::I32) = kernel<Int<int32_t>, Int<int32_t>, 1, ReluOp<int32_t>>(64);
    slot(t, Op::AddRelu, DType::I16, DType::I16) = kernel<Int<int16_t>, Int<int16_t>, 2, AddReluOp<int16_t>>(128);
    slot(t, Op::SubRelu, DType::I16, DType::I16) = kernel<Int<int16_t>, Int<int16_t>, 2, SubReluOp<int16_t>>(128);
    shifts<int16_t>(t, DType::I16, 128);
    shifts<uint16_t>(t, DType::U16, 128);
    shifts<int32_t>(t, DType::I32, 64);
    shifts<uint32_t>(t, DType::U32, 64);
    bitwise<int16_t>(t, DType::I16);
    bitwise<uint16_t>(t, DType::U16);
    moves<int16_t>(t, DType::I16, 128, true);
    moves<uint16_t>(t, DType::U16, 128, true);
    moves<uint16_t>(t, DType::F16, 128, false);
    moves<uint16_t>(t, DType::BF16, 128, false);
    moves<int32_t>(t, DType::I32, 64, true);
    moves<uint32_t>(t, DType::U32, 64, true);
    moves<uint32_t>(t, DType::F32, 64, false);
}

}  // namespace pyasc_model
