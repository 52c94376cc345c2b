// SPDX-License-Identifier: Apache-2.0
// Rules of the cube core. One 16 x 16 x 16 product of halfs (or 64 columns wide), without queues.
#include "common.h"

struct Product {
    TPipe pipe;
    TBuf<TPosition::A1> bufA1, bufB1;
    TBuf<TPosition::A2> bufA2;
    TBuf<TPosition::B2> bufB2;
    TBuf<TPosition::CO1> bufC;
    LocalTensor<half> a1, b1, a2, b2;
    LocalTensor<float> c;
    __aicore__ inline Product()
    {
        pipe.InitBuffer(bufA1, 8192);
        pipe.InitBuffer(bufB1, 8192);
        pipe.InitBuffer(bufA2, 8192);
        pipe.InitBuffer(bufB2, 8192);
        pipe.InitBuffer(bufC, 32768);
        a1 = bufA1.Get<half>();
        b1 = bufB1.Get<half>();
        a2 = bufA2.Get<half>();
        b2 = bufB2.Get<half>();
        c = bufC.Get<float>();
    }
    // A is 16 x 16, B is kRows x 16 and clear below that when `clear`.
    __aicore__ inline void Load(GM_ADDR x, GM_ADDR y, uint16_t kRows = 16, bool clear = false)
    {
        DataCopy(a1, Gm<half>(x, 8192), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
        DataCopy(b1, Gm<half>(y, 8192), Nd2NzParams(1, kRows, 16, 0, 16, 16, 1, 0));
        if (clear) {
            InitConstValue(b1[kRows * 16], InitConstValueParams<half>(1, 16 - kRows, kRows, half(0.0f)));
        }
        Sync<HardEvent::MTE2_MTE1>();
        LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
        LoadData(b2, b1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
        Sync<HardEvent::MTE1_M>();
    }
    __aicore__ inline MmadParams Sixteen(bool init = true)
    {
        return MmadParams(16, 16, 16, 0, false, init);
    }
    __aicore__ inline FixpipeParamsV220 Out(QuantMode_t mode = NoQuant)
    {
        FixpipeParamsV220 p(16, 16, 16, 16, false);
        p.quantPre = mode;
        return p;
    }
};

#define CUBE KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY)

// rule: hardware.md 5: small Mmads on one L0C need PipeBarrier<PIPE_M>
extern "C" __global__ __aicore__ void mmad_barrier(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    FAULT(, PipeBarrier<PIPE_M>());
    Mmad(p.c, p.a2, p.b2, p.Sixteen(false));  // expect: race
    Sync<HardEvent::M_FIX>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(o), p.c, p.Out());
}

// rule: hardware.md 7: nothing is automatic on a cube core (MTE1 to M)
extern "C" __global__ __aicore__ void race_mte1_m(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Sync<HardEvent::M_MTE1>();
    LoadData(p.a2, p.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    FAULT(, Sync<HardEvent::MTE1_M>());
    Mmad(p.c, p.a2, p.b2, p.Sixteen());  // expect: race
}

// rule: hardware.md 7: nothing is automatic on a cube core (M to FIX)
extern "C" __global__ __aicore__ void race_m_fix(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    FAULT(, Sync<HardEvent::M_FIX>());
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(o), p.c, p.Out());  // expect: race
}

// rule: issue: undefined values are tracked through Mmad
extern "C" __global__ __aicore__ void undefined_k_pad(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y, 15, FAULT(false, true));
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(o), p.c, p.Out());  // expect: undefined
}

// rule: api-corrections.md: Mmad writes to multiples of 1024 bytes
extern "C" __global__ __aicore__ void mmad_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c[FAULT(128, 256)], p.a2, p.b2, p.Sixteen());  // expect: alignment
}

// rule: hardware.md 8: L0A and L0B are addressed by 512 bytes
extern "C" __global__ __aicore__ void load_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    LoadData(p.a2[FAULT(16, 256)], p.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));  // expect: alignment
}

// rule: api.md 9: m, n and k of Mmad are at most 4095
extern "C" __global__ __aicore__ void mmad_range(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, MmadParams(16, 16, FAULT(4096, 16), 0, false, true));  // expect: parameter
}

// rule: api-corrections.md: Mmad has no half result
extern "C" __global__ __aicore__ void mmad_dtype(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c.ReinterpretCast<FAULT(half, float)>(), p.a2, p.b2, p.Sixteen());  // expect: dtype
}

// rule: api.md 9: LoadData transposes 16-bit types only
extern "C" __global__ __aicore__ void load_transpose_dtype(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    using T = FAULT(float, half);
    Sync<HardEvent::M_MTE1>();
    LoadData(p.b2.ReinterpretCast<T>(), p.b1.ReinterpretCast<T>(), LoadData2DParams(0, 1, 1, 0, 0, true, 0));  // expect: dtype
}

// rule: api-corrections.md: quantPre is fixed by the pair of types
extern "C" __global__ __aicore__ void fixpipe_mode(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    Fixpipe<half, float, CFG_ROW_MAJOR>(Gm<half>(o), p.c, p.Out(FAULT(NoQuant, F322F16)));  // expect: parameter
}

// rule: api-corrections.md: nSize of the NZ form is a multiple of 16
extern "C" __global__ __aicore__ void fixpipe_nz_size(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    FixpipeParamsV220 out = p.Out();
    out.nSize = FAULT(15, 16);
    out.dstStride = 32;
    Fixpipe<float, float, CFG_NZ>(Gm<float>(o), p.c, out);  // expect: parameter
}

// rule: api-corrections.md: the bias form needs cmatrixInitVal == false
extern "C" __global__ __aicore__ void mmad_bias_ignored(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    TBuf<TPosition::C1> bufC1;
    TBuf<TPosition::C2> bufC2;
    p.pipe.InitBuffer(bufC1, 64);
    p.pipe.InitBuffer(bufC2, 64);
    LocalTensor<float> c1 = bufC1.Get<float>(), c2 = bufC2.Get<float>();
    DataCopy(c1, Gm<float>(x), Nd2NzParams(1, 1, 16, 0, 16, 1, 1, 0));
    p.Load(x, y);
    DataCopy(c2, c1, DataCopyParams(1, 1, 0, 0));
    Sync<HardEvent::MTE1_M>();
    Mmad(p.c, p.a2, p.b2, c2, p.Sixteen(FAULT(true, false)));  // expect: parameter
}

// rule: hardware.md 2: BT holds 1024 bytes
extern "C" __global__ __aicore__ void bt_capacity(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    TPipe pipe;
    TBuf<TPosition::C2> buf;
    pipe.InitBuffer(buf, FAULT(1056, 1024));  // expect: capacity
}

// rule: hardware.md 2: L0A holds 65536 bytes
extern "C" __global__ __aicore__ void l0a_capacity(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    TPipe pipe;
    TQue<TPosition::A2, 1> q;
    pipe.InitBuffer(q, 2, FAULT(32800, 32768));  // expect: capacity
}

// rule: api-corrections.md: DataCopyPad does not reach L1
extern "C" __global__ __aicore__ void pad_to_l1(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    if (FAULT(true, false)) {
        DataCopyPad(p.a1, Gm<half>(x, 8192), DataCopyExtParams{1, 30, 0, 0, 0}, DataCopyPadExtParams<half>());  // expect: parameter
    } else {
        DataCopy(p.a1, Gm<half>(x, 8192), Nd2NzParams(1, 1, 15, 0, 15, 1, 1, 0));
    }
}

// rule: api.md 2: strides of ND2NZ are 1 to 16384
extern "C" __global__ __aicore__ void nd2nz_stride(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    DataCopy(p.a1, Gm<half>(x, 8192), Nd2NzParams(1, 16, 16, 0, 16, FAULT(0, 16), 1, 0));  // expect: parameter
}

// rule: api.md 9: InitConstValue fills 16- and 32-bit types
extern "C" __global__ __aicore__ void fill_dtype(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    using T = FAULT(int8_t, int16_t);
    InitConstValue(p.a1.ReinterpretCast<T>(), InitConstValueParams<T>(1, 1, 0, T(0)));  // expect: dtype
}

// rule: hardware.md 6: the scalar unit of a cube core does not reach L1
extern "C" __global__ __aicore__ void scalar_l1(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    FAULT(p.a1.GetValue(0), );  // expect: core-type
}

// rule: hardware.md 2: L1 holds 524032 bytes for a kernel
extern "C" __global__ __aicore__ void l1_capacity(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    TPipe pipe;
    TBuf<TPosition::A1> buf;
    pipe.InitBuffer(buf, FAULT(524064, 524032));  // expect: capacity
}

// rule: hardware.md 2: L0B holds 65536 bytes
extern "C" __global__ __aicore__ void l0b_capacity(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    TPipe pipe;
    TBuf<TPosition::B2> buf;
    pipe.InitBuffer(buf, FAULT(65568, 65536));  // expect: capacity
}

// rule: hardware.md 2: L0C holds 131072 bytes
extern "C" __global__ __aicore__ void l0c_capacity(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    TPipe pipe;
    TBuf<TPosition::CO1> buf;
    pipe.InitBuffer(buf, FAULT(131104, 131072));  // expect: capacity
}

// rule: hardware.md 6: nothing leads from global memory to L0C
extern "C" __global__ __aicore__ void route_to_l0c(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    FAULT(DataCopy(p.c, Gm<float>(x), N), DataCopy(p.a1, Gm<half>(x, 8192), N));  // expect: parameter
}

// rule: hardware.md 6: L0C goes out through Fixpipe alone
extern "C" __global__ __aicore__ void route_from_l0c(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    FAULT(DataCopy(Gm<float>(o), p.c, N), (Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(o), p.c, p.Out())));  // expect: parameter
}

// rule: hardware.md 8: L1 is addressed by 32 bytes
extern "C" __global__ __aicore__ void l1_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    DataCopy(p.a1[FAULT(8, 16)], Gm<half>(x, 8192), N);  // expect: alignment
}

// rule: hardware.md 8: Fixpipe reads L0C from multiples of 64 bytes
extern "C" __global__ __aicore__ void fixpipe_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    PipeBarrier<PIPE_ALL>();
    Mmad(p.c[256], p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    FixpipeParamsV220 out = p.Out();
    out.mSize = 8;
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(o), p.c[FAULT(8, 16)], out);  // expect: alignment
}

// rule: hardware.md 8: BT is addressed by 64 bytes
extern "C" __global__ __aicore__ void bt_alignment(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    TBuf<TPosition::C1> bufC1;
    TBuf<TPosition::C2> bufC2;
    p.pipe.InitBuffer(bufC1, 64);
    p.pipe.InitBuffer(bufC2, 256);
    LocalTensor<float> c1 = bufC1.Get<float>(), c2 = bufC2.Get<float>();
    DataCopy(c1, Gm<float>(x), Nd2NzParams(1, 1, 16, 0, 16, 1, 1, 0));
    Sync<HardEvent::MTE2_MTE1>();
    DataCopy(c2[FAULT(8, 16)], c1, DataCopyParams(1, 1, 0, 0));  // expect: alignment
}

// rule: api-corrections.md: DataCopy to BT moves whole 64 bytes
extern "C" __global__ __aicore__ void bt_count(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    TBuf<TPosition::C1> bufC1;
    TBuf<TPosition::C2> bufC2;
    p.pipe.InitBuffer(bufC1, 128);
    p.pipe.InitBuffer(bufC2, 128);
    LocalTensor<float> c1 = bufC1.Get<float>(), c2 = bufC2.Get<float>();
    DataCopy(c1, Gm<float>(x), 32);
    Sync<HardEvent::MTE2_MTE1>();
    DataCopy(c2, c1, FAULT(24, 32));  // expect: parameter
}

// rule: api.md 2: ndNum of ND2NZ is at most 4095
extern "C" __global__ __aicore__ void nd2nz_count(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    DataCopy(p.a1, Gm<half>(x, 8192), Nd2NzParams(FAULT(4096, 1), 16, 16, 0, 16, 16, 1, 0));  // expect: parameter
}

// rule: api.md 2: nValue of ND2NZ is at most 16384
extern "C" __global__ __aicore__ void nd2nz_rows(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    DataCopy(p.a1, Gm<half>(x, 8192), Nd2NzParams(1, FAULT(16385, 16), 16, 0, 16, 16, 1, 0));  // expect: parameter
}

// rule: api-corrections.md: ND2NZ has no 64-bit type
extern "C" __global__ __aicore__ void nd2nz_dtype(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    using T = FAULT(int64_t, int32_t);
    DataCopy(p.a1.ReinterpretCast<T>(), Gm<T>(x, 2048), Nd2NzParams(1, 4, 4, 0, 4, 4, 1, 0));  // expect: dtype
}

// rule: api.md 9: both operands of Mmad have one type
extern "C" __global__ __aicore__ void mmad_operands(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2.ReinterpretCast<FAULT(bfloat16_t, half)>(), p.Sixteen());  // expect: dtype
}

// rule: api.md 9: operands of Mmad lie in L0A and L0B
extern "C" __global__ __aicore__ void mmad_places(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, FAULT(p.b2, p.a2), p.b2, p.Sixteen());  // expect: parameter
}

// rule: api.md 9: nSize of Fixpipe is at most 4095
extern "C" __global__ __aicore__ void fixpipe_columns(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    FixpipeParamsV220 out = p.Out();
    out.nSize = FAULT(4096, 16);
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(o), p.c, out);  // expect: parameter
}

// rule: api.md 9: a row-major Fixpipe has at most 8192 rows
extern "C" __global__ __aicore__ void fixpipe_rows(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    FixpipeParamsV220 out = p.Out();
    out.mSize = FAULT(8193, 16);
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(o), p.c, out);  // expect: parameter
}

// rule: api.md 9: LoadData goes to L0A or L0B
extern "C" __global__ __aicore__ void load_target(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Sync<HardEvent::M_MTE1>();
    FAULT(LoadData(p.b1, p.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0)), );  // expect: parameter
}

// rule: api.md 9: LoadData from global memory does not transpose
extern "C" __global__ __aicore__ void load_gm_transpose(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    LoadData(p.a2, Gm<half>(x, 8192), LoadData2DParams(0, 1, 1, 0, 0, FAULT(true, false), 0));  // expect: parameter
}

// rule: api.md 9: InitConstValue fills L1, L0A and L0B
extern "C" __global__ __aicore__ void fill_target(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    if (FAULT(true, false)) {
        InitConstValue(p.c, InitConstValueParams<float>(1, 1, 0, 0.0f));  // expect: parameter
    } else {
        InitConstValue(p.a2, InitConstValueParams<half>(1, 1, 0, half(0.0f)));
    }
}

// rule: api.md 9: unitFlag of Mmad is 0, 2 or 3
extern "C" __global__ __aicore__ void mmad_unit_flag(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, MmadParams(16, 16, 16, FAULT(1, 0), false, true));  // expect: parameter
}

// rule: api.md 9: unitFlag of Fixpipe is 0, 2 or 3
extern "C" __global__ __aicore__ void fixpipe_unit_flag(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Mmad(p.c, p.a2, p.b2, p.Sixteen());
    Sync<HardEvent::M_FIX>();
    FixpipeParamsV220 out = p.Out();
    out.unitFlag = FAULT(1, 0);
    Fixpipe<float, float, CFG_ROW_MAJOR>(Gm<float>(o), p.c, out);  // expect: parameter
}

// rule: api.md 9: channels of LoadData 3D are 4, 8, or a multiple of 16 and 0, 4 or 8 more
extern "C" __global__ __aicore__ void load_3d_channels(GM_ADDR x, GM_ADDR y, GM_ADDR o, GM_ADDR w)
{
    CUBE;
    Product p;
    p.Load(x, y);
    Sync<HardEvent::M_MTE1>();
    LoadData3DParamsV2<half> load;
    load.l1H = 1;
    load.l1W = 16;
    load.channelSize = FAULT(12, 16);
    load.kExtension = 16;
    load.mExtension = 16;
    load.strideW = load.strideH = load.filterW = load.filterH = load.dilationFilterW = load.dilationFilterH = 1;
    LoadData(p.a2, p.a1, load);  // expect: parameter
}
