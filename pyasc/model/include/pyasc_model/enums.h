// SPDX-License-Identifier: Apache-2.0
// Enumerations of the Ascend C interface.
#pragma once
#include <stdint.h>

enum pipe_t { PIPE_S = 0, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };

enum event_t { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

enum QuantMode_t {
    NoQuant = 0, F322F16 = 1, VREQ8 = 8, REQ8 = 9, VDEQF16 = 10, DEQF16 = 11, F322BF16 = 16,
    VREQ4 = 21, REQ4 = 22, VQF322B8_PRE = 23, QF322B8_PRE = 24
};

namespace AscendC {

enum class TPosition : uint8_t {
    GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM, SPM, TSCM, C2PIPE2GM, MAX
};
using QuePosition = TPosition;

// One enumerator a legal (source pipe, destination pipe) pair: source * 8 + destination.
enum class HardEvent : uint8_t {
    S_V = PIPE_S * 8 + PIPE_V, S_MTE2 = PIPE_S * 8 + PIPE_MTE2, S_MTE3 = PIPE_S * 8 + PIPE_MTE3,
    V_S = PIPE_V * 8 + PIPE_S, V_MTE2 = PIPE_V * 8 + PIPE_MTE2, V_MTE3 = PIPE_V * 8 + PIPE_MTE3,
    V_V = PIPE_V * 8 + PIPE_V, V_M = PIPE_V * 8 + PIPE_M, V_MTE1 = PIPE_V * 8 + PIPE_MTE1,
    MTE2_S = PIPE_MTE2 * 8 + PIPE_S, MTE2_V = PIPE_MTE2 * 8 + PIPE_V, MTE2_MTE3 = PIPE_MTE2 * 8 + PIPE_MTE3,
    MTE2_MTE1 = PIPE_MTE2 * 8 + PIPE_MTE1, MTE2_M = PIPE_MTE2 * 8 + PIPE_M, MTE2_FIX = PIPE_MTE2 * 8 + PIPE_FIX,
    MTE3_S = PIPE_MTE3 * 8 + PIPE_S, MTE3_V = PIPE_MTE3 * 8 + PIPE_V, MTE3_MTE2 = PIPE_MTE3 * 8 + PIPE_MTE2,
    MTE3_MTE1 = PIPE_MTE3 * 8 + PIPE_MTE1,
    M_S = PIPE_M * 8 + PIPE_S, M_V = PIPE_M * 8 + PIPE_V, M_MTE1 = PIPE_M * 8 + PIPE_MTE1,
    M_MTE2 = PIPE_M * 8 + PIPE_MTE2, M_FIX = PIPE_M * 8 + PIPE_FIX,
    MTE1_M = PIPE_MTE1 * 8 + PIPE_M, MTE1_MTE2 = PIPE_MTE1 * 8 + PIPE_MTE2, MTE1_MTE3 = PIPE_MTE1 * 8 + PIPE_MTE3,
    MTE1_FIX = PIPE_MTE1 * 8 + PIPE_FIX, MTE1_V = PIPE_MTE1 * 8 + PIPE_V,
    FIX_M = PIPE_FIX * 8 + PIPE_M, FIX_MTE1 = PIPE_FIX * 8 + PIPE_MTE1, FIX_S = PIPE_FIX * 8 + PIPE_S,
    FIX_MTE2 = PIPE_FIX * 8 + PIPE_MTE2, FIX_MTE3 = PIPE_FIX * 8 + PIPE_MTE3, FIX_FIX = PIPE_FIX * 8 + PIPE_FIX
};
using TEventID = int8_t;

enum class MaskMode : uint8_t { NORMAL, COUNTER };
enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class RoundMode : uint8_t {
    CAST_NONE = 0, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD
};
enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };
enum class ReduceType : uint8_t { SUM, MAX, MIN };
enum class CacheMode : uint8_t { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL, CACHE_MODE_LAST, CACHE_MODE_PERSISTENT };
enum class CacheRwMode : uint8_t { READ = 1, WRITE, RW };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint8_t { ALL = 0, DDR, UB, SEQ };
enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };
enum class CubeFormat : uint8_t { ND = 0, NZ, ZN, ZZ, NN, VECTOR };

using ::QuantMode_t;
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr int32_t TOTAL_L0C_SIZE = 128 * 1024;

template <typename A, typename B>
struct IsSameType { static constexpr bool value = false; };
template <typename A>
struct IsSameType<A, A> { static constexpr bool value = true; };

}  // namespace AscendC

enum KernelMetaType {
    KERNEL_TYPE_AIV_ONLY = 0, KERNEL_TYPE_AIC_ONLY, KERNEL_TYPE_MIX_AIV_1_0, KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1, KERNEL_TYPE_MIX_AIC_1_2, KERNEL_TYPE_UNMARKED
};
