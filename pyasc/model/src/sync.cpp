// SPDX-License-Identifier: Apache-2.0
// Flags and barriers between the pipes of one core (hardware.md section 7).
#include <string.h>

#include <algorithm>

#include "core.h"

namespace pyasc_model {

namespace {

using AscendC::HardEvent;

bool on_vector_core(int pipe) { return pipe == PIPE_S || pipe == PIPE_V || pipe == PIPE_MTE2 || pipe == PIPE_MTE3; }

bool on_cube_core(int pipe) { return pipe != PIPE_V; }

bool legal(int event, int id, const char* call, Loc loc)
{
    const int src = event >> 3, dst = event & 7;
    const bool here = core->cube ? on_cube_core(src) && on_cube_core(dst) : on_vector_core(src) && on_vector_core(dst);
    if (!here) {
        report("event", loc, src, nullptr, 0, 0, "%s<%s_%s>: this core has no such pair of pipes", call,
               PIPE_NAMES[src], PIPE_NAMES[dst]);
        return false;
    }
    const bool taken = id >= 0 && id < 8 && ((core->events[event] >> id) & 1);
    if ((id == 6 || id == 7) && !taken) {
        report("event", loc, src, nullptr, 0, 0, "%s<%s_%s>(%d): ids 6 and 7 are the framework's, use 0 to 5", call,
               PIPE_NAMES[src], PIPE_NAMES[dst], id);
    }
    if (id < 0 || id > 7) {
        report("event", loc, src, nullptr, 0, 0, "%s<%s_%s>: event id %d outside 0..7", call, PIPE_NAMES[src],
               PIPE_NAMES[dst], id);
        return false;
    }
    return true;
}

}  // namespace

void flag_set(int event, int id, Loc loc)
{
    ++core->syncs;
    scalar_cost(launch->number("sync_cycles"));
    if (!legal(event, id, "SetFlag", loc)) {
        return;
    }
    const int src = event >> 3;
    Core& c = *core;
    Flag& f = c.flag(event, id);
    if (f.set) {
        report("event", loc, src, nullptr, 0, 0, "SetFlag<%s_%s>(%d): the flag set at line %d was not waited for",
               PIPE_NAMES[src], PIPE_NAMES[event & 7], id, f.loc.line);
    }
    f.set = true;
    f.loc = loc;
    f.clock = c.clock[src];
    f.clock.join(c.clock[PIPE_S]);
    // The scalar unit's own stores are complete for another pipe only through a flag from S.
    if (src != PIPE_S) {
        f.clock.seen[PIPE_S] = c.clock[src].seen[PIPE_S];
    }
    f.clock.seen[src] = c.last[src];
    f.clock.time = std::max(f.clock.time, src == PIPE_S ? c.scalar_time : std::max(c.busy_until[src], c.scalar_time));
}

void flag_wait(int event, int id, Loc loc)
{
    ++core->syncs;
    scalar_cost(launch->number("sync_cycles"));
    if (!legal(event, id, "WaitFlag", loc)) {
        return;
    }
    const int src = event >> 3, dst = event & 7;
    Core& c = *core;
    Flag& f = c.flag(event, id);
    if (!f.set) {
        report("event", loc, dst, nullptr, 0, 0, "WaitFlag<%s_%s>(%d) without a SetFlag before it: pipe %s stops",
               PIPE_NAMES[src], PIPE_NAMES[dst], id, PIPE_NAMES[dst]);
        return;
    }
    f.set = false;
    c.clock[dst].join(f.clock);
    if (dst == PIPE_S) {
        settle();  // the kernel may go on through a pointer of its own to global memory
        c.scalar_time = std::max(c.scalar_time, f.clock.time);
    }
}

void barrier(int pipe, Loc loc)
{
    ++core->syncs;
    scalar_cost(launch->number("sync_cycles"));
    if (pipe == PIPE_S) {
        report("parameter", loc, PIPE_S, nullptr, 0, 0, "PipeBarrier<PIPE_S> is not allowed");
        return;
    }
    if (pipe != PIPE_ALL) {
        if (!(core->cube ? on_cube_core(pipe) : on_vector_core(pipe))) {
            report("core-type", loc, pipe, nullptr, 0, 0, "PipeBarrier: this core has no pipe %s", PIPE_NAMES[pipe]);
            return;
        }
        drain(pipe);
        return;
    }
    settle();
    core->barrier_all_at = core->sequence;
    Clock all;
    for (int p = 0; p < PIPES; ++p) {
        drain(p);
        all.join(core->clock[p]);
    }
    for (int p = 0; p < PIPES; ++p) {
        core->clock[p].join(all);
    }
    core->scalar_time = std::max(core->scalar_time, all.time);
}

void mask_mode(bool counter, Loc)
{
    scalar_cost(1);
    core->counter_mode = counter;
}

void mask_set(uint64_t high, uint64_t low, Loc)
{
    scalar_cost(1);
    core->mask_low = low;
    core->mask_high = core->counter_mode ? 0 : high;
}

void mask_set_count(int32_t n, bool counter, DType dtype, Loc loc)
{
    scalar_cost(1);
    if (n < 0) {
        report("parameter", loc, PIPE_S, nullptr, 0, 0, "SetVectorMask with a negative length %d", n);
        n = 0;
    }
    if (counter || core->counter_mode) {
        core->mask_low = static_cast<uint64_t>(n);
        core->mask_high = 0;
        return;
    }
    const int lanes = static_cast<int>(256 / std::max(2u, dtype_bytes(dtype)));
    if (n > lanes) {
        report("parameter", loc, PIPE_S, nullptr, 0, 0, "SetVectorMask: %d lanes, a repeat has %d", n, lanes);
    }
    core->mask_low = n >= 64 ? ~0ull : (1ull << n) - 1;
    core->mask_high = n <= 64 ? 0 : n >= 128 ? ~0ull : (1ull << (n - 64)) - 1;
}

void mask_reset(Loc)
{
    scalar_cost(1);
    core->mask_low = core->mask_high = ~0ull;
}

void atomic_mode(Atomic kind, DType dtype, Loc loc)
{
    scalar_cost(1);
    const bool ok = dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::I32
        || dtype == DType::I16 || dtype == DType::I8;
    if (kind != Atomic::NONE && !ok) {
        report("dtype", loc, PIPE_S, nullptr, 0, 0, "atomics take int8, int16, half, bfloat16, int32 and float");
        return;
    }
    core->atomic = kind;
    core->atomic_type = dtype;
}

void deq_scale(float scale, int16_t offset, bool is_signed, Loc)
{
    scalar_cost(1);
    core->deq = scale;
    core->deq_offset = offset;
    core->deq_signed = is_signed;
    core->deq_set = true;
}

void set_pad_value(uint64_t value, Loc)
{
    scalar_cost(1);
    core->pad_value = value;
    core->pad_set = true;
}

}  // namespace pyasc_model
