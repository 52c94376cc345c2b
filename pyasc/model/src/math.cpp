// SPDX-License-Identifier: Apache-2.0
// Software APIs of api.md section 10. Each is one operation, synchronised inside; the accuracy of the vendor's
// sequences is not published, so results are correctly rounded from double (`assumed`).
#include <math.h>
#include <string.h>

#include <algorithm>

#include "lanes.h"

namespace pyasc_model {

namespace {

double evaluate(Math f, double x)
{
    switch (f) {
    case Math::Tanh: return tanh(x);
    case Math::Erf: return erf(x);
    case Math::Erfc: return erfc(x);
    case Math::Sigmoid: return 1 / (1 + exp(-x));
    case Math::Silu: return x / (1 + exp(-x));
    case Math::Gelu: return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case Math::FasterGelu: return x / (1 + exp(-1.702 * x));
    case Math::Exp: return exp(x);
    case Math::Log: return log(x);
    case Math::Log2: return log2(x);
    case Math::Log10: return log10(x);
    case Math::Sin: return sin(x);
    case Math::Cos: return cos(x);
    case Math::Floor: return floor(x);
    case Math::Ceil: return ceil(x);
    case Math::Trunc: return trunc(x);
    case Math::Round: return nearbyint(x);
    case Math::Sign: return x > 0 ? 1 : x < 0 ? -1 : 0;
    default: return NAN;
    }
}

// Bytes of scratch: factor x max(bytes of input, 256) (api.md section 10); 0 where no figure is published.
uint32_t scratch_factor(Math f, bool half_type)
{
    switch (f) {
    case Math::Tanh: return half_type ? 4 : 1;
    case Math::Erf: return half_type ? 8 : 3;
    case Math::Sign: return 3;
    case Math::Sigmoid: return 1;
    default: return 0;
    }
}

bool float_type(DType t, Loc loc)
{
    if (t == DType::F16 || t == DType::F32) {
        return true;
    }
    report("dtype", loc, PIPE_V, nullptr, 0, 0, "this API takes half and float");
    return false;
}

float get(const View& t, uint32_t i)
{
    if (t.dtype == DType::F16) {
        uint16_t bits;
        memcpy(&bits, data_at(UB, t.addr + i * 2), 2);
        return half_value(bits);
    }
    float v;
    memcpy(&v, data_at(UB, t.addr + i * 4), 4);
    return v;
}

bool unknown(const View& t, uint32_t i)
{
    return launch->check && *undefined_at(UB, t.addr + i * dtype_bytes(t.dtype)) != 0;
}

void put(const View& t, uint32_t i, double v, bool undefined)
{
    const uint32_t n = dtype_bytes(t.dtype), at = t.addr + i * n;
    const float f = static_cast<float>(v);
    if (n == 2) {
        const uint16_t bits = half_bits(f);
        memcpy(data_at(UB, at), &bits, 2);
    } else {
        memcpy(data_at(UB, at), &f, 4);
    }
    if (launch->check) {
        memset(undefined_at(UB, at), undefined ? 0xff : 0, n);
    }
}

Rows whole(const View& t, uint32_t count) { return {UB, t.addr, 1, count * dtype_bytes(t.dtype), 0}; }

bool apart(const Rows& a, const Rows& b, const char* what, Loc loc)
{
    if (a.base >= b.base + b.bytes || b.base >= a.base + a.bytes) {
        return true;
    }
    report("overlap", loc, PIPE_V, "UB", a.base, a.base + a.bytes, "%s may not overlap", what);
    return false;
}

// A software API starts and ends with the vector pipe drained of its own work.
OpId open(const Rows* reads, int read_count, const Rows* writes, int write_count, Loc loc)
{
    const OpId id = begin(PIPE_V, loc);
    for (int i = 0; i < write_count; ++i) {
        touch(writes[i], true, id, loc);
    }
    for (int i = 0; i < read_count; ++i) {
        touch(reads[i], false, id, loc);
    }
    return id;
}

void finish(uint64_t elements, double steps, uint32_t esize)
{
    Plan plan;
    plan.lanes = 256 / esize;
    plan.repeats = static_cast<uint32_t>((elements + plan.lanes - 1) / plan.lanes);
    charge(PIPE_V, steps * vector_cycles(plan, 64));
}

}  // namespace

void math(Math f, const View& dst, const View& src, const View* tmp, uint32_t count, Loc loc)
{
    need_vector_core("a math function", loc);
    scalar_cost(launch->number("software_call_scalar_cycles"));
    if (!float_type(src.dtype, loc) || count == 0) {
        return;
    }
    const Rows from = whole(src, count), to = whole(dst, count);
    const uint32_t need = scratch_factor(f, src.dtype == DType::F16) * 256;
    if (!check_rows(src, from, 32, PIPE_V, loc) || !check_rows(dst, to, 32, PIPE_V, loc)) {
        return;
    }
    if (tmp != nullptr && tmp->bytes < need) {
        report("parameter", loc, PIPE_V, "UB", tmp->addr, tmp->addr + tmp->bytes,
               "the scratch tensor has %u bytes, this function needs at least %u", tmp->bytes, need);
    }
    if (f != Math::Trunc && f != Math::Round && !apart(to, from, "source and destination", loc)) {
        return;
    }
    Rows writes[2] = {to, {}};
    if (tmp != nullptr) {
        writes[1] = {UB, tmp->addr, 1, tmp->bytes, 0};
        if (!apart(writes[1], from, "scratch and source", loc) || !apart(writes[1], to, "scratch and destination", loc)
            || !check_rows(*tmp, writes[1], 32, PIPE_V, loc)) {
            return;
        }
    }
    open(&from, 1, writes, tmp ? 2 : 1, loc);
    for (uint32_t i = 0; i < count; ++i) {
        put(dst, i, evaluate(f, get(src, i)), unknown(src, i));
    }
    finish(count, launch->number("software_math_steps"), dtype_bytes(src.dtype));
}

void arange(const View& dst, Scalar first, Scalar step, int32_t count, Loc loc)
{
    need_vector_core("Arange", loc);
    need_pipe("Arange", loc);
    scalar_cost(launch->number("software_call_scalar_cycles"));
    const bool integer = dst.dtype == DType::I16 || dst.dtype == DType::I32;
    if (!integer && dst.dtype != DType::F16 && dst.dtype != DType::F32) {
        report("dtype", loc, PIPE_V, nullptr, 0, 0, "Arange takes int16, half, int32 and float");
        return;
    }
    const Rows to = whole(dst, static_cast<uint32_t>(std::max(count, 0)));
    if (count <= 0 || !check_rows(dst, to, 32, PIPE_V, loc)) {
        return;
    }
    open(nullptr, 0, &to, 1, loc);
    const uint32_t esize = dtype_bytes(dst.dtype);
    for (int32_t i = 0; i < count; ++i) {
        const uint32_t index = static_cast<uint32_t>(i);
        if (!integer) {
            put(dst, index, first.f + step.f * i, false);
            continue;
        }
        const int64_t v = first.i + step.i * i;
        memcpy(data_at(UB, dst.addr + index * esize), &v, esize);
        if (launch->check) {
            memset(undefined_at(UB, dst.addr + index * esize), 0, esize);
        }
    }
    finish(static_cast<uint64_t>(count), 2, esize);
}

void broadcast(const View& dst, const View& src, int dims, int axis, const uint32_t* to, const uint32_t* from,
               const View& tmp, Loc loc)
{
    need_vector_core("Broadcast", loc);
    need_pipe("Broadcast", loc);
    scalar_cost(launch->number("software_call_scalar_cycles"));
    const uint32_t esize = dtype_bytes(dst.dtype);
    const uint32_t rows = dims == 2 ? to[0] : 1, cols = to[dims - 1], from_cols = from[dims - 1];
    const uint32_t from_rows = dims == 2 ? from[0] : 1;
    const bool fits = (from_rows == rows || from_rows == 1) && (from_cols == cols || from_cols == 1);
    if (dst.dtype != DType::I8 && dst.dtype != DType::U8 && dst.dtype != DType::F16 && dst.dtype != DType::F32) {
        report("dtype", loc, PIPE_V, nullptr, 0, 0, "Broadcast takes int8, uint8, half and float");
        return;
    }
    if (!fits || (dims == 2 && axis == 0 && from_cols * esize % 32 != 0)) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0,
               "Broadcast: the shapes do not fit, or rows repeated along axis 0 do not fill 32 bytes");
        return;
    }
    const Rows in = whole(src, from_rows * from_cols), out = whole(dst, rows * cols);
    const Rows scratch{UB, tmp.addr, 1, tmp.bytes, 0};
    if (!check_rows(src, in, 32, PIPE_V, loc) || !check_rows(dst, out, 32, PIPE_V, loc)
        || !apart(in, out, "source and destination", loc) || !apart(scratch, in, "scratch and source", loc)
        || !apart(scratch, out, "scratch and destination", loc)) {
        return;
    }
    const Rows writes[2] = {out, scratch};
    open(&in, 1, writes, 2, loc);
    for (uint32_t i = 0; i < rows * cols; ++i) {
        const uint32_t r = from_rows == 1 ? 0 : i / cols, c = from_cols == 1 ? 0 : i % cols;
        const uint32_t d = dst.addr + i * esize, s = src.addr + (r * from_cols + c) * esize;
        memcpy(data_at(UB, d), data_at(UB, s), esize);
        if (launch->check) {
            memcpy(undefined_at(UB, d), undefined_at(UB, s), esize);
        }
    }
    finish(uint64_t(rows) * cols, 2, esize);
}

void soft_max(const View& dst, const View& sum, const View& max, const View& src, const View* tmp, uint32_t rows,
              uint32_t cols, uint32_t valid, Loc loc)
{
    need_vector_core("SoftMax", loc);
    scalar_cost(launch->number("software_call_scalar_cycles"));
    if (!float_type(src.dtype, loc) || rows == 0 || cols == 0) {
        return;
    }
    const uint32_t esize = dtype_bytes(src.dtype), per_block = 32 / dtype_bytes(max.dtype);
    if (cols * esize % 32 != 0) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "SoftMax: a row of %u elements is not a multiple of 32 bytes",
               cols);
        return;
    }
    const Rows from = whole(src, rows * cols);
    const Rows writes[3] = {whole(dst, rows * cols), whole(sum, rows * per_block), whole(max, rows * per_block)};
    if (!check_rows(src, from, 32, PIPE_V, loc) || !check_rows(dst, writes[0], 32, PIPE_V, loc)
        || !check_rows(sum, writes[1], 32, PIPE_V, loc) || !check_rows(max, writes[2], 32, PIPE_V, loc)) {
        return;
    }
    open(&from, 1, writes, 3, loc);
    (void)tmp;
    for (uint32_t r = 0; r < rows; ++r) {
        float top = -INFINITY;
        bool bad = false;
        for (uint32_t c = 0; c < valid; ++c) {
            const float v = get(src, r * cols + c);
            top = v != v || v > top ? v : top;
            bad = bad || unknown(src, r * cols + c);
        }
        double total = 0;
        for (uint32_t c = 0; c < valid; ++c) {
            total += exp(static_cast<double>(get(src, r * cols + c)) - top);
        }
        for (uint32_t c = 0; c < cols; ++c) {
            const double v = c < valid ? exp(static_cast<double>(get(src, r * cols + c)) - top) / total : 0;
            put(dst, r * cols + c, v, bad || c >= valid);
        }
        for (uint32_t i = 0; i < per_block; ++i) {
            put(max, r * per_block + i, top, bad);
            put(sum, r * per_block + i, total, bad);
        }
    }
    finish(uint64_t(rows) * cols, 8, esize);
}

void layer_norm(const View& out, const View& mean, const View& variance, const View& x, const View& gamma,
                const View& beta, const View* tmp, float epsilon, const uint32_t shape[4], Loc loc)
{
    need_vector_core("LayerNorm", loc);
    scalar_cost(launch->number("software_call_scalar_cycles"));
    (void)tmp;
    const uint32_t rows = shape[0] * shape[1], cols = shape[2], valid = shape[3] ? shape[3] : shape[2];
    if (!float_type(x.dtype, loc) || rows == 0 || cols == 0) {
        return;
    }
    if (cols * dtype_bytes(x.dtype) % 32 != 0 || valid > cols) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "LayerNorm: rows of %u elements (%u used) must fill 32 bytes",
               cols, valid);
        return;
    }
    const Rows reads[3] = {whole(x, rows * cols), whole(gamma, cols), whole(beta, cols)};
    const Rows writes[3] = {whole(out, rows * cols), whole(mean, rows), whole(variance, rows)};
    const View* views[6] = {&x, &gamma, &beta, &out, &mean, &variance};
    for (int i = 0; i < 6; ++i) {
        if (!check_rows(*views[i], i < 3 ? reads[i] : writes[i - 3], 32, PIPE_V, loc)) {
            return;
        }
    }
    open(reads, 3, writes, 3, loc);
    for (uint32_t r = 0; r < rows; ++r) {
        double total = 0, squares = 0;
        bool bad = false;
        for (uint32_t c = 0; c < valid; ++c) {
            total += get(x, r * cols + c);
            bad = bad || unknown(x, r * cols + c);
        }
        const double m = total / valid;
        for (uint32_t c = 0; c < valid; ++c) {
            const double d = get(x, r * cols + c) - m;
            squares += d * d;
        }
        const double v = squares / valid;
        for (uint32_t c = 0; c < cols; ++c) {
            const double y = (get(x, r * cols + c) - m) / sqrt(v + epsilon) * get(gamma, c) + get(beta, c);
            put(out, r * cols + c, y, bad || c >= valid || unknown(gamma, c) || unknown(beta, c));
        }
        put(mean, r, m, bad);
        put(variance, r, v, bad);
    }
    finish(uint64_t(rows) * cols, 10, dtype_bytes(x.dtype));
}

}  // namespace pyasc_model
