// SPDX-License-Identifier: Apache-2.0
// counts[x[i]] += 1 in the scalar unit, through its data cache; each block owns a row of 64 counts, a multiple of the
// 64-byte cache line, so that no two blocks share one.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t BINS = 64;

extern "C" __global__ __aicore__ void scalar_histogram(GM_ADDR x, GM_ADDR counts, uint32_t n)
{
    GlobalTensor<int32_t> gx, gc;
    gx.SetGlobalBuffer((__gm__ int32_t*)x, n);
    gc.SetGlobalBuffer((__gm__ int32_t*)counts + GetBlockIdx() * BINS, BINS);
    for (uint32_t i = GetBlockIdx(); i < n; i += GetBlockNum()) {
        const int32_t bin = gx.GetValue(i);
        gc.SetValue(bin, gc.GetValue(bin) + 1);
    }
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(gc);
}
