// SPDX-License-Identifier: Apache-2.0
// o = x / sum(x): every block writes its partial sum, all meet, every block reads all partial sums. ws: 32 bytes a block.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TILE = 2048;

extern "C" __global__ __aicore__ void two_phase(GM_ADDR x, GM_ADDR o, GM_ADDR ws, uint32_t n)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in, parts;
    TQue<TPosition::VECOUT, 1> out, part;
    TBuf<TPosition::VECCALC> workBuf;
    pipe.InitBuffer(in, 1, TILE * 4);
    pipe.InitBuffer(out, 1, TILE * 4);
    pipe.InitBuffer(part, 1, 32);
    pipe.InitBuffer(parts, 1, 48 * 32);
    pipe.InitBuffer(workBuf, TILE * 4);
    const uint32_t blocks = GetBlockNum(), id = GetBlockIdx();
    const uint32_t share = ((n + blocks - 1) / blocks + 7) / 8 * 8;
    const uint32_t from = id * share < n ? id * share : n;
    const uint32_t count = from + share < n ? share : n - from;
    GlobalTensor<float> gx, go, gw;
    gx.SetGlobalBuffer((__gm__ float*)x + from, count);
    go.SetGlobalBuffer((__gm__ float*)o + from, count);
    gw.SetGlobalBuffer((__gm__ float*)ws, blocks * 8);
    const DataCopyExtParams copy(1, count * 4, 0, 0, 0);
    LocalTensor<float> work = workBuf.Get<float>();

    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopyPad(a, gx, copy, DataCopyPadExtParams<float>());
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> p = part.AllocTensor<float>();
    Duplicate(p, 0.0f, 8);
    PipeBarrier<PIPE_V>();
    if (count != 0) {
        ReduceSum(p, a, work, count);
    }
    part.EnQue(p);
    p = part.DeQue<float>();
    DataCopy(gw[id * 8], p, 8);
    part.FreeTensor(p);
    SyncAll();
    LocalTensor<float> all = parts.AllocTensor<float>();
    DataCopy(all, gw, blocks * 8);
    parts.EnQue(all);
    all = parts.DeQue<float>();
    ReduceSum(work, all, work, blocks * 8);
    const int32_t done = GetTPipePtr()->FetchEventID(HardEvent::V_S);
    SetFlag<HardEvent::V_S>(done);
    WaitFlag<HardEvent::V_S>(done);
    const float total = work.GetValue(0);
    parts.FreeTensor(all);
    LocalTensor<float> c = out.AllocTensor<float>();
    Muls(c, a, 1.0f / total, count);
    in.FreeTensor(a);
    out.EnQue(c);
    c = out.DeQue<float>();
    DataCopyPad(go, c, copy);
    out.FreeTensor(c);
}
