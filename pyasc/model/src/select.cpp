// SPDX-License-Identifier: Apache-2.0
// Select by bit masks (api.md section 4).
#include <string.h>

#include <algorithm>

#include "batch.h"
#include "bits.h"
#include "lanes.h"

namespace pyasc_model {

namespace {

using AscendC::SELMODE;

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

template <typename T>
void select_dense(const Region& rd, const Region& ra, const Region* rb, const MaskBits& m, uint64_t n,
                  const uint8_t* scalar)
{
    const uint8_t* other = rb ? data_at(UB, rb->base) : scalar;
    pick_lanes(reinterpret_cast<T*>(data_at(UB, rd.base)), reinterpret_cast<const T*>(data_at(UB, ra.base)),
               reinterpret_cast<const T*>(other), rb == nullptr, m.bits, n);
    if (!launch->check) {
        return;
    }
    static const T zero = 0;
    T* u = reinterpret_cast<T*>(undefined_at(UB, rd.base));
    pick_lanes(u, reinterpret_cast<const T*>(undefined_at(UB, ra.base)),
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

// Contiguous lanes picked by bits in turn.
bool put_off_select(const Region& d, const Region& a, const Region* b, uint32_t mask, uint32_t scalar)
{
    if (!deferring()) {
        return false;
    }
    Step& s = new_step();
    s.lanes = d.plan->total();
    s.out = span_of(d);
    s.in[0] = span_of(a);
    s.in[1] = {quiet_memory(UB).data.data() + mask, 1};
    s.in[2] = b ? span_of(*b) : Span{};
    s.sources = b ? 3 : 2;
    s.immediate = scalar;
    s.run = [](const Step& step, uint64_t lane, uint64_t n) {
        const bool one = step.sources < 3;
        const uint8_t* bits = step.in[1].part(lane);
        if (step.out.bits == 16) {
            const uint16_t value = static_cast<uint16_t>(step.immediate);
            pick_lanes(step.out.part<uint16_t>(lane), step.in[0].part<uint16_t>(lane),
                       one ? &value : step.in[2].part<uint16_t>(lane), one, bits, n);
        } else {
            pick_lanes(step.out.part<uint32_t>(lane), step.in[0].part<uint32_t>(lane),
                       one ? &step.immediate : step.in[2].part<uint32_t>(lane), one, bits, n);
        }
    };
    return put_off(s);
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
    const uint64_t total = plan.total();
    const Rows rm{UB, mask.addr, 1, static_cast<uint32_t>(((repeated ? plan.lanes : total) + 7) / 8), 0};
    if (!check_operand(dst, rd, 32, PIPE_V, loc) || !check_operand(a, ra, 32, PIPE_V, loc)
        || (b && !check_operand(*b, rb, 32, PIPE_V, loc)) || !check_rows(mask, rm, 32, PIPE_V, loc)) {
        return;
    }
    drain(PIPE_V);  // Select holds a vector barrier before and after (api-corrections.md, second reading, 6)
    const OpId id = begin_deferrable(PIPE_V, loc);
    const uint32_t scalar = lane_bits(dst.dtype, s);
    const bool ordered = in_place_or_apart(rd, ra) && (!b || in_place_or_apart(rd, rb));
    const bool dense = ordered && plan.prefix && plan.body_full() && rd.dense() && ra.dense() && (!b || rb.dense());
    if (dense && !repeated && put_off_select(rd, ra, b ? &rb : nullptr, mask.addr, scalar)) {
        charge(PIPE_V, vector_cycles(plan, esize == 2 ? 128 : 64));
        drain(PIPE_V);
        return;
    }
    settle();
    const Region sources[2] = {ra, rb};
    check_overlap(rd, sources, b ? 2 : 1, false, loc);
    touch(rd, true, id, loc);
    touch(rm, false, id, loc);
    touch(ra, false, id, loc);
    if (b) {
        touch(rb, false, id, loc);
    }
    // The mask is copied so that lanes already written cannot change bits still to be read.
    std::vector<uint8_t> bits(data_at(UB, mask.addr), data_at(UB, mask.addr) + rm.bytes), unknown;
    if (launch->check) {
        unknown.assign(undefined_at(UB, mask.addr), undefined_at(UB, mask.addr) + rm.bytes);
    }
    const MaskBits m{bits.data(), launch->check ? unknown.data() : nullptr};
    if (dense && !repeated) {
        if (esize == 2) {
            select_dense<uint16_t>(rd, ra, b ? &rb : nullptr, m, total, reinterpret_cast<const uint8_t*>(&scalar));
        } else {
            select_dense<uint32_t>(rd, ra, b ? &rb : nullptr, m, total, reinterpret_cast<const uint8_t*>(&scalar));
        }
    }
    for (uint32_t r = dense && !repeated ? plan.repeats : 0; r < plan.repeats; ++r) {
        const uint64_t first = repeated ? 0 : uint64_t(r) * plan.lanes;
        if (esize == 2) {
            select_repeat<uint16_t>(rd, ra, b ? &rb : nullptr, r, m, first, reinterpret_cast<const uint8_t*>(&scalar));
        } else {
            select_repeat<uint32_t>(rd, ra, b ? &rb : nullptr, r, m, first, reinterpret_cast<const uint8_t*>(&scalar));
        }
    }
    charge(PIPE_V, vector_cycles(plan, esize == 2 ? 128 : 64));
    drain(PIPE_V);
}

}  // namespace pyasc_model
