// SPDX-License-Identifier: Apache-2.0
// What does not compile, one case at a time (-DCASE=1, 2 ...), and its correction (-DFIXED), which does.
#include "../faults/common.h"

// rule: api-corrections.md: AllocTensor(tensor) is for queues of depth 0
#if CASE == 1
__aicore__ inline void Case(GM_ADDR o)
{
    TPipe pipe;
    TQue<TPosition::VECIN, FAULT(1, 0)> queue;
    pipe.InitBuffer(queue, 1, 64);
    LocalTensor<float> t;
    queue.AllocTensor(t);
}
#endif

// rule: api-corrections.md: L0C to L1 has no uint8
#if CASE == 2
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<FAULT(uint8_t, int8_t)> l1;
    LocalTensor<int32_t> l0c;
    Fixpipe(l1, l0c, FixpipeParamsV220(16, 16, 16, 1, false, REQ8));
}
#endif

// rule: api-corrections.md: a scalar cast from float to half rounds to odd
#if CASE == 3
__aicore__ inline void Case(GM_ADDR o)
{
    const half h = ScalarCast<float, half, RoundMode::FAULT(CAST_RINT, CAST_ODD)>(1.5f);
    LocalTensor<half> t;
    t.SetValue(0, h);
}
#endif

// rule: api-corrections.md: Log and Log10 have no scratch argument
#if CASE == 4
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<float> d, s;
    FAULT(LocalTensor<uint8_t> tmp; Log(d, s, tmp, 64), Log(d, s, 64));
}
#endif

// rule: api-corrections.md: a cube core has no path from L0C to L1 for float
#if CASE == 5
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<FAULT(float, half)> l1;
    LocalTensor<float> l0c;
    Fixpipe(l1, l0c, FixpipeParamsV220(16, 16, 16, 1, false, F322F16));
}
#endif

// rule: api-corrections.md: GetArchVersion takes where to put the version
#if CASE == 6
__aicore__ inline void Case(GM_ADDR o)
{
    uint32_t version;
    FAULT(version = GetArchVersion(), GetArchVersion(version));
}
#endif

// rule: api-corrections.md second reading, 13: names of tiling structs are taken
#if CASE == 7
struct FAULT(SoftMaxTiling, MyTiling) {
    uint32_t rows;
};
__aicore__ inline void Case(GM_ADDR o) {}
#endif

// rule: api-corrections.md second reading, 14: a scalar operand has the type of the elements
#if CASE == 8
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<float> d, s;
    Adds(d, s, FAULT(1, 1.0f), 64);
}
#endif

// rule: api-corrections.md second reading, 15: operators take no scalar
#if CASE == 9
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<float> d, s;
    d = s * FAULT(2.0f, s);
}
#endif

// rule: api-corrections.md: Subs and Neg have no body on this architecture
#if CASE == 10
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<float> d, s;
    FAULT(Subs(d, s, 1.0f, 64); Neg(d, s, 64), Adds(d, s, -1.0f, 64));
}
#endif

// rule: api-corrections.md: Hypot, IsNan and Where have an empty body on this architecture
#if CASE == 11
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<float> d, s;
    FAULT(Hypot(d, s, s, 64), Max(d, s, s, 64));
}
#endif

// rule: api-corrections.md: Scatter is not on this architecture
#if CASE == 12
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<float> d, s;
    LocalTensor<uint32_t> offsets;
    FAULT(Scatter(d, s, offsets, 0, 64), Gather(d, s, offsets, 0, 64));
}
#endif

// rule: api-corrections.md: PhiloxRandom is for 950
#if CASE == 13
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<uint32_t> d;
    FAULT((PhiloxRandom<10>(d, {1, 2}, {1, 2, 3, 4}, 64)), Duplicate(d, 1u, 64));
}
#endif

// rule: hardware.md 7: a pair of pipes has flags only if it is published
#if CASE == 14
__aicore__ inline void Case(GM_ADDR o)
{
    SetFlag<HardEvent::FAULT(MTE3_M, MTE3_MTE2)>(0);
}
#endif

// rule: hardware.md 8: accesses past the data cache take integers
#if CASE == 15
__aicore__ inline void Case(GM_ADDR o)
{
    WriteGmByPassDCache((__gm__ FAULT(float, int32_t)*)o, FAULT(1.0f, 1));
}
#endif

// rule: api.md 3: instructions of 950 alone are not declared
#if CASE == 16
__aicore__ inline void Case(GM_ADDR o)
{
    LocalTensor<float> d, s;
    FAULT((Truncate<float, RoundMode::CAST_RINT>(d, s, 64)), Cast(d, s, RoundMode::CAST_RINT, 64));
}
#endif

extern "C" __global__ __aicore__ void refused(GM_ADDR o) { Case(o); }
