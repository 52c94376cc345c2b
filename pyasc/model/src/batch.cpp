// SPDX-License-Identifier: Apache-2.0
// The batch of instructions put off: what may join it, and its execution.
#include "batch.h"

#include <algorithm>

#include "bulk.h"

namespace pyasc_model {

bool steps_waiting = false;

namespace {

constexpr uint64_t LEAST = 1024;       // lanes; fewer are in the nearest cache anyway
constexpr uint64_t BLOCK_BITS = 49152;  // of the widest operand, executed at a time
constexpr uint64_t BLOCK_LEAST = 512;  // lanes; whole bytes of every mask, whole words of every instruction on masks
constexpr int MOST = 24;
constexpr int NEAREST = 3;  // of the host's caches, to a prefetch

struct Batch {
    Step steps[MOST];  // and one more in the making, behind those that count
    int count = 0;
    uint64_t lanes = 0;
    bool stores = false;
};
Batch batch;

void find_end(Span& span, uint64_t lanes) { span.end = span.at + (lanes * span.bits + 7) / 8; }

// The same lanes, or no byte in common.
bool apart_or_same(const Span& a, const Span& b)
{
    return (a.at == b.at && a.bits == b.bits) || a.end <= b.at || b.end <= a.at;
}

// Whether any order of lanes between the two gives what one after the other gives.
bool independent(const Step& a, const Step& b)
{
    if (!apart_or_same(a.out, b.out)) {
        return false;
    }
    for (int i = 0; i < b.sources; ++i) {
        if (!apart_or_same(a.out, b.in[i])) {
            return false;
        }
    }
    return true;
}

// How many lanes of the batch the step has for one of its own, as an instruction on words of masks does; 0: no number.
uint64_t lanes_per(const Step& s)
{
    const uint64_t per = batch.lanes / s.lanes;
    bool whole = s.lanes * per == batch.lanes && per <= 32 && s.out.bits % per == 0;
    for (int i = 0; i < s.sources; ++i) {
        whole = whole && s.in[i].bits % per == 0;
    }
    return whole ? per : 0;
}

void count_by(Step& s, uint64_t per)
{
    s.per = per;
    s.out.bits /= static_cast<uint32_t>(per);
    for (int i = 0; i < s.sources; ++i) {
        s.in[i].bits /= static_cast<uint32_t>(per);
    }
}

bool fits(const Step& s)
{
    for (int i = 0; i < batch.count; ++i) {
        if (!independent(batch.steps[i], s) || !independent(s, batch.steps[i])) {
            return false;
        }
    }
    return independent(s, s);
}

bool joins(Step& s)
{
    // Copies in come first: what a copy out writes may be what the next one in reads.
    const uint64_t per = s.kind == Step::LOAD && batch.stores ? 0 : lanes_per(s);
    if (per == 0) {
        return false;
    }
    if (per == 1) {
        return fits(s);
    }
    const Step own = s;
    count_by(s, per);
    if (!fits(s)) {
        s = own;
        return false;
    }
    return true;
}

uint64_t block_lanes()
{
    uint32_t widest = 8;
    for (int i = 0; i < batch.count; ++i) {
        widest = std::max(widest, batch.steps[i].out.bits);
        for (int k = 0; k < batch.steps[i].sources; ++k) {
            widest = std::max(widest, batch.steps[i].in[k].bits);
        }
    }
    return std::max(BLOCK_LEAST, BLOCK_BITS / widest / BLOCK_LEAST * BLOCK_LEAST);
}

// Fetches one of `parts` parts of what copies in read from `lane` on: a block at once would fill the queue of what the
// host's nearest cache waits for.
void fetch(uint64_t lane, uint64_t lanes, int part, int parts)
{
    for (int i = 0; i < batch.count; ++i) {
        const Step& s = batch.steps[i];
        if (s.kind != Step::LOAD) {
            continue;
        }
        const uint8_t* from = s.in[0].part(lane);
        const uint64_t lines = lanes * s.in[0].bits / 8 / HOST_LINE;
        const uint64_t end = lines * (part + 1) / parts;
        for (uint64_t line = lines * part / parts; line < end; ++line) {
            __builtin_prefetch(from + line * HOST_LINE, 0, NEAREST);
        }
    }
}

void execute()
{
    const uint64_t block = block_lanes();
    for (uint64_t lane = 0; lane < batch.lanes; lane += block) {
        const uint64_t n = std::min(block, batch.lanes - lane);
        for (int i = 0; i < batch.count; ++i) {
            const Step& s = batch.steps[i];
            s.run(s, lane, n);
            fetch(lane + n, block, i, batch.count);
        }
    }
}

}  // namespace

void catch_up()
{
    steps_waiting = false;
    if (batch.count > 0) {
        execute();
    }
    batch.count = 0;
    batch.stores = false;
}

Step& new_step()
{
    if (batch.count == MOST - 1) {
        catch_up();
    }
    return batch.steps[batch.count] = Step{};
}

bool put_off(Step& step)
{
    Step* s = &step;
    find_end(s->out, s->lanes);
    for (int i = 0; i < s->sources; ++i) {
        find_end(s->in[i], s->lanes);
    }
    if (batch.count > 0 && !joins(*s)) {
        const Step kept = *s;
        catch_up();
        s = &(batch.steps[0] = kept);
    }
    if (batch.count == 0) {
        if (s->lanes < LEAST || !independent(*s, *s)) {
            return false;
        }
        batch.lanes = s->lanes;
    }
    ++batch.count;
    batch.stores = batch.stores || s->kind == Step::STORE;
    steps_waiting = true;
    return true;
}

Span span_of(const Region& r) { return {quiet_memory(r.space).data.data() + r.base, r.esize * 8}; }

}  // namespace pyasc_model
