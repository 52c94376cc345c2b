// SPDX-License-Identifier: Apache-2.0
// Data races between the pipes of one core, by happens-before over the history of every block.
#include <string.h>

#include <algorithm>

#include "access.h"

namespace pyasc_model {

namespace {

struct Conflict {
    OpId other = 0;
    uint64_t address = 0;
};

// An earlier access of the block that the operation `id` may overlap in time; an instruction never races with itself.
inline OpId unordered(const Cell& cell, bool write, OpId id, const OpId* seen)
{
    if (cell.write > seen[cell.write & 7] && cell.write != id) {
        return cell.write;
    }
    if (!write) {
        return 0;
    }
    OpId found = 0;
    for (int p = 0; p < PIPES; ++p) {
        found = cell.read[p] > seen[p] && cell.read[p] != id ? cell.read[p] : found;
    }
    return found;
}

inline void record(Cell& cell, bool write, OpId id)
{
    if (write) {
        cell = Cell{};
        cell.write = id;
    } else {
        cell.read[pipe_of(id)] = id;
    }
}

void touch_split(LocalMemory& m, uint32_t block, uint32_t mask, bool write, OpId id, Conflict& conflict)
{
    Cell& cell = m.cells[block];
    const OpId* seen = core->now_seen;
    if (cell.write != SPLIT) {
        SplitCell& fresh = m.split[block];
        std::fill(fresh.byte, fresh.byte + 32, cell);
        cell = Cell{};
        cell.write = SPLIT;
    }
    SplitCell& s = m.split[block];
    for (uint32_t bits = mask; bits != 0; bits &= bits - 1) {
        Cell& byte = s.byte[__builtin_ctz(bits)];
        const OpId other = unordered(byte, write, id, seen);
        if (other != 0 && conflict.other == 0) {
            conflict = {other, block * 32ull + __builtin_ctz(bits)};
        }
        record(byte, write, id);
    }
    if (write && mask == 0xffffffff) {
        m.split.erase(block);
        cell = Cell{};
        cell.write = id;
    }
}

inline void touch_block(LocalMemory& m, uint32_t block, uint32_t mask, bool write, OpId id, Conflict& conflict)
{
    if (block >= m.cells.size() || mask == 0) {
        return;
    }
    Cell& cell = m.cells[block];
    if (mask != 0xffffffff || cell.write == SPLIT) {
        touch_split(m, block, mask, write, id, conflict);
        return;
    }
    const OpId other = unordered(cell, write, id, core->now_seen);
    if (other != 0 && conflict.other == 0) {
        conflict = {other, block * 32ull};
    }
    record(cell, write, id);
}

// `mask` marks bytes behind `addr`, which need not start a block.
inline void touch_bytes(LocalMemory& m, uint32_t addr, uint32_t mask, bool write, OpId id, Conflict& conflict)
{
    const uint32_t shift = addr & 31;
    touch_block(m, addr >> 5, mask << shift, write, id, conflict);
    if (shift != 0) {
        touch_block(m, (addr >> 5) + 1, mask >> (32 - shift), write, id, conflict);
    }
}

void tell(const Conflict& conflict, Space space, bool write, OpId id, Loc loc)
{
    if (conflict.other == 0) {
        return;
    }
    const Loc other = core->ops[conflict.other >> 3].loc;
    report("race", loc, pipe_of(id), SPACE_NAMES[space], conflict.address, conflict.address + 1,
           "%s %s on %s without synchronisation with the access on %s at line %d", SPACE_NAMES[space],
           write ? "written" : "read", PIPE_NAMES[pipe_of(id)], PIPE_NAMES[pipe_of(conflict.other)], other.line);
}

typedef uint32_t Lanes8 __attribute__((vector_size(32)));
static_assert(sizeof(Cell) == sizeof(Lanes8), "a cell is compared as one vector");

// Whole blocks from `block` on, until one may not be ordered before the operation `id`: then it needs a closer look.
// Returns how many are; their earlier accesses are compared as vectors, and only the sum of that is looked at.
uint32_t ordered_before(const LocalMemory& m, uint32_t block, uint32_t count, bool write, OpId id)
{
    const OpId* seen = core->now_seen;
    const Lanes8 limit = {0xffffffffu, seen[0], seen[1], seen[2], seen[3], seen[4], seen[5], seen[6]};
    const Lanes8 same = {id, id, id, id, id, id, id, id};
    Lanes8 late = {};
    OpId known = id;  // a last write found to be ordered: neighbours mostly share it
    for (uint32_t i = 0; i < count; ++i) {
        const Cell& cell = m.cells[block + i];
        if (cell.write != known) {
            if (cell.write == SPLIT || cell.write > seen[cell.write & 7]) {
                count = i;
                break;
            }
            known = cell.write;
        }
        if (write) {
            Lanes8 lanes;
            memcpy(&lanes, &cell, sizeof lanes);
            late |= static_cast<Lanes8>((lanes > limit) & (lanes != same));
        }
    }
    uint32_t any = 0;
    for (int p = 0; p < 8; ++p) {
        any |= late[p];
    }
    return any == 0 ? count : count == 1 ? 0 : ordered_before(m, block, count / 2, write, id);
}

// Enters the access into whole blocks, until one needs a closer look. Returns how many were dealt with.
uint32_t touch_whole(LocalMemory& m, uint32_t block, uint32_t count, bool write, OpId id)
{
    constexpr uint32_t BLOCKS = 64;
    const int pipe = pipe_of(id);
    for (uint32_t done = 0; done < count;) {
        const uint32_t wanted = std::min(BLOCKS, count - done);
        const uint32_t n = ordered_before(m, block + done, wanted, write, id);
        Cell* cells = m.cells.data() + block + done;
        for (uint32_t i = 0; i < n; ++i) {
            if (write) {
                cells[i] = Cell{id, {}};
            } else {
                cells[i].read[pipe] = id;
            }
        }
        done += n;
        if (n < wanted && (n == 0 || cells[n].write == SPLIT)) {
            return done;
        }
    }
    return count;
}

void touch_span(LocalMemory& m, uint32_t addr, uint32_t bytes, bool write, OpId id, Conflict& conflict)
{
    const uint32_t end = addr + bytes;
    while (addr < end) {
        if ((addr & 31) == 0 && end - addr >= 32 && (addr >> 5) < m.cells.size()) {
            addr += 32 * touch_whole(m, addr >> 5, (end - addr) / 32, write, id);
            if (addr >= end) {
                return;
            }
        }
        const uint32_t shift = addr & 31;
        const uint32_t n = std::min(32 - shift, end - addr);
        const uint32_t mask = (n == 32 ? 0xffffffffu : (1u << n) - 1) << shift;
        touch_block(m, addr >> 5, mask, write, id, conflict);
        addr += n;
    }
}

}  // namespace

void touch(const Region& r, bool write, OpId id, Loc loc)
{
    if (!launch->check) {
        return;
    }
    LocalMemory& m = memory(r.space);
    Conflict conflict;
    const Plan& p = *r.plan;
    if (r.dense() && p.body_full() && p.prefix) {
        touch_span(m, r.base, static_cast<uint32_t>(r.high - r.base), write, id, conflict);
    } else {
        for (uint32_t i = 0; i < p.repeats; ++i) {
            const uint32_t* bytes = i + 1 == p.repeats ? r.tail_bytes : r.body_bytes;
            for (uint32_t b = 0; b < r.blocks; ++b) {
                touch_bytes(m, r.base + i * r.repeat + b * r.block, bytes[b], write, id, conflict);
            }
        }
    }
    tell(conflict, r.space, write, id, loc);
}

void ByteSet::touch(bool write, OpId id, Loc loc) const
{
    LocalMemory& m = memory(space_);
    Conflict conflict;
    for (uint32_t block = 0; block < masks_.size(); ++block) {
        if (masks_[block] != 0) {
            touch_block(m, block, masks_[block], write, id, conflict);
        }
    }
    tell(conflict, space_, write, id, loc);
}

void touch(const Rows& r, bool write, OpId id, Loc loc)
{
    if (!launch->check || r.bytes == 0) {
        return;
    }
    LocalMemory& m = memory(r.space);
    Conflict conflict;
    for (uint32_t i = 0; i < r.rows; ++i) {
        touch_span(m, r.base + i * r.step, r.bytes, write, id, conflict);
    }
    tell(conflict, r.space, write, id, loc);
}

}  // namespace pyasc_model
