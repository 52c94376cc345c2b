// SPDX-License-Identifier: Apache-2.0
// A 3 x 3 convolution with zero padding on the cube: the image in L1 as [C/16][H][W][16] halfs, LoadData 3D forms the
// rows of the product, weights [9 C, F] arrive in the same order. One tile of 16 x 16 outputs, C = F = 16.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t H = 16, W = 16, C = 16, F = 16, TAPS = 9;

extern "C" __global__ __aicore__ void conv3x3(GM_ADDR image, GM_ADDR weights, GM_ADDR o)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TQue<TPosition::A1, 1> queA1;
    TQue<TPosition::B1, 1> queB1;
    TQue<TPosition::A2, 1> queA2;
    TQue<TPosition::B2, 1> queB2;
    TQue<TPosition::CO1, 1> queC;
    pipe.InitBuffer(queA1, 1, H * W * C * 2);
    pipe.InitBuffer(queB1, 1, TAPS * C * F * 2);
    pipe.InitBuffer(queA2, 2, 64 * TAPS * C * 2);
    pipe.InitBuffer(queB2, 1, TAPS * C * F * 2);
    pipe.InitBuffer(queC, 1, H * W * F * 4);
    GlobalTensor<half> gi, gw;
    GlobalTensor<float> go;
    gi.SetGlobalBuffer((__gm__ half*)image, H * W * C);
    gw.SetGlobalBuffer((__gm__ half*)weights, TAPS * C * F);
    go.SetGlobalBuffer((__gm__ float*)o, H * W * F);

    LocalTensor<half> a1 = queA1.AllocTensor<half>(), b1 = queB1.AllocTensor<half>();
    DataCopy(a1, gi, H * W * C);
    DataCopy(b1, gw, Nd2NzParams(1, TAPS * C, F, 0, F, TAPS * C, 1, 0));
    queA1.EnQue(a1);
    queB1.EnQue(b1);
    a1 = queA1.DeQue<half>();
    b1 = queB1.DeQue<half>();
    LocalTensor<half> b2 = queB2.AllocTensor<half>();
    LoadData(b2, b1, LoadData2DParams(0, TAPS, 1, 0, 0, true, 0));
    queB2.EnQue(b2);
    b2 = queB2.DeQue<half>();
    LocalTensor<float> c = queC.AllocTensor<float>();
    for (uint32_t m = 0; m < H * W; m += 64) {
        LocalTensor<half> a2 = queA2.AllocTensor<half>();
        LoadData3DParamsV2<half> p;
        for (int side = 0; side < 4; ++side) {
            p.padList[side] = 1;
        }
        p.l1H = H;
        p.l1W = W;
        p.channelSize = C;
        p.kExtension = TAPS * C;
        p.mExtension = 64;
        p.mStartPt = m;
        p.filterW = 3;
        p.filterH = 3;
        LoadData(a2, a1, p);
        queA2.EnQue(a2);
        a2 = queA2.DeQue<half>();
        Mmad(c[m * 16], a2, b2, MmadParams(64, F, TAPS * C, 0, false, true));
        PipeBarrier<PIPE_M>();
        queA2.FreeTensor(a2);
    }
    queA1.FreeTensor(a1);
    queB1.FreeTensor(b1);
    queB2.FreeTensor(b2);
    queC.EnQue(c);
    c = queC.DeQue<float>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(go, c, FixpipeParamsV220(F, H * W, H * W, F, false));
    queC.FreeTensor(c);
}
