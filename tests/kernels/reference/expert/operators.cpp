// SPDX-License-Identifier: Apache-2.0
// Operator forms, masks as bits, ArithProgression and Broadcast, in one small kernel on 64 floats:
// o[0..63] = (x + y) * x where the lane is even, -1 elsewhere; o[64..127] = 0.5, 1.5, ... ; o[128..191] = row of x[0..7].
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void operators(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR bits)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out, outBits;
    TBuf<TPosition::VECCALC> tmpBuf, sumBuf;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 1, 768);
    pipe.InitBuffer(outBits, 1, 32);
    pipe.InitBuffer(tmpBuf, 256);
    pipe.InitBuffer(sumBuf, 256);
    GlobalTensor<float> gx, gy, go;
    GlobalTensor<uint8_t> gb;
    gx.SetGlobalBuffer((__gm__ float*)x, 64);
    gy.SetGlobalBuffer((__gm__ float*)y, 64);
    go.SetGlobalBuffer((__gm__ float*)o, 192);
    gb.SetGlobalBuffer((__gm__ uint8_t*)bits, 8);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, gx, 64);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = in.AllocTensor<float>();
    DataCopy(b, gy, 64);
    in.EnQue(b);
    b = in.DeQue<float>();
    LocalTensor<float> c = out.AllocTensor<float>(), sum = sumBuf.Get<float>();
    LocalTensor<uint8_t> tmp = tmpBuf.Get<uint8_t>(), mask = outBits.AllocTensor<uint8_t>();
    sum = a + b;
    mask = a < b;
    Duplicate(c, -1.0f, 64);
    PipeBarrier<PIPE_V>();
    uint64_t even[2] = {0x5555555555555555ull, 0};
    Mul(c, sum, a, even, 1, BinaryRepeatParams());
    ArithProgression(c[64], 0.5f, 1.0f, 64);
    const uint32_t to[2] = {8, 8}, from[2] = {1, 8};
    LocalTensor<float> rows = c[128];
    Broadcast<float, 2, 0>(rows, a, to, from, tmp);
    assert(c.GetSize() == 192, "size %u", c.GetSize());
    in.FreeTensor(a);
    in.FreeTensor(b);
    out.EnQue(c);
    outBits.EnQue(mask);
    c = out.DeQue<float>();
    mask = outBits.DeQue<uint8_t>();
    DataCopy(go, c, 192);
    DataCopyPad(gb, mask, DataCopyExtParams(1, 8, 0, 0, 0));
    out.FreeTensor(c);
    outBits.FreeTensor(mask);
}
