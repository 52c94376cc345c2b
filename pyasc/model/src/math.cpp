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
    for (int i = 0; i < read_count; ++i) {
        touch(reads[i], false, id, loc);
    }
    for (int i = 0; i < write_count; ++i) {
        touch(writes[i], true, id, loc);
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
