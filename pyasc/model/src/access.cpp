// SPDX-License-Identifier: Apache-2.0
// Lane resolution, bounds, ownership and the overlap rule of vector operands.
#include "access.h"

#include <string.h>

#include <algorithm>

namespace pyasc_model {

namespace {

void prefix_mask(uint64_t n, uint64_t mask[2])
{
    mask[0] = n >= 64 ? ~0ull : (1ull << n) - 1;
    mask[1] = n <= 64 ? 0 : n >= 128 ? ~0ull : (1ull << (n - 64)) - 1;
}

void count_plan(Plan& plan, uint64_t count)
{
    plan.repeats = static_cast<uint32_t>((count + plan.lanes - 1) / plan.lanes);
    plan.body_count = plan.lanes;
    prefix_mask(plan.lanes, plan.body);
    plan.tail_count = plan.repeats == 0 ? 0 : static_cast<uint32_t>(count - uint64_t(plan.repeats - 1) * plan.lanes);
    prefix_mask(plan.tail_count, plan.tail);
}

void bits_plan(Plan& plan, uint64_t low, uint64_t high, uint32_t repeat)
{
    plan.body[0] = plan.lanes >= 64 ? low : low & ((1ull << plan.lanes) - 1);
    plan.body[1] = plan.lanes > 64 ? high : 0;
    plan.body_count = __builtin_popcountll(plan.body[0]) + __builtin_popcountll(plan.body[1]);
    uint64_t expected[2];
    prefix_mask(plan.body_count, expected);
    plan.prefix = expected[0] == plan.body[0] && expected[1] == plan.body[1];
    plan.repeats = plan.body_count == 0 ? 0 : repeat;
    memcpy(plan.tail, plan.body, sizeof plan.tail);
    plan.tail_count = plan.body_count;
}

// The active bytes of each block: a run of them for a prefix of lanes, else lane by lane.
void expand(const uint64_t mask[2], bool prefix, uint32_t count, uint32_t esize, uint32_t lanes, uint32_t out[8])
{
    const uint32_t per_block = 32 / esize;
    if (prefix) {
        const int64_t bytes = int64_t(count) * esize;
        for (int b = 0; b < 8; ++b) {
            const int64_t here = bytes - b * 32;
            out[b] = here >= 32 ? 0xffffffffu : here <= 0 ? 0 : (1u << here) - 1;
        }
        return;
    }
    memset(out, 0, 8 * sizeof(uint32_t));
    const uint32_t one = esize == 8 ? 0xffu : (1u << esize) - 1;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        if ((mask[lane >> 6] >> (lane & 63)) & 1) {
            out[lane / per_block] |= one << ((lane % per_block) * esize);
        }
    }
}

}  // namespace

Plan resolve(const Lanes& lanes, uint32_t widest, Loc loc)
{
    Core& c = *core;
    Plan plan;
    plan.lanes = 256 / widest;
    if (lanes.form == Lanes::COUNT) {
        count_plan(plan, static_cast<int64_t>(lanes.low) < 0 ? 0 : lanes.low);
        if (static_cast<int64_t>(lanes.low) < 0) {
            report("parameter", loc, PIPE_V, nullptr, 0, 0, "negative element count %lld",
                   static_cast<long long>(lanes.low));
        }
        c.counter_mode = false;
        c.mask_low = c.mask_high = ~0ull;
        return plan;
    }
    if (lanes.form == Lanes::FIRST) {
        uint64_t mask[2];
        prefix_mask(std::min<uint64_t>(lanes.low, 128), mask);
        c.mask_low = c.counter_mode ? lanes.low : mask[0];
        c.mask_high = c.counter_mode ? 0 : mask[1];
        if (!c.counter_mode && lanes.low > plan.lanes) {
            report("parameter", loc, PIPE_V, nullptr, 0, 0, "mask %llu is larger than the %u lanes of a repeat",
                   static_cast<unsigned long long>(lanes.low), plan.lanes);
        }
    } else if (lanes.form == Lanes::BITS) {
        c.mask_low = lanes.low;
        c.mask_high = c.counter_mode ? 0 : lanes.high;
    }
    if (c.counter_mode) {
        count_plan(plan, c.mask_low);
        return plan;
    }
    if (lanes.repeat < 0 || lanes.repeat > 255) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "repeat count %d outside 0..255", lanes.repeat);
    }
    bits_plan(plan, c.mask_low, c.mask_high, lanes.repeat < 0 ? 0 : static_cast<uint32_t>(lanes.repeat));
    return plan;
}

namespace {

// What make_region works out, for whole repeats in a row and a last one that is a run of lanes.
void dense_extent(Region& r)
{
    const Plan& plan = *r.plan;
    memset(r.body_bytes, 0xff, r.blocks * sizeof(uint32_t));
    expand(plan.tail, true, plan.tail_count, r.esize, plan.lanes, r.tail_bytes);
    r.extent = plan.repeats > 1 ? r.blocks * 32 : plan.tail_count * r.esize;
    r.low = r.base;
    r.high = r.base + plan.total() * r.esize;
}

}  // namespace

Region make_region(const View& t, const Plan& plan, uint16_t block, uint16_t repeat, Loc loc)
{
    Region r;
    r.space = space_of(t.position, loc);
    r.base = t.addr;
    r.esize = dtype_bytes(t.dtype);
    r.blocks = (plan.lanes * r.esize + 31) / 32;
    r.block = block * 32u;
    r.repeat = repeat == Strides::DENSE ? r.blocks * 32 : repeat * 32u;
    r.plan = &plan;
    if (plan.prefix && plan.repeats != 0 && r.dense() && plan.body_full()) {
        dense_extent(r);
        return r;
    }
    expand(plan.body, plan.prefix, plan.body_count, r.esize, plan.lanes, r.body_bytes);
    expand(plan.tail, plan.prefix, plan.tail_count, r.esize, plan.lanes, r.tail_bytes);
    uint64_t low = ~0ull, high = 0;
    for (uint32_t end = 0; end < 2; ++end) {
        // Strides are not negative, so the first and the last two repeats hold the extremes.
        const uint32_t* bytes = end ? r.tail_bytes : r.body_bytes;
        const uint32_t first = end ? plan.repeats - 1 : 0;
        const uint32_t last = end ? plan.repeats - 1 : (plan.repeats > 1 ? plan.repeats - 2 : 0);
        if (!end && plan.repeats < 2) {
            continue;
        }
        for (uint32_t b = 0; b < r.blocks; ++b) {
            if (bytes[b] != 0) {
                const uint64_t at = r.base + uint64_t(b) * r.block;
                low = std::min<uint64_t>(low, at + uint64_t(first) * r.repeat + __builtin_ctz(bytes[b]));
                high = std::max<uint64_t>(high, at + uint64_t(last) * r.repeat + 32 - __builtin_clz(bytes[b]));
            }
        }
    }
    for (uint32_t b = 0; b < r.blocks; ++b) {
        const uint32_t bytes = r.body_bytes[b] | r.tail_bytes[b];
        if (bytes != 0) {
            r.extent = std::max(r.extent, b * r.block + 32 - __builtin_clz(bytes));
        }
    }
    r.low = low == ~0ull ? r.base : low;
    r.high = high;
    return r;
}

bool check_bounds(const View& t, uint64_t low, uint64_t high, int pipe, Loc loc)
{
    const Space s = space_of(t.position, loc);
    const LocalMemory& m = quiet_memory(s);
    if (high > m.size) {
        report("bounds", loc, pipe, SPACE_NAMES[s], low, high, "access ends at byte %llu of %s, which has %u",
               static_cast<unsigned long long>(high), SPACE_NAMES[s], m.size);
        return false;
    }
    if (!launch->check || t.buffer == 0) {
        return true;
    }
    const BufferInfo& b = core->buffers[t.buffer];
    if (low < b.addr || high > b.addr + b.bytes) {
        report("bounds", loc, pipe, SPACE_NAMES[s], low, high,
               "bytes [%llu, %llu) leave the buffer [%u, %u) that owns the tensor",
               static_cast<unsigned long long>(low), static_cast<unsigned long long>(high), b.addr, b.addr + b.bytes);
    }
    if (t.generation != b.generation || (b.queue >= 0 && b.state == BufferInfo::FREE)) {
        report("ownership", loc, pipe, SPACE_NAMES[s], low, high,
               "the tensor was given back by FreeTensor before this use");
    }
    return true;
}

bool check_operand(const View& t, const Region& r, uint32_t align, int pipe, Loc loc)
{
    if (r.plan->repeats == 0) {
        return true;
    }
    if (r.base % align != 0) {
        report("alignment", loc, pipe, SPACE_NAMES[r.space], r.low, r.high,
               "operand starts at byte %u of %s, not a multiple of %u", r.base, SPACE_NAMES[r.space], align);
        if (r.base % r.esize != 0) {
            return false;
        }
    }
    return check_bounds(t, r.low, r.high, pipe, loc);
}

bool check_rows(const View& t, const Rows& r, uint32_t align, int pipe, Loc loc)
{
    if (r.rows == 0 || r.bytes == 0) {
        return true;
    }
    if (r.base % align != 0) {
        report("alignment", loc, pipe, SPACE_NAMES[r.space], r.base, r.base + r.bytes,
               "address %u of %s is not a multiple of %u", r.base, SPACE_NAMES[r.space], align);
    }
    return check_bounds(t, r.base, r.base + uint64_t(r.rows - 1) * r.step + r.bytes, pipe, loc);
}

namespace {

bool same_layout(const Region& a, const Region& b)
{
    return a.base == b.base && a.esize == b.esize && a.block == b.block
        && (a.repeat == b.repeat || a.plan->repeats <= 1);
}

const uint32_t* active_bytes(const Region& r, uint32_t repeat)
{
    return repeat + 1 == r.plan->repeats ? r.tail_bytes : r.body_bytes;
}

// Rows of one pitch that lie beside each other never meet; the common case, decided without walking.
bool rows_apart(const Region& a, const Region& b)
{
    if (a.repeat != b.repeat || a.repeat == 0) {
        return false;
    }
    const int64_t pitch = a.repeat;
    const int64_t shift = ((static_cast<int64_t>(b.base) - a.base) % pitch + pitch) % pitch;
    return shift >= a.extent && shift + b.extent <= pitch;
}

enum class Clash { NONE, WITHIN, ACROSS };

// Walks the repeats in order, remembering which repeat wrote each byte.
Clash find_clash(const Region& dst, const Region& src)
{
    static thread_local std::vector<uint32_t> writer;
    const uint64_t low = std::min(dst.low, src.low), high = std::max(dst.high, src.high);
    writer.assign(high - low, 0);
    for (uint32_t r = 0; r < dst.plan->repeats; ++r) {
        const uint32_t* out = active_bytes(dst, r);
        const uint32_t* in = active_bytes(src, r);
        for (uint32_t b = 0; b < src.blocks; ++b) {
            const uint64_t at = src.base + uint64_t(r) * src.repeat + uint64_t(b) * src.block;
            for (uint32_t bits = in[b]; bits != 0; bits &= bits - 1) {
                if (writer[at + __builtin_ctz(bits) - low] != 0) {
                    return Clash::ACROSS;
                }
            }
        }
        for (uint32_t b = 0; b < dst.blocks; ++b) {
            const uint64_t at = dst.base + uint64_t(r) * dst.repeat + uint64_t(b) * dst.block;
            for (uint32_t s = 0; s < src.blocks; ++s) {
                const uint64_t from = src.base + uint64_t(r) * src.repeat + uint64_t(s) * src.block;
                if (from == at && s == b && dst.esize == src.esize) {
                    continue;
                }
                const int64_t shift = static_cast<int64_t>(from) - static_cast<int64_t>(at);
                const uint64_t moved = shift <= -32 || shift >= 32 ? 0
                                     : shift >= 0 ? uint64_t(in[s]) << shift : uint64_t(in[s]) >> -shift;
                if ((moved & out[b]) != 0) {
                    return Clash::WITHIN;
                }
            }
            for (uint32_t bits = out[b]; bits != 0; bits &= bits - 1) {
                writer[at + __builtin_ctz(bits) - low] = r + 1;
            }
        }
    }
    return Clash::NONE;
}

}  // namespace

void check_overlap(const Region& dst, const Region* src, int sources, bool chain_allowed, Loc loc)
{
    for (int i = 0; i < sources; ++i) {
        const Region& s = src[i];
        if (dst.plan->repeats == 0 || dst.high <= s.low || s.high <= dst.low) {
            continue;
        }
        if (same_layout(dst, s) && (dst.repeat >= dst.extent || dst.plan->repeats <= 1)) {
            continue;
        }
        if (rows_apart(dst, s)) {
            continue;
        }
        const Clash clash = find_clash(dst, s);
        const bool chained = chain_allowed && i == 1 && (s.repeat == 0 || dst.repeat == 0);
        if (clash == Clash::NONE || (clash == Clash::ACROSS && chained)) {
            continue;
        }
        report("overlap", loc, PIPE_V, SPACE_NAMES[dst.space], std::max(dst.low, s.low), std::min(dst.high, s.high),
               clash == Clash::WITHIN ? "source %d and destination overlap in part within a repeat"
                                      : "source %d of a repeat is written by an earlier repeat",
               i);
    }
}

}  // namespace pyasc_model
