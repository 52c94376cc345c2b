// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void guarded_exp(GM_ADDR x_addr, GM_ADDR y_addr, int64_t N)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    constexpr int64_t tile = 6144;
    GlobalTensor<float> x, y;
    x.SetGlobalBuffer((__gm__ float*)x_addr, N);
    y.SetGlobalBuffer((__gm__ float*)y_addr, N);

    const int64_t share = GetBlockNum() * 128;
    const int64_t piece = (N + share - 1) / share * 128;
    const int64_t begin = GetBlockIdx() * piece;
    const int64_t length = N - begin < piece ? N - begin : piece;

    TPipe pipe;
    TQue<TPosition::VECIN, 1> x_queue, old_queue;
    TQue<TPosition::VECOUT, 1> new_queue;
    TBuf<TPosition::VECCALC> mask_buffer;
    pipe.InitBuffer(x_queue, 2, tile * sizeof(float));
    pipe.InitBuffer(old_queue, 2, tile * sizeof(float));
    pipe.InitBuffer(new_queue, 2, tile * sizeof(float));
    pipe.InitBuffer(mask_buffer, tile / 8);
    LocalTensor<uint8_t> mask = mask_buffer.Get<uint8_t>();

    for (int64_t offset = 0; offset < length; offset += tile) {
        const int64_t count = length - offset < tile ? length - offset : tile;
        const int64_t whole = (count + 63) / 64 * 64;  // a compare works on whole repeats of 256 bytes
        const int64_t at = begin + offset;
        const DataCopyExtParams row{1, static_cast<uint32_t>(count * 4), 0, 0, 0};

        LocalTensor<float> x_in = x_queue.AllocTensor<float>();
        DataCopyPad(x_in, x[at], row, DataCopyPadExtParams<float>{false, 0, 0, 0});
        x_queue.EnQue(x_in);
        LocalTensor<float> old_in = old_queue.AllocTensor<float>();
        DataCopyPad(old_in, y[at], row, DataCopyPadExtParams<float>{false, 0, 0, 0});
        old_queue.EnQue(old_in);

        LocalTensor<float> xt = x_queue.DeQue<float>();
        LocalTensor<float> old = old_queue.DeQue<float>();
        LocalTensor<float> new_ = new_queue.AllocTensor<float>();
        CompareScalar(mask, xt, 0.0f, CMPMODE::GT, whole);
        Exp(new_, xt, count);
        PipeBarrier<PIPE_V>();
        Select(new_, mask, new_, old, SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
        PipeBarrier<PIPE_V>();
        new_queue.EnQue(new_);
        x_queue.FreeTensor(xt);
        old_queue.FreeTensor(old);

        LocalTensor<float> out = new_queue.DeQue<float>();
        DataCopyPad(y[at], out, row);
        new_queue.FreeTensor(out);
    }
}
