// SPDX-License-Identifier: Apache-2.0
// o = x + y for float32, without TPipe: tensors at fixed addresses, two buffers, flags by hand.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TILE = 4096;
constexpr uint32_t BYTES = TILE * sizeof(float);

extern "C" __global__ __aicore__ void static_add(GM_ADDR x, GM_ADDR y, GM_ADDR o, uint32_t n)
{
    InitSocState();
    GlobalTensor<float> gx, gy, go;
    gx.SetGlobalBuffer((__gm__ float*)x, n);
    gy.SetGlobalBuffer((__gm__ float*)y, n);
    go.SetGlobalBuffer((__gm__ float*)o, n);
    for (int32_t id = 0; id < 2; ++id) {
        SetFlag<HardEvent::V_MTE2>(id);
        SetFlag<HardEvent::MTE3_V>(id);
    }
    uint32_t turn = 0;
    for (uint32_t at = GetBlockIdx() * TILE; at < n; at += GetBlockNum() * TILE, turn ^= 1) {
        const uint32_t count = n - at < TILE ? n - at : TILE;
        const DataCopyExtParams copy(1, count * sizeof(float), 0, 0, 0);
        LocalTensor<float> a(TPosition::VECCALC, turn * 3 * BYTES, TILE);
        LocalTensor<float> b(TPosition::VECCALC, turn * 3 * BYTES + BYTES, TILE);
        LocalTensor<float> c(TPosition::VECCALC, turn * 3 * BYTES + 2 * BYTES, TILE);
        WaitFlag<HardEvent::V_MTE2>(turn);
        DataCopyPad(a, gx[at], copy, DataCopyPadExtParams<float>());
        DataCopyPad(b, gy[at], copy, DataCopyPadExtParams<float>());
        SetFlag<HardEvent::MTE2_V>(turn);
        WaitFlag<HardEvent::MTE2_V>(turn);
        WaitFlag<HardEvent::MTE3_V>(turn);
        Add(c, a, b, count);
        SetFlag<HardEvent::V_MTE2>(turn);
        SetFlag<HardEvent::V_MTE3>(turn);
        WaitFlag<HardEvent::V_MTE3>(turn);
        DataCopyPad(go[at], c, copy);
        SetFlag<HardEvent::MTE3_V>(turn);
    }
    for (int32_t id = 0; id < 2; ++id) {
        WaitFlag<HardEvent::V_MTE2>(id);
        WaitFlag<HardEvent::MTE3_V>(id);
    }
    PipeBarrier<PIPE_ALL>();
}
