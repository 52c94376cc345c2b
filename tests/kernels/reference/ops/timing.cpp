// SPDX-License-Identifier: Apache-2.0
// Launches whose duration is published (cost.md); `count` repeats of one instruction.
#include "kernel_operator.h"

using namespace AscendC;

// 4096 floats, sources 256 bytes apart modulo 512 (no bank conflict) or together.
extern "C" __global__ __aicore__ void time_add(GM_ADDR x, uint32_t count, uint32_t conflict)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 65536);
    LocalTensor<float> t = buf.Get<float>();
    LocalTensor<float> a = t, b = t[conflict ? 4096 : 4096 + 64], c = t[9216];
    Duplicate(t, 1.0f, 9216);
    for (uint32_t i = 0; i < count; ++i) {
        PipeBarrier<PIPE_V>();
        Add(c, a, b, 4096);
    }
}

extern "C" __global__ __aicore__ void time_copy_in(GM_ADDR x, uint32_t count, uint32_t bytes)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 65536);
    LocalTensor<float> t = buf.Get<float>();
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x, 16384);
    for (uint32_t i = 0; i < count; ++i) {
        PipeBarrier<PIPE_MTE2>();
        DataCopy(t, g, bytes / 4);
    }
}

extern "C" __global__ __aicore__ void time_mmad(GM_ADDR x, uint32_t count, uint32_t m, uint32_t n, uint32_t k)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TBuf<TPosition::A2> bufA;
    TBuf<TPosition::B2> bufB;
    TBuf<TPosition::CO1> bufC;
    pipe.InitBuffer(bufA, 65536);
    pipe.InitBuffer(bufB, 65536);
    pipe.InitBuffer(bufC, 131072);
    LocalTensor<half> a = bufA.Get<half>(), b = bufB.Get<half>();
    LocalTensor<float> c = bufC.Get<float>();
    InitConstValue(a, InitConstValueParams<half>(1, 128, 0, half(0.0f)));
    InitConstValue(b, InitConstValueParams<half>(1, 128, 0, half(0.0f)));
    SetFlag<HardEvent::MTE1_M>(EVENT_ID0);
    WaitFlag<HardEvent::MTE1_M>(EVENT_ID0);
    for (uint32_t i = 0; i < count; ++i) {
        Mmad(c, a, b, MmadParams(m, n, k, 0, false, i == 0));
        PipeBarrier<PIPE_M>();
    }
}
