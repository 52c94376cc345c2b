// SPDX-License-Identifier: Apache-2.0
// The scalar unit: element access on chip, global memory through a data cache that nothing keeps coherent.
#include <string.h>

#include <algorithm>

#include "gm.h"
#include "timing.h"

namespace pyasc_model {

namespace {

bool element(const View& t, uint32_t index, Rows& out, Loc loc)
{
    const Space s = space_of(t.position, loc);
    const uint32_t esize = dtype_bytes(t.dtype);
    if (s != UB) {
        report("core-type", loc, PIPE_S, SPACE_NAMES[s], 0, 0, "the scalar unit reaches UB, not %s", SPACE_NAMES[s]);
        return false;
    }
    out = {s, t.addr + index * esize, 1, esize, esize};
    return check_rows(t, out, esize, PIPE_S, loc);
}

}  // namespace

void local_read(const View& t, uint32_t index, void* value, Loc loc)
{
    Rows at;
    memset(value, 0, dtype_bytes(t.dtype));
    scalar_cost(launch->number("scalar_access_cycles"));
    if (!element(t, index, at, loc)) {
        return;
    }
    const OpId id = begin(PIPE_S, loc);
    touch(at, false, id, loc);
    charge(PIPE_S, 0);
    memcpy(value, data_at(at.space, at.base), at.bytes);
    if (launch->check) {
        const uint8_t* u = undefined_at(at.space, at.base);
        if (std::any_of(u, u + at.bytes, [](uint8_t b) { return b != 0; })) {
            report("undefined", loc, PIPE_S, SPACE_NAMES[at.space], at.base, at.base + at.bytes,
                   "the scalar unit reads element %u, which was never written", index);
        }
    }
}

void local_write(const View& t, uint32_t index, const void* value, Loc loc)
{
    Rows at;
    scalar_cost(launch->number("scalar_access_cycles"));
    if (!element(t, index, at, loc)) {
        return;
    }
    const OpId id = begin(PIPE_S, loc);
    touch(at, true, id, loc);
    charge(PIPE_S, 0);
    memcpy(data_at(at.space, at.base), value, at.bytes);
    if (launch->check) {
        memset(undefined_at(at.space, at.base), 0, at.bytes);
    }
}

namespace {

constexpr uint64_t LINE = 64;

uint64_t byte_mask(uint64_t low, uint64_t high)
{
    const uint64_t n = high - low;
    return (n >= 64 ? ~0ull : (1ull << n) - 1) << low;
}

// The newest write of another path to the line, by the launch's write counter.
uint64_t newest_foreign_write(const GmBuffer& b, uint64_t low, uint64_t high, int* line)
{
    const uint16_t self = static_cast<uint16_t>(core->index + (core->cube ? 4096 : 0));
    uint64_t newest = 0;
    auto it = b.spans.upper_bound(low);
    if (it != b.spans.begin()) {
        --it;
    }
    for (; it != b.spans.end() && it->first < high; ++it) {
        for (const GmRecord& r : it->second.records) {
            const bool foreign = !(r.scalar && r.core == self);
            if (it->second.end > low && r.kind != GmRecord::READ && foreign && r.stamp > newest) {
                newest = r.stamp;
                *line = r.line;
            }
        }
    }
    return newest;
}

}  // namespace

void check_dirty_lines(const GmBuffer& b, const GmRows& rows, int pipe, Loc loc)
{
    if (!launch->check || !launch->scalar_gm_writes) {
        return;
    }
    for (const auto& c : launch->cores) {
        for (const auto& entry : c->cache) {
            if (entry.second.dirty == 0) {
                continue;
            }
            for (uint32_t i = 0; i < rows.rows; ++i) {
                const uint64_t low = reinterpret_cast<uint64_t>(b.base) + rows.base + i * rows.step;
                const uint64_t high = low + rows.bytes, line = entry.first * LINE;
                if (low >= line + LINE || high <= line) {
                    continue;
                }
                const uint64_t from = std::max(low, line) - line, to = std::min(high, line + LINE) - line;
                if ((entry.second.dirty & byte_mask(from, to)) != 0) {
                    report("cache-line", loc, pipe, b.name.c_str(), rows.base, rows.base + rows.bytes,
                           "reads what the scalar unit of %s wrote at line %d and did not clean from its data cache",
                           c->name().c_str(), entry.second.loc.line);
                    return;
                }
            }
        }
    }
}

void global_read(const GmView& t, uint64_t index, void* value, bool bypass, Loc loc)
{
    const uint64_t esize = dtype_bytes(t.dtype);
    const uint8_t* ptr = t.ptr + index * esize;
    memset(value, 0, esize);
    scalar_cost(launch->number("scalar_gm_access_cycles"));
    GmBuffer* b = find_gm(t, ptr, esize, PIPE_S, loc);
    if (b == nullptr) {
        return;
    }
    const OpId id = begin(PIPE_S, loc);
    const GmRows rows{static_cast<uint64_t>(ptr - b->base), 1, esize, esize};
    touch_gm(*b, rows, GmRecord::READ, id, true, loc);
    charge(PIPE_S, 0);
    memcpy(value, ptr, esize);
    if (!launch->check) {
        return;
    }
    if (!b->undefined.empty()) {
        const uint8_t* u = b->undefined.data() + rows.base;
        if (std::any_of(u, u + esize, [](uint8_t x) { return x != 0; })) {
            report("undefined", loc, PIPE_S, b->name.c_str(), rows.base, rows.base + esize,
                   "the scalar unit reads global memory that was never written");
        }
    }
    if (bypass) {
        return;
    }
    CacheLine& line = core->cache[reinterpret_cast<uint64_t>(ptr) / LINE];
    if (line.stamp == 0) {
        line.stamp = launch->gm_stamp;
        return;
    }
    int writer = 0;
    if (newest_foreign_write(*b, rows.base, rows.base + esize, &writer) > line.stamp) {
        report("cache-line", loc, PIPE_S, b->name.c_str(), rows.base, rows.base + esize,
               "reads a stale cache line: it was cached before the write at line %d (DataCacheCleanAndInvalid)",
               writer);
    }
}

void global_write(const GmView& t, uint64_t index, const void* value, bool bypass, Loc loc)
{
    const uint64_t esize = dtype_bytes(t.dtype);
    uint8_t* ptr = t.ptr + index * esize;
    scalar_cost(launch->number("scalar_gm_access_cycles"));
    GmBuffer* b = find_gm(t, ptr, esize, PIPE_S, loc);
    if (b == nullptr) {
        return;
    }
    const OpId id = begin(PIPE_S, loc);
    const GmRows rows{static_cast<uint64_t>(ptr - b->base), 1, esize, esize};
    touch_gm(*b, rows, GmRecord::WRITE, id, !bypass, loc);
    charge(PIPE_S, 0);
    const Atomic kept = core->atomic;
    core->atomic = Atomic::NONE;  // atomics are for copies
    store_gm_row(*b, rows.base, static_cast<const uint8_t*>(value), nullptr, esize, t.dtype, PIPE_S, loc);
    core->atomic = kept;
    if (launch->check && !bypass) {
        const uint64_t address = reinterpret_cast<uint64_t>(ptr);
        CacheLine& line = core->cache[address / LINE];
        line.stamp = line.stamp == 0 ? launch->gm_stamp : line.stamp;
        line.dirty |= byte_mask(address % LINE, address % LINE + esize);
        line.loc = loc;
    }
}

void cache_clean(const GmView& t, bool whole, bool, Loc)
{
    scalar_cost(launch->number("sync_cycles"));
    if (whole) {
        core->cache.clear();
    } else {
        core->cache.erase(reinterpret_cast<uint64_t>(t.ptr) / LINE);
    }
}

void scalar_instruction(Loc) { scalar_cost(1); }

}  // namespace pyasc_model
