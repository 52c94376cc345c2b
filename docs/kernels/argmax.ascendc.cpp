// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void argmax(GM_ADDR x_addr, GM_ADDR place_addr, int64_t M, int64_t N)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    constexpr int64_t width = 8192;
    constexpr float infinity = __builtin_inff();
    GlobalTensor<float> x;
    GlobalTensor<int32_t> place;
    x.SetGlobalBuffer((__gm__ float*)x_addr, M * N);
    place.SetGlobalBuffer((__gm__ int32_t*)place_addr, M);

    TPipe pipe;
    TQue<TPosition::VECIN, 1> in_queue;
    TBuf<TPosition::VECCALC> clean_buffer, mask_buffer, work_buffer, pair_buffer, place_buffer;
    pipe.InitBuffer(in_queue, 2, width * sizeof(float));
    pipe.InitBuffer(clean_buffer, width * sizeof(float));
    pipe.InitBuffer(mask_buffer, width / 8);
    pipe.InitBuffer(work_buffer, 512 * sizeof(float));
    pipe.InitBuffer(pair_buffer, 32);
    pipe.InitBuffer(place_buffer, 32);
    LocalTensor<float> clean = clean_buffer.Get<float>();
    LocalTensor<uint8_t> mask = mask_buffer.Get<uint8_t>();
    LocalTensor<float> work = work_buffer.Get<float>();
    LocalTensor<float> pair = pair_buffer.Get<float>();
    LocalTensor<int32_t> pair_bits = pair.ReinterpretCast<int32_t>();
    LocalTensor<int32_t> places = place_buffer.Get<int32_t>();

    for (int64_t first = GetBlockIdx() * 8; first < M; first += GetBlockNum() * 8) {
        const int64_t rows = M - first < 8 ? M - first : 8;
        for (int64_t r = 0; r < rows; ++r) {
            const int64_t line = (first + r) * N;
            float best = x.GetValue(line);
            int64_t where = 0;
            for (int64_t column = 0; column < N; column += width) {
                const int64_t columns = N - column < width ? N - column : width;
                const DataCopyExtParams row{1, static_cast<uint32_t>(columns * 4), 0, 0, 0};
                LocalTensor<float> t_in = in_queue.AllocTensor<float>();
                DataCopyPad(t_in, x[line + column], row, DataCopyPadExtParams<float>{false, 0, 0, 0});
                in_queue.EnQue(t_in);
                LocalTensor<float> t = in_queue.DeQue<float>();

                // A NaN never wins in Python, and the unit does not say where it orders one: it becomes infinity,
                // and a tile with an infinity is looked through element by element.
                Compare(mask, t, t, CMPMODE::EQ, (columns + 63) / 64 * 64);
                PipeBarrier<PIPE_V>();
                Select(clean, mask, t, infinity, SELMODE::VSEL_TENSOR_SCALAR_MODE, columns);
                PipeBarrier<PIPE_V>();
                ReduceMax(pair, clean, work, static_cast<int32_t>(columns), true);
                const TEventID event = pipe.FetchEventID(HardEvent::V_S);
                SetFlag<HardEvent::V_S>(event);
                WaitFlag<HardEvent::V_S>(event);
                const float top = pair.GetValue(0);
                if (top == infinity) {
                    for (int64_t j = 0; j < columns; ++j) {
                        const float e = t.GetValue(j);
                        const bool better = e > best;
                        best = better ? e : best;
                        where = better ? column + j : where;
                    }
                } else {
                    const bool better = top > best;
                    best = better ? top : best;
                    where = better ? column + pair_bits.GetValue(1) : where;
                }
                const TEventID read = pipe.FetchEventID(HardEvent::S_V);
                SetFlag<HardEvent::S_V>(read);
                WaitFlag<HardEvent::S_V>(read);
                const TEventID walked = pipe.FetchEventID(HardEvent::S_MTE2);
                SetFlag<HardEvent::S_MTE2>(walked);
                WaitFlag<HardEvent::S_MTE2>(walked);
                in_queue.FreeTensor(t);
            }
            places.SetValue(r, static_cast<int32_t>(where));
        }
        const TEventID stored = pipe.FetchEventID(HardEvent::S_MTE3);
        SetFlag<HardEvent::S_MTE3>(stored);
        WaitFlag<HardEvent::S_MTE3>(stored);
        DataCopyPad(place[first], places, DataCopyExtParams{1, static_cast<uint32_t>(rows * 4), 0, 0, 0});
        PipeBarrier<PIPE_ALL>();
    }
}
