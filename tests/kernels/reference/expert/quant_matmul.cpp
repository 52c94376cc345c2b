// SPDX-License-Identifier: Apache-2.0
// C = scale * (A x B^T), int8 operands of 32 x 64 and 48 x 64. Three ways out of L0C: int32 as it is, half through one
// scale (DEQF16), int8 through a scale a column in the Fixpipe buffer (VREQ8).
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t M = 32, N = 48, K = 64;

extern "C" __global__ __aicore__ void quant_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR scales, GM_ADDR raw, GM_ADDR halves,
                                                   GM_ADDR bytes, float scale)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TQue<TPosition::A1, 1> queA1;
    TQue<TPosition::B1, 1> queB1;
    TQue<TPosition::C1, 1> queS1;
    TQue<TPosition::A2, 1> queA2;
    TQue<TPosition::B2, 1> queB2;
    TQue<TPosition::CO1, 1> queC;
    TBuf<TPosition::C2PIPE2GM> scaleBuf;
    pipe.InitBuffer(queA1, 1, M * K);
    pipe.InitBuffer(queB1, 1, N * K);
    pipe.InitBuffer(queS1, 1, 64 * 8);
    pipe.InitBuffer(queA2, 1, M * K);
    pipe.InitBuffer(queB2, 1, N * K);
    pipe.InitBuffer(queC, 1, M * N * 4);
    pipe.InitBuffer(scaleBuf, 64 * 8);
    GlobalTensor<int8_t> ga, gb, gBytes;
    GlobalTensor<uint64_t> gs;
    GlobalTensor<int32_t> gRaw;
    GlobalTensor<half> gHalves;
    ga.SetGlobalBuffer((__gm__ int8_t*)a, M * K);
    gb.SetGlobalBuffer((__gm__ int8_t*)b, N * K);
    gs.SetGlobalBuffer((__gm__ uint64_t*)scales, 64);
    gRaw.SetGlobalBuffer((__gm__ int32_t*)raw, M * N);
    gHalves.SetGlobalBuffer((__gm__ half*)halves, M * N);
    gBytes.SetGlobalBuffer((__gm__ int8_t*)bytes, M * N);

    LocalTensor<int8_t> a1 = queA1.AllocTensor<int8_t>(), b1 = queB1.AllocTensor<int8_t>();
    LocalTensor<uint64_t> s1 = queS1.AllocTensor<uint64_t>();
    DataCopy(a1, ga, Nd2NzParams(1, M, K, 0, K, M, 1, 0));
    DataCopy(b1, gb, Nd2NzParams(1, N, K, 0, K, N, 1, 0));
    DataCopy(s1, gs, 64);
    queA1.EnQue(a1);
    queB1.EnQue(b1);
    queS1.EnQue(s1);
    a1 = queA1.DeQue<int8_t>();
    b1 = queB1.DeQue<int8_t>();
    s1 = queS1.DeQue<uint64_t>();

    // A: fractals from [k][m] order to [m][k]; B^T: [k][n] is already the order of L0B.
    LocalTensor<int8_t> a2 = queA2.AllocTensor<int8_t>(), b2 = queB2.AllocTensor<int8_t>();
    for (uint32_t k = 0; k < K / 32; ++k) {
        LoadData(a2[k * 512], a1[k * M * 32], LoadData2DParams(0, M / 16, 1, 0, K / 32 - 1, false, 0));
    }
    LoadData(b2, b1, LoadData2DParams(0, (K / 32) * (N / 16), 1, 0, 0, false, 0));
    queA2.EnQue(a2);
    queB2.EnQue(b2);
    a2 = queA2.DeQue<int8_t>();
    b2 = queB2.DeQue<int8_t>();
    LocalTensor<int32_t> c = queC.AllocTensor<int32_t>();
    Mmad(c, a2, b2, MmadParams(M, N, K, 0, false, true));
    queC.EnQue(c);
    queA2.FreeTensor(a2);
    queB2.FreeTensor(b2);
    queA1.FreeTensor(a1);
    queB1.FreeTensor(b1);

    LocalTensor<uint64_t> perColumn = scaleBuf.Get<uint64_t>();
    SetFlag<HardEvent::MTE1_FIX>(EVENT_ID0);  // the scales reached L1 before MTE1 took them out of their queue
    WaitFlag<HardEvent::MTE1_FIX>(EVENT_ID0);
    DataCopy(perColumn, s1, 64);
    PipeBarrier<PIPE_FIX>();
    c = queC.DeQue<int32_t>();
    FixpipeParamsV220 p(N, M, M, N, false);
    Fixpipe<int32_t, int32_t, CFG_ROW_MAJOR>(gRaw, c, p);
    p.quantPre = QuantMode_t::DEQF16;
    p.deqScalar = static_cast<uint64_t>(*reinterpret_cast<uint32_t*>(&scale));
    Fixpipe<half, int32_t, CFG_ROW_MAJOR>(gHalves, c, p);
    p.quantPre = QuantMode_t::VREQ8;
    p.reluEn = true;
    Fixpipe<int8_t, int32_t, CFG_ROW_MAJOR>(gBytes, c, perColumn, p);
    queC.FreeTensor(c);
    SetFlag<HardEvent::FIX_MTE1>(EVENT_ID1);
    WaitFlag<HardEvent::FIX_MTE1>(EVENT_ID1);
    queS1.FreeTensor(s1);
}
