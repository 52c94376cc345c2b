// SPDX-License-Identifier: Apache-2.0
// GatherMask, Gather and Gatherb (api.md section 4).
#include <string.h>

#include <algorithm>

#include "vector.h"

namespace pyasc_model {

namespace {

bool any_undefined(uint32_t addr, uint32_t bytes)
{
    if (!launch->check) {
        return false;
    }
    const uint8_t* u = undefined_at(UB, addr);
    if (bytes == 4) {
        uint32_t word;
        memcpy(&word, u, 4);
        return word != 0;
    }
    return std::any_of(u, u + bytes, [](uint8_t b) { return b != 0; });
}

bool gatherable(const View& t, const char* call, Loc loc)
{
    const uint32_t n = dtype_bytes(t.dtype);
    if (n == 2 || n == 4) {
        return true;
    }
    report("dtype", loc, PIPE_V, nullptr, 0, 0, "%s takes 16- and 32-bit types", call);
    return false;
}

// Fixed patterns of GatherMask: bit i of the pattern says whether lane i is kept.
bool fixed_keeps(int pattern, uint32_t lane)
{
    switch (pattern) {
    case 1: return lane % 2 == 0;
    case 2: return lane % 2 == 1;
    case 3: case 4: case 5: case 6: return lane % 4 == static_cast<uint32_t>(pattern - 3);
    default: return true;
    }
}

// The address an offset of Gather leads to. False when it leads nowhere, which has then been reported.
bool offset_of(const View& src, uint32_t base, uint32_t where, uint32_t esize, uint32_t& from, Loc loc)
{
    if (any_undefined(where, 4)) {
        report("undefined", loc, PIPE_V, "UB", where, where + 4, "an offset of Gather was never written");
        return false;
    }
    uint32_t offset;
    memcpy(&offset, data_at(UB, where), 4);
    const uint64_t at = uint64_t(src.addr) + base + offset;
    if (offset % esize != 0) {
        report("alignment", loc, PIPE_V, "UB", at, at + esize, "Gather: offset %u is not a whole element", offset);
        return false;
    }
    from = static_cast<uint32_t>(at);
    return check_bounds(src, at, at + esize, PIPE_V, loc);
}

// One GatherMask: `each` elements of every repeat are looked at, those kept are packed.
struct MaskedGather {
    const View& src;
    const View* pattern;
    int fixed;
    uint32_t each, esize;
    const AscendC::GatherMaskParams& p;
    Loc loc;
    OpId id = 0;
    std::vector<uint8_t> data = {}, undefined = {};

    uint32_t element(uint32_t repeat, uint32_t i) const
    {
        const uint32_t byte = i * esize;
        return src.addr + repeat * p.src0RepeatStride * 32u + (byte / 32) * p.src0BlockStride * 32u + byte % 32;
    }
    uint32_t pattern_at(uint32_t repeat) const { return pattern->addr + repeat * p.src1RepeatStride * 32u; }
    uint32_t pattern_bytes() const { return (each + 7) / 8; }

    bool in_bounds() const
    {
        uint32_t high = 0;
        for (const uint32_t r : {0u, p.repeatTimes - 1u}) {
            for (uint32_t i = 0; i < each; i += 32 / esize) {
                high = std::max(high, element(r, std::min(each - 1, i + 32 / esize - 1)) + esize);
            }
        }
        const bool ok = check_rows(src, {UB, src.addr, 1, high - src.addr, 0}, 32, PIPE_V, loc);
        return ok && (pattern == nullptr
                      || check_rows(*pattern, {UB, pattern->addr, p.repeatTimes, pattern_bytes(),
                                               p.src1RepeatStride * 32u}, 32, PIPE_V, loc));
    }

    void touch_sources() const
    {
        for (uint32_t r = 0; r < p.repeatTimes; ++r) {
            if (pattern != nullptr) {
                touch(Rows{UB, pattern_at(r), 1, pattern_bytes(), 0}, false, id, loc);
            }
            for (uint32_t i = 0; i < each; i += 32 / esize) {
                touch(Rows{UB, element(r, i), 1, std::min(32u, (each - i) * esize), 0}, false, id, loc);
            }
        }
    }

    void check_pattern(uint32_t repeat) const
    {
        const uint32_t at = pattern_at(repeat);
        if (any_undefined(at, pattern_bytes())) {
            report("undefined", loc, PIPE_V, "UB", at, at + pattern_bytes(), "the pattern of GatherMask was never written");
        }
    }

    bool keeps(uint32_t repeat, uint32_t i) const
    {
        return pattern ? (*data_at(UB, pattern_at(repeat) + i / 8) >> (i % 8)) & 1 : fixed_keeps(fixed, i);
    }

    void take_repeat(uint32_t repeat)
    {
        if (pattern != nullptr) {
            check_pattern(repeat);
        }
        for (uint32_t i = 0; i < each; ++i) {
            const uint32_t at = element(repeat, i);
            if (!keeps(repeat, i)) {
                continue;
            }
            data.insert(data.end(), data_at(UB, at), data_at(UB, at) + esize);
            if (launch->check) {
                undefined.insert(undefined.end(), undefined_at(UB, at), undefined_at(UB, at) + esize);
            }
        }
    }
};

}  // namespace

uint64_t gather_mask(const View& dst, const View& src, const View* pattern, int fixed, bool reduce, uint32_t mask,
                     const AscendC::GatherMaskParams& p, Loc loc)
{
    need_vector_core("GatherMask", loc);
    scalar_cost(launch->number("count_form_scalar_cycles"));
    core->counter_mode = false;  // the call leaves normal mode behind it
    core->mask_low = core->mask_high = ~0ull;
    if (pattern == nullptr && (fixed < 1 || fixed > 7)) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "GatherMask: fixed pattern %d outside 1..7", fixed);
        return 0;
    }
    const uint32_t esize = dtype_bytes(src.dtype), lanes = 256 / esize;
    // With reduceMode the mask counts elements of each repeat; otherwise whole 256-byte repeats are read.
    MaskedGather work{src, pattern, fixed, reduce ? mask : lanes, esize, p, loc};
    if (!gatherable(src, "GatherMask", loc) || p.repeatTimes == 0 || work.each == 0 || !work.in_bounds()) {
        return 0;
    }
    work.id = begin(PIPE_V, loc);
    for (uint32_t r = 0; r < p.repeatTimes; ++r) {
        work.take_repeat(r);
    }
    const Rows out{UB, dst.addr, 1, static_cast<uint32_t>(work.data.size()), 0};
    if (!check_rows(dst, out, 32, PIPE_V, loc)) {
        return 0;
    }
    touch(out, true, work.id, loc);
    work.touch_sources();
    memcpy(data_at(UB, dst.addr), work.data.data(), work.data.size());
    if (launch->check) {
        memcpy(undefined_at(UB, dst.addr), work.undefined.data(), work.undefined.size());
    }
    Plan plan;
    plan.lanes = lanes;
    plan.repeats = (work.each + lanes - 1) / lanes * p.repeatTimes;
    charge(PIPE_V, vector_cycles(plan, esize == 2 ? 64 : 32));
    return work.data.size() / esize;
}

void gather(const View& dst, const View& src, const View& offsets, uint32_t base, const Lanes& lanes,
            uint16_t dst_repeat, Loc loc)
{
    need_vector_core("Gather", loc);
    scalar_cost(launch->number("count_form_scalar_cycles"));
    if (!gatherable(dst, "Gather", loc)) {
        return;
    }
    const uint32_t esize = dtype_bytes(dst.dtype);
    // Offsets are 32 bits wide, so half instructions also have 64 lanes a repeat by the general rule for mixed widths.
    const Plan plan = resolve(lanes, esize, loc);
    if (plan.repeats == 0) {
        return;
    }
    const Region rd = make_region(dst, plan, 1, dst_repeat, loc);
    const uint64_t total = uint64_t(plan.repeats - 1) * plan.lanes + plan.tail_count;
    const Rows ro{UB, offsets.addr, 1, static_cast<uint32_t>(total * 4), 0};
    if (!check_operand(dst, rd, 32, PIPE_V, loc) || !check_rows(offsets, ro, 32, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    touch(rd, true, id, loc);
    touch(ro, false, id, loc);
    ByteSet read(UB);
    bool meets = false;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        for (uint32_t i = 0; i < plan.lanes; ++i) {
            uint32_t from = 0;
            if (!plan.active(r, i) || !offset_of(src, base, offsets.addr + (r * plan.lanes + i) * 4, esize, from, loc)) {
                continue;
            }
            meets = meets || (from < rd.high && from + esize > rd.low);
            const uint32_t d = dst.addr + rd.lane_offset(r, i);
            memcpy(data_at(UB, d), data_at(UB, from), esize);
            if (launch->check) {
                read.add(from, esize);
                memcpy(undefined_at(UB, d), undefined_at(UB, from), esize);
            }
        }
    }
    if (meets) {
        report("overlap", loc, PIPE_V, "UB", rd.low, rd.high, "Gather reads its own destination");
    }
    if (launch->check) {
        read.touch(false, id, loc);
    }
    charge(PIPE_V, vector_cycles(plan, 5));
}

void gather_blocks(const View& dst, const View& src, const View& offsets, uint8_t repeat,
                   const AscendC::GatherRepeatParams& p, Loc loc)
{
    need_vector_core("Gatherb", loc);
    scalar_cost(launch->number("issue_cycles"));
    if (dst.dtype != DType::U16 && dst.dtype != DType::U32) {
        report("dtype", loc, PIPE_V, nullptr, 0, 0, "Gatherb takes uint16 and uint32");
        return;
    }
    if (repeat == 0) {
        return;
    }
    const Rows ro{UB, offsets.addr, 1, repeat * 32u, 0};
    if (!check_rows(offsets, ro, 32, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    touch(ro, false, id, loc);
    for (uint32_t i = 0; i < repeat * 8u; ++i) {
        const uint32_t where = offsets.addr + i * 4;
        uint32_t offset;
        memcpy(&offset, data_at(UB, where), 4);
        const uint32_t to = dst.addr + (i / 8) * p.dstRepStride * 32u + (i % 8) * p.dstBlkStride * 32u;
        const Rows rs{UB, src.addr + offset, 1, 32, 0}, rd{UB, to, 1, 32, 0};
        if (any_undefined(where, 4)) {
            report("undefined", loc, PIPE_V, "UB", where, where + 4, "an offset of Gatherb was never written");
        } else if (check_rows(src, rs, 32, PIPE_V, loc) && check_rows(dst, rd, 32, PIPE_V, loc)) {
            touch(rs, false, id, loc);
            touch(rd, true, id, loc);
            memcpy(data_at(UB, to), data_at(UB, rs.base), 32);
            if (launch->check) {
                memcpy(undefined_at(UB, to), undefined_at(UB, rs.base), 32);
            }
        }
    }
    Plan plan;
    plan.repeats = repeat;
    plan.lanes = 256 / dtype_bytes(dst.dtype);
    charge(PIPE_V, vector_cycles(plan, dst.dtype == DType::U16 ? 42 : 21));
}

}  // namespace pyasc_model
