// SPDX-License-Identifier: Apache-2.0
// Sequences whose instructions may and may not be put off together, for runs with and without checks.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t N = 4096;
constexpr uint32_t BYTES = N * 4;

struct Sequences {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffers[6];
    LocalTensor<float> a, b, c, d, e, f;
    GlobalTensor<float> x, y, out;
    uint32_t n;

    __aicore__ inline Sequences(GM_ADDR xGm, GM_ADDR yGm, GM_ADDR outGm, uint32_t count) : n(count)
    {
        LocalTensor<float>* all[] = {&a, &b, &c, &d, &e, &f};
        for (int i = 0; i < 6; ++i) {
            pipe.InitBuffer(buffers[i], BYTES + 64);
            *all[i] = buffers[i].Get<float>();
        }
        x.SetGlobalBuffer((__gm__ float*)xGm, 2 * N);
        y.SetGlobalBuffer((__gm__ float*)yGm, 2 * N);
        out.SetGlobalBuffer((__gm__ float*)outGm, 2 * N);
    }
    template <HardEvent EVENT>
    __aicore__ inline void Order()
    {
        SetFlag<EVENT>(0);
        WaitFlag<EVENT>(0);
    }
    __aicore__ inline void Load()
    {
        DataCopyPad(a, x, {1, n * 4, 0, 0, 0}, {false, 0, 0, 0.0f});
        DataCopyPad(b, y, {1, n * 4, 0, 0, 0}, {false, 0, 0, 0.0f});
        Order<HardEvent::MTE2_V>();
    }
    __aicore__ inline void Store(const LocalTensor<float>& t, uint32_t at)
    {
        Order<HardEvent::V_MTE3>();
        DataCopyPad(out[at], t, {1, n * 4, 0, 0, 0});
    }
    // The same lanes all the way, in place too.
    __aicore__ inline void Lanes()
    {
        Load();
        Add(c, a, b, n);
        PipeBarrier<PIPE_V>();
        Mul(a, a, c, n);
        PipeBarrier<PIPE_V>();
        Axpy(c, b, 2.0f, n);
        PipeBarrier<PIPE_V>();
        Max(d, a, c, n);
        Store(d, 0);
        Store(c, N);
    }
    // Lanes of one instruction are other lanes of the next: behind, in front, and of what was read before.
    __aicore__ inline void Shifted()
    {
        Duplicate(c, 9.0f, n + 16);
        Load();
        PipeBarrier<PIPE_V>();
        Add(c, a, b, n);
        PipeBarrier<PIPE_V>();
        Muls(d, c[8], 3.0f, n);
        PipeBarrier<PIPE_V>();
        Adds(c[8], a, 1.0f, n);
        PipeBarrier<PIPE_V>();
        Sub(d, c, d, n);
        PipeBarrier<PIPE_V>();
        Muls(c[16], b, 5.0f, n);
        PipeBarrier<PIPE_V>();
        Add(a, a, c, n);
        Store(d, 0);
        Store(a, N);
    }
    // Lanes of 16 and of 32 bits.
    __aicore__ inline void Widths()
    {
        Load();
        Cast(c.ReinterpretCast<half>(), a, RoundMode::CAST_RINT, n);
        PipeBarrier<PIPE_V>();
        Add(c.ReinterpretCast<half>(), c.ReinterpretCast<half>(), c.ReinterpretCast<half>(), n);
        PipeBarrier<PIPE_V>();
        Cast(d, c.ReinterpretCast<half>(), RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
        Cast(e.ReinterpretCast<int32_t>(), d, RoundMode::CAST_FLOOR, n);
        PipeBarrier<PIPE_V>();
        Cast(c, e.ReinterpretCast<int32_t>(), RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
        Duplicate(e.ReinterpretCast<int16_t>(), static_cast<int16_t>(16256), 2 * n);
        PipeBarrier<PIPE_V>();
        Add(c, c, e, n);
        Store(d, 0);
        Store(c, N);
    }
    // Global memory that is written and read again, and written twice.
    __aicore__ inline void Memory()
    {
        Load();
        Adds(c, a, 1.0f, n);
        Store(c, 0);
        Order<HardEvent::MTE3_MTE2>();
        DataCopyPad(d, out[16], {1, n * 4, 0, 0, 0}, {false, 0, 0, 0.0f});
        Order<HardEvent::MTE2_V>();
        Muls(d, d, 2.0f, n);
        Store(d, 8);
        PipeBarrier<PIPE_MTE3>();
        Store(b, 16);
        PipeBarrier<PIPE_MTE3>();
        Store(c, N);
        PipeBarrier<PIPE_MTE3>();
        Store(d, N - 8);
    }
    // Masks, their words, and lanes picked by them.
    __aicore__ inline void Masks()
    {
        LocalTensor<uint8_t> mask = e.ReinterpretCast<uint8_t>(), other = f.ReinterpretCast<uint8_t>();
        const uint32_t whole = n / 64 * 64, words = whole / 16;
        Load();
        Duplicate(c, 1.5f, n);
        Duplicate(d, 2.5f, n);
        PipeBarrier<PIPE_V>();
        CompareScalar(mask, a, 0.5f, CMPMODE::LT, whole);
        Compare(other, a, b, CMPMODE::GE, whole);
        PipeBarrier<PIPE_V>();
        Not(mask.ReinterpretCast<uint16_t>(), mask.ReinterpretCast<uint16_t>(), words);
        PipeBarrier<PIPE_V>();
        And(other.ReinterpretCast<uint16_t>(), other.ReinterpretCast<uint16_t>(), mask.ReinterpretCast<uint16_t>(), words);
        Select(c, mask, a, 4.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, whole);
        Select(d, other, b, c, SELMODE::VSEL_TENSOR_TENSOR_MODE, whole);
        Store(c, 0);
        Store(d, N);
    }
    // The scalar unit between vector instructions, through calls and through an address.
    __aicore__ inline void Scalars()
    {
        Load();
        Add(c, a, b, n);
        Order<HardEvent::V_S>();
        const float seen = c.GetValue(n / 2);
        c.SetValue(3, seen);
        Order<HardEvent::S_V>();
        Muls(d, c, 2.0f, n);
        CreateVecIndex(e, 10.0f, n);
        PipeBarrier<PIPE_V>();
        Add(d, d, e, n);
        Store(d, 0);
        Order<HardEvent::MTE3_S>();
        const float stored = out.GetPhyAddr()[1];
        Adds(c, c, stored, n);
        Store(c, N);
    }
};

extern "C" __global__ __aicore__ void deferred(GM_ADDR x, GM_ADDR y, GM_ADDR out, uint32_t what, uint32_t count)
{
    Sequences s(x, y, out, count);
    switch (what) {
    case 0: s.Lanes(); break;
    case 1: s.Shifted(); break;
    case 2: s.Widths(); break;
    case 3: s.Memory(); break;
    case 4: s.Masks(); break;
    case 5: s.Scalars(); break;
    default: s.Store(s.a, 0); break;  // what nobody wrote
    }
}
