// SPDX-License-Identifier: Apache-2.0
// Mmad: L0A x L0B into L0C (api.md section 9, fractal orders of hardware.md section 5).
#include <string.h>

#include <algorithm>

#include "access.h"
#include "half.h"

namespace pyasc_model {

namespace {

struct Shape {
    uint32_t m, n, k;
    uint32_t m16, n16, kc;  // fractals
    uint32_t c0, esize;
    bool vector_row;        // m == 1 reads L0A flat
};

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

// Row-major copies of the operands in the accumulating type, and which rows or columns hold an undefined element.
template <typename T>
struct Dense {
    std::vector<T> a, b;
    std::vector<uint8_t> row_undefined, col_undefined;
};

template <typename T>
void convert(const uint8_t* in, DType type, T* out, uint32_t n);
template <>
void convert<float>(const uint8_t* in, DType type, float* out, uint32_t n)
{
    if (type == DType::F16) {
        half_to_float(reinterpret_cast<const uint16_t*>(in), out, n);
    } else if (type == DType::BF16) {
        bfloat16_to_float(reinterpret_cast<const uint16_t*>(in), out, n);
    } else {
        memcpy(out, in, n * 4);
    }
}
template <>
void convert<int32_t>(const uint8_t* in, DType, int32_t* out, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        out[i] = static_cast<int8_t>(in[i]);
    }
}

bool any(const uint8_t* p, uint32_t n)
{
    uint8_t found = 0;
    for (uint32_t i = 0; p != nullptr && i < n; ++i) {
        found = static_cast<uint8_t>(found | p[i]);
    }
    return found != 0;
}

template <typename T>
void unpack(const Shape& s, const View& a, const View& b, DType type, Dense<T>& out)
{
    const uint32_t kp = s.kc * s.c0;
    out.a.assign(size_t(s.m16) * 16 * kp, T(0));
    out.b.assign(size_t(kp) * s.n16 * 16, T(0));
    out.row_undefined.assign(s.m16 * 16, 0);
    out.col_undefined.assign(s.n16 * 16, 0);
    const uint32_t ldb = s.n16 * 16;
    T lane[32];
    for (uint32_t m = 0; m < s.m; ++m) {
        for (uint32_t kf = 0; kf < s.kc; ++kf) {
            const uint32_t at = a.addr + (s.vector_row ? kf * 32 : ((m / 16) * s.kc + kf) * 512 + (m % 16) * 32);
            const uint32_t live = std::min(s.c0, s.k - kf * s.c0);
            convert<T>(data_at(L0A, at), type, &out.a[size_t(m) * kp + kf * s.c0], live);
            out.row_undefined[m] |= any(undefined_at(L0A, at), live * s.esize);
        }
    }
    for (uint32_t kf = 0; kf < s.kc; ++kf) {
        const uint32_t live = std::min(s.c0, s.k - kf * s.c0);
        for (uint32_t n = 0; n < s.n; ++n) {
            const uint32_t at = b.addr + (kf * s.n16 + n / 16) * 512 + (n % 16) * 32;
            convert<T>(data_at(L0B, at), type, lane, live);
            T* column = &out.b[size_t(kf * s.c0) * ldb + n];
            for (uint32_t i = 0; i < live; ++i) {
                column[size_t(i) * ldb] = lane[i];
            }
            out.col_undefined[n] |= any(undefined_at(L0B, at), live * s.esize);
        }
    }
}

template <typename T>
struct Vec16 {
    typedef T type __attribute__((vector_size(64)));
};

// Some rows by sixteen columns at a time; every sum runs over k in order, each step rounded.
template <typename T, int ROWS>
void multiply(const T* a, uint32_t lda, const T* b, uint32_t ldb, uint32_t k, T* c)
{
    using V = typename Vec16<T>::type;
    V acc[ROWS];
    memcpy(acc, c, sizeof acc);
    for (uint32_t i = 0; i < k; ++i) {
        V row;
        memcpy(&row, b + size_t(i) * ldb, sizeof row);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; ++r) {
            acc[r] += row * a[size_t(r) * lda + i];
        }
    }
    memcpy(c, acc, sizeof acc);
}

template <typename T>
void accumulate(const Shape& s, const View& dst, const Dense<T>& d)
{
    const uint32_t kp = s.kc * s.c0, ldb = s.n16 * 16;
    for (uint32_t nf = 0; nf < s.n16; ++nf) {
        T* c = reinterpret_cast<T*>(data_at(L0C, dst.addr + nf * s.m16 * 1024));
        uint32_t m = 0;
        for (; m + 8 <= s.m; m += 8) {
            multiply<T, 8>(&d.a[size_t(m) * kp], kp, &d.b[nf * 16], ldb, s.k, c + m * 16);
        }
        for (; m < s.m; ++m) {
            multiply<T, 1>(&d.a[size_t(m) * kp], kp, &d.b[nf * 16], ldb, s.k, c + m * 16);
        }
    }
}

void start_values(const Shape& s, const View& dst, const View* bias, bool zero)
{
    for (uint32_t nf = 0; nf < s.n16; ++nf) {
        for (uint32_t m = 0; m < s.m; ++m) {
            const uint32_t at = dst.addr + nf * s.m16 * 1024 + m * 64;
            if (zero) {
                memset(data_at(L0C, at), 0, 64);
            } else {
                memcpy(data_at(L0C, at), data_at(BT, bias->addr + nf * 64), 64);
            }
            if (launch->check) {
                if (zero) {
                    memset(undefined_at(L0C, at), 0, 64);
                } else {
                    memcpy(undefined_at(L0C, at), undefined_at(BT, bias->addr + nf * 64), 64);
                }
            }
        }
    }
}

template <typename T>
void mark_undefined(const Shape& s, const View& dst, const Dense<T>& d)
{
    for (uint32_t nf = 0; nf < s.n16; ++nf) {
        for (uint32_t m = 0; m < s.m; ++m) {
            uint8_t* u = undefined_at(L0C, dst.addr + nf * s.m16 * 1024 + m * 64);
            for (uint32_t j = 0; j < 16; ++j) {
                const uint32_t n = nf * 16 + j;
                if (n >= s.n || d.row_undefined[m] || d.col_undefined[n]) {
                    memset(u + j * 4, 0xff, 4);
                }
            }
        }
    }
}

template <typename T>
void run(const Shape& s, const View& dst, const View& a, const View& b, const View* bias, bool zero)
{
    Dense<T> dense;
    unpack(s, a, b, a.dtype, dense);
    if (zero || bias != nullptr) {
        start_values(s, dst, bias, zero);
    }
    accumulate(s, dst, dense);
    if (launch->check) {
        mark_undefined(s, dst, dense);
    }
}

bool supported(const View& dst, const View& a, const View& b, Loc loc)
{
    const bool to_float = (a.dtype == DType::F16 || a.dtype == DType::BF16 || a.dtype == DType::F32)
        && dst.dtype == DType::F32;
    const bool to_int = a.dtype == DType::I8 && dst.dtype == DType::I32;
    if (a.dtype == b.dtype && (to_float || to_int)) {
        return true;
    }
    report("dtype", loc, PIPE_M, nullptr, 0, 0,
           "Mmad takes half, bfloat16 or float (result float) and int8 (result int32), both operands of one type");
    return false;
}

bool shape_of(const View& a, const AscendC::MmadParams& p, Shape& s, Loc loc)
{
    for (const uint32_t v : {p.m, p.n, p.k}) {
        if (v > 4095) {
            report("parameter", loc, PIPE_M, nullptr, 0, 0, "Mmad: m, n and k are 0 to 4095, one is %u", v);
            return false;
        }
    }
    if (!known_unit_flag(p.unitFlag)) {
        report("parameter", loc, PIPE_M, nullptr, 0, 0, "Mmad: unitFlag is 0, 2 or 3, not %u", p.unitFlag);
    }
    s.esize = dtype_bytes(a.dtype);
    s.c0 = 32 / s.esize;
    s.m = p.m;
    s.n = p.n;
    s.k = p.k;
    s.m16 = ceil_div(s.m, 16);
    s.n16 = ceil_div(s.n, 16);
    s.kc = ceil_div(s.k, s.c0);
    s.vector_row = s.m == 1;
    return s.m != 0 && s.n != 0 && s.k != 0;
}

double mmad_cycles(const Shape& s, DType type)
{
    // cost.md section 7: head + m/16 * n/16 * k/k0 * (k0 / cube_k).
    const double per_fractal = type == DType::F32 ? launch->number("mmad_float_cycles_per_fractal") : 1;
    return launch->number("mmad_head_cycles") + double(s.m16) * s.n16 * s.kc * per_fractal;
}

}  // namespace

void mmad(const View& dst, const View& a, const View& b, const View* bias, const AscendC::MmadParams& p, Loc loc)
{
    need_cube_core("Mmad", loc);
    scalar_cost(launch->number("issue_cycles"));
    Shape s;
    if (!supported(dst, a, b, loc) || !shape_of(a, p, s, loc)) {
        return;
    }
    if (space_of(dst.position, loc) != L0C || space_of(a.position, loc) != L0A || space_of(b.position, loc) != L0B
        || (bias != nullptr && space_of(bias->position, loc) != BT)) {
        report("parameter", loc, PIPE_M, nullptr, 0, 0, "Mmad: operands in L0A and L0B, result in L0C, bias in BT");
        return;
    }
    const bool zero = p.cmatrixInitVal;
    if (bias != nullptr && zero) {
        report("parameter", loc, PIPE_M, nullptr, 0, 0, "Mmad ignores the bias when cmatrixInitVal is true");
        bias = nullptr;
    }
    const uint32_t a_bytes = s.vector_row ? s.kc * 32 : s.m16 * s.kc * 512;
    const Rows ra{L0A, a.addr, 1, a_bytes, 0}, rb{L0B, b.addr, 1, s.kc * s.n16 * 512, 0};
    const Rows rc{L0C, dst.addr, s.n16, s.m * 64, s.m16 * 1024};
    const Rows rt{BT, bias ? bias->addr : 0, 1, s.n16 * 64, 0};
    if (!check_rows(a, ra, 512, PIPE_M, loc) || !check_rows(b, rb, 512, PIPE_M, loc)
        || !check_rows(dst, rc, 1024, PIPE_M, loc) || (bias && !check_rows(*bias, rt, 64, PIPE_M, loc))) {
        return;
    }
    const OpId earlier = core->last[PIPE_M];
    const OpId id = begin(PIPE_M, loc);
    touch(ra, false, id, loc);
    touch(rb, false, id, loc);
    if (bias) {
        touch(rt, false, id, loc);
    }
    if (s.m16 * s.n16 >= 10) {
        core->now_seen[PIPE_M] = std::max(core->now_seen[PIPE_M], earlier);  // the unit orders these itself
    }
    touch(rc, true, id, loc);
    if (!zero && !bias) {
        touch(rc, false, id, loc);
    }
    if (a.dtype == DType::I8) {
        run<int32_t>(s, dst, a, b, bias, zero);
    } else {
        run<float>(s, dst, a, b, bias, zero);
    }
    charge(PIPE_M, mmad_cycles(s, a.dtype));
}

void cube_mode(int which, int value, Loc loc)
{
    need_cube_core("a cube mode setter", loc);
    scalar_cost(1);
    if (which == 0 && value != 0) {
        report("parameter", loc, PIPE_S, nullptr, 0, 0, "HF32 arithmetic is not modelled: its rounding is not published");
    }
}

}  // namespace pyasc_model
