// SPDX-License-Identifier: Apache-2.0
// The 128 largest-first values of 128 floats with their indices: four sorted runs of 32, one four-way merge.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t N = 128;

extern "C" __global__ __aicore__ void sort128(GM_ADDR x, GM_ADDR value, GM_ADDR index)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> outValue, outIndex;
    TBuf<TPosition::VECCALC> idBuf, runBuf, mergedBuf;
    pipe.InitBuffer(in, 1, N * 4);
    pipe.InitBuffer(outValue, 1, N * 4);
    pipe.InitBuffer(outIndex, 1, N * 4);
    pipe.InitBuffer(idBuf, N * 4);
    pipe.InitBuffer(runBuf, N * 8);
    pipe.InitBuffer(mergedBuf, N * 8);
    GlobalTensor<float> gx, gv;
    GlobalTensor<int32_t> gi;
    gx.SetGlobalBuffer((__gm__ float*)x, N);
    gv.SetGlobalBuffer((__gm__ float*)value, N);
    gi.SetGlobalBuffer((__gm__ int32_t*)index, N);

    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, gx, N);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<int32_t> id = idBuf.Get<int32_t>();
    LocalTensor<float> runs = runBuf.Get<float>(), merged = mergedBuf.Get<float>();
    CreateVecIndex(id, 0, N);
    PipeBarrier<PIPE_V>();
    Sort32(runs, a, id.ReinterpretCast<uint32_t>(), N / 32);
    PipeBarrier<PIPE_V>();
    in.FreeTensor(a);
    const uint16_t lengths[4] = {32, 32, 32, 32};
    const MrgSortSrcList<float> list(runs, runs[64], runs[128], runs[192]);
    MrgSort(merged, list, MrgSort4Info(lengths, false, 15, 1));
    PipeBarrier<PIPE_V>();
    LocalTensor<float> v = outValue.AllocTensor<float>();
    LocalTensor<int32_t> i = outIndex.AllocTensor<int32_t>();
    uint64_t kept = 0;
    GatherMask(v, merged, uint8_t(1), true, 2 * N, GatherMaskParams(1, 1, 8, 0), kept);
    GatherMask(i, merged.ReinterpretCast<int32_t>(), uint8_t(2), true, 2 * N, GatherMaskParams(1, 1, 8, 0), kept);
    outValue.EnQue(v);
    outIndex.EnQue(i);
    v = outValue.DeQue<float>();
    i = outIndex.DeQue<int32_t>();
    DataCopy(gv, v, N);
    DataCopy(gi, i, N);
    outValue.FreeTensor(v);
    outIndex.FreeTensor(i);
}
