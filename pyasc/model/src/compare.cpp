// SPDX-License-Identifier: Apache-2.0
// Compare to bit masks (api.md section 4), which carry one undefined bit a bit.
#include <string.h>

#include <algorithm>

#include "batch.h"
#include "bits.h"
#include "lanes.h"

namespace pyasc_model {

namespace {

using AscendC::CMPMODE;

template <typename T>
inline bool holds(CMPMODE mode, T a, T b)
{
    switch (mode) {
    case CMPMODE::LT: return a < b;
    case CMPMODE::GT: return a > b;
    case CMPMODE::EQ: return a == b;
    case CMPMODE::LE: return a <= b;
    case CMPMODE::GE: return a >= b;
    default: return a != b;
    }
}

#if defined(__AVX512F__)
template <CMPMODE MODE>
constexpr int PREDICATE = MODE == CMPMODE::LT ? _CMP_LT_OQ : MODE == CMPMODE::GT ? _CMP_GT_OQ
                        : MODE == CMPMODE::EQ ? _CMP_EQ_OQ : MODE == CMPMODE::LE ? _CMP_LE_OQ
                        : MODE == CMPMODE::GE ? _CMP_GE_OQ : _CMP_NEQ_UQ;

// Whole vectors of floats; returns how many lanes they are.
template <CMPMODE MODE>
uint64_t compare_vectors(const float* a, const float* b, bool scalar, uint8_t* out, uint64_t n)
{
    __m512 right = _mm512_set1_ps(b[0]);
    uint64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        right = scalar ? right : _mm512_loadu_ps(b + i);
        const __mmask16 bits = _mm512_cmp_ps_mask(_mm512_loadu_ps(a + i), right, PREDICATE<MODE>);
        memcpy(out + i / 8, &bits, sizeof bits);
    }
    return i;
}
#else
template <CMPMODE MODE>
uint64_t compare_vectors(const float*, const float*, bool, uint8_t*, uint64_t)
{
    return 0;
}
#endif

template <CMPMODE MODE>
uint64_t compare_vectors(const int32_t*, const int32_t*, bool, uint8_t*, uint64_t)
{
    return 0;
}

// Bits of the lanes for which `holds`, from the lowest of the first byte on; the rest of the last byte is 0.
template <CMPMODE MODE, typename T>
void compare_lanes(const T* a, const T* b, bool scalar, uint8_t* out, uint64_t n)
{
    uint8_t flags[CHUNK];
    for (uint64_t i = compare_vectors<MODE>(a, b, scalar, out, n); i < n; i += CHUNK) {
        const uint64_t m = std::min<uint64_t>(CHUNK, n - i);
        for (uint64_t k = 0; k < m; ++k) {
            flags[k] = holds<T>(MODE, a[i + k], scalar ? b[0] : b[i + k]);
        }
        for (uint64_t k = m; k % 8 != 0; ++k) {
            flags[k] = 0;
        }
        pack_bits(flags, m, out + i / 8);
    }
}

template <typename T>
void compare_mode(CMPMODE mode, const T* a, const T* b, bool scalar, uint8_t* out, uint64_t n)
{
    switch (mode) {
    case CMPMODE::LT: compare_lanes<CMPMODE::LT>(a, b, scalar, out, n); break;
    case CMPMODE::GT: compare_lanes<CMPMODE::GT>(a, b, scalar, out, n); break;
    case CMPMODE::EQ: compare_lanes<CMPMODE::EQ>(a, b, scalar, out, n); break;
    case CMPMODE::LE: compare_lanes<CMPMODE::LE>(a, b, scalar, out, n); break;
    case CMPMODE::GE: compare_lanes<CMPMODE::GE>(a, b, scalar, out, n); break;
    default: compare_lanes<CMPMODE::NE>(a, b, scalar, out, n); break;
    }
}

// One repeat of source lanes, gathered; undefined lanes as one byte each.
struct LaneBlock {
    alignas(64) uint8_t data[256];
    uint8_t undefined[128];
    float wide[128];
};

void lane_flags(const uint8_t* u, uint32_t esize, uint32_t n, uint8_t* out)
{
    for (uint32_t i = 0; i < n; ++i) {
        out[i] = static_cast<uint8_t>(u[i * esize] | u[i * esize + esize - 1]);
    }
}

void collect(const Region& r, uint32_t repeat, uint32_t lanes, LaneBlock& out)
{
    const uint32_t per_block = 32 / r.esize;
    const uint32_t* bytes = repeat + 1 == r.plan->repeats ? r.tail_bytes : r.body_bytes;
    memset(out.undefined, 0, lanes);
    for (uint32_t b = 0; b * per_block < lanes; ++b) {
        const uint32_t at = r.base + repeat * r.repeat + b * r.block;
        if (bytes[b] == 0xffffffff) {
            memcpy(out.data + b * 32, data_at(r.space, at), 32);
            if (launch->check) {
                lane_flags(undefined_at(r.space, at), r.esize, per_block, out.undefined + b * per_block);
            }
            continue;
        }
        memset(out.data + b * 32, 0, 32);
        for (uint32_t i = 0; i < per_block; ++i) {
            if ((bytes[b] >> (i * r.esize)) & 1) {
                memcpy(out.data + b * 32 + i * r.esize, data_at(r.space, at + i * r.esize), r.esize);
                if (launch->check) {
                    lane_flags(undefined_at(r.space, at + i * r.esize), r.esize, 1, out.undefined + b * per_block + i);
                }
            }
        }
    }
}

void compare_repeat(CMPMODE mode, DType type, LaneBlock& a, LaneBlock& b, bool scalar, uint32_t n, uint8_t* bits)
{
    if (type == DType::I32) {
        compare_mode(mode, reinterpret_cast<int32_t*>(a.data), reinterpret_cast<int32_t*>(b.data), scalar, bits, n);
        return;
    }
    if (type == DType::F32) {
        compare_mode(mode, reinterpret_cast<float*>(a.data), reinterpret_cast<float*>(b.data), scalar, bits, n);
        return;
    }
    half_to_float(reinterpret_cast<uint16_t*>(a.data), a.wide, n);
    half_to_float(reinterpret_cast<uint16_t*>(b.data), b.wide, scalar ? 1 : n);
    compare_mode(mode, a.wide, b.wide, scalar, bits, n);
}

// Lanes of contiguous operands; a scalar stands in the last argument.
void compare_span(CMPMODE mode, DType type, const uint8_t* a, const uint8_t* b, const uint32_t* scalar, uint8_t* out,
                  uint64_t n)
{
    const void* right = b ? static_cast<const void*>(b) : scalar;
    if (type == DType::I32) {
        compare_mode(mode, reinterpret_cast<const int32_t*>(a), static_cast<const int32_t*>(right), !b, out, n);
        return;
    }
    if (type == DType::F32) {
        compare_mode(mode, reinterpret_cast<const float*>(a), static_cast<const float*>(right), !b, out, n);
        return;
    }
    float left[CHUNK], other[CHUNK];
    half_to_float(static_cast<const uint16_t*>(right), other, b ? 0 : 1);
    for (uint64_t i = 0; i < n; i += CHUNK) {
        const uint64_t m = std::min<uint64_t>(CHUNK, n - i);
        half_to_float(reinterpret_cast<const uint16_t*>(a) + i, left, m);
        if (b) {
            half_to_float(reinterpret_cast<const uint16_t*>(b) + i, other, m);
        }
        compare_mode(mode, left, other, !b, out + i / 8, m);
    }
}

bool lanes_defined(const Region& r)
{
    return all_zero(undefined_at(r.space, r.base), r.plan->total() * r.esize);
}

// Contiguous whole repeats, with the mask apart from them.
bool dense_compare(const Region& a, const Region* b, const Rows& out)
{
    const Plan& plan = *a.plan;
    const auto apart = [&out](const Region& r) { return out.base + out.bytes <= r.low || r.high <= out.base; };
    return apart(a) && (!b || apart(*b)) && plan.prefix && plan.tail_count == plan.lanes && plan.body_full() && a.dense()
        && (!b || b->dense());
}

// The lanes of a dense comparison, put off with the instructions before them or done at once.
void compare_at_once(const Region& a, const Region* b, uint32_t scalar, CMPMODE mode, DType type, uint32_t out)
{
    Step& s = new_step();
    s.lanes = a.plan->total();
    s.out = {quiet_memory(UB).data.data() + out, 1};
    s.in[0] = span_of(a);
    s.in[1] = b ? span_of(*b) : Span{};
    s.sources = b ? 2 : 1;
    s.variant = static_cast<uint32_t>(mode) << 8 | static_cast<uint32_t>(type);
    s.immediate = scalar;
    s.run = [](const Step& step, uint64_t lane, uint64_t count) {
        compare_span(static_cast<CMPMODE>(step.variant >> 8), static_cast<DType>(step.variant & 0xff),
                     step.in[0].part(lane), step.sources > 1 ? step.in[1].part(lane) : nullptr, &step.immediate,
                     step.out.part(lane), count);
    };
    if (!deferring() || !put_off(s)) {
        const Step now = s;
        settle();
        now.run(now, 0, now.lanes);
    }
}

// One undefined bit for each mask bit that an undefined lane decided.
void undefined_bits(const LaneBlock& a, const LaneBlock& b, uint32_t bytes, uint8_t* out)
{
    for (uint32_t i = 0; i < bytes; ++i) {
        uint32_t bits = 0;
        for (uint32_t k = 0; k < 8; ++k) {
            const uint32_t lane = i * 8 + k;
            bits |= ((a.undefined[lane] | b.undefined[lane]) != 0 ? 1u : 0u) << k;
        }
        out[i] = static_cast<uint8_t>(bits);
    }
}

bool comparable(DType type, CMPMODE mode, Loc loc)
{
    if (type == DType::F16 || type == DType::F32 || (type == DType::I32 && mode == CMPMODE::EQ)) {
        return true;
    }
    report("dtype", loc, PIPE_V, nullptr, 0, 0, "this SoC compares half and float, and int32 for equality only");
    return false;
}

}  // namespace

void compare(const View& dst, const View& a, const View* b, Scalar s, CMPMODE mode, const Lanes& lanes,
             const Strides& strides, Loc loc)
{
    need_vector_core("Compare", loc);
    scalar_cost(launch->number("count_form_scalar_cycles"));
    if (!comparable(a.dtype, mode, loc)) {
        return;
    }
    const uint32_t esize = dtype_bytes(a.dtype);
    if (lanes.form == Lanes::COUNT && lanes.low * esize % 256 != 0) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0,
               "Compare of %llu elements: whole 256-byte repeats only, the rest of the mask stays unwritten",
               static_cast<unsigned long long>(lanes.low));
    }
    Lanes whole = lanes;
    if (lanes.form == Lanes::COUNT) {
        whole.low = lanes.low * esize / 256 * 256 / esize;
    }
    const Plan plan = resolve(whole, esize, loc);
    if (plan.repeats == 0) {
        return;
    }
    const Region ra = make_region(a, plan, strides.block[1], strides.repeat[1], loc);
    const Region rb = b ? make_region(*b, plan, strides.block[2], strides.repeat[2], loc) : ra;
    const uint32_t bytes = plan.lanes / 8;
    const Rows out{UB, dst.addr, 1, plan.repeats * bytes, 0};
    if (!check_operand(a, ra, 32, PIPE_V, loc) || (b && !check_operand(*b, rb, 32, PIPE_V, loc))
        || !check_rows(dst, out, 32, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin_deferrable(PIPE_V, loc);
    const uint32_t scalar = lane_bits(a.dtype, s);
    touch(out, true, id, loc);
    touch(ra, false, id, loc);
    if (b) {
        touch(rb, false, id, loc);
    }
    charge(PIPE_V, vector_cycles(plan, esize == 2 ? 128 : 64));
    const bool dense = dense_compare(ra, b ? &rb : nullptr, out);
    if (dense) {
        compare_at_once(ra, b ? &rb : nullptr, scalar, mode, a.dtype, dst.addr);
    }
    if (dense && (!launch->check || (lanes_defined(ra) && (!b || lanes_defined(rb))))) {
        if (launch->check) {
            memset(undefined_at(UB, dst.addr), 0, out.bytes);
        }
        return;
    }
    settle();
    LaneBlock la, lb;
    memset(lb.undefined, 0, sizeof lb.undefined);
    memcpy(lb.data, &scalar, sizeof scalar);
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        collect(ra, r, plan.lanes, la);
        if (b) {
            collect(rb, r, plan.lanes, lb);
        }
        compare_repeat(mode, a.dtype, la, lb, b == nullptr, plan.lanes, data_at(UB, dst.addr + r * bytes));
        if (launch->check) {
            undefined_bits(la, lb, bytes, undefined_at(UB, dst.addr + r * bytes));
        }
    }
}

void compare_to_register(const View& a, const View& b, CMPMODE mode, const Lanes& lanes, const Strides& strides,
                         Loc loc)
{
    need_vector_core("Compare", loc);
    scalar_cost(launch->number("issue_cycles"));
    if (a.dtype == DType::I32 || !comparable(a.dtype, mode, loc)) {
        return;
    }
    const Plan plan = resolve(lanes, dtype_bytes(a.dtype), loc);
    if (plan.repeats == 0) {
        return;
    }
    const Region ra = make_region(a, plan, strides.block[1], strides.repeat[1], loc);
    const Region rb = make_region(b, plan, strides.block[2], strides.repeat[2], loc);
    if (!check_operand(a, ra, 32, PIPE_V, loc) || !check_operand(b, rb, 32, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    touch(ra, false, id, loc);
    touch(rb, false, id, loc);
    LaneBlock la, lb;
    collect(ra, 0, plan.lanes, la);
    collect(rb, 0, plan.lanes, lb);
    uint64_t bits[2] = {0, 0};
    compare_repeat(mode, a.dtype, la, lb, false, plan.lanes, reinterpret_cast<uint8_t*>(bits));
    core->cmp_low = bits[0];
    core->cmp_high = bits[1];
    memset(core->cmp_undefined, 0, sizeof core->cmp_undefined);
    undefined_bits(la, lb, plan.lanes / 8, core->cmp_undefined);
    charge(PIPE_V, vector_cycles(plan, dtype_bytes(a.dtype) == 2 ? 128 : 64));
}

void move_compare_register(const View& t, bool to_register, Loc loc)
{
    need_vector_core("GetCmpMask/SetCmpMask", loc);
    scalar_cost(1);
    const Rows at{UB, t.addr, 1, 16, 0};
    if (!to_register && t.bytes < 128) {
        report("bounds", loc, PIPE_V, "UB", t.addr, t.addr + t.bytes, "GetCmpMask needs a tensor of 128 bytes");
    }
    if (!check_rows(t, at, 16, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    touch(at, !to_register, id, loc);
    uint64_t bits[2] = {core->cmp_low, core->cmp_high};
    if (to_register) {
        memcpy(bits, data_at(UB, t.addr), 16);
        core->cmp_low = bits[0];
        core->cmp_high = bits[1];
        if (launch->check) {
            memcpy(core->cmp_undefined, undefined_at(UB, t.addr), 16);
        }
    } else {
        memcpy(data_at(UB, t.addr), bits, 16);
        if (launch->check) {
            memcpy(undefined_at(UB, t.addr), core->cmp_undefined, 16);
        }
    }
    charge(PIPE_V, 1);
}

}  // namespace pyasc_model
