// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void softmax(GM_ADDR x_addr, GM_ADDR y_addr, int64_t M, int64_t N)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    constexpr float lowest = -__builtin_inff();
    GlobalTensor<float> x, y;
    x.SetGlobalBuffer((__gm__ float*)x_addr, M * N);
    y.SetGlobalBuffer((__gm__ float*)y_addr, M * N);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> in_queue;
    TQue<TPosition::VECOUT, 1> out_queue;
    TBuf<TPosition::VECCALC> fold_buffer, largest_buffer, total_buffer, new_buffer, scale_buffer, spread_buffer,
        divisor_buffer;
    pipe.InitBuffer(in_queue, 2, 16 * 512 * sizeof(float));
    pipe.InitBuffer(out_queue, 2, 16 * 512 * sizeof(float));
    pipe.InitBuffer(fold_buffer, 16 * 64 * sizeof(float));
    pipe.InitBuffer(largest_buffer, 16 * sizeof(float));
    pipe.InitBuffer(total_buffer, 16 * sizeof(float));
    pipe.InitBuffer(new_buffer, 16 * sizeof(float));
    pipe.InitBuffer(scale_buffer, 16 * sizeof(float));
    pipe.InitBuffer(spread_buffer, 16 * 32);
    pipe.InitBuffer(divisor_buffer, 16 * 32);
    LocalTensor<float> fold = fold_buffer.Get<float>();
    LocalTensor<float> largest = largest_buffer.Get<float>();
    LocalTensor<float> total = total_buffer.Get<float>();
    LocalTensor<float> new_largest = new_buffer.Get<float>();
    LocalTensor<float> scale = scale_buffer.Get<float>();
    LocalTensor<float> spread = spread_buffer.Get<float>();
    LocalTensor<float> divisor = divisor_buffer.Get<float>();

    for (int64_t row = GetBlockIdx() * 16; row < M; row += GetBlockNum() * 16) {
        const int64_t rows = M - row < 16 ? M - row : 16;
        Duplicate(largest, lowest, 16);
        Duplicate(total, 0.0f, 16);
        for (int64_t column = 0; column < N; column += 512) {
            const int64_t columns = N - column < 512 ? N - column : 512;
            // A row has 512 columns on chip, so strides are constants; in global memory it has N.
            const DataCopyExtParams in{
                static_cast<uint16_t>(rows), static_cast<uint32_t>(columns * 4),
                static_cast<uint32_t>((N - columns) * 4), static_cast<uint32_t>(64 - (columns + 7) / 8), 0};
            LocalTensor<float> t_in = in_queue.AllocTensor<float>();
            DataCopyPad(t_in, x[row * N + column], in, DataCopyPadExtParams<float>{false, 0, 0, 0});
            in_queue.EnQue(t_in);
            LocalTensor<float> t = in_queue.DeQue<float>();

            Duplicate(fold, lowest, 16 * 64);
            for (int64_t lane = 0; lane < columns; lane += 64) {
                const int64_t lanes = columns - lane < 64 ? columns - lane : 64;
                PipeBarrier<PIPE_V>();
                Max(fold, t[lane], fold, lanes, rows, {1, 1, 1, 8, 64, 8});
            }
            PipeBarrier<PIPE_V>();
            WholeReduceMax(new_largest, fold, 64, rows, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
            PipeBarrier<PIPE_V>();
            Max(new_largest, largest, new_largest, rows);
            PipeBarrier<PIPE_V>();
            Sub(scale, largest, new_largest, rows);
            Brcb(spread, new_largest, 2, {1, 8});
            Duplicate(fold, 0.0f, 16 * 64);
            PipeBarrier<PIPE_V>();
            Exp(scale, scale, rows);
            Adds(largest, new_largest, 0.0f, rows);
            for (int64_t lane = 0; lane < columns; lane += 64) {
                const int64_t lanes = columns - lane < 64 ? columns - lane : 64;
                Sub(t[lane], t[lane], spread, lanes, rows, {1, 1, 0, 64, 64, 1});
                PipeBarrier<PIPE_V>();
                Exp(t[lane], t[lane], lanes, rows, {1, 1, 64, 64});
                PipeBarrier<PIPE_V>();
                Add(fold, t[lane], fold, lanes, rows, {1, 1, 1, 8, 64, 8});
            }
            Mul(total, total, scale, rows);
            PipeBarrier<PIPE_V>();
            WholeReduceSum(scale, fold, 64, rows, 1, 1, 8);
            PipeBarrier<PIPE_V>();
            Add(total, total, scale, rows);
            PipeBarrier<PIPE_V>();
            in_queue.FreeTensor(t);
        }
        Brcb(divisor, total, 2, {1, 8});
        for (int64_t column = 0; column < N; column += 512) {
            const int64_t columns = N - column < 512 ? N - column : 512;
            const uint32_t gap = (N - columns) * 4, gap_blocks = 64 - (columns + 7) / 8;
            const DataCopyExtParams in{
                static_cast<uint16_t>(rows), static_cast<uint32_t>(columns * 4), gap, gap_blocks, 0};
            const DataCopyExtParams out_{
                static_cast<uint16_t>(rows), static_cast<uint32_t>(columns * 4), gap_blocks, gap, 0};
            LocalTensor<float> t_in = in_queue.AllocTensor<float>();
            DataCopyPad(t_in, x[row * N + column], in, DataCopyPadExtParams<float>{false, 0, 0, 0});
            in_queue.EnQue(t_in);
            LocalTensor<float> t = in_queue.DeQue<float>();
            LocalTensor<float> out = out_queue.AllocTensor<float>();
            for (int64_t lane = 0; lane < columns; lane += 64) {
                const int64_t lanes = columns - lane < 64 ? columns - lane : 64;
                Sub(t[lane], t[lane], spread, lanes, rows, {1, 1, 0, 64, 64, 1});
                PipeBarrier<PIPE_V>();
                Exp(t[lane], t[lane], lanes, rows, {1, 1, 64, 64});
                PipeBarrier<PIPE_V>();
                Div(out[lane], t[lane], divisor, lanes, rows, {1, 1, 0, 64, 64, 1});
            }
            out_queue.EnQue(out);
            in_queue.FreeTensor(t);
            LocalTensor<float> done = out_queue.DeQue<float>();
            DataCopyPad(y[row * N + column], done, out_);
            out_queue.FreeTensor(done);
        }
        PipeBarrier<PIPE_V>();
    }
}
