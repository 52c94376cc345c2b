// SPDX-License-Identifier: Apache-2.0
// Types that an instruction of the vector core does not have.
#include "common.h"

// rule: api-corrections.md: Abs has no int16
extern "C" __global__ __aicore__ void type_abs(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int16_t, half);
    Abs(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), 256);  // expect: dtype
}

// rule: api.md 3: Exp and its like take half and float
extern "C" __global__ __aicore__ void type_exp(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int32_t, half);
    Exp(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), 256);  // expect: dtype
}

// rule: api.md 3: Not takes 16-bit integers
extern "C" __global__ __aicore__ void type_not(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int32_t, int16_t);
    Not(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), 256);  // expect: dtype
}

// rule: api.md 3: Div takes half and float
extern "C" __global__ __aicore__ void type_div(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int32_t, half);
    Div(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), v.b.ReinterpretCast<T>(), 256);  // expect: dtype
}

// rule: api.md 3: operations with a scalar have no unsigned type
extern "C" __global__ __aicore__ void type_adds(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(uint16_t, int16_t);
    Adds(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), T(1), 256);  // expect: dtype
}

// rule: api.md 3: shifts take 16- and 32-bit integers
extern "C" __global__ __aicore__ void type_shiftleft(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int8_t, int16_t);
    ShiftLeft(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), T(1), 256);  // expect: dtype
}

// rule: api.md 4: Select takes half and float
extern "C" __global__ __aicore__ void type_select(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int16_t, half);
    Duplicate(v.c.ReinterpretCast<int16_t>(), static_cast<int16_t>(0), 256);
    PipeBarrier<PIPE_V>();
    Select(v.b.ReinterpretCast<T>(), v.c.ReinterpretCast<uint8_t>(), v.a.ReinterpretCast<T>(), v.b.ReinterpretCast<T>(),
           SELMODE::VSEL_TENSOR_TENSOR_MODE, 256);  // expect: dtype -1
}

// rule: api-corrections.md: GatherMask takes 16- and 32-bit types
extern "C" __global__ __aicore__ void type_gather_mask(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int8_t, int16_t);
    uint64_t kept = 0;
    GatherMask(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), 1, false, 0, GatherMaskParams{1, 1, 8, 0}, kept);  // expect: dtype
}

// rule: api-corrections.md: Gather takes 16- and 32-bit types
extern "C" __global__ __aicore__ void type_gather(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int8_t, int16_t);
    Duplicate(v.b.ReinterpretCast<int32_t>(), 0, 256);
    PipeBarrier<PIPE_V>();
    Gather(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), v.b.ReinterpretCast<uint32_t>(), 0, 128);  // expect: dtype
}

// rule: api.md 4: Gatherb takes uint16 and uint32
extern "C" __global__ __aicore__ void type_gatherb(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(float, uint32_t);
    Duplicate(v.b.ReinterpretCast<int32_t>(), 0, 256);
    PipeBarrier<PIPE_V>();
    Gatherb(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), v.b.ReinterpretCast<uint32_t>(), 1, {1, 8});  // expect: dtype
}

// rule: api-corrections.md: Brcb takes 16- and 32-bit types
extern "C" __global__ __aicore__ void type_brcb(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int8_t, int16_t);
    Brcb(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), 1, {1, 8});  // expect: dtype
}

// rule: api-corrections.md: Transpose takes int16, uint16 and half
extern "C" __global__ __aicore__ void type_transpose(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(float, half);
    Transpose(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>());  // expect: dtype
}

// rule: api-corrections.md second reading, 8: Copy takes 16- and 32-bit types
extern "C" __global__ __aicore__ void type_copy(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int8_t, int16_t);
    Copy(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), 64, 1, {1, 1, 8, 8});  // expect: dtype
}

// rule: api.md 6: reductions take half and float
extern "C" __global__ __aicore__ void type_reduce(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int32_t, float);
    WholeReduceSum(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), 64, 1, 1, 1, 8);  // expect: dtype
}

// rule: api.md 7: Duplicate takes 16- and 32-bit types
extern "C" __global__ __aicore__ void type_duplicate(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int8_t, int16_t);
    Duplicate(v.c.ReinterpretCast<T>(), T(1), 256);  // expect: dtype
}

// rule: api.md 7: CreateVecIndex has no unsigned type
extern "C" __global__ __aicore__ void type_index(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(uint16_t, int16_t);
    CreateVecIndex(v.c.ReinterpretCast<T>(), T(0), 256);  // expect: dtype
}

// rule: api.md 7: Sort32 takes half and float
extern "C" __global__ __aicore__ void type_sort(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int32_t, float);
    Sort32(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), v.b.ReinterpretCast<uint32_t>(), 1);  // expect: dtype
}

// rule: api.md 7: Arange takes int16, half, int32 and float
extern "C" __global__ __aicore__ void type_arange(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(uint16_t, int16_t);
    ArithProgression(v.c.ReinterpretCast<T>(), T(0), T(1), 256);  // expect: dtype
}

// rule: api.md 7: Broadcast takes int8, uint8, half and float
extern "C" __global__ __aicore__ void type_broadcast(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int32_t, float);
    const uint32_t from[1] = {1}, to[1] = {64};
    LocalTensor<uint8_t> tmp = v.b.ReinterpretCast<uint8_t>();
    Broadcast<T, 1, 0>(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), to, from, tmp);  // expect: dtype
}

// rule: api.md 10: functions of section 10 take half and float
extern "C" __global__ __aicore__ void type_math(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    Vectors v;
    v.Load(x, y);
    using T = FAULT(int32_t, float);
    Tanh(v.c.ReinterpretCast<T>(), v.a.ReinterpretCast<T>(), v.b.ReinterpretCast<uint8_t>(), 256);  // expect: dtype
}
