// SPDX-License-Identifier: Apache-2.0
// Queues, events, races between pipes and cores, data cache, overlap.
#include "common.h"

// rule: hardware.md 7: dependent vector instructions need PipeBarrier<PIPE_V>
extern "C" __global__ __aicore__ void race_v_v(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a, v.b, N);
    FAULT(, PipeBarrier<PIPE_V>());
    Muls(v.c, v.c, 2.0f, N);  // expect: race
    v.Store(o, v.c, N);
}

// rule: hardware.md 7: write after read on one pipe needs a barrier too
extern "C" __global__ __aicore__ void race_v_v_war(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a, v.b, N);
    FAULT(, PipeBarrier<PIPE_V>());
    Muls(v.a, v.b, 2.0f, N);  // expect: race
    v.Store(o, v.c, N);
}

// rule: hardware.md 7: write after read needs the barrier also where the writer works in place
extern "C" __global__ __aicore__ void race_v_v_war_in_place(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a, v.b, N);
    FAULT(, PipeBarrier<PIPE_V>());
    Muls(v.a, v.a, 2.0f, N);  // expect: race
    v.Store(o, v.c, N);
}

// rule: hardware.md 7: a copy in and its use on V need a flag
extern "C" __global__ __aicore__ void race_mte2_v(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopy(v.a, Gm<float>(x), N);
    FAULT(, Sync<HardEvent::MTE2_V>());
    Adds(v.c, v.a, 1.0f, N);  // expect: race
    v.Store(o, v.c, N);
}

// rule: hardware.md 7: a vector result and its copy out need a flag
extern "C" __global__ __aicore__ void race_v_mte3(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a, v.b, N);
    FAULT(, Sync<HardEvent::V_MTE3>());
    DataCopy(Gm<float>(o), v.c, N);  // expect: race
}

// rule: hardware.md 7: a buffer being copied out is not overwritten
extern "C" __global__ __aicore__ void race_mte3_v(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a, v.b, N);
    v.Store(o, v.c, N);
    FAULT(, Sync<HardEvent::MTE3_V>());
    Adds(v.c, v.a, 1.0f, N);  // expect: race
}

// rule: hardware.md 7: a buffer still read by V is not loaded again
extern "C" __global__ __aicore__ void race_v_mte2(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Add(v.c, v.a, v.b, N);
    FAULT(, Sync<HardEvent::V_MTE2>());
    DataCopy(v.a, Gm<float>(y), N);  // expect: race
}

// rule: hardware.md 7: overlapping copies of one pipe need a barrier
extern "C" __global__ __aicore__ void race_mte2_mte2(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopy(v.a, Gm<float>(x), N);
    FAULT(, PipeBarrier<PIPE_MTE2>());
    DataCopy(v.a[248], Gm<float>(y), N);  // expect: race
}

// rule: hardware.md 7: a scalar store and a vector read need S_V
extern "C" __global__ __aicore__ void race_s_v(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.c, v.a, 0.0f, N);
    Sync<HardEvent::V_S>();
    v.c.SetValue(3, 1.0f);
    FAULT(, Sync<HardEvent::S_V>());
    Muls(v.b, v.c, 2.0f, N);  // expect: race
}

// rule: hardware.md 7: a vector result and a scalar read need V_S
extern "C" __global__ __aicore__ void race_v_s(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.c, v.a, 0.0f, N);
    FAULT(, Sync<HardEvent::V_S>());
    v.c.GetValue(3);  // expect: race
}

// rule: hardware.md 8: two copies writing one range of GM need a barrier
extern "C" __global__ __aicore__ void race_gm_waw(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Sync<HardEvent::MTE2_MTE3>();
    DataCopy(Gm<float>(o), v.a, N);
    FAULT(, PipeBarrier<PIPE_MTE3>());
    DataCopy(Gm<float>(o)[128], v.b, N);  // expect: race
}

// rule: hardware.md 7: reading GM back needs MTE3_MTE2
extern "C" __global__ __aicore__ void race_gm_raw(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Sync<HardEvent::MTE2_MTE3>();
    DataCopy(Gm<float>(w), v.a, N);
    FAULT(, Sync<HardEvent::MTE3_MTE2>());
    DataCopy(v.c, Gm<float>(w), N);  // expect: race
}

// rule: api-corrections.md 21: reading the result of ReduceMax needs PipeBarrier<PIPE_V>
extern "C" __global__ __aicore__ void race_reduce_result(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    ReduceMax(v.c, v.a, v.b, 1024);
    FAULT(, PipeBarrier<PIPE_V>());
    Adds(v.c[16], v.c, 1.0f, 1);  // expect: race
}

// rule: hardware.md 7: an event id is not set twice without a wait
extern "C" __global__ __aicore__ void event_set_twice(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
    SetFlag<HardEvent::MTE2_V>(FAULT(EVENT_ID1, EVENT_ID2));  // expect: event
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);
    FAULT(, WaitFlag<HardEvent::MTE2_V>(EVENT_ID2));
}

// rule: hardware.md 7: a wait needs a set
extern "C" __global__ __aicore__ void event_wait_alone(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    FAULT(, SetFlag<HardEvent::V_MTE3>(EVENT_ID0));
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);  // expect: event
}

// rule: hardware.md 7: flags set before a loop are drained after it
extern "C" __global__ __aicore__ void event_left_over(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    SetFlag<HardEvent::V_MTE2>(EVENT_ID0);  // expect: event
    FAULT(, WaitFlag<HardEvent::V_MTE2>(EVENT_ID0));
}

// rule: hardware.md 7: event ids are 0 to 7
extern "C" __global__ __aicore__ void event_id_range(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    SetFlag<HardEvent::V_S>(FAULT(8, 5));  // expect: event
    WaitFlag<HardEvent::V_S>(FAULT(8, 5));
}

// rule: hardware.md 7: ids 6 and 7 belong to the framework
extern "C" __global__ __aicore__ void event_reserved(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    SetFlag<HardEvent::V_S>(FAULT(6, 5));  // expect: event
    WaitFlag<HardEvent::V_S>(FAULT(6, 5));
}

// rule: hardware.md 7: a vector core has S, V, MTE2 and MTE3
extern "C" __global__ __aicore__ void event_pair(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Sync<FAULT(HardEvent::MTE1_M, HardEvent::MTE2_V)>();  // expect: event via common.h
}

// rule: api.md 1: at most 8 buffers of a position are outstanding
extern "C" __global__ __aicore__ void event_pool(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 9> in;
    constexpr int COUNT = FAULT(9, 8);
    pipe.InitBuffer(in, COUNT, 256);
    LocalTensor<float> t[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        t[i] = in.AllocTensor<float>();
        DataCopy(t[i], Gm<float>(x), 64);
        in.EnQue(t[i]);  // expect: event
    }
    for (int i = 0; i < COUNT; ++i) {
        t[i] = in.DeQue<float>();
        in.FreeTensor(t[i]);
    }
}

// rule: hardware.md 7: PipeBarrier<PIPE_S> is not allowed
extern "C" __global__ __aicore__ void barrier_s(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    PipeBarrier<FAULT(PIPE_S, PIPE_V)>();  // expect: parameter
}

struct InQueue {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> q;
    __aicore__ inline InQueue() { pipe.InitBuffer(q, 2, 1024); }
};

// rule: toolchain.md 10, ErrorBuffer: EnQue needs AllocTensor
extern "C" __global__ __aicore__ void queue_enque_foreign(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    InQueue i;
    TBuf<TPosition::VECCALC> buf;
    i.pipe.InitBuffer(buf, 1024);
    LocalTensor<float> t = i.q.AllocTensor<float>(), other = buf.Get<float>();
    i.q.EnQue(FAULT(other, t));  // expect: queue
    if (FAULT(true, false)) {
        i.q.EnQue(t);
    }
    t = i.q.DeQue<float>();
    i.q.FreeTensor(t);
}

// rule: toolchain.md 10, ErrorFree: FreeTensor twice
extern "C" __global__ __aicore__ void queue_free_twice(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    InQueue i;
    LocalTensor<float> t = i.q.AllocTensor<float>();
    i.q.FreeTensor(t);
    FAULT(i.q.FreeTensor(t), );  // expect: queue
}

// rule: toolchain.md 10, ErrorLeak: every tensor is given back
extern "C" __global__ __aicore__ void queue_leak(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> q;
    pipe.InitBuffer(q, 2, 1024);  // expect: queue
    LocalTensor<float> t = q.AllocTensor<float>();
    FAULT(, q.FreeTensor(t));
}

// rule: toolchain.md 10, ErrorLeak: what is enqueued is taken out
extern "C" __global__ __aicore__ void queue_never_taken(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> q;
    pipe.InitBuffer(q, 2, 1024);  // expect: queue
    LocalTensor<float> t = q.AllocTensor<float>();
    q.EnQue(t);
    if (FAULT(false, true)) {
        t = q.DeQue<float>();
        q.FreeTensor(t);
    }
}

// rule: api.md 1: DeQue needs a tensor in the queue
extern "C" __global__ __aicore__ void queue_empty(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    InQueue i;
    LocalTensor<float> t = i.q.AllocTensor<float>();
    FAULT(, i.q.EnQue(t));
    t = i.q.DeQue<float>();  // expect: queue
    i.q.FreeTensor(t);
}

// rule: api.md 1: a queue of depth 1 holds one tensor
extern "C" __global__ __aicore__ void queue_depth(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    InQueue i;
    LocalTensor<float> t = i.q.AllocTensor<float>();
    i.q.EnQue(t);
    if (FAULT(false, true)) {
        t = i.q.DeQue<float>();
        i.q.FreeTensor(t);
    }
    t = i.q.AllocTensor<float>();
    i.q.EnQue(t);  // expect: queue
    if (FAULT(true, false)) {
        t = i.q.DeQue<float>();
        i.q.FreeTensor(t);
    }
    t = i.q.DeQue<float>();
    i.q.FreeTensor(t);
}

// rule: api.md 1: AllocTensor needs a free buffer
extern "C" __global__ __aicore__ void queue_no_buffer(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    InQueue i;
    LocalTensor<float> a = i.q.AllocTensor<float>(), b = i.q.AllocTensor<float>();
    FAULT(, i.q.FreeTensor(a));
    LocalTensor<float> c = i.q.AllocTensor<float>();  // expect: queue
    i.q.FreeTensor(b);
    i.q.FreeTensor(c);
}

// rule: api.md 1: one TPipe is alive at a time
extern "C" __global__ __aicore__ void two_pipes(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    {
        TPipe first;
        if (FAULT(true, false)) {
            TPipe second;  // expect: queue
        }
    }
    TPipe third;
}

// rule: hardware.md 8: cores do not write the same bytes
// blocks: 2
extern "C" __global__ __aicore__ void core_race_write(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Sync<HardEvent::MTE2_MTE3>();
    DataCopy(Gm<float>(o)[GetBlockIdx() * FAULT(248, 256)], v.a, N);  // expect: core-race
}

// rule: hardware.md 8: a core does not read what another writes in the same phase
// blocks: 2
extern "C" __global__ __aicore__ void core_race_read(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Vectors v;
    v.Load(x, y);
    Sync<HardEvent::MTE2_MTE3>();
    DataCopy(Gm<float>(w)[GetBlockIdx() * 256], v.a, N);
    FAULT(, SyncAll());
    DataCopy(v.c, Gm<float>(w)[256 - GetBlockIdx() * 256], N);  // expect: core-race
}

// rule: api.md 8: atomics of several cores do not race, plain writes beside them do
// blocks: 2
extern "C" __global__ __aicore__ void core_race_atomic(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, x);
    Sync<HardEvent::MTE2_MTE3>();
    if (FAULT(GetBlockIdx() == 0, true)) {
        SetAtomicAdd<float>();
    }
    DataCopy(Gm<float>(y), v.a, N);  // expect: core-race
    SetAtomicNone();
}

// rule: hardware.md 8: two cores never write one 64-byte line through the scalar unit
// blocks: 2
extern "C" __global__ __aicore__ void cache_line_shared(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Gm<float>(o).SetValue(GetBlockIdx() * FAULT(15, 16), 1.0f);  // expect: cache-line
}

// rule: hardware.md 8: scalar writes are cleaned before a copy reads them
extern "C" __global__ __aicore__ void cache_not_cleaned(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    GlobalTensor<float> g = Gm<float>(x);
    g.SetValue(3, 1.0f);
    if (FAULT(false, true)) {
        DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(g);
    }
    Sync<HardEvent::S_MTE2>();
    DataCopy(v.a, g, N);  // expect: cache-line
}

// rule: hardware.md 8: the data cache does not see copies
extern "C" __global__ __aicore__ void cache_stale(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    GlobalTensor<float> g = Gm<float>(x);
    g.GetValue(0);
    v.Load(y, y);
    Sync<HardEvent::MTE2_MTE3>();
    Sync<HardEvent::S_MTE3>();
    DataCopy(g, v.a, N);
    Sync<HardEvent::MTE3_S>();
    if (FAULT(false, true)) {
        DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(g);
    }
    g.GetValue(1);  // expect: cache-line
}

// rule: hardware.md 8: source and destination coincide or are apart within a repeat
extern "C" __global__ __aicore__ void overlap_within(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.a, v.a[FAULT(8, 64)], 1.0f, 64);  // expect: overlap
}

// rule: hardware.md 8: a later repeat does not read what an earlier one wrote
extern "C" __global__ __aicore__ void overlap_across(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.a[FAULT(64, 0)], v.a, 1.0f, 192);  // expect: overlap
}

// rule: hardware.md 8: chaining is allowed where the destination meets the second source only
extern "C" __global__ __aicore__ void overlap_chain(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    if (FAULT(true, false)) {
        Add(v.c, v.c, v.a, 64, 4, {1, 1, 1, 0, 0, 8});  // expect: overlap
    } else {
        Adds(v.c, v.a, 0.0f, 64);
        PipeBarrier<PIPE_V>();
        Add(v.c, v.a, v.c, 64, 4, {1, 1, 1, 0, 8, 0});
    }
}

// rule: api.md 5: a wider destination of Cast does not overlap its source
extern "C" __global__ __aicore__ void overlap_cast(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    LocalTensor<half> h = v.a.ReinterpretCast<half>();
    Cast(FAULT(v.a, v.b), h, RoundMode::CAST_NONE, 128);  // expect: overlap
}

// rule: api.md 7: Brcb does not overlap its source
extern "C" __global__ __aicore__ void overlap_brcb(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Brcb(FAULT(v.a, v.b), v.a, 1, {1, 8});  // expect: overlap
}
