// SPDX-License-Identifier: Apache-2.0
// Alignment, bounds, ownership, capacity and values that were never written.
#include "common.h"

// rule: hardware.md 8: UB operands start on 32 bytes
extern "C" __global__ __aicore__ void operand_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a[FAULT(1, 8)], v.b, N);  // expect: alignment
    v.Store(o, v.c, N);
}

// rule: hardware.md 8: GM addresses of DataCopy are multiples of the element size
extern "C" __global__ __aicore__ void gm_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopy(v.a, Gm<float>(x + FAULT(2, 4), 1000), N);  // expect: alignment
}

// rule: issue: addresses inside the buffer that owns them
extern "C" __global__ __aicore__ void buffer_bounds(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a, v.b, FAULT(1025, 1024));  // expect: bounds
    v.Store(o, v.c, N);
}

// rule: issue: bounds count active lanes, not the nominal 256 bytes
extern "C" __global__ __aicore__ void lane_bounds(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.c[1000], v.a, 1.0f, FAULT(25, 24), 1, {1, 1, 8, 8});  // expect: bounds
    v.Store(o, v.c[1000], 24);
}

// rule: hardware.md 8: nothing is read outside an array of global memory
extern "C" __global__ __aicore__ void gm_read_bounds(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x);
    DataCopyPad(v.a, g[FAULT(4090, 4089)], DataCopyExtParams{1, 28, 0, 0, 0}, DataCopyPadExtParams<float>());  // expect: gm-bounds
}

// rule: hardware.md 8: nothing is written outside an array of global memory
extern "C" __global__ __aicore__ void gm_write_bounds(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Sync<HardEvent::MTE2_MTE3>();
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)o);
    DataCopyPad(g[FAULT(4090, 4089)], v.a, DataCopyExtParams{1, 28, 0, 0, 0});  // expect: gm-bounds
}

// rule: issue: sizes in range (the length given to SetGlobalBuffer)
extern "C" __global__ __aicore__ void gm_declared_range(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopy(v.a, Gm<float>(x, FAULT(255, 256)), N);  // expect: gm-bounds
}

// rule: toolchain.md 10, ErrorFree: a tensor is not used after FreeTensor
extern "C" __global__ __aicore__ void use_after_free(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, N * 4);
    pipe.InitBuffer(out, 1, N * 4);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, Gm<float>(x), N);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> c = out.AllocTensor<float>();
    if (FAULT(true, false)) {
        in.FreeTensor(a);
    }
    Add(c, a, a, N);  // expect: ownership
    if (FAULT(false, true)) {
        in.FreeTensor(a);
    }
    out.EnQue(c);
    c = out.DeQue<float>();
    DataCopy(Gm<float>(o), c, N);
    out.FreeTensor(c);
}

// rule: hardware.md 2: usable UB is 188160 bytes
extern "C" __global__ __aicore__ void ub_capacity(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 188128);
    pipe.InitBuffer(b, FAULT(33, 32));  // expect: capacity
}

// rule: api.md 1: at most 64 buffers a kernel
extern "C" __global__ __aicore__ void buffer_count(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    for (int i = 0; i < FAULT(65, 64); ++i) {
        pipe.InitBuffer(buf, 32);  // expect: capacity
    }
}

// rule: issue: a lane never written does not reach global memory
extern "C" __global__ __aicore__ void undefined_store(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a, v.b, FAULT(255, 256));
    v.Store(o, v.c, N);  // expect: undefined via common.h
}

// rule: api-corrections.md 22: what DataCopyPad leaves behind a row is undefined
extern "C" __global__ __aicore__ void undefined_pad(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopyPad(v.a, Gm<float>(x), DataCopyExtParams{1, 252, 0, 0, 0},
                DataCopyPadExtParams<float>(FAULT(false, true), 0, 1, 0.0f));
    Sync<HardEvent::MTE2_V>();
    Adds(v.c, v.a, 1.0f, 64);
    v.Store(o, v.c, 64);  // expect: undefined via common.h
}

// rule: api.md 1: AllocTensor gives back a buffer without its contents
extern "C" __global__ __aicore__ void stale_tensor(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> q;
    pipe.InitBuffer(q, 1, 256);
    for (int i = 0; i < 2; ++i) {
        LocalTensor<float> t = q.AllocTensor<float>();
        Duplicate(t, 1.0f, i == 0 ? 64 : FAULT(63, 64));
        q.EnQue(t);
        t = q.DeQue<float>();
        DataCopy(Gm<float>(o), t, 64);  // expect: undefined
        q.FreeTensor(t);
    }
}

// rule: issue: undefined values are tracked per bit in compare masks
extern "C" __global__ __aicore__ void undefined_mask_bit(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    TBuf<TPosition::VECCALC> bits;
    v.pipe.InitBuffer(bits, 32);
    LocalTensor<uint8_t> m = bits.Get<uint8_t>();
    v.Load(x, y);
    Adds(v.c, v.a, 0.0f, FAULT(69, 70));
    PipeBarrier<PIPE_V>();
    CompareScalar(m, v.c, 0.0f, CMPMODE::GT, 128);
    Select(v.b, m, v.a, v.a, SELMODE::VSEL_TENSOR_TENSOR_MODE, 70);
    Sync<HardEvent::V_MTE3>();
    DataCopyPad(Gm<float>(o), v.b, DataCopyExtParams{1, 280, 0, 0, 0});  // expect: undefined
}

// rule: issue: undefined values are tracked through reductions
extern "C" __global__ __aicore__ void undefined_reduction(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.c, v.a, 0.0f, 63);
    PipeBarrier<PIPE_V>();
    WholeReduceSum(v.b, v.c, FAULT(64, 63), 1, 1, 1, 8);
    Sync<HardEvent::V_MTE3>();
    DataCopyPad(Gm<float>(o), v.b, DataCopyExtParams{1, 4, 0, 0, 0});  // expect: undefined
}

// rule: issue: undefined values do not reach a branch of the scalar unit
extern "C" __global__ __aicore__ void undefined_scalar(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.c, v.a, 0.0f, 8);
    Sync<HardEvent::V_S>();
    v.c.GetValue(FAULT(8, 7));  // expect: undefined
}

// rule: issue: undefined values do not reach an address
extern "C" __global__ __aicore__ void undefined_offset(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    LocalTensor<int32_t> offsets = v.c.ReinterpretCast<int32_t>();
    Duplicate(offsets, 8, FAULT(63, 64));
    PipeBarrier<PIPE_V>();
    Gather(v.b, v.a, offsets.ReinterpretCast<uint32_t>(), 0, 64);  // expect: undefined
}

// rule: api.md 8: GM is not zeroed for atomics
extern "C" __global__ __aicore__ void undefined_atomic(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Duplicate(v.c, 0.0f, N);
    if (FAULT(false, true)) {
        v.Store(o, v.c, N);
        PipeBarrier<PIPE_MTE3>();
    }
    SetAtomicAdd<float>();
    Sync<HardEvent::MTE2_MTE3>();
    DataCopy(Gm<float>(o), v.a, N);  // expect: undefined
    SetAtomicNone();
}

// rule: api.md 4: Gather offsets are whole elements inside UB
extern "C" __global__ __aicore__ void gather_offset(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    LocalTensor<int32_t> offsets = v.c.ReinterpretCast<int32_t>();
    Duplicate(offsets, FAULT(6, 8), 64);
    PipeBarrier<PIPE_V>();
    Gather(v.b, v.a, offsets.ReinterpretCast<uint32_t>(), 0, 64);  // expect: alignment
}

// rule: api-corrections.md 2: WholeReduceMax writes to multiples of two elements
extern "C" __global__ __aicore__ void reduce_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    WholeReduceMax(v.c[FAULT(1, 2)], v.a, 64, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);  // expect: alignment
}

// rule: api-corrections.md 4: ReduceMax of a tail needs two elements of destination
extern "C" __global__ __aicore__ void reduce_two_elements(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    TBuf<TPosition::VECCALC> small;
    v.pipe.InitBuffer(small, 32);
    LocalTensor<float> d = small.Get<float>();
    v.Load(x, y);
    ReduceMax(d[FAULT(8, 6)], v.a, v.b, 100);  // expect: bounds
}

// rule: api.md 6: ReduceMax needs its scratch elements
extern "C" __global__ __aicore__ void reduce_scratch(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    TBuf<TPosition::VECCALC> small;
    v.pipe.InitBuffer(small, FAULT(96, 128));
    LocalTensor<float> work = small.Get<float>();
    v.Load(x, y);
    ReduceMax(v.c, v.a, work, 1024);  // expect: bounds
}
