// SPDX-License-Identifier: Apache-2.0
// The high-level Matmul object. On the model each call is one operation, synchronised inside, made by the core that
// calls it: a cube core under ASCENDC_CUBE_ONLY, otherwise a vector core of a mixed kernel, whose cube cores only serve.
#pragma once
#include "kernel_operator.h"

// The fields a kernel reads; their order in the vendor's struct is not in the facts, so hosts fill it by name.
struct TCubeTiling {
    int32_t usedCoreNum = 1, M = 0, N = 0, Ka = 0, Kb = 0, singleCoreM = 0, singleCoreN = 0, singleCoreK = 0;
    int32_t baseM = 128, baseN = 256, baseK = 64, isBias = 0;
};

namespace AscendC {

template <TPosition POS, CubeFormat FORMAT, typename TYPE, bool TRANS = false>
struct MatmulType {
    using T = TYPE;
    static constexpr TPosition pos = POS;
    static constexpr CubeFormat format = FORMAT;
    static constexpr bool isTrans = TRANS;
};

struct MatmulConfig {
    int kind;
};
constexpr MatmulConfig CFG_NORM{0}, CFG_MDL{1};

template <class A, class B, class C, class BIAS = C, const MatmulConfig& CONFIG = CFG_NORM>
class Matmul {
    static_assert(A::format == CubeFormat::ND && B::format == CubeFormat::ND && C::format == CubeFormat::ND
                      && A::pos == TPosition::GM && B::pos == TPosition::GM && C::pos == TPosition::GM,
                  "the model has Matmul with row-major operands in global memory");

public:
    void Init(const TCubeTiling* tiling, TPipe* = nullptr)
    {
        rowsOrg_ = tiling->M, colsOrg_ = tiling->N, depthA_ = tiling->Ka, depthB_ = tiling->Kb;
        rows_ = tiling->singleCoreM, cols_ = tiling->singleCoreN, depth_ = tiling->singleCoreK;
        baseM_ = tiling->baseM, baseN_ = tiling->baseN;
        step_ = -1;
    }
    void SetTensorA(const GlobalTensor<typename A::T>& t, bool trans = false)
    {
        a_ = t.view;
        transA_ = trans;
        step_ = -1;
    }
    void SetTensorB(const GlobalTensor<typename B::T>& t, bool trans = false)
    {
        b_ = t.view;
        transB_ = trans;
        step_ = -1;
    }
    void SetBias(const GlobalTensor<typename BIAS::T>& t)
    {
        bias_ = t.view;
        hasBias_ = true;
    }
    void DisableBias() { hasBias_ = false; }
    void SetSingleShape(int m, int n, int k) { rows_ = m, cols_ = n, depth_ = k; }
    void SetTail(int m = -1, int n = -1, int k = -1)
    {
        rows_ = m < 0 ? rows_ : m, cols_ = n < 0 ? cols_ : n, depth_ = k < 0 ? depth_ : k;
    }
    void SetOrgShape(int m, int n, int k) { rowsOrg_ = m, colsOrg_ = n, depthA_ = depthB_ = k; }
    void SetOrgShape(int m, int n, int ka, int kb) { rowsOrg_ = m, colsOrg_ = n, depthA_ = ka, depthB_ = kb; }

    template <bool SYNC = true>
    void IterateAll(const GlobalTensor<typename C::T>& c, uint8_t atomic = 0, PYASC_LOC)
    {
        Block(c.view, 0, 0, rows_, cols_, atomic, loc);
    }
    template <bool SYNC = true>
    bool Iterate()
    {
        const int across = (cols_ + baseN_ - 1) / baseN_, down = (rows_ + baseM_ - 1) / baseM_;
        return ++step_ < across * down;
    }
    template <bool SYNC = true>
    void GetTensorC(const GlobalTensor<typename C::T>& c, uint8_t atomic = 0, PYASC_LOC)
    {
        // Blocks are taken down the rows first, as the default iterate order does.
        const int down = (rows_ + baseM_ - 1) / baseM_;
        const int m = step_ % down * baseM_, n = step_ / down * baseN_;
        Block(c.view, m, n, rows_ - m < baseM_ ? rows_ - m : baseM_, cols_ - n < baseN_ ? cols_ - n : baseN_, atomic, loc);
    }
    void End() {}

private:
    void Block(const GmView& c, int m, int n, int rows, int cols, uint8_t atomic, pyasc_model::Loc loc)
    {
        pyasc_model::MatmulCall call;
        call.a = a_, call.b = b_, call.c = c, call.bias = hasBias_ ? &bias_ : nullptr;
        call.trans_a = transA_, call.trans_b = transB_, call.atomic = atomic != 0;
        call.m0 = m, call.n0 = n, call.m = rows, call.n = cols, call.k = depth_;
        call.lda = transA_ ? rowsOrg_ : depthA_, call.ldb = transB_ ? depthB_ : colsOrg_, call.ldc = colsOrg_;
#ifdef ASCENDC_CUBE_ONLY
        call.cube_only = true;
#endif
        pyasc_model::matmul(call, loc);
    }

    GmView a_, b_, bias_;
    bool transA_ = false, transB_ = false, hasBias_ = false;
    int rowsOrg_ = 0, colsOrg_ = 0, depthA_ = 0, depthB_ = 0, rows_ = 0, cols_ = 0, depth_ = 0;
    int baseM_ = 128, baseN_ = 256, step_ = -1;
};

inline void RegisterMatmul() {}
template <typename Object, typename... Rest>
inline void RegisterMatmul(Object& object, const TCubeTiling* tiling, Rest&&... rest)
{
    object.Init(tiling);
    RegisterMatmul(rest...);
}

}  // namespace AscendC

#ifdef ASCENDC_CUBE_ONLY
#define REGIST_MATMUL_OBJ(pipe, workspace, ...) AscendC::RegisterMatmul(__VA_ARGS__)
#else
// In a mixed kernel the cube cores stay inside the call and serve the vector cores.
#define REGIST_MATMUL_OBJ(pipe, workspace, ...)                                                                    \
    if ASCEND_IS_AIC {                                                                                             \
        return;                                                                                                    \
    }                                                                                                              \
    AscendC::RegisterMatmul(__VA_ARGS__)
#endif
