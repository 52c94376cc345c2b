// SPDX-License-Identifier: Apache-2.0
// Faulty kernels for the model: FAULT(bad, good) is one or the other, so that every fault is seen and its correction
// is accepted. `// rule:` names the published rule, `// expect:` the finding due at that line.
#pragma once
#include "kernel_operator.h"

using namespace AscendC;

#ifdef FIXED
#define FAULT(bad, good) good
#else
#define FAULT(bad, good) bad
#endif

constexpr uint32_t N = 256;

template <typename T>
__aicore__ inline GlobalTensor<T> Gm(GM_ADDR p, uint64_t count = 4096)
{
    GlobalTensor<T> t;
    t.SetGlobalBuffer((__gm__ T*)p, count);
    return t;
}

template <HardEvent EVENT>
__aicore__ inline void Sync(int32_t id = EVENT_ID0)
{
    SetFlag<EVENT>(id);
    WaitFlag<EVENT>(id);
}

// Three vectors of 1024 floats in UB, without queues.
struct Vectors {
    TPipe pipe;
    TBuf<TPosition::VECCALC> bufA, bufB, bufC;
    LocalTensor<float> a, b, c;
    __aicore__ inline Vectors()
    {
        pipe.InitBuffer(bufA, 4096);
        pipe.InitBuffer(bufB, 4096);
        pipe.InitBuffer(bufC, 4096);
        a = bufA.Get<float>();
        b = bufB.Get<float>();
        c = bufC.Get<float>();
    }
    __aicore__ inline void Load(GM_ADDR x, GM_ADDR y)
    {
        DataCopy(a, Gm<float>(x), 1024);
        DataCopy(b, Gm<float>(y), 1024);
        Sync<HardEvent::MTE2_V>();
    }
    __aicore__ inline void Store(GM_ADDR o, const LocalTensor<float>& t, uint32_t count)
    {
        Sync<HardEvent::V_MTE3>();
        DataCopy(Gm<float>(o), t, count);
    }
};

#define KERNEL(NAME) extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
