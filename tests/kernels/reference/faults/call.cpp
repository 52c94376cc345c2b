// SPDX-License-Identifier: Apache-2.0
// Parameters, types and kinds of core; synchronisation between cores.
#include "common.h"

// rule: api.md 3: Add has no 8-bit type
extern "C" __global__ __aicore__ void dtype_add(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int8_t, int16_t);
    Add(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), v.b.ReinterpretCast<T>(), 256);  // expect: dtype
}

// rule: api-corrections.md 1: And on 32-bit types silently computes half of the data
extern "C" __global__ __aicore__ void dtype_and(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int32_t, int16_t);
    And(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), v.b.ReinterpretCast<T>(), 256);  // expect: dtype
}

// rule: api-corrections.md 7: Compare of int32 knows EQ only
extern "C" __global__ __aicore__ void dtype_compare(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Compare(v.c.ReinterpretCast<uint8_t>(), v.a.ReinterpretCast<int32_t>(), v.b.ReinterpretCast<int32_t>(),
            FAULT(CMPMODE::GT, CMPMODE::EQ), 256);  // expect: dtype -1
}

// rule: api.md 5: there is no cast from bfloat16 to half
extern "C" __global__ __aicore__ void dtype_cast(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(half, float);
    Cast(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<bfloat16_t>(), RoundMode::CAST_NONE, 256);  // expect: dtype
}

// rule: api.md 5: each pair of types has its rounding modes
extern "C" __global__ __aicore__ void cast_mode(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Cast(v.c.ReinterpretCast<int32_t>(), v.a, FAULT(RoundMode::CAST_NONE, RoundMode::CAST_RINT), 256);  // expect: parameter
}

// rule: api.md 5: int32 to half needs SetDeqScale
extern "C" __global__ __aicore__ void cast_deq_scale(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    FAULT(, SetDeqScale(static_cast<half>(1.0f)));
    Cast(v.c.ReinterpretCast<half>(), v.a.ReinterpretCast<int32_t>(), RoundMode::CAST_NONE, 256);  // expect: parameter
}

// rule: api.md 8: atomics have no unsigned types
extern "C" __global__ __aicore__ void dtype_atomic(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    SetAtomicAdd<FAULT(uint32_t, int32_t)>();  // expect: dtype
    SetAtomicNone();
}

// rule: api.md 8: the atomic mode and the copy have one type
extern "C" __global__ __aicore__ void atomic_type(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, x);
    SetAtomicAdd<FAULT(int32_t, float)>();
    Sync<HardEvent::MTE2_MTE3>();
    DataCopy(Gm<float>(y), v.a, N);  // expect: parameter
    SetAtomicNone();
}

// rule: api.md 2: DataCopy by count moves whole 32-byte blocks
extern "C" __global__ __aicore__ void copy_count(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopy(v.a, Gm<float>(x), FAULT(13, 16));  // expect: parameter
}

// rule: api.md 2: blockCount is at most 4095
extern "C" __global__ __aicore__ void copy_block_count(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 4096 * 32);
    LocalTensor<float> t = buf.Get<float>();
    DataCopyPad(t, Gm<float>(x), DataCopyExtParams{FAULT(4096, 4095), 4, 0, 0, 0}, DataCopyPadExtParams<float>());  // expect: parameter
}

// rule: api.md 2: padding is at most 32 bytes a side
extern "C" __global__ __aicore__ void copy_padding(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    DataCopyPad(v.a, Gm<float>(x), DataCopyExtParams{1, 4, 0, 0, 0}, DataCopyPadExtParams<float>(true, FAULT(9, 8), 0, 0.0f));  // expect: parameter
}

// rule: api.md 4: a compare works on whole 256-byte repeats
extern "C" __global__ __aicore__ void compare_count(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    CompareScalar(v.c.ReinterpretCast<uint8_t>(), v.a, 0.0f, CMPMODE::GT, FAULT(100, 128));  // expect: parameter
}

// rule: hardware.md 4: a mask has no more lanes than a repeat
extern "C" __global__ __aicore__ void mask_lanes(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.c, v.a, 1.0f, FAULT(65, 64), 1, {1, 1, 8, 8});  // expect: parameter
}

// rule: hardware.md 4: repeats of a reduction are at most 255
extern "C" __global__ __aicore__ void repeat_range(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    WholeReduceSum(v.c, v.a, 8, FAULT(256, 255), 1, 1, 0);  // expect: parameter
}

// rule: hardware.md 4: a destination has no block stride of 0
extern "C" __global__ __aicore__ void block_stride_zero(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    Adds(v.c, v.a, 1.0f, 64, 1, {FAULT(0, 1), 1, 8, 8});  // expect: parameter
}

// rule: api.md 1: a kernel without TPipe calls InitSocState first
extern "C" __global__ __aicore__ void static_init(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    FAULT(, InitSocState());
    LocalTensor<float> t(TPosition::VECCALC, 0, N);
    DataCopy(t, Gm<float>(x), N);  // expect: parameter
    PipeBarrier<PIPE_ALL>();
}

// rule: api.md 1: a kernel without TPipe ends with PipeBarrier<PIPE_ALL>
extern "C" __global__ __aicore__ void static_end(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    InitSocState();
    LocalTensor<float> t(TPosition::VECCALC, 0, N);
    DataCopy(t, Gm<float>(x), N);  // expect: parameter
    FAULT(, PipeBarrier<PIPE_ALL>());
}

// rule: api.md 1: the static-tensor style has no ReduceSum
extern "C" __global__ __aicore__ void static_reduce(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    InitSocState();
    LocalTensor<float> t(TPosition::VECCALC, 0, N), d(TPosition::VECCALC, 2048, 8);
    DataCopy(t, Gm<float>(x), N);
    Sync<HardEvent::MTE2_V>();
    if (FAULT(true, false)) {
        ReduceSum(d, t, t, N);  // expect: parameter
    } else {
        WholeReduceSum(d, t, 64, 4, 1, 1, 8);
    }
    PipeBarrier<PIPE_ALL>();
}

// rule: hardware.md 6: a vector core has no cube
extern "C" __global__ __aicore__ void core_kind(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    TPipe pipe;
    TBuf<FAULT(TPosition::A1, TPosition::VECCALC)> buf;
    pipe.InitBuffer(buf, 512);  // expect: core-type
}

// rule: hardware.md 6: a cube core has no vector unit
extern "C" __global__ __aicore__ void core_kind_cube(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(FAULT(KERNEL_TYPE_AIC_ONLY, KERNEL_TYPE_AIV_ONLY));
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 512);  // expect: core-type
}

// rule: hardware.md 7: cross-core calls need a kernel of a mixed type
extern "C" __global__ __aicore__ void cross_needs_mix(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(FAULT(KERNEL_TYPE_AIV_ONLY, KERNEL_TYPE_MIX_AIV_1_0));
    SyncAll();  // expect: event
}

// rule: hardware.md 7: SyncAll needs no more blocks than cores
// blocks: 49
// blocks when fixed: 48
extern "C" __global__ __aicore__ void sync_all_blocks(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    SyncAll();  // expect: deadlock
}

// rule: issue: deadlock of cross-core synchronisation
// blocks: 3
extern "C" __global__ __aicore__ void sync_all_missed(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    if (GetBlockIdx() != FAULT(1, 3)) {
        SyncAll();  // expect: deadlock anywhere
    }
}

// rule: hardware.md 7: a cross-core wait needs a set
// blocks: 2
extern "C" __global__ __aicore__ void cross_wait_alone(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
        FAULT(, (CrossCoreSetFlag<2, PIPE_FIX>(8)));
    }
    if ASCEND_IS_AIV {
        CrossCoreWaitFlag(8);  // expect: deadlock anywhere
    }
}

// rule: hardware.md 7: mode 2 needs both vector cores to set before the cube core goes on
extern "C" __global__ __aicore__ void cross_one_vector(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
        CrossCoreWaitFlag(8);  // expect: deadlock anywhere
    }
    if ASCEND_IS_AIV {
        if (FAULT(GetSubBlockIdx() == 0, true)) {
            CrossCoreSetFlag<2, PIPE_MTE2>(8);
        }
    }
}

// rule: README-cube: every cross-core flag that is set is waited for
extern "C" __global__ __aicore__ void cross_left_over(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
        CrossCoreSetFlag<2, PIPE_FIX>(8);  // expect: event
    }
    if ASCEND_IS_AIV {
        FAULT(, CrossCoreWaitFlag(8));
    }
}

// rule: hardware.md 7: a cross-core flag counts to 15
extern "C" __global__ __aicore__ void cross_counter(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    for (int i = 0; i < FAULT(16, 15); ++i) {
        if ASCEND_IS_AIC {
            CrossCoreSetFlag<2, PIPE_FIX>(8);  // expect: event
        }
        if ASCEND_IS_AIV {
            CrossCoreWaitFlag(8);
        }
    }
}

// rule: hardware.md 7: SyncAll uses cross-core flags 11 to 14
// blocks: 2
extern "C" __global__ __aicore__ void cross_sync_ids(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    SyncAll();
    CrossCoreSetFlag<0, PIPE_MTE3>(FAULT(11, 3));  // expect: event
    CrossCoreWaitFlag(FAULT(11, 3));
}

// rule: hardware.md 7: a cross-core flag carries the work of the pipe it names
// blocks: 2
extern "C" __global__ __aicore__ void cross_wrong_pipe(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Vectors v;
    v.Load(x, y);
    Sync<HardEvent::MTE2_MTE3>();
    DataCopy(Gm<float>(w)[GetBlockIdx() * 256], v.a, N);
    CrossCoreSetFlag<0, FAULT(PIPE_V, PIPE_MTE3)>(3);
    CrossCoreWaitFlag(3);
    DataCopy(v.c, Gm<float>(w)[256 - GetBlockIdx() * 256], N);  // expect: core-race
}

// rule: hardware.md 7: the workspace of the software SyncAll is zeroed
extern "C" __global__ __aicore__ void sync_all_workspace(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    if (FAULT(false, true)) {
        Duplicate(v.c, 0.0f, N);
        v.Store(w, v.c, N);
        Sync<HardEvent::MTE3_S>();
    }
    SyncAll(Gm<int32_t>(w), v.a.ReinterpretCast<int32_t>(), 1);  // expect: undefined
}
