// SPDX-License-Identifier: Apache-2.0
// What an operation touches on chip: strided vector operands and rows of a copy, and the checks on them.
#pragma once
#include "core.h"

namespace pyasc_model {

// The lanes of a vector instruction after masks and modes are resolved.
struct Plan {
    uint32_t repeats = 0;
    uint32_t lanes = 0;  // of one repeat, by the widest type of the instruction
    uint64_t body[2] = {0, 0}, tail[2] = {0, 0};
    uint32_t body_count = 0, tail_count = 0;  // active lanes; the mask is a prefix when `prefix`
    bool prefix = true;
    bool body_full() const { return body_count == lanes; }
    uint64_t total() const { return uint64_t(repeats - 1) * lanes + tail_count; }  // lanes of a prefix, of one repeat or more
    bool active(uint32_t repeat, uint32_t lane) const
    {
        const uint64_t* m = repeat + 1 == repeats ? tail : body;
        return (m[lane >> 6] >> (lane & 63)) & 1;
    }
};

// Resolves the lanes and leaves the mask register as the instruction leaves it.
Plan resolve(const Lanes& lanes, uint32_t widest, Loc loc);

struct Region {
    Space space = UB;
    uint32_t base = 0, esize = 4;
    uint32_t block = 32, repeat = 256;  // strides in bytes
    uint32_t blocks = 8;
    const Plan* plan = nullptr;
    uint32_t body_bytes[8] = {}, tail_bytes[8] = {};  // active bytes of each block
    uint32_t extent = 0;         // past-the-last active byte of one repeat
    uint64_t low = 0, high = 0;  // first and past-the-last active byte

    bool dense_repeat() const { return block == 32; }
    bool dense() const { return block == 32 && repeat == blocks * 32; }
    uint32_t lane_offset(uint32_t r, uint32_t lane) const
    {
        const uint32_t byte = lane * esize;
        return r * repeat + (byte >> 5) * block + (byte & 31);
    }
};

Region make_region(const View& t, const Plan& plan, uint16_t block, uint16_t repeat, Loc loc);

struct Rows {
    Space space = UB;
    uint32_t base = 0, rows = 1, bytes = 0, step = 0;
};

// Ownership, bounds and capacity. False: the access must not be made.
bool check_bounds(const View& t, uint64_t low, uint64_t high, int pipe, Loc loc);
bool check_operand(const View& t, const Region& r, uint32_t align, int pipe, Loc loc);
bool check_rows(const View& t, const Rows& r, uint32_t align, int pipe, Loc loc);

// Happens-before: the operation `id` reads or writes; conflicts with unordered earlier ones are reported. An operation
// enters what it writes before what it reads: its own read would stand in the place of an earlier one of its pipe.
void touch(const Region& r, bool write, OpId id, Loc loc);
void touch(const Rows& r, bool write, OpId id, Loc loc);

// Bytes of one memory gathered one by one, entered into the history together: one visit a block.
class ByteSet {
public:
    explicit ByteSet(Space space) : space_(space), masks_(memory(space).size / 32 + 2, 0) {}
    void add(uint32_t addr, uint32_t bytes)
    {
        for (uint32_t i = 0; i < bytes; ++i) {
            masks_[(addr + i) >> 5] |= 1u << ((addr + i) & 31);
        }
    }
    void touch(bool write, OpId id, Loc loc) const;

private:
    Space space_;
    std::vector<uint32_t> masks_;
};

void check_overlap(const Region& dst, const Region* src, int sources, bool chain_allowed, Loc loc);

inline uint8_t* data_at(Space s, uint32_t addr) { return memory(s).data.data() + addr; }
inline uint8_t* undefined_at(Space s, uint32_t addr)
{
    return launch->check ? memory(s).undefined.data() + addr : nullptr;
}

}  // namespace pyasc_model
