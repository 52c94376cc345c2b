// SPDX-License-Identifier: Apache-2.0
// Compare to bit masks and Select by them (api.md section 4); masks carry one undefined bit a bit.
#include <string.h>

#include <algorithm>

#include "lanes.h"

namespace pyasc_model {

namespace {

using AscendC::CMPMODE;
using AscendC::SELMODE;

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

template <CMPMODE MODE, typename T>
void compare_lanes(const T* a, const T* b, bool scalar, uint8_t* out, uint32_t n)
{
    uint8_t flags[CHUNK];
    for (uint32_t i = 0; i < n; ++i) {
        flags[i] = holds<T>(MODE, a[i], scalar ? b[0] : b[i]);
    }
    for (uint32_t i = n; i % 8 != 0; ++i) {
        flags[i] = 0;
    }
    for (uint32_t i = 0; i < n; i += 8) {
        // Eight bytes of 0 or 1 become eight bits: the product moves byte k to bit 56 + k, and no two of its terms meet.
        uint64_t eight;
        memcpy(&eight, flags + i, 8);
        out[i / 8] = static_cast<uint8_t>((eight * 0x0102040810204080ull) >> 56);
    }
}

template <typename T>
void compare_mode(CMPMODE mode, const T* a, const T* b, bool scalar, uint8_t* out, uint32_t n)
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

// Contiguous float lanes without a copy of them; false where they are not that. The mask must not overlap them.
bool compare_dense(const Region& a, const Region* b, const LaneBlock& scalar, CMPMODE mode, DType type, uint32_t out)
{
    const uint32_t bytes = a.plan->repeats * a.plan->lanes / 8;
    const bool apart = (out + bytes <= a.low || a.high <= out) && (!b || out + bytes <= b->low || b->high <= out);
    if (type != DType::F32 || !apart || !a.plan->prefix || !a.plan->body_full() || a.plan->tail_count != a.plan->lanes
        || !a.dense() || (b && !b->dense())) {
        return false;
    }
    const float* left = reinterpret_cast<const float*>(data_at(UB, a.base));
    const float* right = reinterpret_cast<const float*>(b ? data_at(UB, b->base) : scalar.data);
    const uint32_t n = a.plan->repeats * a.plan->lanes;
    for (uint32_t i = 0; i < n; i += CHUNK) {
        compare_mode(mode, left + i, b ? right + i : right, b == nullptr, data_at(UB, out + i / 8),
                     std::min<uint32_t>(CHUNK, n - i));
    }
    return true;
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

void put_scalar(LaneBlock& b, DType type, Scalar s)
{
    memset(b.undefined, 0, sizeof b.undefined);
    if (type == DType::I32) {
        const int32_t v = static_cast<int32_t>(s.i);
        memcpy(b.data, &v, 4);
    } else if (type == DType::F32) {
        const float v = static_cast<float>(s.f);
        memcpy(b.data, &v, 4);
    } else {
        const uint16_t v = half_bits(static_cast<float>(s.f));
        memcpy(b.data, &v, 2);
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
    const OpId id = begin(PIPE_V, loc);
    touch(out, true, id, loc);
    touch(ra, false, id, loc);
    if (b) {
        touch(rb, false, id, loc);
    }
    LaneBlock la, lb;
    put_scalar(lb, a.dtype, s);
    if (!launch->check && compare_dense(ra, b ? &rb : nullptr, lb, mode, a.dtype, dst.addr)) {
        charge(PIPE_V, vector_cycles(plan, esize == 2 ? 128 : 64));
        return;
    }
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
    charge(PIPE_V, vector_cycles(plan, esize == 2 ? 128 : 64));
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

namespace {

struct MaskBits {
    const uint8_t* bits;
    const uint8_t* undefined;
    bool get(uint64_t i) const { return (bits[i / 8] >> (i % 8)) & 1; }
    bool unknown(uint64_t i) const { return undefined != nullptr && ((undefined[i / 8] >> (i % 8)) & 1); }
};

// `n` lanes picked from a or b by mask bits; `zero` stands for the undefined bits of a scalar.
template <typename T>
void select_lanes(T* out, const T* a, const T* b, uint32_t b_step, const MaskBits& m, uint64_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        out[i] = m.get(first + i) ? a[i] : b[i * b_step];
    }
}

template <typename T>
void select_block(const Region& rd, const Region& ra, const Region* rb, uint32_t r, uint32_t lane, uint32_t n,
                  const MaskBits& m, uint64_t first, const uint8_t* scalar)
{
    const uint32_t d = rd.base + rd.lane_offset(r, lane), a = ra.base + ra.lane_offset(r, lane);
    const uint32_t b = rb ? rb->base + rb->lane_offset(r, lane) : 0;
    const uint8_t* other = rb ? data_at(UB, b) : scalar;
    select_lanes(reinterpret_cast<T*>(data_at(UB, d)), reinterpret_cast<const T*>(data_at(UB, a)),
                 reinterpret_cast<const T*>(other), rb ? 1 : 0, m, first, n);
    if (!launch->check) {
        return;
    }
    static const T zero = 0;
    T* u = reinterpret_cast<T*>(undefined_at(UB, d));
    select_lanes(u, reinterpret_cast<const T*>(undefined_at(UB, a)),
                 rb ? reinterpret_cast<const T*>(undefined_at(UB, b)) : &zero, rb ? 1 : 0, m, first, n);
    for (uint32_t i = 0; i < n; ++i) {
        if (m.unknown(first + i)) {
            u[i] = static_cast<T>(~T(0));
        }
    }
}

template <typename T>
void select_repeat(const Region& rd, const Region& ra, const Region* rb, uint32_t r, const MaskBits& m, uint64_t first,
                   const uint8_t* scalar)
{
    const Plan& plan = *rd.plan;
    const uint32_t per_block = 32 / sizeof(T);
    for (uint32_t lane = 0; lane < plan.lanes; lane += per_block) {
        const uint32_t* bytes = r + 1 == plan.repeats ? rd.tail_bytes : rd.body_bytes;
        if (bytes[lane / per_block] == 0xffffffff) {
            select_block<T>(rd, ra, rb, r, lane, per_block, m, first + lane, scalar);
            continue;
        }
        for (uint32_t i = lane; i < lane + per_block; ++i) {
            if (plan.active(r, i)) {
                select_block<T>(rd, ra, rb, r, i, 1, m, first + i, scalar);
            }
        }
    }
}

// The eight bits of each byte as eight lanes of all ones or none.
template <typename T>
struct LaneMasks {
    T of[256][8];
    LaneMasks()
    {
        for (int byte = 0; byte < 256; ++byte) {
            for (int k = 0; k < 8; ++k) {
                of[byte][k] = static_cast<T>(T(0) - T((byte >> k) & 1));
            }
        }
    }
};

// All lanes of contiguous operands, eight at a time, in loops that compilers turn into vectors.
template <typename T>
void pick_dense(T* out, const T* a, const T* b, bool scalar, const uint8_t* bits, uint64_t n)
{
    static const LaneMasks<T> MASKS;
    T other[8];
    std::fill(other, other + 8, b[0]);
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        T from[8], mask[8];
        memcpy(from, a + i, sizeof from);
        memcpy(mask, MASKS.of[bits[i / 8]], sizeof mask);
        if (!scalar) {
            memcpy(other, b + i, sizeof other);
        }
        for (int k = 0; k < 8; ++k) {
            from[k] = static_cast<T>((from[k] & mask[k]) | (other[k] & static_cast<T>(~mask[k])));
        }
        memcpy(out + i, from, sizeof from);
    }
    for (; i < n; ++i) {
        out[i] = ((bits[i / 8] >> (i % 8)) & 1) != 0 ? a[i] : scalar ? b[0] : b[i];
    }
}

template <typename T>
void select_dense(const Region& rd, const Region& ra, const Region* rb, const MaskBits& m, uint64_t n,
                  const uint8_t* scalar)
{
    const uint8_t* other = rb ? data_at(UB, rb->base) : scalar;
    pick_dense(reinterpret_cast<T*>(data_at(UB, rd.base)), reinterpret_cast<const T*>(data_at(UB, ra.base)),
               reinterpret_cast<const T*>(other), rb == nullptr, m.bits, n);
    if (!launch->check) {
        return;
    }
    static const T zero = 0;
    T* u = reinterpret_cast<T*>(undefined_at(UB, rd.base));
    pick_dense(u, reinterpret_cast<const T*>(undefined_at(UB, ra.base)),
               rb ? reinterpret_cast<const T*>(undefined_at(UB, rb->base)) : &zero, rb == nullptr, m.bits, n);
    for (uint64_t i = 0; i < n; i += 8) {
        for (uint64_t k = i; m.undefined[i / 8] != 0 && k < std::min(n, i + 8); ++k) {
            u[k] = m.unknown(k) ? static_cast<T>(~T(0)) : u[k];
        }
    }
}

// Whether the destination is one of the sources or apart from it, so that any order of lanes gives the same.
bool in_place_or_apart(const Region& d, const Region& s)
{
    return d.base == s.base || d.high <= s.low || s.high <= d.low;
}

bool selectable(DType type, SELMODE mode, bool scalar, Loc loc)
{
    if (type != DType::F16 && type != DType::F32) {
        report("dtype", loc, PIPE_V, nullptr, 0, 0, "Select takes half and float; reinterpret other types");
        return false;
    }
    if ((mode == SELMODE::VSEL_TENSOR_SCALAR_MODE) != scalar) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "the mode of Select does not fit its second operand");
        return false;
    }
    if (mode != SELMODE::VSEL_CMPMASK_SPR && launch->number("reserved_ub") == 0) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "this mode of Select uses the 8 KB of UB that were given back");
    }
    return true;
}

}  // namespace

void select(const View& dst, const View& mask, const View& a, const View* b, Scalar s, SELMODE mode,
            const Lanes& lanes, const Strides& strides, Loc loc)
{
    need_vector_core("Select", loc);
    need_pipe("Select", loc);
    scalar_cost(launch->number("count_form_scalar_cycles"));
    const uint32_t esize = dtype_bytes(dst.dtype);
    if (!selectable(dst.dtype, mode, b == nullptr, loc)) {
        return;
    }
    const Plan plan = resolve(lanes, esize, loc);
    if (plan.repeats == 0) {
        return;
    }
    const Region rd = make_region(dst, plan, strides.block[0], strides.repeat[0], loc);
    const Region ra = make_region(a, plan, strides.block[1], strides.repeat[1], loc);
    Region rb;
    if (b) {
        rb = make_region(*b, plan, strides.block[2], strides.repeat[2], loc);
    }
    const bool repeated = mode == SELMODE::VSEL_CMPMASK_SPR;
    const uint64_t total = uint64_t(plan.repeats - 1) * plan.lanes + plan.tail_count;
    const Rows rm{UB, mask.addr, 1, static_cast<uint32_t>(((repeated ? plan.lanes : total) + 7) / 8), 0};
    if (!check_operand(dst, rd, 32, PIPE_V, loc) || !check_operand(a, ra, 32, PIPE_V, loc)
        || (b && !check_operand(*b, rb, 32, PIPE_V, loc)) || !check_rows(mask, rm, 32, PIPE_V, loc)) {
        return;
    }
    drain(PIPE_V);  // Select holds a vector barrier before and after (api-corrections.md, second reading, 6)
    const OpId id = begin(PIPE_V, loc);
    const Region sources[2] = {ra, rb};
    check_overlap(rd, sources, b ? 2 : 1, false, loc);
    touch(rd, true, id, loc);
    touch(rm, false, id, loc);
    touch(ra, false, id, loc);
    if (b) {
        touch(rb, false, id, loc);
    }
    LaneBlock scalar;
    put_scalar(scalar, dst.dtype, s);
    // The mask is copied so that lanes already written cannot change bits still to be read.
    std::vector<uint8_t> bits(data_at(UB, mask.addr), data_at(UB, mask.addr) + rm.bytes), unknown;
    if (launch->check) {
        unknown.assign(undefined_at(UB, mask.addr), undefined_at(UB, mask.addr) + rm.bytes);
    }
    const MaskBits m{bits.data(), launch->check ? unknown.data() : nullptr};
    const bool ordered = in_place_or_apart(rd, ra) && (!b || in_place_or_apart(rd, rb));
    const bool dense = ordered && plan.prefix && plan.body_full() && rd.dense() && ra.dense() && (!b || rb.dense());
    if (dense && !repeated) {
        if (esize == 2) {
            select_dense<uint16_t>(rd, ra, b ? &rb : nullptr, m, total, scalar.data);
        } else {
            select_dense<uint32_t>(rd, ra, b ? &rb : nullptr, m, total, scalar.data);
        }
    }
    for (uint32_t r = dense && !repeated ? plan.repeats : 0; r < plan.repeats; ++r) {
        const uint64_t first = repeated ? 0 : uint64_t(r) * plan.lanes;
        if (esize == 2) {
            select_repeat<uint16_t>(rd, ra, b ? &rb : nullptr, r, m, first, scalar.data);
        } else {
            select_repeat<uint32_t>(rd, ra, b ? &rb : nullptr, r, m, first, scalar.data);
        }
    }
    charge(PIPE_V, vector_cycles(plan, esize == 2 ? 128 : 64));
    drain(PIPE_V);
}

}  // namespace pyasc_model
