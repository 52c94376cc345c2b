// SPDX-License-Identifier: Apache-2.0
// The high-level Matmul: one block of C from row-major operands in global memory (api.md section 9).
#include <string.h>

#include <algorithm>

#include "gm.h"
#include "half.h"
#include "timing.h"

namespace pyasc_model {

namespace {

struct Matrix {
    GmBuffer* buffer = nullptr;
    uint64_t base = 0;  // byte offset of element (0, 0) of the block
    uint32_t esize = 0;
    int rows = 0, cols = 0, ld = 0;
    DType type = DType::F32;

    uint64_t offset(int r, int c) const { return base + (uint64_t(r) * ld + c) * esize; }
    bool undefined(int r, int c) const
    {
        return !buffer->undefined.empty() && buffer->undefined[offset(r, c)] != 0;
    }
    double value(int r, int c) const
    {
        const uint8_t* p = buffer->base + offset(r, c);
        uint16_t bits;
        float f;
        int32_t i;
        switch (type) {
        case DType::I8: return static_cast<int8_t>(*p);
        case DType::F16: memcpy(&bits, p, 2); return half_value(bits);
        case DType::BF16: memcpy(&bits, p, 2); return bfloat16_value(bits);
        case DType::I32: memcpy(&i, p, 4); return i;
        default: memcpy(&f, p, 4); return f;
        }
    }
};

bool open(Matrix& out, const GmView& view, int r0, int c0, int rows, int cols, int ld, int pipe, Loc loc)
{
    out.esize = dtype_bytes(view.dtype);
    out.type = view.dtype;
    out.rows = rows;
    out.cols = cols;
    out.ld = ld;
    const uint8_t* first = view.ptr + (int64_t(r0) * ld + c0) * out.esize;
    out.buffer = find_gm(view, first, (uint64_t(rows - 1) * ld + cols) * out.esize, pipe, loc);
    if (out.buffer != nullptr) {
        out.base = static_cast<uint64_t>(first - out.buffer->base);
    }
    return out.buffer != nullptr;
}

GmRows rows_of(const Matrix& m)
{
    return {m.base, static_cast<uint32_t>(m.rows), uint64_t(m.cols) * m.esize, uint64_t(m.ld) * m.esize};
}

bool types_fit(const MatmulCall& call, Loc loc)
{
    const DType in = call.a.dtype, out = call.c.dtype;
    const bool floats = (in == DType::F16 || in == DType::BF16 || in == DType::F32)
        && (out == DType::F32 || out == DType::F16 || out == DType::BF16);
    const bool ints = in == DType::I8 && out == DType::I32;
    if (call.b.dtype == in && (floats || ints)) {
        return true;
    }
    report("dtype", loc, PIPE_M, nullptr, 0, 0, "Matmul takes half, bfloat16, float or int8 operands of one type");
    return false;
}

bool right_core(const MatmulCall& call, Loc loc)
{
    if (call.cube_only) {
        need_cube_core("Matmul (ASCENDC_CUBE_ONLY)", loc);
        return true;
    }
    need_vector_core("Matmul", loc);
    if (launch->cubes_per_block == 0) {
        report("core-type", loc, PIPE_S, nullptr, 0, 0, "Matmul in its default mode needs a mixed kernel with cube cores");
        return false;
    }
    return true;
}

// Sums over k in order, in float32 or int32 as the cube does.
template <typename T>
void product(const MatmulCall& call, const Matrix& a, const Matrix& b, const Matrix* bias, std::vector<T>& c,
             std::vector<uint8_t>& bad)
{
    std::vector<T> row(call.k);
    std::vector<T> right(size_t(call.k) * call.n);
    std::vector<uint8_t> column_bad(call.n, 0);
    for (int k = 0; k < call.k; ++k) {
        for (int n = 0; n < call.n; ++n) {
            right[size_t(k) * call.n + n] = static_cast<T>(call.trans_b ? b.value(n, k) : b.value(k, n));
            column_bad[n] |= call.trans_b ? b.undefined(n, k) : b.undefined(k, n);
        }
    }
    for (int m = 0; m < call.m; ++m) {
        bool row_bad = false;
        for (int k = 0; k < call.k; ++k) {
            row[k] = static_cast<T>(call.trans_a ? a.value(k, m) : a.value(m, k));
            row_bad = row_bad || (call.trans_a ? a.undefined(k, m) : a.undefined(m, k));
        }
        T* out = &c[size_t(m) * call.n];
        for (int n = 0; n < call.n; ++n) {
            out[n] = bias ? static_cast<T>(bias->value(0, n)) : T(0);
            bad[size_t(m) * call.n + n] = row_bad || column_bad[n] || (bias && bias->undefined(0, n));
        }
        for (int k = 0; k < call.k; ++k) {
            const T x = row[k];
            const T* from = &right[size_t(k) * call.n];
            for (int n = 0; n < call.n; ++n) {
                out[n] += x * from[n];
            }
        }
    }
}

template <typename T>
void store(const Matrix& c, const std::vector<T>& values, const std::vector<uint8_t>& bad, int pipe, Loc loc)
{
    std::vector<uint8_t> data(size_t(c.cols) * 4), undefined(size_t(c.cols) * 4);
    for (int m = 0; m < c.rows; ++m) {
        const T* row = &values[size_t(m) * c.cols];
        for (int n = 0; n < c.cols; ++n) {
            const uint16_t narrow = c.type == DType::F16 ? half_bits(static_cast<float>(row[n]))
                                                         : bfloat16_bits(static_cast<float>(row[n]));
            memcpy(&data[size_t(n) * c.esize], c.esize == 2 ? static_cast<const void*>(&narrow) : &row[n], c.esize);
            memset(&undefined[size_t(n) * c.esize], bad[size_t(m) * c.cols + n] ? 0xff : 0, c.esize);
        }
        store_gm_row(*c.buffer, c.offset(m, 0), data.data(), launch->check ? undefined.data() : nullptr,
                     uint64_t(c.cols) * c.esize, c.type, pipe, loc);
    }
}

template <typename T>
void compute(const MatmulCall& call, const Matrix& a, const Matrix& b, const Matrix* bias, const Matrix& c, int pipe,
             Loc loc)
{
    std::vector<T> values(size_t(call.m) * call.n);
    std::vector<uint8_t> bad(values.size());
    product(call, a, b, bias, values, bad);
    store(c, values, bad, pipe, loc);
}

}  // namespace

void matmul(const MatmulCall& call, Loc loc)
{
    scalar_cost(launch->number("matmul_block_scalar_cycles"));
    if (!right_core(call, loc) || !types_fit(call, loc) || call.m <= 0 || call.n <= 0 || call.k <= 0) {
        return;
    }
    const int out_pipe = call.cube_only ? PIPE_FIX : PIPE_MTE3;
    Matrix a, b, c, bias;
    const bool ok = open(a, call.a, call.trans_a ? 0 : call.m0, call.trans_a ? call.m0 : 0,
                         call.trans_a ? call.k : call.m, call.trans_a ? call.m : call.k, call.lda, PIPE_MTE2, loc)
        && open(b, call.b, call.trans_b ? call.n0 : 0, call.trans_b ? 0 : call.n0, call.trans_b ? call.n : call.k,
                call.trans_b ? call.k : call.n, call.ldb, PIPE_MTE2, loc)
        && open(c, call.c, call.m0, call.n0, call.m, call.n, call.ldc, out_pipe, loc)
        && (call.bias == nullptr || open(bias, *call.bias, 0, call.n0, 1, call.n, call.n, PIPE_MTE2, loc));
    if (!ok) {
        return;
    }
    const OpId reads = begin(PIPE_MTE2, loc);
    touch_gm(*a.buffer, rows_of(a), GmRecord::READ, reads, false, loc);
    touch_gm(*b.buffer, rows_of(b), GmRecord::READ, reads, false, loc);
    if (call.bias != nullptr) {
        touch_gm(*bias.buffer, rows_of(bias), GmRecord::READ, reads, false, loc);
    }
    const Atomic kept = core->atomic;
    core->atomic = call.atomic ? Atomic::ADD : Atomic::NONE;
    core->atomic_type = c.type;
    const OpId writes = begin(out_pipe, loc);
    touch_gm(*c.buffer, rows_of(c), call.atomic ? GmRecord::ATOMIC : GmRecord::WRITE, writes, false, loc);
    const Matrix* start = call.bias ? &bias : nullptr;
    if (call.a.dtype == DType::I8) {
        compute<int32_t>(call, a, b, start, c, out_pipe, loc);
    } else {
        compute<float>(call, a, b, start, c, out_pipe, loc);
    }
    core->atomic = kept;
    const double fractals = ((call.m + 15) / 16) * double((call.n + 15) / 16) * ((call.k * a.esize + 31) / 32);
    charge(out_pipe, launch->number("mmad_head_cycles") + fractals
                         * (a.type == DType::F32 ? launch->number("mmad_float_cycles_per_fractal") : 1));
    barrier(PIPE_ALL, loc);  // the call returns when its block is in place
}

}  // namespace pyasc_model
