// SPDX-License-Identifier: Apache-2.0
// Vector instructions that are not elementwise: compare, select, gather, reduce, broadcast, transpose, sort.
#pragma once
#include "tensor.h"

namespace AscendC {

using pyasc_model::Fold;
using pyasc_model::Lanes;
using pyasc_model::Strides;
using pyasc_model::to_scalar;

template <typename T, typename M>
inline void Compare(const LocalTensor<M>& d, const LocalTensor<T>& a, const LocalTensor<T>& b, CMPMODE mode,
                    uint32_t count, PYASC_LOC)
{
    pyasc_model::compare(d.view, a.view, &b.view, {}, mode, Lanes::count(count), Strides::dense(), loc);
}
template <typename T, typename M, bool SET = true>
inline void Compare(const LocalTensor<M>& d, const LocalTensor<T>& a, const LocalTensor<T>& b, CMPMODE mode,
                    uint64_t mask, uint8_t repeat, const BinaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::compare(d.view, a.view, &b.view, {}, mode, Lanes::first(SET, mask, repeat), Strides::binary(p), loc);
}
template <typename T, bool SET = true>
inline void Compare(const LocalTensor<T>& a, const LocalTensor<T>& b, CMPMODE mode, uint64_t mask,
                    const BinaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::compare_to_register(a.view, b.view, mode, Lanes::first(SET, mask, 1), Strides::binary(p), loc);
}
template <typename T, typename M>
inline void CompareScalar(const LocalTensor<M>& d, const LocalTensor<T>& a, T s, CMPMODE mode, uint32_t count,
                          PYASC_LOC)
{
    pyasc_model::compare(d.view, a.view, nullptr, to_scalar(s), mode, Lanes::count(count), Strides::dense(), loc);
}
template <typename T, typename M, bool SET = true>
inline void CompareScalar(const LocalTensor<M>& d, const LocalTensor<T>& a, T s, CMPMODE mode, uint64_t mask,
                          uint8_t repeat, const UnaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::compare(d.view, a.view, nullptr, to_scalar(s), mode, Lanes::first(SET, mask, repeat),
                         Strides::unary(p), loc);
}
template <typename T, typename M>
inline void Compares(const LocalTensor<M>& d, const LocalTensor<T>& a, T s, CMPMODE mode, uint32_t count, PYASC_LOC)
{
    CompareScalar(d, a, s, mode, count, loc);
}
template <typename T>
inline void GetCmpMask(const LocalTensor<T>& d, PYASC_LOC) { pyasc_model::move_compare_register(d.view, false, loc); }
template <typename T>
inline void SetCmpMask(const LocalTensor<T>& s, PYASC_LOC) { pyasc_model::move_compare_register(s.view, true, loc); }

template <typename T, typename M>
inline void Select(const LocalTensor<T>& d, const LocalTensor<M>& m, const LocalTensor<T>& a, const LocalTensor<T>& b,
                   SELMODE mode, uint32_t count, PYASC_LOC)
{
    pyasc_model::select(d.view, m.view, a.view, &b.view, {}, mode, Lanes::count(count), Strides::dense(), loc);
}
template <typename T, typename M>
inline void Select(const LocalTensor<T>& d, const LocalTensor<M>& m, const LocalTensor<T>& a, T s, SELMODE mode,
                   uint32_t count, PYASC_LOC)
{
    pyasc_model::select(d.view, m.view, a.view, nullptr, to_scalar(s), mode, Lanes::count(count), Strides::dense(),
                        loc);
}
template <typename T, typename M, bool SET = true>
inline void Select(const LocalTensor<T>& d, const LocalTensor<M>& m, const LocalTensor<T>& a, const LocalTensor<T>& b,
                   SELMODE mode, uint64_t mask, uint8_t repeat, const BinaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::select(d.view, m.view, a.view, &b.view, {}, mode, Lanes::first(SET, mask, repeat),
                        Strides::binary(p), loc);
}
template <typename T, typename M, bool SET = true>
inline void Select(const LocalTensor<T>& d, const LocalTensor<M>& m, const LocalTensor<T>& a, T s, SELMODE mode,
                   uint64_t mask, uint8_t repeat, const BinaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::select(d.view, m.view, a.view, nullptr, to_scalar(s), mode, Lanes::first(SET, mask, repeat),
                        Strides::binary(p), loc);
}

template <typename T, typename U>
inline void GatherMask(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<U>& pattern, bool reduce,
                       uint32_t mask, const GatherMaskParams& p, uint64_t& kept, PYASC_LOC)
{
    kept = pyasc_model::gather_mask(d.view, s.view, &pattern.view, 0, reduce, mask, p, loc);
}
template <typename T>
inline void GatherMask(const LocalTensor<T>& d, const LocalTensor<T>& s, uint8_t pattern, bool reduce, uint32_t mask,
                       const GatherMaskParams& p, uint64_t& kept, PYASC_LOC)
{
    kept = pyasc_model::gather_mask(d.view, s.view, nullptr, pattern, reduce, mask, p, loc);
}
template <typename T>
inline void Gather(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<uint32_t>& offsets,
                   uint32_t base, uint32_t count, PYASC_LOC)
{
    pyasc_model::gather(d.view, s.view, offsets.view, base, Lanes::count(count), Strides::DENSE, loc);
}
template <typename T>
inline void Gather(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<uint32_t>& offsets,
                   uint32_t base, uint64_t mask, uint8_t repeat, uint16_t dstRep, PYASC_LOC)
{
    pyasc_model::gather(d.view, s.view, offsets.view, base, Lanes::first(true, mask, repeat), dstRep, loc);
}
template <typename T>
inline void Gatherb(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<uint32_t>& offsets,
                    uint8_t repeat, const GatherRepeatParams& p, PYASC_LOC)
{
    pyasc_model::gather_blocks(d.view, s.view, offsets.view, repeat, p, loc);
}

// ---- the same with the lanes of a repeat as bits
template <typename T, typename M, bool SET = true>
inline void Compare(const LocalTensor<M>& d, const LocalTensor<T>& a, const LocalTensor<T>& b, CMPMODE mode,
                    uint64_t mask[], uint8_t repeat, const BinaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::compare(d.view, a.view, &b.view, {}, mode, Lanes::bits(SET, mask, repeat, sizeof(T) <= 2),
                         Strides::binary(p), loc);
}
template <typename T, typename M, bool SET = true>
inline void Select(const LocalTensor<T>& d, const LocalTensor<M>& m, const LocalTensor<T>& a, const LocalTensor<T>& b,
                   SELMODE mode, uint64_t mask[], uint8_t repeat, const BinaryRepeatParams& p, PYASC_LOC)
{
    pyasc_model::select(d.view, m.view, a.view, &b.view, {}, mode, Lanes::bits(SET, mask, repeat, sizeof(T) <= 2),
                        Strides::binary(p), loc);
}
template <typename T>
inline void Gather(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<uint32_t>& offsets,
                   uint32_t base, uint64_t mask[], uint8_t repeat, uint16_t dstRep, PYASC_LOC)
{
    pyasc_model::gather(d.view, s.view, offsets.view, base, Lanes::bits(true, mask, repeat, sizeof(T) <= 2), dstRep,
                        loc);
}

// ---- reductions: the old names put repeat before mask in Block and Pair forms
#define PYASC_WHOLE(NAME, FOLD)                                                                                    \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, const uint64_t mask[], int32_t repeat,      \
                     int32_t dstRep, int32_t srcBlk, int32_t srcRep,                                               \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, PYASC_LOC)                                \
    {                                                                                                              \
        pyasc_model::reduce_repeat(FOLD, d.view, s.view, Lanes::bits(SET, mask, repeat, sizeof(T) <= 2), dstRep,   \
                                   srcBlk, srcRep, order, loc);                                                    \
    }                                                                                                              \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t mask, int32_t repeat,               \
                     int32_t dstRep, int32_t srcBlk, int32_t srcRep,                                               \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, PYASC_LOC)                                \
    {                                                                                                              \
        pyasc_model::reduce_repeat(FOLD, d.view, s.view, Lanes::first(SET, mask, repeat), dstRep, srcBlk, srcRep,  \
                                   order, loc);                                                                    \
    }
PYASC_WHOLE(WholeReduceMax, Fold::MAX)
PYASC_WHOLE(WholeReduceMin, Fold::MIN)
#undef PYASC_WHOLE
template <typename T, bool SET = true>
inline void WholeReduceSum(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t mask, int32_t repeat,
                           int32_t dstRep, int32_t srcBlk, int32_t srcRep, PYASC_LOC)
{
    pyasc_model::reduce_repeat(Fold::SUM, d.view, s.view, Lanes::first(SET, mask, repeat), dstRep, srcBlk, srcRep,
                               ReduceOrder::ORDER_ONLY_VALUE, loc);
}
template <typename T, bool SET = true>
inline void WholeReduceSum(const LocalTensor<T>& d, const LocalTensor<T>& s, const uint64_t mask[], int32_t repeat,
                           int32_t dstRep, int32_t srcBlk, int32_t srcRep, PYASC_LOC)
{
    pyasc_model::reduce_repeat(Fold::SUM, d.view, s.view, Lanes::bits(SET, mask, repeat, sizeof(T) <= 2), dstRep,
                               srcBlk, srcRep, ReduceOrder::ORDER_ONLY_VALUE, loc);
}
template <typename T>
inline void RepeatReduceSum(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t repeat, int32_t mask,
                            int32_t dstBlk, int32_t srcBlk, int32_t dstRep, int32_t srcRep, PYASC_LOC)
{
    (void)dstBlk;
    pyasc_model::reduce_repeat(Fold::SUM, d.view, s.view, Lanes::first(true, mask, repeat), dstRep, srcBlk, srcRep,
                               ReduceOrder::ORDER_ONLY_VALUE, loc);
}
#define PYASC_BLOCK(NAME, FOLD)                                                                                    \
    template <typename T, bool SET = true>                                                                         \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t repeat, int32_t mask,               \
                     int32_t dstRep, int32_t srcBlk, int32_t srcRep, PYASC_LOC)                                    \
    {                                                                                                              \
        pyasc_model::reduce_block(FOLD, d.view, s.view, Lanes::first(SET, mask, repeat), dstRep, srcBlk, srcRep,   \
                                  loc);                                                                            \
    }
PYASC_BLOCK(BlockReduceSum, Fold::SUM)
PYASC_BLOCK(BlockReduceMax, Fold::MAX)
PYASC_BLOCK(BlockReduceMin, Fold::MIN)
#undef PYASC_BLOCK
template <typename T, bool SET = true>
inline void PairReduceSum(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t repeat, int32_t mask,
                          int32_t dstRep, int32_t srcBlk, int32_t srcRep, PYASC_LOC)
{
    pyasc_model::reduce_pair(d.view, s.view, Lanes::first(SET, mask, repeat), dstRep, srcBlk, srcRep, loc);
}
template <ReduceType TYPE, typename T, bool SET = true>
inline void ReduceRepeat(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t mask, int32_t repeat,
                         int32_t dstRep, int32_t srcBlk, int32_t srcRep,
                         ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, PYASC_LOC)
{
    pyasc_model::reduce_repeat(static_cast<Fold>(TYPE), d.view, s.view, Lanes::first(SET, mask, repeat), dstRep,
                               srcBlk, srcRep, TYPE == ReduceType::SUM ? ReduceOrder::ORDER_ONLY_VALUE : order, loc);
}
template <ReduceType TYPE, typename T, bool SET = true>
inline void ReduceDataBlock(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t mask, int32_t repeat,
                            int32_t dstRep, int32_t srcBlk, int32_t srcRep, PYASC_LOC)
{
    pyasc_model::reduce_block(static_cast<Fold>(TYPE), d.view, s.view, Lanes::first(SET, mask, repeat), dstRep,
                              srcBlk, srcRep, loc);
}
template <ReduceType TYPE, typename T, bool SET = true>
inline void ReducePairElem(const LocalTensor<T>& d, const LocalTensor<T>& s, int32_t mask, int32_t repeat,
                           int32_t dstRep, int32_t srcBlk, int32_t srcRep, PYASC_LOC)
{
    static_assert(TYPE == ReduceType::SUM, "pairs are only summed");
    pyasc_model::reduce_pair(d.view, s.view, Lanes::first(SET, mask, repeat), dstRep, srcBlk, srcRep, loc);
}

template <typename T>
inline void ReduceSum(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<T>& tmp, int32_t count,
                      PYASC_LOC)
{
    pyasc_model::reduce_tensor(Fold::SUM, d.view, s.view, tmp.view, Lanes::count(count), 8, false, loc);
}
template <typename T>
inline void ReduceSum(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<T>& tmp, int32_t mask,
                      int32_t repeat, int32_t srcRep, PYASC_LOC)
{
    pyasc_model::reduce_tensor(Fold::SUM, d.view, s.view, tmp.view, Lanes::first(true, mask, repeat), srcRep, false,
                               loc);
}
#define PYASC_EXTREME(NAME, FOLD)                                                                                  \
    template <typename T>                                                                                          \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<T>& tmp, int32_t count,   \
                     bool calIndex = false, PYASC_LOC)                                                             \
    {                                                                                                              \
        pyasc_model::reduce_tensor(FOLD, d.view, s.view, tmp.view, Lanes::count(count), 8, calIndex, loc);         \
    }                                                                                                              \
    template <typename T>                                                                                          \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<T>& tmp, int32_t mask,    \
                     int32_t repeat, int32_t srcRep, bool calIndex = false, PYASC_LOC)                             \
    {                                                                                                              \
        pyasc_model::reduce_tensor(FOLD, d.view, s.view, tmp.view, Lanes::first(true, mask, repeat), srcRep,       \
                                   calIndex, loc);                                                                 \
    }
PYASC_EXTREME(ReduceMax, Fold::MAX)
PYASC_EXTREME(ReduceMin, Fold::MIN)
#undef PYASC_EXTREME
template <typename T>
inline T GetAccVal(PYASC_LOC)
{
    T v;
    pyasc_model::read_reduction(true, DTypeOf<T>::value, &v, nullptr, loc);
    return v;
}
template <typename T>
inline void GetReduceMaxMinCount(T& value, T& index, PYASC_LOC)
{
    pyasc_model::read_reduction(false, DTypeOf<T>::value, &value, &index, loc);
}
template <typename T>
inline T GetReduceRepeatSumSpr(PYASC_LOC) { return GetAccVal<T>(loc); }

// ---- layout
template <typename T>
inline void Brcb(const LocalTensor<T>& d, const LocalTensor<T>& s, uint8_t repeat, const BrcbRepeatParams& p,
                 PYASC_LOC)
{
    pyasc_model::broadcast_blocks(d.view, s.view, repeat, p, loc);
}
template <typename T>
inline void Transpose(const LocalTensor<T>& d, const LocalTensor<T>& s, PYASC_LOC)
{
    pyasc_model::transpose16(d.view, s.view, loc);
}
template <typename T>
inline void TransDataTo5HD(const LocalTensor<T> (&d)[16], const LocalTensor<T> (&s)[16],
                           const TransDataTo5HDParams& p, PYASC_LOC)
{
    pyasc_model::View dst[16], src[16];
    for (int i = 0; i < 16; ++i) {
        dst[i] = d[i].view;
        src[i] = s[i].view;
    }
    pyasc_model::transpose_5hd(dst, src, p, loc);
}

// ---- sort
template <typename T>
inline void Sort32(const LocalTensor<T>& d, const LocalTensor<T>& score, const LocalTensor<uint32_t>& index,
                   int32_t repeat, PYASC_LOC)
{
    pyasc_model::sort32(d.view, score.view, index.view, repeat, loc);
}
template <typename T>
struct MrgSortSrcList {
    LocalTensor<T> src1, src2, src3, src4;
    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<T>& a, const LocalTensor<T>& b, const LocalTensor<T>& c,
                   const LocalTensor<T>& d)
        : src1(a), src2(b), src3(c), src4(d) {}
};
template <typename T>
inline void MrgSort(const LocalTensor<T>& d, const MrgSortSrcList<T>& list, const MrgSort4Info& info, PYASC_LOC)
{
    const pyasc_model::View src[4] = {list.src1.view, list.src2.view, list.src3.view, list.src4.view};
    pyasc_model::merge_sort(d.view, src, info, loc);
}
inline void GetMrgSortResult(uint16_t& n1, uint16_t& n2, uint16_t& n3, uint16_t& n4, PYASC_LOC)
{
    uint16_t n[4];
    pyasc_model::merge_sort_result(n, loc);
    n1 = n[0], n2 = n[1], n3 = n[2], n4 = n[3];
}

}  // namespace AscendC
