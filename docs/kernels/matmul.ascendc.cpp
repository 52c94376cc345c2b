// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void matmul(
    GM_ADDR a_addr, GM_ADDR b_addr, GM_ADDR c_addr, int64_t M, int64_t K, int64_t N)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<float> a, b, c;
    a.SetGlobalBuffer((__gm__ float*)a_addr, M * K);
    b.SetGlobalBuffer((__gm__ float*)b_addr, K * N);
    c.SetGlobalBuffer((__gm__ float*)c_addr, M * N);

    TPipe pipe;
    TQue<TPosition::A1, 1> a1_queue;
    TQue<TPosition::B1, 1> b1_queue;
    TQue<TPosition::A2, 1> a2_queue;
    TQue<TPosition::B2, 1> b2_queue;
    TQue<TPosition::CO1, 1> sum_queue;
    pipe.InitBuffer(a1_queue, 2, 128 * 128 * sizeof(float));
    pipe.InitBuffer(b1_queue, 2, 128 * 256 * sizeof(float));
    pipe.InitBuffer(a2_queue, 2, 128 * 32 * sizeof(float));
    pipe.InitBuffer(b2_queue, 2, 32 * 256 * sizeof(float));
    pipe.InitBuffer(sum_queue, 1, 128 * 256 * sizeof(float));

    const int64_t across = (N + 255) / 256;
    const int64_t pieces = (M + 127) / 128 * across;
    for (int64_t piece = GetBlockIdx(); piece < pieces; piece += GetBlockNum()) {
        const int64_t i = piece / across * 128, j = piece % across * 256;
        const int64_t rows = M - i < 128 ? M - i : 128, columns = N - j < 256 ? N - j : 256;
        const int64_t row_fractals = (rows + 15) / 16, rows_padded = row_fractals * 16;
        const int64_t column_fractals = (columns + 15) / 16, columns_padded = column_fractals * 16;

        LocalTensor<float> sum = sum_queue.AllocTensor<float>();
        for (int64_t k = 0; k < K; k += 128) {
            const int64_t depth = K - k < 128 ? K - k : 128;
            const int64_t depth_padded = (depth + 15) / 16 * 16;
            const int64_t filled = (depth + 7) / 8 * 8;

            // Into L1: A in groups of 8 columns, B in strips of 16 rows; what is missing of a square is zero.
            LocalTensor<float> a1_in = a1_queue.AllocTensor<float>();
            DataCopy(a1_in, a[i * K + k],
                     Nd2NzParams(1, rows, depth, 0, K, rows_padded, 1, 0));
            if (filled < depth_padded) {
                InitConstValue(a1_in[filled * rows_padded], InitConstValueParams<float>(1, rows_padded, 0, 0.0f));
            }
            a1_queue.EnQue(a1_in);
            LocalTensor<float> b1_in = b1_queue.AllocTensor<float>();
            for (int64_t r = 0; r < depth; r += 16) {
                const int64_t strip_rows = depth - r < 16 ? depth - r : 16;
                DataCopy(b1_in[r * columns_padded], b[(k + r) * N + j],
                         Nd2NzParams(1, strip_rows, columns, 0, N, 16, 1, 0));
            }
            const int64_t tail = depth % 16;
            if (tail != 0) {
                InitConstValue(b1_in[(depth - tail) * columns_padded + tail * 8],
                               InitConstValueParams<float>(columns_padded / 8, 16 - tail, tail, 0.0f));
            }
            b1_queue.EnQue(b1_in);

            LocalTensor<float> a1 = a1_queue.DeQue<float>();
            LocalTensor<float> b1 = b1_queue.DeQue<float>();
            for (int64_t kk = 0; kk < depth_padded; kk += 32) {
                const int64_t step = depth_padded - kk < 32 ? depth_padded - kk : 32;
                const int64_t step_groups = step / 8;
                LocalTensor<float> a2_in = a2_queue.AllocTensor<float>();
                for (int64_t g = 0; g < step_groups; ++g) {
                    LoadData2DParams params;
                    params.repeatTimes = row_fractals;
                    params.srcStride = 1;
                    params.dstGap = step_groups - 1;
                    LoadData(a2_in[g * 128], a1[(kk + g * 8) * rows_padded], params);
                }
                a2_queue.EnQue(a2_in);
                LocalTensor<float> b2_in = b2_queue.AllocTensor<float>();
                for (int64_t r = 0; r < step; r += 16) {
                    LoadData2dTransposeParams params;
                    params.repeatTimes = column_fractals;
                    params.srcStride = 1;
                    params.dstGap = 0;
                    params.dstFracGap = column_fractals - 1;
                    LoadDataWithTranspose(b2_in[r * columns_padded], b1[(kk + r) * columns_padded], params);
                }
                b2_queue.EnQue(b2_in);

                LocalTensor<float> a2 = a2_queue.DeQue<float>();
                LocalTensor<float> b2 = b2_queue.DeQue<float>();
                MmadParams mmad;
                mmad.m = rows_padded;  // never 1, which would read L0A as a flat row
                mmad.n = columns_padded;
                mmad.k = step;
                mmad.cmatrixInitVal = k + kk == 0;
                Mmad(sum, a2, b2, mmad);
                if (row_fractals * column_fractals < 10) {
                    PipeBarrier<PIPE_M>();
                }
                a2_queue.FreeTensor(a2);
                b2_queue.FreeTensor(b2);
            }
            a1_queue.FreeTensor(a1);
            b1_queue.FreeTensor(b1);
        }
        sum_queue.EnQue(sum);

        LocalTensor<float> result = sum_queue.DeQue<float>();
        FixpipeParamsV220 out;
        out.nSize = columns;
        out.mSize = rows;
        out.srcStride = rows_padded;
        out.dstStride = N;
        out.quantPre = QuantMode_t::NoQuant;
        out.deqScalar = 0;
        out.ndNum = 1;
        out.srcNdStride = 0;
        out.dstNdStride = 0;
        Fixpipe<float, float, CFG_ROW_MAJOR>(c[i * N + j], result, out);
        sum_queue.FreeTensor(result);
    }
}
