// SPDX-License-Identifier: Apache-2.0
// o = x < y ? x : s with the compare mask kept in its register: one repeat at a time, 64 floats each.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void clamp_select(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t repeats)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> maskBuf, keepBuf;
    pipe.InitBuffer(in, 2, 4096);
    pipe.InitBuffer(out, 1, 4096);
    pipe.InitBuffer(maskBuf, 128);
    pipe.InitBuffer(keepBuf, 4096);
    const uint32_t n = repeats * 64;
    GlobalTensor<float> gx, gy, go;
    gx.SetGlobalBuffer((__gm__ float*)x, n);
    gy.SetGlobalBuffer((__gm__ float*)y, n);
    go.SetGlobalBuffer((__gm__ float*)o, n);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, gx, n);
    in.EnQue(a);
    LocalTensor<float> b = in.AllocTensor<float>();
    DataCopy(b, gy, n);
    in.EnQue(b);
    a = in.DeQue<float>();
    b = in.DeQue<float>();
    LocalTensor<float> c = out.AllocTensor<float>(), keep = keepBuf.Get<float>();
    LocalTensor<uint8_t> mask = maskBuf.Get<uint8_t>();
    Duplicate(keep, -1.0f, n);
    for (uint32_t r = 0; r < repeats; ++r) {
        Compare(a[r * 64], b[r * 64], CMPMODE::LT, 64, BinaryRepeatParams());
        PipeBarrier<PIPE_V>();
        GetCmpMask(mask);
        PipeBarrier<PIPE_V>();
        SetCmpMask(mask);
        PipeBarrier<PIPE_V>();
        Select(c[r * 64], mask, a[r * 64], keep[r * 64], SELMODE::VSEL_CMPMASK_SPR, 64, 1, BinaryRepeatParams());
        PipeBarrier<PIPE_V>();
    }
    in.FreeTensor(a);
    in.FreeTensor(b);
    out.EnQue(c);
    c = out.DeQue<float>();
    DataCopy(go, c, n);
    out.FreeTensor(c);
}
