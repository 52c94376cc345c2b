// SPDX-License-Identifier: Apache-2.0
// C = A x B + bias through the Matmul object, in the default mode: vector cores ask, cube cores compute. Blocks of rows
// are dealt over the vector cores; `blockwise` takes the result base block by base block.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void matmul_object(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, uint32_t m, uint32_t n,
                                                    uint32_t k, uint32_t blockwise)
{
    TPipe pipe;
    TCubeTiling tiling;
    tiling.M = m;
    tiling.N = n;
    tiling.Ka = tiling.Kb = k;
    tiling.singleCoreM = m;
    tiling.singleCoreN = n;
    tiling.singleCoreK = k;
    tiling.baseM = 32;
    tiling.baseN = 32;
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::GM, CubeFormat::ND, float>, MatmulType<TPosition::GM, CubeFormat::ND, float>>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    const uint32_t cores = GetBlockNum() * GetTaskRation();
    const uint32_t share = (m + cores - 1) / cores;
    const uint32_t from = GetBlockIdx() * share;
    if (from >= m) {
        return;
    }
    GlobalTensor<half> ga, gb;
    GlobalTensor<float> gc, gBias;
    ga.SetGlobalBuffer((__gm__ half*)a, m * k);
    gb.SetGlobalBuffer((__gm__ half*)b, k * n);
    gBias.SetGlobalBuffer((__gm__ float*)bias, n);
    gc.SetGlobalBuffer((__gm__ float*)c, m * n);
    mm.SetTensorA(ga[from * k]);
    mm.SetTensorB(gb, true);
    mm.SetBias(gBias);
    mm.SetSingleShape(m - from < share ? m - from : share, n, k);
    if (blockwise) {
        while (mm.Iterate()) {
            mm.GetTensorC(gc[from * n]);
        }
    } else {
        mm.IterateAll(gc[from * n]);
    }
    mm.End();
}
