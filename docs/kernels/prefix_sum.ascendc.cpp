// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void prefix_sum(GM_ADDR x_addr, GM_ADDR y_addr, GM_ADDR totals_addr, int64_t N)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    constexpr int64_t tile = 2048;
    GlobalTensor<int32_t> x, y, totals;
    x.SetGlobalBuffer((__gm__ int32_t*)x_addr, N);
    y.SetGlobalBuffer((__gm__ int32_t*)y_addr, N);
    totals.SetGlobalBuffer((__gm__ int32_t*)totals_addr, 384);

    const int64_t core = GetBlockIdx();
    const int64_t share = GetBlockNum() * 128;
    const int64_t piece = (N + share - 1) / share * 128;
    const int64_t begin = core * piece;
    const int64_t length = N - begin < piece ? N - begin : piece;

    TPipe pipe;
    TQue<TPosition::VECIN, 1> in_queue;
    TQue<TPosition::VECOUT, 1> out_queue;
    TBuf<TPosition::VECCALC> padded_buffer, shifted_buffer, offsets_buffer, totals_buffer;
    pipe.InitBuffer(in_queue, 2, tile * sizeof(int32_t));
    pipe.InitBuffer(out_queue, 2, tile * sizeof(int32_t));
    pipe.InitBuffer(padded_buffer, (8 + tile) * sizeof(int32_t));
    pipe.InitBuffer(shifted_buffer, tile * sizeof(int32_t));
    pipe.InitBuffer(offsets_buffer, tile * sizeof(int32_t));
    pipe.InitBuffer(totals_buffer, 384 * sizeof(int32_t));
    LocalTensor<int32_t> padded = padded_buffer.Get<int32_t>();
    LocalTensor<int32_t> shifted = shifted_buffer.Get<int32_t>();
    LocalTensor<int32_t> offsets = offsets_buffer.Get<int32_t>();
    LocalTensor<uint32_t> offset_bits = offsets.ReinterpretCast<uint32_t>();
    LocalTensor<int32_t> known = totals_buffer.Get<int32_t>();
    LocalTensor<int32_t> t = padded[8];

    // The sum of this core's piece: lane by lane, then halves onto halves.
    Duplicate(t, 0, tile);
    for (int64_t offset = 0; offset < length; offset += tile) {
        const int64_t count = length - offset < tile ? length - offset : tile;
        const DataCopyExtParams row{1, static_cast<uint32_t>(count * 4), 0, 0, 0};
        LocalTensor<int32_t> x_in = in_queue.AllocTensor<int32_t>();
        DataCopyPad(x_in, x[begin + offset], row, DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
        in_queue.EnQue(x_in);
        LocalTensor<int32_t> xt = in_queue.DeQue<int32_t>();
        PipeBarrier<PIPE_V>();
        Add(t, t, xt, count);
        in_queue.FreeTensor(xt);
    }
    for (int64_t turn = 0, reach = tile / 2; turn < 8; ++turn, reach /= 2) {
        PipeBarrier<PIPE_V>();
        Add(t, t, t[reach], reach);
    }
    const TEventID summed = pipe.FetchEventID(HardEvent::V_S);
    SetFlag<HardEvent::V_S>(summed);
    WaitFlag<HardEvent::V_S>(summed);
    int32_t total = 0;
    for (int64_t n = 0; n < 8; ++n) {
        total += t.GetValue(n);
    }

    // All cores tell all others; every slot is 32 bytes.
    known.SetValue(0, total);
    const TEventID written = pipe.FetchEventID(HardEvent::S_MTE3);
    SetFlag<HardEvent::S_MTE3>(written);
    WaitFlag<HardEvent::S_MTE3>(written);
    DataCopyPad(totals[core * 8], known, DataCopyExtParams{1, 4, 0, 0, 0});
    PipeBarrier<PIPE_ALL>();
    SyncAll();
    DataCopyPad(known, totals, DataCopyExtParams{static_cast<uint16_t>(GetBlockNum()), 4, 28, 0, 0},
                DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
    const TEventID read = pipe.FetchEventID(HardEvent::MTE2_S);
    SetFlag<HardEvent::MTE2_S>(read);
    WaitFlag<HardEvent::MTE2_S>(read);
    int32_t carry = 0;
    for (int64_t other = 0; other < core; ++other) {
        carry += known.GetValue(other * 8);
    }

    // Sums of 2, 4, 8, ... neighbours. Below 32 bytes a shift is a gather; in front of the tile stand zeros.
    Duplicate(padded, 0, 8);
    CreateVecIndex(offsets, 4, tile);
    PipeBarrier<PIPE_V>();
    Muls(offsets, offsets, 4, tile);
    for (int64_t offset = 0; offset < length; offset += tile) {
        const int64_t count = length - offset < tile ? length - offset : tile;
        const DataCopyExtParams row{1, static_cast<uint32_t>(count * 4), 0, 0, 0};
        LocalTensor<int32_t> x_in = in_queue.AllocTensor<int32_t>();
        DataCopyPad(x_in, x[begin + offset], row, DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
        in_queue.EnQue(x_in);
        LocalTensor<int32_t> xt = in_queue.DeQue<int32_t>();
        PipeBarrier<PIPE_V>();
        Adds(t, xt, 0, count);
        in_queue.FreeTensor(xt);
        PipeBarrier<PIPE_V>();
        Gather(shifted, padded, offset_bits, 12, count);
        PipeBarrier<PIPE_V>();
        Add(t, t, shifted, count);
        PipeBarrier<PIPE_V>();
        Gather(shifted, padded, offset_bits, 8, count);
        PipeBarrier<PIPE_V>();
        Add(t, t, shifted, count);
        PipeBarrier<PIPE_V>();
        Gather(shifted, padded, offset_bits, 0, count);
        PipeBarrier<PIPE_V>();
        Add(t, t, shifted, count);
        for (int64_t step = 0, shift = 8; step < 8; ++step, shift *= 2) {
            const int64_t reached = count > shift ? count - shift : 0;
            PipeBarrier<PIPE_V>();
            Adds(shifted, t, 0, reached);
            PipeBarrier<PIPE_V>();
            Add(t[shift], t[shift], shifted, reached);
        }

        LocalTensor<int32_t> out = out_queue.AllocTensor<int32_t>();
        PipeBarrier<PIPE_V>();
        Adds(out, t, carry, count);
        out_queue.EnQue(out);
        const TEventID scanned = pipe.FetchEventID(HardEvent::V_S);
        SetFlag<HardEvent::V_S>(scanned);
        WaitFlag<HardEvent::V_S>(scanned);
        carry += t.GetValue(count - 1);
        const TEventID taken = pipe.FetchEventID(HardEvent::S_V);
        SetFlag<HardEvent::S_V>(taken);
        WaitFlag<HardEvent::S_V>(taken);
        LocalTensor<int32_t> done = out_queue.DeQue<int32_t>();
        DataCopyPad(y[begin + offset], done, row);
        out_queue.FreeTensor(done);
    }
}
