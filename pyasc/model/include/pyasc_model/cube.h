// SPDX-License-Identifier: Apache-2.0
// Cube instructions: L1 to L0, Mmad, Fixpipe.
#pragma once
#include "copy.h"

namespace AscendC {

template <typename T>
inline void LoadData(const LocalTensor<T>& d, const LocalTensor<T>& s, const LoadData2DParams& p, PYASC_LOC)
{
    pyasc_model::load_2d(d.view, s.view, p, loc);
}
template <typename T>
inline void LoadData(const LocalTensor<T>& d, const GlobalTensor<T>& s, const LoadData2DParams& p, PYASC_LOC)
{
    pyasc_model::load_2d_gm(d.view, s.view, p, loc);
}
template <typename T>
inline void LoadData(const LocalTensor<T>& d, const LocalTensor<T>& s, const LoadData3DParamsV2<T>& p, PYASC_LOC)
{
    LoadData3DParamsV2<int32_t> q;
    __builtin_memcpy(q.padList, p.padList, sizeof q.padList);
    q.l1H = p.l1H, q.l1W = p.l1W, q.channelSize = p.channelSize;
    q.kExtension = p.kExtension, q.mExtension = p.mExtension, q.kStartPt = p.kStartPt, q.mStartPt = p.mStartPt;
    q.strideW = p.strideW, q.strideH = p.strideH, q.filterW = p.filterW, q.filterH = p.filterH;
    q.dilationFilterW = p.dilationFilterW, q.dilationFilterH = p.dilationFilterH;
    q.enTranspose = p.enTranspose, q.enSmallK = p.enSmallK;
    q.filterSizeW = p.filterSizeW, q.filterSizeH = p.filterSizeH, q.fMatrixCtrl = p.fMatrixCtrl;
    pyasc_model::load_3d(d.view, s.view, q, static_cast<uint32_t>(pyasc_model::raw_bits(p.padValue)), loc);
}
template <typename T>
inline void LoadDataWithTranspose(const LocalTensor<T>& d, const LocalTensor<T>& s,
                                  const LoadData2dTransposeParams& p, PYASC_LOC)
{
    pyasc_model::load_transpose(d.view, s.view, p, loc);
}
template <typename T>
inline void InitConstValue(const LocalTensor<T>& d, const InitConstValueParams<T>& p, PYASC_LOC)
{
    pyasc_model::fill(d.view, p.repeatTimes, p.blockNum, p.dstGap, pyasc_model::raw_bits(p.initValue), loc);
}
template <typename T>
inline void Fill(const LocalTensor<T>& d, const InitConstValueParams<T>& p, PYASC_LOC) { InitConstValue(d, p, loc); }

template <typename C, typename A, typename B>
inline void Mmad(const LocalTensor<C>& d, const LocalTensor<A>& a, const LocalTensor<B>& b, const MmadParams& p,
                 PYASC_LOC)
{
    pyasc_model::mmad(d.view, a.view, b.view, nullptr, p, loc);
}
template <typename C, typename A, typename B, typename S>
inline void Mmad(const LocalTensor<C>& d, const LocalTensor<A>& a, const LocalTensor<B>& b,
                 const LocalTensor<S>& bias, const MmadParams& p, PYASC_LOC)
{
    pyasc_model::mmad(d.view, a.view, b.view, &bias.view, p, loc);
}

template <typename D, typename S, const FixpipeConfig& CONFIG = CFG_ROW_MAJOR>
inline void Fixpipe(const GlobalTensor<D>& d, const LocalTensor<S>& s, const FixpipeParamsV220& p, PYASC_LOC)
{
    pyasc_model::fixpipe(&d.view, nullptr, s.view, nullptr, p, CONFIG.format == CO2Layout::ROW_MAJOR, loc);
}
template <typename D, typename S, const FixpipeConfig& CONFIG = CFG_ROW_MAJOR>
inline void Fixpipe(const GlobalTensor<D>& d, const LocalTensor<S>& s, const LocalTensor<uint64_t>& scales,
                    const FixpipeParamsV220& p, PYASC_LOC)
{
    pyasc_model::fixpipe(&d.view, nullptr, s.view, &scales.view, p, CONFIG.format == CO2Layout::ROW_MAJOR, loc);
}
template <typename D, typename S, const FixpipeConfig& CONFIG = CFG_ROW_MAJOR>
inline void Fixpipe(const LocalTensor<D>& d, const LocalTensor<S>& s, const FixpipeParamsV220& p, PYASC_LOC)
{
    static_assert(sizeof(D) < 4 && !IsSameType<D, uint8_t>::value, "L0C to L1 takes half, bfloat16 and int8");
    pyasc_model::fixpipe(nullptr, &d.view, s.view, nullptr, p, CONFIG.format == CO2Layout::ROW_MAJOR, loc);
}
template <typename D, typename S, const FixpipeConfig& CONFIG = CFG_ROW_MAJOR>
inline void Fixpipe(const LocalTensor<D>& d, const LocalTensor<S>& s, const LocalTensor<uint64_t>& scales,
                    const FixpipeParamsV220& p, PYASC_LOC)
{
    static_assert(sizeof(D) < 4 && !IsSameType<D, uint8_t>::value, "L0C to L1 takes half, bfloat16 and int8");
    pyasc_model::fixpipe(nullptr, &d.view, s.view, &scales.view, p, CONFIG.format == CO2Layout::ROW_MAJOR, loc);
}
template <typename D, typename S>
inline void DataCopy(const GlobalTensor<D>& d, const LocalTensor<S>& s, const DataCopyCO12DstParams& p, PYASC_LOC)
{
    FixpipeParamsV220 q(p.nSize, p.mSize, p.srcStride, p.dstStride, p.reluPre != 0, p.quantPre);
    q.unitFlag = p.unitFlag;
    q.isChannelSplit = p.channelSplit;
    pyasc_model::fixpipe(&d.view, nullptr, s.view, nullptr, q, p.nz2ndEn, loc);
}
template <typename D, typename S>
inline void DataCopy(const LocalTensor<D>& d, const LocalTensor<S>& s, const DataCopyCO12DstParams& p, PYASC_LOC)
{
    static_assert(sizeof(D) < 4 && !IsSameType<D, uint8_t>::value, "L0C to L1 takes half, bfloat16 and int8");
    FixpipeParamsV220 q(p.nSize, p.mSize, p.srcStride, p.dstStride, p.reluPre != 0, p.quantPre);
    pyasc_model::fixpipe(nullptr, &d.view, s.view, nullptr, q, p.nz2ndEn, loc);
}

inline void SetHF32Mode(bool on, PYASC_LOC) { pyasc_model::cube_mode(0, on, loc); }
inline void SetHF32TransMode(bool on, PYASC_LOC) { pyasc_model::cube_mode(1, on, loc); }
inline void SetMMLayoutTransform(bool on, PYASC_LOC) { pyasc_model::cube_mode(2, on, loc); }
inline void SetMMRowMajor(PYASC_LOC) { pyasc_model::cube_mode(2, 0, loc); }
inline void SetMMColumnMajor(PYASC_LOC) { pyasc_model::cube_mode(2, 1, loc); }
inline void SetFixpipePreQuantFlag(uint64_t config, PYASC_LOC)
{
    pyasc_model::cube_mode(3, static_cast<int>(static_cast<uint32_t>(config)), loc);
}

}  // namespace AscendC
