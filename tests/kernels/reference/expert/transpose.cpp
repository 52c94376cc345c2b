// SPDX-License-Identifier: Apache-2.0
// Transposes of one square: 16 x 16 halfs by Transpose, 16 x 16 halfs and 16 x 8 floats by TransDataTo5HD.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T>
__aicore__ inline void Square(GM_ADDR x, GM_ADDR o, uint32_t count, bool plain)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 512);
    pipe.InitBuffer(out, 1, 512);
    GlobalTensor<T> gx, go;
    gx.SetGlobalBuffer((__gm__ T*)x, count);
    go.SetGlobalBuffer((__gm__ T*)o, count);
    LocalTensor<T> a = in.AllocTensor<T>();
    DataCopy(a, gx, count);
    in.EnQue(a);
    a = in.DeQue<T>();
    LocalTensor<T> c = out.AllocTensor<T>();
    if (plain) {
        Transpose(c, a);
    } else {
        constexpr uint32_t row = 32 / sizeof(T);
        LocalTensor<T> dst[16], src[16];
        for (uint32_t i = 0; i < 16; ++i) {
            dst[i] = c[i * row];
            src[i] = a[i * row];
        }
        TransDataTo5HD(dst, src, TransDataTo5HDParams(false, false, 1, 0, 0));
    }
    in.FreeTensor(a);
    out.EnQue(c);
    c = out.DeQue<T>();
    DataCopy(go, c, count);
    out.FreeTensor(c);
}

extern "C" __global__ __aicore__ void transpose_half(GM_ADDR x, GM_ADDR o, uint32_t plain)
{
    Square<half>(x, o, 256, plain != 0);
}

extern "C" __global__ __aicore__ void transpose_float(GM_ADDR x, GM_ADDR o)
{
    Square<float>(x, o, 128, false);
}
