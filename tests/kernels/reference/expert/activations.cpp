// SPDX-License-Identifier: Apache-2.0
// The activation functions of the high-level API, one a launch; a scratch tensor is given to each.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TILE = 2048;

template <typename T>
__aicore__ inline void Activate(GM_ADDR x, GM_ADDR o, uint32_t n, uint32_t which)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(in, 1, TILE * sizeof(T));
    pipe.InitBuffer(out, 1, TILE * sizeof(T));
    pipe.InitBuffer(scratch, 8 * TILE * sizeof(T));
    GlobalTensor<T> gx, go;
    gx.SetGlobalBuffer((__gm__ T*)x, n);
    go.SetGlobalBuffer((__gm__ T*)o, n);
    const DataCopyExtParams copy(1, n * sizeof(T), 0, 0, 0);
    LocalTensor<uint8_t> tmp = scratch.Get<uint8_t>();
    LocalTensor<T> a = in.AllocTensor<T>();
    DataCopyPad(a, gx, copy, DataCopyPadExtParams<T>());
    in.EnQue(a);
    a = in.DeQue<T>();
    LocalTensor<T> c = out.AllocTensor<T>();
    switch (which) {
    case 0: Tanh(c, a, tmp, n); break;
    case 1: Gelu(c, a, tmp, n); break;
    case 2: Sigmoid(c, a, tmp, n); break;
    default: Erf(c, a, tmp, n); break;
    }
    in.FreeTensor(a);
    out.EnQue(c);
    c = out.DeQue<T>();
    DataCopyPad(go, c, copy);
    out.FreeTensor(c);
}

extern "C" __global__ __aicore__ void activate_float(GM_ADDR x, GM_ADDR o, uint32_t n, uint32_t which)
{
    Activate<float>(x, o, n, which);
}

extern "C" __global__ __aicore__ void activate_half(GM_ADDR x, GM_ADDR o, uint32_t n, uint32_t which)
{
    Activate<half>(x, o, n, which);
}
