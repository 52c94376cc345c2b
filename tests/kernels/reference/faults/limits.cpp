// SPDX-License-Identifier: Apache-2.0
// Ranges and forms of the calls of a vector core, and of its queues.
#include "common.h"

// rule: api.md 2: a row of DataCopyPad has at most 2097151 bytes
extern "C" __global__ __aicore__ void pad_row(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopyPad(v.a, Gm<float>(x), DataCopyExtParams{1, FAULT(2097152, 64), 0, 0, 0}, DataCopyPadExtParams<float>());  // expect: parameter
}

// rule: assumed: a copy ends behind a whole element
extern "C" __global__ __aicore__ void pad_part(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopyPad(v.a, Gm<float>(x), DataCopyExtParams{1, FAULT(62, 64), 0, 0, 0}, DataCopyPadExtParams<float>());  // expect: parameter
}

// rule: assumed: rows of a copy begin at whole elements
extern "C" __global__ __aicore__ void pad_between(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Sync<HardEvent::V_MTE3>();
    DataCopyPad(Gm<float>(o), v.a, DataCopyExtParams{2, 64, 0, FAULT(1, 4), 0});  // expect: parameter
}

// rule: api.md 2: the padding value of 64-bit types is 0
extern "C" __global__ __aicore__ void pad_value(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopyPad(v.a.ReinterpretCast<int64_t>(), Gm<int64_t>(x, 64), DataCopyExtParams{1, 8, 0, 0, 0},
                DataCopyPadExtParams<int64_t>(true, 0, 1, FAULT(1, 0)));  // expect: parameter -1
}

// rule: api.md 4: the mode of Select fits its operands
extern "C" __global__ __aicore__ void select_mode(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Duplicate(v.c.ReinterpretCast<int16_t>(), static_cast<int16_t>(0), 256);
    PipeBarrier<PIPE_V>();
    Select(v.b, v.c.ReinterpretCast<uint8_t>(), v.a, 1.0f,
           FAULT(SELMODE::VSEL_TENSOR_TENSOR_MODE, SELMODE::VSEL_TENSOR_SCALAR_MODE), 256);  // expect: parameter -1
}

// rule: api.md 4: fixed patterns of GatherMask are 1 to 7
extern "C" __global__ __aicore__ void gather_mask_pattern(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    uint64_t kept = 0;
    GatherMask(v.c, v.a, FAULT(8, 7), false, 0, GatherMaskParams{1, 1, 8, 0}, kept);  // expect: parameter
}

// rule: api.md 4: Gather does not work in place
extern "C" __global__ __aicore__ void gather_in_place(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Duplicate(v.b.ReinterpretCast<int32_t>(), 0, 64);
    PipeBarrier<PIPE_V>();
    Gather(FAULT(v.a, v.c), v.a, v.b.ReinterpretCast<uint32_t>(), 0, 64);  // expect: overlap
}

// rule: api.md 4: GetCmpMask needs a tensor of 128 bytes
extern "C" __global__ __aicore__ void compare_register(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Compare(v.a, v.b, CMPMODE::LT, 64, {1, 1, 1, 8, 8, 8});
    PipeBarrier<PIPE_V>();
    GetCmpMask(v.bufC.GetWithOffset<uint8_t>(FAULT(64, 128), 0));  // expect: bounds
}

// rule: api.md 6: BlockReduceSum writes to whole groups of results
extern "C" __global__ __aicore__ void block_reduce_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    BlockReduceSum(v.c[FAULT(1, 8)], v.a, 1, 64, 1, 1, 8);  // expect: alignment
}

// rule: api.md 7: MrgSort merges two, three or four lists
extern "C" __global__ __aicore__ void merge_lists(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    const uint16_t counts[4] = {8, 8, 0, 0};
    Sort32(v.c, v.a, v.b.ReinterpretCast<uint32_t>(), 1);
    PipeBarrier<PIPE_V>();
    MrgSort(v.b, MrgSortSrcList<float>(v.c, v.c[16], v.c, v.c), MrgSort4Info(counts, false, FAULT(1, 3), 1));  // expect: parameter
}

// rule: api.md 7: Broadcast along axis 0 repeats rows of whole 32 bytes
extern "C" __global__ __aicore__ void broadcast_rows(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    constexpr uint32_t WIDTH = FAULT(4, 8);
    const uint32_t from[2] = {1, WIDTH}, to[2] = {4, WIDTH};
    LocalTensor<uint8_t> tmp = v.b.ReinterpretCast<uint8_t>();
    Broadcast<float, 2, 0>(v.c, v.a, to, from, tmp);  // expect: parameter
}

// rule: api.md 10: source and destination do not overlap
extern "C" __global__ __aicore__ void math_in_place(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Tanh(FAULT(v.a, v.c), v.a, v.b.ReinterpretCast<uint8_t>(), 256);  // expect: overlap
}

// rule: api.md 10: scratch holds at least what a function needs
extern "C" __global__ __aicore__ void math_scratch(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    LocalTensor<uint8_t> scratch = v.bufB.GetWithOffset<uint8_t>(FAULT(736, 768), 0);
    Erf(v.c, v.a, scratch, 64);  // expect: parameter
}

// rule: api.md 10: a row of SoftMax fills whole 32 bytes
extern "C" __global__ __aicore__ void softmax_row(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    SoftMaxTiling tiling;
    tiling.srcM = 2;
    tiling.srcK = FAULT(12, 16);
    SoftMax<float>(v.c, v.b, v.b[64], v.a, tiling);  // expect: parameter
}

// rule: api.md 10: a row of LayerNorm fills whole 32 bytes
extern "C" __global__ __aicore__ void layer_norm_row(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    LayerNormTiling tiling;
    tiling.bLength = 1;
    tiling.sLength = 2;
    tiling.hLength = tiling.originalHLength = FAULT(12, 16);
    LayerNorm<float>(v.c, v.b[64], v.b[72], v.a, v.b, v.b[32], 1e-5f, tiling);  // expect: parameter
}

// rule: hardware.md 4: SetVectorMask has no more lanes than a repeat
extern "C" __global__ __aicore__ void vector_mask(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    SetVectorMask<float>(FAULT(65, 64));  // expect: parameter
    ResetMask();
}

// rule: hardware.md 7: a vector core has no other pipes to wait for
extern "C" __global__ __aicore__ void barrier_pipe(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    PipeBarrier<FAULT(PIPE_M, PIPE_V)>();  // expect: core-type
}

// rule: api.md 1: an event id is taken before it is given back
extern "C" __global__ __aicore__ void event_not_taken(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    FAULT(, pipe.AllocEventID<HardEvent::V_S>());
    pipe.ReleaseEventID<HardEvent::V_S>(0);  // expect: event
}

// rule: api.md 1: a queue is used after InitBuffer
extern "C" __global__ __aicore__ void queue_not_made(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    FAULT(, pipe.InitBuffer(queue, 1, 64));
    LocalTensor<float> t = queue.AllocTensor<float>();  // expect: queue
    queue.FreeTensor(t);
}

// rule: toolchain.md 10, ErrorBuffer: a tensor goes back to its own queue
extern "C" __global__ __aicore__ void queue_of_another(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> one, other;
    pipe.InitBuffer(one, 1, 64);
    pipe.InitBuffer(other, 1, 64);
    LocalTensor<float> a = one.AllocTensor<float>(), b = other.AllocTensor<float>();
    one.FreeTensor(FAULT(b, a));  // expect: queue
    other.FreeTensor(FAULT(a, b));
}

// rule: toolchain.md 10, ErrorBuffer: a tensor is enqueued once
extern "C" __global__ __aicore__ void queue_enque_twice(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    pipe.InitBuffer(queue, 2, 64);
    LocalTensor<float> t = queue.AllocTensor<float>();
    queue.EnQue(t);
    FAULT(queue.EnQue(t), );  // expect: queue
    t = queue.DeQue<float>();
    queue.FreeTensor(t);
}

// rule: toolchain.md 10, ErrorFree: a tensor in the queue is not given back
extern "C" __global__ __aicore__ void queue_free_queued(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, 1, 64);
    LocalTensor<float> t = queue.AllocTensor<float>();
    queue.EnQue(t);
    FAULT(queue.FreeTensor(t), );  // expect: queue
    t = queue.DeQue<float>();
    queue.FreeTensor(t);
}

// rule: hardware.md 2: UB of the static-tensor style ends where it does with TPipe
extern "C" __global__ __aicore__ void static_capacity(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    InitSocState();
    LocalTensor<float> t(TPosition::VECCALC, 188160 - FAULT(992, 1024), N);  // expect: capacity
    DataCopy(t, Gm<float>(x), N);
    PipeBarrier<PIPE_ALL>();
}

// rule: hardware.md 7: cross-core flags are 0 to 15
extern "C" __global__ __aicore__ void cross_flag_range(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    CrossCoreSetFlag<0, PIPE_MTE3>(FAULT(16, 5));  // expect: event
    FAULT(, CrossCoreWaitFlag(5));
}

// rule: hardware.md 7: mode 4 of cross-core flags is for 950
extern "C" __global__ __aicore__ void cross_mode(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    CrossCoreSetFlag<FAULT(4, 0), PIPE_MTE3>(5);  // expect: event
    FAULT(, CrossCoreWaitFlag(5));
}
