// SPDX-License-Identifier: Apache-2.0
// d = a + b (or a cast of a) with any mask form and any strides, for comparison with a plain loop.
#include "kernel_operator.h"

using namespace AscendC;

struct Form {
    uint64_t low, high;
    uint32_t kind;  // 0 first n, 1 bits, 2 counter mode, 3 mask register
    uint32_t repeat;
    uint32_t block[3], rep[3];
};

constexpr uint32_t BYTES = 60000;

template <typename T>
class Strided {
public:
    __aicore__ inline Strided(GM_ADDR x, GM_ADDR y, GM_ADDR o)
    {
        pipe.InitBuffer(bufA, BYTES);
        pipe.InitBuffer(bufB, BYTES);
        pipe.InitBuffer(bufD, BYTES);
        a = bufA.Get<T>();
        b = bufB.Get<T>();
        d = bufD.Get<T>();
        gx.SetGlobalBuffer((__gm__ T*)x, BYTES / sizeof(T));
        gy.SetGlobalBuffer((__gm__ T*)y, BYTES / sizeof(T));
        go.SetGlobalBuffer((__gm__ T*)o, BYTES / sizeof(T));
        DataCopy(a, gx, BYTES / sizeof(T));
        DataCopy(b, gy, BYTES / sizeof(T));
        DataCopy(d, go, BYTES / sizeof(T));
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    }
    __aicore__ inline void Run(const Form& f)
    {
        const BinaryRepeatParams p(f.block[0], f.block[1], f.block[2], f.rep[0], f.rep[1], f.rep[2]);
        uint64_t mask[2] = {f.low, f.high};
        switch (f.kind) {
        case 0: Add(d, a, b, f.low, f.repeat, p); break;
        case 1: Add(d, a, b, mask, f.repeat, p); break;
        case 2:
            SetMaskCount();
            SetVectorMask<T, MaskMode::COUNTER>(0, f.low);
            Add<T, false>(d, a, b, MASK_PLACEHOLDER, 1, p);
            SetMaskNorm();
            ResetMask();
            break;
        default:
            SetVectorMask<T, MaskMode::NORMAL>(f.high, f.low);
            Add<T, false>(d, a, b, MASK_PLACEHOLDER, f.repeat, p);
            ResetMask();
        }
    }
    __aicore__ inline void Widen(const Form& f)
    {
        const UnaryRepeatParams p(f.block[0], f.block[1], f.rep[0], f.rep[1]);
        Cast(d.template ReinterpretCast<float>(), a.template ReinterpretCast<half>(), RoundMode::CAST_NONE, f.low,
             f.repeat, p);
    }
    __aicore__ inline void Store()
    {
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(go, d, BYTES / sizeof(T));
    }

private:
    TPipe pipe;
    TBuf<TPosition::VECCALC> bufA, bufB, bufD;
    LocalTensor<T> a, b, d;
    GlobalTensor<T> gx, gy, go;
};

extern "C" __global__ __aicore__ void strided_float(GM_ADDR x, GM_ADDR y, GM_ADDR o, Form f)
{
    Strided<float> s(x, y, o);
    s.Run(f);
    s.Store();
}

extern "C" __global__ __aicore__ void strided_half(GM_ADDR x, GM_ADDR y, GM_ADDR o, Form f)
{
    Strided<half> s(x, y, o);
    s.Run(f);
    s.Store();
}

extern "C" __global__ __aicore__ void strided_widen(GM_ADDR x, GM_ADDR y, GM_ADDR o, Form f)
{
    Strided<half> s(x, y, o);
    s.Widen(f);
    s.Store();
}
