// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void chain(GM_ADDR x_addr, GM_ADDR w_addr, GM_ADDR y_addr, int64_t N)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    constexpr int64_t tile = 7168;
    GlobalTensor<float> x, w, y;
    x.SetGlobalBuffer((__gm__ float*)x_addr, N);
    w.SetGlobalBuffer((__gm__ float*)w_addr, N);
    y.SetGlobalBuffer((__gm__ float*)y_addr, N);

    // A core takes whole lines of 512 bytes, so that no two cores write into one.
    const int64_t share = GetBlockNum() * 128;
    const int64_t piece = (N + share - 1) / share * 128;
    const int64_t begin = GetBlockIdx() * piece;
    const int64_t length = N - begin < piece ? N - begin : piece;

    TPipe pipe;
    TQue<TPosition::VECIN, 1> x_queue, w_queue;
    TQue<TPosition::VECOUT, 1> y_queue;
    pipe.InitBuffer(x_queue, 2, tile * sizeof(float));
    pipe.InitBuffer(w_queue, 2, tile * sizeof(float));
    pipe.InitBuffer(y_queue, 2, tile * sizeof(float));

    for (int64_t offset = 0; offset < length; offset += tile) {
        const int64_t count = length - offset < tile ? length - offset : tile;
        const int64_t at = begin + offset;
        const DataCopyExtParams row{1, static_cast<uint32_t>(count * 4), 0, 0, 0};

        LocalTensor<float> x_in = x_queue.AllocTensor<float>();
        DataCopyPad(x_in, x[at], row, DataCopyPadExtParams<float>{false, 0, 0, 0});
        x_queue.EnQue(x_in);
        LocalTensor<float> w_in = w_queue.AllocTensor<float>();
        DataCopyPad(w_in, w[at], row, DataCopyPadExtParams<float>{false, 0, 0, 0});
        w_queue.EnQue(w_in);

        LocalTensor<float> xt = x_queue.DeQue<float>();
        LocalTensor<float> wt = w_queue.DeQue<float>();
        LocalTensor<float> yt = y_queue.AllocTensor<float>();
        Mul(yt, xt, wt, count);
        PipeBarrier<PIPE_V>();
        Sub(wt, xt, wt, count);
        PipeBarrier<PIPE_V>();
        Muls(xt, xt, 2.5f, count);
        PipeBarrier<PIPE_V>();
        AddRelu(yt, yt, xt, count);
        PipeBarrier<PIPE_V>();
        Mul(yt, yt, wt, count);
        y_queue.EnQue(yt);
        x_queue.FreeTensor(xt);
        w_queue.FreeTensor(wt);

        LocalTensor<float> y_out = y_queue.DeQue<float>();
        DataCopyPad(y[at], y_out, row);
        y_queue.FreeTensor(y_out);
    }
}
