// SPDX-License-Identifier: Apache-2.0
// Elementwise vector instructions: arithmetic, casts, fills and UB copies, in count and mask forms.
#pragma once
#include "tensor.h"

namespace pyasc_model {

template <typename D, typename S>
inline void vec1(Op op, const AscendC::LocalTensor<D>& d, const AscendC::LocalTensor<S>& s, const Lanes& lanes,
                 const Strides& strides, Scalar scalar, Loc loc,
                 AscendC::RoundMode mode = AscendC::RoundMode::CAST_NONE)
{
    elementwise(op, d.view, &s.view, 1, lanes, strides, scalar, mode, loc);
}
template <typename D, typename S>
inline void vec2(Op op, const AscendC::LocalTensor<D>& d, const AscendC::LocalTensor<S>& a,
                 const AscendC::LocalTensor<S>& b, const Lanes& lanes, const Strides& strides, Loc loc)
{
    const View sources[2] = {a.view, b.view};
    elementwise(op, d.view, sources, 2, lanes, strides, Scalar{}, AscendC::RoundMode::CAST_NONE, loc);
}

// Lanes of one repeat are counted by the wider type of the instruction; only 16-bit ones have more than 64.
template <typename D, typename S>
constexpr bool wide_mask() { return sizeof(D) <= 2 && sizeof(S) <= 2; }

}  // namespace pyasc_model

namespace AscendC {

#define PYASC_UNARY(NAME)                                                                                          \
    template <typename T>                                                                                          \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t count, PYASC_LOC)                   \
    {                                                                                                              \
        pyasc_model::vec1(pyasc_model::Op::NAME, d, s, pyasc_model::Lanes::count(count),                           \
                          pyasc_model::Strides::dense(), {}, loc);                                                 \
    }                                                                                                              \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, uint64_t mask, uint8_t repeat,              \
                     const UnaryRepeatParams& p, PYASC_LOC)                                                        \
    {                                                                                                              \
        pyasc_model::vec1(pyasc_model::Op::NAME, d, s, pyasc_model::Lanes::first(SET, mask, repeat),               \
                          pyasc_model::Strides::unary(p), {}, loc);                                                \
    }                                                                                                              \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, uint64_t mask[], uint8_t repeat,            \
                     const UnaryRepeatParams& p, PYASC_LOC)                                                        \
    {                                                                                                              \
        pyasc_model::vec1(pyasc_model::Op::NAME, d, s,                                                             \
                          pyasc_model::Lanes::bits(SET, mask, repeat, sizeof(T) <= 2),                             \
                          pyasc_model::Strides::unary(p), {}, loc);                                                \
    }

PYASC_UNARY(Exp)
PYASC_UNARY(Ln)
PYASC_UNARY(Sqrt)
PYASC_UNARY(Rsqrt)
PYASC_UNARY(Reciprocal)
PYASC_UNARY(Abs)
PYASC_UNARY(Relu)
PYASC_UNARY(Not)
#undef PYASC_UNARY

#define PYASC_BINARY(NAME, OP)                                                                                     \
    template <typename D, typename S>                                                                              \
    inline void NAME(const LocalTensor<D>& d, const LocalTensor<S>& a, const LocalTensor<S>& b, int32_t count,     \
                     PYASC_LOC)                                                                                    \
    {                                                                                                              \
        pyasc_model::vec2(pyasc_model::Op::OP, d, a, b, pyasc_model::Lanes::count(count),                          \
                          pyasc_model::Strides::dense(), loc);                                                     \
    }

// Same-type forms take `<T, isSetMask>` explicitly, mixed ones `<D, S, isSetMask>`.
#define PYASC_BINARY_MASK(NAME, OP)                                                                                \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& a, const LocalTensor<T>& b, uint64_t mask,     \
                     uint8_t repeat, const BinaryRepeatParams& p, PYASC_LOC)                                       \
    {                                                                                                              \
        pyasc_model::vec2(pyasc_model::Op::OP, d, a, b, pyasc_model::Lanes::first(SET, mask, repeat),              \
                          pyasc_model::Strides::binary(p), loc);                                                   \
    }                                                                                                              \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& a, const LocalTensor<T>& b, uint64_t mask[],   \
                     uint8_t repeat, const BinaryRepeatParams& p, PYASC_LOC)                                       \
    {                                                                                                              \
        pyasc_model::vec2(pyasc_model::Op::OP, d, a, b,                                                            \
                          pyasc_model::Lanes::bits(SET, mask, repeat, sizeof(T) <= 2),                             \
                          pyasc_model::Strides::binary(p), loc);                                                   \
    }

#define PYASC_BINARY_MIXED_MASK(NAME, OP)                                                                          \
    template <typename D, typename S, bool SET = true>                                                             \
    inline void NAME(const LocalTensor<D>& d, const LocalTensor<S>& a, const LocalTensor<S>& b, uint64_t mask,     \
                     uint8_t repeat, const BinaryRepeatParams& p, PYASC_LOC)                                       \
    {                                                                                                              \
        pyasc_model::vec2(pyasc_model::Op::OP, d, a, b, pyasc_model::Lanes::first(SET, mask, repeat),              \
                          pyasc_model::Strides::binary(p), loc);                                                   \
    }

#define PYASC_SAME(NAME)                                                                                           \
    template <typename T>                                                                                          \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& a, const LocalTensor<T>& b, int32_t count,     \
                     PYASC_LOC)                                                                                    \
    {                                                                                                              \
        pyasc_model::vec2(pyasc_model::Op::NAME, d, a, b, pyasc_model::Lanes::count(count),                        \
                          pyasc_model::Strides::dense(), loc);                                                     \
    }                                                                                                              \
    PYASC_BINARY_MASK(NAME, NAME)

PYASC_SAME(Add)
PYASC_SAME(Sub)
PYASC_SAME(Mul)
PYASC_SAME(Div)
PYASC_SAME(Max)
PYASC_SAME(Min)
PYASC_SAME(And)
PYASC_SAME(Or)
PYASC_SAME(AddRelu)
PYASC_SAME(SubRelu)
PYASC_SAME(FusedMulAdd)
PYASC_SAME(MulAddRelu)
PYASC_BINARY(MulAddDst, MulAddDst)
PYASC_BINARY_MIXED_MASK(MulAddDst, MulAddDst)
PYASC_BINARY(AddReluCast, AddReluCast)
PYASC_BINARY_MIXED_MASK(AddReluCast, AddReluCast)
PYASC_BINARY(SubReluCast, SubReluCast)
PYASC_BINARY_MIXED_MASK(SubReluCast, SubReluCast)
PYASC_BINARY(MulCast, MulCast)
PYASC_BINARY_MIXED_MASK(MulCast, MulCast)
#undef PYASC_SAME

template <typename T>
inline void FusedMulAddRelu(const LocalTensor<T>& d, const LocalTensor<T>& a, const LocalTensor<T>& b, int32_t count,
                            PYASC_LOC)
{
    MulAddRelu(d, a, b, count, loc);
}
PYASC_BINARY_MASK(FusedMulAddRelu, MulAddRelu)
#undef PYASC_BINARY
#undef PYASC_BINARY_MASK
#undef PYASC_BINARY_MIXED_MASK

#define PYASC_SCALAR(NAME)                                                                                         \
    template <typename T>                                                                                          \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, T value, int32_t count, PYASC_LOC)          \
    {                                                                                                              \
        pyasc_model::vec1(pyasc_model::Op::NAME, d, s, pyasc_model::Lanes::count(count),                           \
                          pyasc_model::Strides::dense(), pyasc_model::to_scalar(value), loc);                      \
    }                                                                                                              \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, T value, uint64_t mask, uint8_t repeat,     \
                     const UnaryRepeatParams& p, PYASC_LOC)                                                        \
    {                                                                                                              \
        pyasc_model::vec1(pyasc_model::Op::NAME, d, s, pyasc_model::Lanes::first(SET, mask, repeat),               \
                          pyasc_model::Strides::unary(p), pyasc_model::to_scalar(value), loc);                     \
    }                                                                                                              \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, T value, uint64_t mask[], uint8_t repeat,   \
                     const UnaryRepeatParams& p, PYASC_LOC)                                                        \
    {                                                                                                              \
        pyasc_model::vec1(pyasc_model::Op::NAME, d, s,                                                             \
                          pyasc_model::Lanes::bits(SET, mask, repeat, sizeof(T) <= 2),                             \
                          pyasc_model::Strides::unary(p), pyasc_model::to_scalar(value), loc);                     \
    }

PYASC_SCALAR(Adds)
PYASC_SCALAR(Muls)
PYASC_SCALAR(Maxs)
PYASC_SCALAR(Mins)
PYASC_SCALAR(LeakyRelu)
PYASC_SCALAR(ShiftLeft)
#undef PYASC_SCALAR

template <typename T>
inline void ShiftRight(const LocalTensor<T>& d, const LocalTensor<T>& s, T value, int32_t count, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::ShiftRight, d, s, pyasc_model::Lanes::count(count),
                      pyasc_model::Strides::dense(), pyasc_model::to_scalar(value), loc);
}
template <typename T, bool SET = true>
inline void ShiftRight(const LocalTensor<T>& d, const LocalTensor<T>& s, T value, uint64_t mask, uint8_t repeat,
                       const UnaryRepeatParams& p, bool roundEn = false, PYASC_LOC)
{
    pyasc_model::vec1(roundEn ? pyasc_model::Op::ShiftRightRound : pyasc_model::Op::ShiftRight, d, s,
                      pyasc_model::Lanes::first(SET, mask, repeat), pyasc_model::Strides::unary(p),
                      pyasc_model::to_scalar(value), loc);
}

template <typename D, typename S>
inline void Axpy(const LocalTensor<D>& d, const LocalTensor<S>& s, S value, int32_t count, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::Axpy, d, s, pyasc_model::Lanes::count(count), pyasc_model::Strides::dense(),
                      pyasc_model::to_scalar(value), loc);
}
template <typename D, typename S, bool SET = true>
inline void Axpy(const LocalTensor<D>& d, const LocalTensor<S>& s, S value, uint64_t mask, uint8_t repeat,
                 const UnaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::Axpy, d, s, pyasc_model::Lanes::first(SET, mask, repeat),
                      pyasc_model::Strides::unary(p), pyasc_model::to_scalar(value), loc);
}

template <typename D, typename S>
inline void Cast(const LocalTensor<D>& d, const LocalTensor<S>& s, RoundMode mode, uint32_t count, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::Cast, d, s, pyasc_model::Lanes::count(count), pyasc_model::Strides::dense(),
                      {}, loc, mode);
}
template <typename D, typename S, bool SET = true>
inline void Cast(const LocalTensor<D>& d, const LocalTensor<S>& s, RoundMode mode, uint64_t mask, uint8_t repeat,
                 const UnaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::Cast, d, s, pyasc_model::Lanes::first(SET, mask, repeat),
                      pyasc_model::Strides::unary(p), {}, loc, mode);
}
template <typename D, typename S, bool SET = true>
inline void Cast(const LocalTensor<D>& d, const LocalTensor<S>& s, RoundMode mode, uint64_t mask[], uint8_t repeat,
                 const UnaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::Cast, d, s,
                      pyasc_model::Lanes::bits(SET, mask, repeat, pyasc_model::wide_mask<D, S>()),
                      pyasc_model::Strides::unary(p), {}, loc, mode);
}

template <typename D, typename S>
inline void CastDequant(const LocalTensor<D>& d, const LocalTensor<S>& s, uint32_t count, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::CastDequant, d, s, pyasc_model::Lanes::count(count),
                      pyasc_model::Strides::dense(), {}, loc);
}
template <typename D, typename S>
inline void CastDeq(const LocalTensor<D>& d, const LocalTensor<S>& s, uint32_t count, PYASC_LOC)
{
    CastDequant(d, s, count, loc);
}

template <typename T>
inline void Duplicate(const LocalTensor<T>& d, T value, int32_t count, PYASC_LOC)
{
    pyasc_model::elementwise(pyasc_model::Op::Duplicate, d.view, nullptr, 0, pyasc_model::Lanes::count(count),
                             pyasc_model::Strides::dense(), pyasc_model::to_scalar(value), RoundMode::CAST_NONE, loc);
}
template <typename T, bool SET = true>
inline void Duplicate(const LocalTensor<T>& d, T value, uint64_t mask, uint8_t repeat, uint16_t block, uint8_t rep,
                      PYASC_LOC)
{
    pyasc_model::elementwise(pyasc_model::Op::Duplicate, d.view, nullptr, 0,
                             pyasc_model::Lanes::first(SET, mask, repeat), pyasc_model::Strides::out(block, rep),
                             pyasc_model::to_scalar(value), RoundMode::CAST_NONE, loc);
}
template <typename T, bool SET = true>
inline void Duplicate(const LocalTensor<T>& d, T value, uint64_t mask[], uint8_t repeat, uint16_t block, uint8_t rep,
                      PYASC_LOC)
{
    pyasc_model::elementwise(pyasc_model::Op::Duplicate, d.view, nullptr, 0,
                             pyasc_model::Lanes::bits(SET, mask, repeat, sizeof(T) <= 2),
                             pyasc_model::Strides::out(block, rep), pyasc_model::to_scalar(value),
                             RoundMode::CAST_NONE, loc);
}

template <typename T>
inline void CreateVecIndex(LocalTensor<T> d, const T& first, uint32_t count, PYASC_LOC)
{
    pyasc_model::elementwise(pyasc_model::Op::CreateVecIndex, d.view, nullptr, 0, pyasc_model::Lanes::count(count),
                             pyasc_model::Strides::dense(), pyasc_model::to_scalar(first), RoundMode::CAST_NONE, loc);
}
template <typename T>
inline void CreateVecIndex(LocalTensor<T>& d, const T& first, uint64_t mask, uint8_t repeat, uint16_t block,
                           uint8_t rep, PYASC_LOC)
{
    pyasc_model::elementwise(pyasc_model::Op::CreateVecIndex, d.view, nullptr, 0,
                             pyasc_model::Lanes::first(true, mask, repeat), pyasc_model::Strides::out(block, rep),
                             pyasc_model::to_scalar(first), RoundMode::CAST_NONE, loc);
}

template <typename T, bool SET = true>
inline void Copy(const LocalTensor<T>& d, const LocalTensor<T>& s, uint64_t mask, uint8_t repeat,
                 const CopyRepeatParams& p, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::Copy, d, s, pyasc_model::Lanes::first(SET, mask, repeat),
                      {{p.dstStride, p.srcStride, 1, 1}, {p.dstRepeatSize, p.srcRepeatSize, 0, 0}}, {}, loc);
}
template <typename T, bool SET = true>
inline void Copy(const LocalTensor<T>& d, const LocalTensor<T>& s, uint64_t mask[], uint8_t repeat,
                 const CopyRepeatParams& p, PYASC_LOC)
{
    pyasc_model::vec1(pyasc_model::Op::Copy, d, s, pyasc_model::Lanes::bits(SET, mask, repeat, sizeof(T) <= 2),
                      {{p.dstStride, p.srcStride, 1, 1}, {p.dstRepeatSize, p.srcRepeatSize, 0, 0}}, {}, loc);
}

}  // namespace AscendC
