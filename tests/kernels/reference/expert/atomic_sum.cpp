// SPDX-License-Identifier: Apache-2.0
// o[0..63] += sum over rows of x[rows][64]: every block adds its share of rows atomically. o is zeroed by the caller.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void atomic_sum(GM_ADDR x, GM_ADDR o, uint32_t rows)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 1, 256);
    GlobalTensor<float> gx, go;
    gx.SetGlobalBuffer((__gm__ float*)x, uint64_t(rows) * 64);
    go.SetGlobalBuffer((__gm__ float*)o, 64);
    LocalTensor<float> sum = out.AllocTensor<float>();
    Duplicate(sum, 0.0f, 64);
    for (uint32_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, gx[r * 64], 64);
        in.EnQue(a);
        a = in.DeQue<float>();
        PipeBarrier<PIPE_V>();
        Add(sum, sum, a, 64);
        in.FreeTensor(a);
    }
    out.EnQue(sum);
    sum = out.DeQue<float>();
    SetAtomicAdd<float>();
    DataCopy(go, sum, 64);
    SetAtomicNone();
    out.FreeTensor(sum);
}
