// SPDX-License-Identifier: Apache-2.0
// Synchronisation, masks, atomics and system queries.
#pragma once
#include "tensor.h"

#define KERNEL_TASK_TYPE_DEFAULT(type) pyasc_model::kernel_type(type)
#define ASCEND_IS_AIC (pyasc_model::is_cube_core())
#define ASCEND_IS_AIV (!pyasc_model::is_cube_core())
#define ASCEND_IS_NOT_AIC (!pyasc_model::is_cube_core())
#define ASCEND_IS_NOT_AIV (pyasc_model::is_cube_core())

namespace AscendC {

template <HardEvent EVENT>
inline void SetFlag(int32_t id, PYASC_LOC) { pyasc_model::flag_set(static_cast<int>(EVENT), id, loc); }
template <HardEvent EVENT>
inline void WaitFlag(int32_t id, PYASC_LOC) { pyasc_model::flag_wait(static_cast<int>(EVENT), id, loc); }
template <pipe_t PIPE>
inline void PipeBarrier(PYASC_LOC) { pyasc_model::barrier(PIPE, loc); }
template <MemDsbT KIND>
inline void DataSyncBarrier(PYASC_LOC) { pyasc_model::scalar_instruction(loc); }
template <uint8_t MODE, pipe_t PIPE>
inline void CrossCoreSetFlag(uint16_t id, PYASC_LOC) { pyasc_model::cross_set(MODE, PIPE, id, loc); }
template <uint8_t MODE = 0, pipe_t PIPE = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t id, PYASC_LOC) { pyasc_model::cross_wait(id, loc); }
template <bool VECTOR_ONLY = true>
inline void SyncAll(PYASC_LOC) { pyasc_model::sync_all(VECTOR_ONLY, loc); }
template <bool VECTOR_ONLY = true>
inline void SyncAll(const GlobalTensor<int32_t>& ws, const LocalTensor<int32_t>& ub, int32_t used = 0, PYASC_LOC)
{
    pyasc_model::sync_all_soft(ws.view, ub.view, used, loc);
}

inline void SetMaskCount(PYASC_LOC) { pyasc_model::mask_mode(true, loc); }
inline void SetMaskNorm(PYASC_LOC) { pyasc_model::mask_mode(false, loc); }
inline void ResetMask(PYASC_LOC) { pyasc_model::mask_reset(loc); }
template <typename T, MaskMode MODE = MaskMode::NORMAL>
inline void SetVectorMask(uint64_t high, uint64_t low, PYASC_LOC)
{
    pyasc_model::mask_set(high, low, loc);
}
template <typename T, MaskMode MODE = MaskMode::NORMAL>
inline void SetVectorMask(int32_t n, PYASC_LOC)
{
    pyasc_model::mask_set_count(n, MODE == MaskMode::COUNTER, DTypeOf<T>::value, loc);
}

template <typename T>
inline void SetAtomicAdd(PYASC_LOC) { pyasc_model::atomic_mode(pyasc_model::Atomic::ADD, DTypeOf<T>::value, loc); }
template <typename T>
inline void SetAtomicMax(PYASC_LOC) { pyasc_model::atomic_mode(pyasc_model::Atomic::MAX, DTypeOf<T>::value, loc); }
template <typename T>
inline void SetAtomicMin(PYASC_LOC) { pyasc_model::atomic_mode(pyasc_model::Atomic::MIN, DTypeOf<T>::value, loc); }
inline void SetAtomicNone(PYASC_LOC) { pyasc_model::atomic_mode(pyasc_model::Atomic::NONE, pyasc_model::DType::F32, loc); }
inline void DisableDmaAtomic(PYASC_LOC) { SetAtomicNone(loc); }

inline void SetDeqScale(half scale, PYASC_LOC) { pyasc_model::deq_scale(static_cast<float>(scale), 0, true, loc); }
inline void SetDeqScale(float scale, int16_t offset, bool isSigned, PYASC_LOC)
{
    pyasc_model::deq_scale(scale, offset, isSigned, loc);
}

inline int64_t GetBlockIdx(PYASC_LOC) { return pyasc_model::block_index(loc); }
inline int64_t GetBlockNum(PYASC_LOC) { return pyasc_model::block_count(loc); }
inline int64_t GetSubBlockIdx(PYASC_LOC) { return pyasc_model::sub_block_index(loc); }
inline int64_t GetSubBlockNum(PYASC_LOC) { return pyasc_model::sub_block_count(loc); }
inline int64_t GetTaskRatio(PYASC_LOC) { return pyasc_model::task_ratio(loc); }
inline int64_t GetTaskRation(PYASC_LOC) { return pyasc_model::task_ratio(loc); }
inline int64_t GetSystemCycle(PYASC_LOC) { return pyasc_model::system_cycle(loc); }
inline void GetArchVersion(uint32_t& version) { version = __NPU_ARCH__; }
inline void InitSocState(PYASC_LOC) { pyasc_model::init_soc_state(loc); }
inline GM_ADDR GetSysWorkSpacePtr(PYASC_LOC) { return pyasc_model::system_workspace(loc); }

inline void ICachePreLoad(int64_t, PYASC_LOC) { pyasc_model::scalar_instruction(loc); }
template <typename T>
inline void DataCachePreload(const GlobalTensor<uint64_t>&, T, PYASC_LOC) { pyasc_model::scalar_instruction(loc); }

template <int COUNT_VALUE>
inline int64_t ScalarGetCountOfValue(uint64_t v, PYASC_LOC)
{
    pyasc_model::scalar_instruction(loc);
    return __builtin_popcountll(COUNT_VALUE ? v : ~v);
}
inline int64_t ScalarCountLeadingZero(uint64_t v, PYASC_LOC)
{
    pyasc_model::scalar_instruction(loc);
    return v == 0 ? 64 : __builtin_clzll(v);
}
template <int VALUE>
inline int64_t ScalarGetSFFValue(uint64_t v, PYASC_LOC)
{
    pyasc_model::scalar_instruction(loc);
    const uint64_t w = VALUE ? v : ~v;
    return w == 0 ? -1 : __builtin_ctzll(w);
}
template <int COUNT_VALUE>
inline int64_t GetBitCount(uint64_t v, PYASC_LOC) { return ScalarGetCountOfValue<COUNT_VALUE>(v, loc); }
inline int64_t CountLeadingZero(uint64_t v, PYASC_LOC) { return ScalarCountLeadingZero(v, loc); }
template <int VALUE>
inline int64_t GetSFFValue(uint64_t v, PYASC_LOC) { return ScalarGetSFFValue<VALUE>(v, loc); }
inline bfloat16_t ToBfloat16(float v) { return bfloat16_t(v); }
inline float ToFloat(bfloat16_t v) { return static_cast<float>(v); }

template <typename S, typename D, RoundMode MODE>
inline D ScalarCast(S v, PYASC_LOC)
{
    pyasc_model::scalar_instruction(loc);
    if constexpr (IsSameType<D, int32_t>::value) {
        static_assert(IsSameType<S, float>::value, "ScalarCast: float to int32");
        const float f = v;
        const float low = __builtin_floorf(f);
        const float away = __builtin_truncf(f + (f < 0 ? -0.5f : 0.5f));
        const float r = MODE == RoundMode::CAST_FLOOR ? low : MODE == RoundMode::CAST_CEIL ? __builtin_ceilf(f)
                      : MODE == RoundMode::CAST_TRUNC ? __builtin_truncf(f)
                      : MODE == RoundMode::CAST_ROUND ? away : __builtin_nearbyintf(f);
        return r >= 2147483648.0f ? 2147483647 : r <= -2147483648.0f ? -2147483647 - 1 : static_cast<int32_t>(r);
    } else {
        static_assert(!IsSameType<D, half>::value || MODE == RoundMode::CAST_ODD,
                      "ScalarCast float to half rounds to odd only");
        const float f = static_cast<float>(v);
        D d(f);
        if (static_cast<float>(d) != f && f == f && !(d.bits & 1)) {
            const bool above = __builtin_fabsf(static_cast<float>(d)) > __builtin_fabsf(f);
            d.bits = static_cast<uint16_t>(above ? d.bits - 1 : d.bits + 1);
        }
        return d;
    }
}

template <typename T>
inline void DumpTensor(const LocalTensor<T>& t, uint32_t tag, uint32_t count, PYASC_LOC)
{
    pyasc_model::dump(t.view, tag, count, loc);
}

inline int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
inline int printf(const char* format, ...)
{
    char text[1024];
    __builtin_va_list args;
    __builtin_va_start(args, format);
    __builtin_vsnprintf(text, sizeof text, format, args);
    __builtin_va_end(args);
    pyasc_model::print(text);
    return 0;
}

}  // namespace AscendC

#ifndef assert
#define assert(expression, ...) pyasc_model::check_assertion(static_cast<bool>(expression), #expression, pyasc_model::Loc::here())
#endif
