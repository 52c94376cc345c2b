// SPDX-License-Identifier: Apache-2.0
// One vector operation a launch, chosen by number, for comparison against NumPy.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t BYTES = 16384;

template <typename D, typename S>
class Single {
public:
    __aicore__ inline Single(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t count) : n(count)
    {
        pipe.InitBuffer(bufA, BYTES);
        pipe.InitBuffer(bufB, BYTES);
        pipe.InitBuffer(bufD, BYTES);
        a = bufA.Get<S>();
        b = bufB.Get<S>();
        d = bufD.Get<D>();
        out = o;
        In(a, x);
        In(b, y);
        In(d.template ReinterpretCast<S>(), y);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    }
    __aicore__ inline void Store(uint32_t count)
    {
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        GlobalTensor<D> g;
        g.SetGlobalBuffer((__gm__ D*)out, count);
        DataCopyPad(g, d, DataCopyExtParams(1, count * sizeof(D), 0, 0, 0));
    }
    LocalTensor<S> a, b;
    LocalTensor<D> d;
    uint32_t n;

private:
    __aicore__ inline void In(const LocalTensor<S>& t, GM_ADDR x)
    {
        GlobalTensor<S> g;
        g.SetGlobalBuffer((__gm__ S*)x, n);
        DataCopyPad(t, g, DataCopyExtParams(1, n * sizeof(S), 0, 0, 0), DataCopyPadExtParams<S>());
    }
    TPipe pipe;
    TBuf<TPosition::VECCALC> bufA, bufB, bufD;
    GM_ADDR out;
};

template <typename D, typename S>
__aicore__ inline void OneCast(GM_ADDR x, GM_ADDR o, uint32_t n, uint32_t mode)
{
    Single<D, S> v(x, x, o, n);
    Cast(v.d, v.a, static_cast<RoundMode>(mode), n);
    v.Store(n);
}

extern "C" __global__ __aicore__ void cast(GM_ADDR x, GM_ADDR o, uint32_t n, uint32_t pair, uint32_t mode)
{
    switch (pair) {
    case 0: OneCast<half, int8_t>(x, o, n, mode); break;
    case 1: OneCast<half, uint8_t>(x, o, n, mode); break;
    case 2: OneCast<half, int16_t>(x, o, n, mode); break;
    case 3: OneCast<float, int16_t>(x, o, n, mode); break;
    case 4: OneCast<int8_t, half>(x, o, n, mode); break;
    case 5: OneCast<uint8_t, half>(x, o, n, mode); break;
    case 6: OneCast<int16_t, half>(x, o, n, mode); break;
    case 7: OneCast<int32_t, half>(x, o, n, mode); break;
    case 8: OneCast<float, half>(x, o, n, mode); break;
    case 9: OneCast<float, bfloat16_t>(x, o, n, mode); break;
    case 10: OneCast<int32_t, bfloat16_t>(x, o, n, mode); break;
    case 11: OneCast<int16_t, int32_t>(x, o, n, mode); break;
    case 12: OneCast<float, int32_t>(x, o, n, mode); break;
    case 13: OneCast<int64_t, int32_t>(x, o, n, mode); break;
    case 14: OneCast<half, float>(x, o, n, mode); break;
    case 15: OneCast<bfloat16_t, float>(x, o, n, mode); break;
    case 16: OneCast<int16_t, float>(x, o, n, mode); break;
    case 17: OneCast<int32_t, float>(x, o, n, mode); break;
    case 18: OneCast<int64_t, float>(x, o, n, mode); break;
    case 19: OneCast<float, float>(x, o, n, mode); break;
    case 20: OneCast<int32_t, int64_t>(x, o, n, mode); break;
    default: OneCast<float, int64_t>(x, o, n, mode); break;
    }
}

template <typename T>
__aicore__ inline void OneBinary(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n, uint32_t op)
{
    Single<T, T> v(x, y, o, n);
    switch (op) {
    case 0: Add(v.d, v.a, v.b, n); break;
    case 1: Sub(v.d, v.a, v.b, n); break;
    case 2: Mul(v.d, v.a, v.b, n); break;
    case 3: Max(v.d, v.a, v.b, n); break;
    default: Min(v.d, v.a, v.b, n); break;
    }
    v.Store(n);
}

extern "C" __global__ __aicore__ void binary(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n, uint32_t type, uint32_t op)
{
    switch (type) {
    case 0: OneBinary<half>(x, y, o, n, op); break;
    case 1: OneBinary<float>(x, y, o, n, op); break;
    case 2: OneBinary<int16_t>(x, y, o, n, op); break;
    default: OneBinary<int32_t>(x, y, o, n, op); break;
    }
}

template <typename T>
__aicore__ inline void OneFloat(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n, uint32_t op)
{
    Single<T, T> v(x, y, o, n);
    switch (op) {
    case 0: Exp(v.d, v.a, n); break;
    case 1: Ln(v.d, v.a, n); break;
    case 2: Sqrt(v.d, v.a, n); break;
    case 3: Rsqrt(v.d, v.a, n); break;
    case 4: Reciprocal(v.d, v.a, n); break;
    case 5: Abs(v.d, v.a, n); break;
    case 6: Relu(v.d, v.a, n); break;
    case 7: Div(v.d, v.a, v.b, n); break;
    case 8: AddRelu(v.d, v.a, v.b, n); break;
    case 9: SubRelu(v.d, v.a, v.b, n); break;
    case 10: MulAddDst(v.d, v.a, v.b, n); break;
    case 11: FusedMulAdd(v.d, v.a, v.b, n); break;
    case 12: Adds(v.d, v.a, static_cast<T>(1.5f), n); break;
    case 13: Muls(v.d, v.a, static_cast<T>(1.5f), n); break;
    case 14: Maxs(v.d, v.a, static_cast<T>(1.5f), n); break;
    case 15: Mins(v.d, v.a, static_cast<T>(1.5f), n); break;
    case 16: LeakyRelu(v.d, v.a, static_cast<T>(0.25f), n); break;
    case 17: Axpy(v.d, v.a, static_cast<T>(1.5f), n); break;
    case 18: Duplicate(v.d, static_cast<T>(1.5f), n); break;
    default: CreateVecIndex(v.d, static_cast<T>(3.0f), n); break;
    }
    v.Store(n);
}

extern "C" __global__ __aicore__ void floating(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n, uint32_t wide, uint32_t op)
{
    if (wide) {
        OneFloat<float>(x, y, o, n, op);
    } else {
        OneFloat<half>(x, y, o, n, op);
    }
}

template <typename T>
__aicore__ inline void OneBits(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n, uint32_t op)
{
    Single<T, T> v(x, y, o, n);
    switch (op) {
    case 0: ShiftLeft(v.d, v.a, T(3), n); break;
    case 1: ShiftRight(v.d, v.a, T(3), n); break;
    default:
        if constexpr (sizeof(T) == 2) {
            switch (op) {
            case 2: And(v.d, v.a, v.b, n); break;
            case 3: Or(v.d, v.a, v.b, n); break;
            default: Not(v.d, v.a, n); break;
            }
        }
    }
    v.Store(n);
}

extern "C" __global__ __aicore__ void bits(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n, uint32_t type, uint32_t op)
{
    switch (type) {
    case 0: OneBits<int16_t>(x, y, o, n, op); break;
    case 1: OneBits<uint16_t>(x, y, o, n, op); break;
    case 2: OneBits<int32_t>(x, y, o, n, op); break;
    default: OneBits<uint32_t>(x, y, o, n, op); break;
    }
}

template <typename T>
__aicore__ inline void OneReduce(GM_ADDR x, GM_ADDR o, uint32_t n, uint32_t op)
{
    Single<T, T> v(x, x, o, n);
    constexpr uint32_t lanes = 256 / sizeof(T);
    const int32_t repeats = n / lanes;
    uint32_t count = repeats;
    switch (op) {
    case 0: WholeReduceSum(v.d, v.a, lanes, repeats, 1, 1, 8); break;
    case 1: WholeReduceMax(v.d, v.a, lanes, repeats, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE); break;
    case 2: WholeReduceMin(v.d, v.a, lanes - 3, repeats, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE); break;
    case 3: BlockReduceSum(v.d, v.a, repeats, lanes, 1, 1, 8); count *= 8; break;
    case 4: BlockReduceMax(v.d, v.a, repeats, lanes, 1, 1, 8); count *= 8; break;
    case 5: BlockReduceMin(v.d, v.a, repeats, lanes, 1, 1, 8); count *= 8; break;
    case 6: PairReduceSum(v.d, v.a, repeats, lanes, 1, 1, 8); count = n / 2; break;
    case 7: ReduceSum(v.d, v.a, v.b, n); count = 1; break;
    case 8: ReduceMax(v.d, v.a, v.b, n); count = 1; break;
    default: ReduceMin(v.d, v.a, v.b, n); count = 1; break;
    }
    v.Store(count);
}

extern "C" __global__ __aicore__ void reduce(GM_ADDR x, GM_ADDR o, uint32_t n, uint32_t wide, uint32_t op)
{
    if (wide) {
        OneReduce<float>(x, o, n, op);
    } else {
        OneReduce<half>(x, o, n, op);
    }
}

template <typename T>
__aicore__ inline void OneCompare(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n, uint32_t mode, bool scalar)
{
    Single<T, T> v(x, y, o, n);
    LocalTensor<uint8_t> bits = v.d.template ReinterpretCast<uint8_t>();
    if (scalar) {
        CompareScalar(bits, v.a, static_cast<T>(0.5f), static_cast<CMPMODE>(mode), n);
    } else {
        Compare(bits, v.a, v.b, static_cast<CMPMODE>(mode), n);
    }
    v.Store(n / 8 / sizeof(T));
}

extern "C" __global__ __aicore__ void compare(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n, uint32_t wide, uint32_t mode,
                                              uint32_t scalar)
{
    if (wide) {
        OneCompare<float>(x, y, o, n, mode, scalar != 0);
    } else {
        OneCompare<half>(x, y, o, n, mode, scalar != 0);
    }
}
