// SPDX-License-Identifier: Apache-2.0
// SoftMax and LayerNorm of the high-level API on a few rows of float32; cols is a multiple of 8.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t MAX_ROWS = 16, TILE = 2048;

extern "C" __global__ __aicore__ void softmax_api(GM_ADDR x, GM_ADDR o, uint32_t rows, uint32_t cols)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> sumBuf, maxBuf, scratch;
    pipe.InitBuffer(in, 1, TILE * 4);
    pipe.InitBuffer(out, 1, TILE * 4);
    pipe.InitBuffer(sumBuf, MAX_ROWS * 32);
    pipe.InitBuffer(maxBuf, MAX_ROWS * 32);
    pipe.InitBuffer(scratch, 4 * TILE * 4);
    GlobalTensor<float> gx, go;
    gx.SetGlobalBuffer((__gm__ float*)x, rows * cols);
    go.SetGlobalBuffer((__gm__ float*)o, rows * cols);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, gx, rows * cols);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> c = out.AllocTensor<float>(), sum = sumBuf.Get<float>(), max = maxBuf.Get<float>();
    LocalTensor<uint8_t> tmp = scratch.Get<uint8_t>();
    SoftMaxTiling tiling;
    tiling.srcM = rows;
    tiling.srcK = cols;
    SoftMaxShapeInfo shape;
    shape.srcM = shape.oriSrcM = rows;
    shape.srcK = shape.oriSrcK = cols;
    SoftMax<float>(c, sum, max, a, tmp, tiling, shape);
    in.FreeTensor(a);
    out.EnQue(c);
    c = out.DeQue<float>();
    DataCopy(go, c, rows * cols);
    out.FreeTensor(c);
}

extern "C" __global__ __aicore__ void layer_norm_api(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR o, uint32_t rows,
                                                     uint32_t cols)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in, weights;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> meanBuf, varBuf, scratch;
    pipe.InitBuffer(in, 1, TILE * 4);
    pipe.InitBuffer(weights, 2, TILE * 4);
    pipe.InitBuffer(out, 1, TILE * 4);
    pipe.InitBuffer(meanBuf, 64);
    pipe.InitBuffer(varBuf, 64);
    pipe.InitBuffer(scratch, 4 * TILE * 4);
    GlobalTensor<float> gx, gg, gb, go;
    gx.SetGlobalBuffer((__gm__ float*)x, rows * cols);
    gg.SetGlobalBuffer((__gm__ float*)gamma, cols);
    gb.SetGlobalBuffer((__gm__ float*)beta, cols);
    go.SetGlobalBuffer((__gm__ float*)o, rows * cols);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, gx, rows * cols);
    in.EnQue(a);
    LocalTensor<float> g = weights.AllocTensor<float>();
    DataCopy(g, gg, cols);
    weights.EnQue(g);
    g = weights.DeQue<float>();
    LocalTensor<float> b = weights.AllocTensor<float>();
    DataCopy(b, gb, cols);
    weights.EnQue(b);
    b = weights.DeQue<float>();
    a = in.DeQue<float>();
    LocalTensor<float> c = out.AllocTensor<float>(), mean = meanBuf.Get<float>(), var = varBuf.Get<float>();
    LocalTensor<uint8_t> tmp = scratch.Get<uint8_t>();
    LayerNormTiling tiling;
    tiling.bLength = 1;
    tiling.sLength = rows;
    tiling.hLength = tiling.originalHLength = cols;
    LayerNorm<float>(c, mean, var, a, g, b, tmp, 1e-5f, tiling);
    in.FreeTensor(a);
    weights.FreeTensor(g);
    weights.FreeTensor(b);
    out.EnQue(c);
    c = out.DeQue<float>();
    DataCopy(go, c, rows * cols);
    out.FreeTensor(c);
}
