// SPDX-License-Identifier: Apache-2.0
// Data movement between global memory and on-chip memories.
#pragma once
#include "tensor.h"

namespace pyasc_model {

template <typename T>
inline uint64_t raw_bits(T v)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &v, sizeof(T));
    return bits;
}

}  // namespace pyasc_model

namespace AscendC {

template <typename T>
inline void DataCopy(const LocalTensor<T>& d, const GlobalTensor<T>& s, uint32_t count, PYASC_LOC)
{
    pyasc_model::copy_in_count(d.view, s.view, count * sizeof(T), loc);
}
template <typename T>
inline void DataCopy(const GlobalTensor<T>& d, const LocalTensor<T>& s, uint32_t count, PYASC_LOC)
{
    pyasc_model::copy_out_count(d.view, s.view, count * sizeof(T), loc);
}
template <typename T>
inline void DataCopy(const LocalTensor<T>& d, const GlobalTensor<T>& s, const DataCopyParams& p, PYASC_LOC)
{
    pyasc_model::copy_in(d.view, s.view, p, loc);
}
template <typename T>
inline void DataCopy(const GlobalTensor<T>& d, const LocalTensor<T>& s, const DataCopyParams& p, PYASC_LOC)
{
    pyasc_model::copy_out(d.view, s.view, p, loc);
}
template <typename T>
inline void DataCopy(const LocalTensor<T>& d, const GlobalTensor<T>& s, const Nd2NzParams& p, PYASC_LOC)
{
    pyasc_model::copy_nd2nz(d.view, s.view, p, loc);
}
template <typename D, typename S>
inline void DataCopy(const LocalTensor<D>& d, const LocalTensor<S>& s, const DataCopyParams& p, PYASC_LOC)
{
    pyasc_model::copy_local(d.view, s.view, p, loc);
}
template <typename D, typename S>
inline void DataCopy(const LocalTensor<D>& d, const LocalTensor<S>& s, uint32_t count, PYASC_LOC)
{
    pyasc_model::copy_local_count(d.view, s.view, count, loc);
}

template <typename T>
inline void DataCopyPad(const LocalTensor<T>& d, const GlobalTensor<T>& s, const DataCopyExtParams& p,
                        const DataCopyPadExtParams<T>& pad, PYASC_LOC)
{
    pyasc_model::copy_pad_in(d.view, s.view, p,
                             {pad.isPad, pad.leftPadding != 0 || pad.rightPadding != 0, pad.leftPadding,
                              pad.rightPadding, pyasc_model::raw_bits(pad.paddingValue)},
                             loc);
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& d, const LocalTensor<T>& s, const DataCopyExtParams& p, PYASC_LOC)
{
    pyasc_model::copy_pad_out(d.view, s.view, p, loc);
}
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& d, const GlobalTensor<T>& s, const DataCopyParams& p,
                        const DataCopyPadParams& pad, PYASC_LOC)
{
    pyasc_model::copy_pad_in(d.view, s.view, {p.blockCount, p.blockLen, p.srcStride, p.dstStride, 0},
                             {pad.isPad, pad.leftPadding != 0 || pad.rightPadding != 0, pad.leftPadding,
                              pad.rightPadding, pad.paddingValue},
                             loc);
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& d, const LocalTensor<T>& s, const DataCopyParams& p, PYASC_LOC)
{
    pyasc_model::copy_pad_out(d.view, s.view, {p.blockCount, p.blockLen, p.srcStride, p.dstStride, 0}, loc);
}
template <typename T>
inline void SetPadValue(T value, PYASC_LOC) { pyasc_model::set_pad_value(pyasc_model::raw_bits(value), loc); }

}  // namespace AscendC
