// SPDX-License-Identifier: Apache-2.0
// Copies without the vector unit (TQueBind), and blocks picked by Gatherb; strided copies by DataCopyParams.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_bind(GM_ADDR x, GM_ADDR o, uint32_t n)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> que;
    pipe.InitBuffer(que, 2, 8192);
    GlobalTensor<int16_t> gx, go;
    gx.SetGlobalBuffer((__gm__ int16_t*)x, n);
    go.SetGlobalBuffer((__gm__ int16_t*)o, n);
    for (uint32_t at = 0; at < n; at += 4096) {
        const uint32_t count = n - at < 4096 ? n - at : 4096;
        const DataCopyExtParams copy(1, count * 2, 0, 0, 0);
        LocalTensor<int16_t> t = que.AllocTensor<int16_t>();
        DataCopyPad(t, gx[at], copy, DataCopyPadExtParams<int16_t>());
        que.EnQue(t);
        t = que.DeQue<int16_t>();
        DataCopyPad(go[at], t, copy);
        que.FreeTensor(t);
    }
}

// o = the even 32-byte blocks of x, then the odd ones; n blocks, even.
extern "C" __global__ __aicore__ void even_odd(GM_ADDR x, GM_ADDR o, uint32_t n)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> que;
    pipe.InitBuffer(que, 1, 65536);
    GlobalTensor<float> gx, go;
    gx.SetGlobalBuffer((__gm__ float*)x, n * 8);
    go.SetGlobalBuffer((__gm__ float*)o, n * 8);
    LocalTensor<float> t = que.AllocTensor<float>();
    const uint16_t half_count = static_cast<uint16_t>(n / 2);
    DataCopy(t, gx, DataCopyParams(half_count, 1, 1, 0));
    DataCopy(t[half_count * 8], gx[8], DataCopyParams(half_count, 1, 1, 0));
    que.EnQue(t);
    t = que.DeQue<float>();
    DataCopy(go, t, n * 8);
    que.FreeTensor(t);
}

// o[i] = block idx[i] of x; 8 indices.
extern "C" __global__ __aicore__ void pick_blocks(GM_ADDR x, GM_ADDR idx, GM_ADDR o, uint32_t n)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in, ids;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 8192);
    pipe.InitBuffer(ids, 1, 32);
    pipe.InitBuffer(out, 1, 256);
    GlobalTensor<uint32_t> gx, gi, go;
    gx.SetGlobalBuffer((__gm__ uint32_t*)x, n * 8);
    gi.SetGlobalBuffer((__gm__ uint32_t*)idx, 8);
    go.SetGlobalBuffer((__gm__ uint32_t*)o, 64);
    LocalTensor<uint32_t> a = in.AllocTensor<uint32_t>(), i = ids.AllocTensor<uint32_t>();
    DataCopy(a, gx, n * 8);
    DataCopy(i, gi, 8);
    in.EnQue(a);
    ids.EnQue(i);
    a = in.DeQue<uint32_t>();
    i = ids.DeQue<uint32_t>();
    ShiftLeft(i, i, 5u, 8);
    PipeBarrier<PIPE_V>();
    LocalTensor<uint32_t> c = out.AllocTensor<uint32_t>();
    Gatherb(c, a, i, 1, GatherRepeatParams(1, 8));
    in.FreeTensor(a);
    ids.FreeTensor(i);
    out.EnQue(c);
    c = out.DeQue<uint32_t>();
    DataCopy(go, c, 64);
    out.FreeTensor(c);
}
