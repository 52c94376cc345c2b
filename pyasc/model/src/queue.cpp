// SPDX-License-Identifier: Apache-2.0
// TPipe: buffers in on-chip memory, and queues that carry the flags between the pipes of producer and consumer.
#include <string.h>

#include <exception>

#include "access.h"
#include "core.h"

namespace pyasc_model {

namespace {

using AscendC::HardEvent;

struct Pairs {
    HardEvent enque, release;
};

// Which pipes fill and empty a queue of each position (hardware.md section 6).
bool pairs_of(TPosition src, TPosition dst, Pairs& out)
{
    if (src == TPosition::VECIN && dst == TPosition::VECOUT) {
        out = {HardEvent::MTE2_MTE3, HardEvent::MTE3_MTE2};
        return true;
    }
    switch (src) {
    case TPosition::VECIN: out = {HardEvent::MTE2_V, HardEvent::V_MTE2}; return true;
    case TPosition::VECOUT: out = {HardEvent::V_MTE3, HardEvent::MTE3_V}; return true;
    case TPosition::A1: case TPosition::B1: case TPosition::C1:
        out = {HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2};
        return true;
    case TPosition::A2: case TPosition::B2: case TPosition::C2: out = {HardEvent::MTE1_M, HardEvent::M_MTE1}; return true;
    case TPosition::CO1: out = {HardEvent::M_FIX, HardEvent::FIX_M}; return true;
    default: return false;
    }
}

uint32_t capacity(Space space)
{
    static const char* const KEYS[SPACES] = {"ub_usable_bytes", "l1_usable_bytes", "l0a_bytes", "l0b_bytes",
                                             "l0c_bytes", "bt_bytes", "fb_bytes"};
    return static_cast<uint32_t>(launch->number(KEYS[space]));
}

uint16_t place(TPosition position, uint32_t bytes, Loc loc)
{
    Core& c = *core;
    if (!c.pipe_live) {
        report("queue", loc, PIPE_S, nullptr, 0, 0, "InitBuffer without a live TPipe");
    }
    const Space s = space_of(position, loc);
    if (core->cube ? s == UB : s != UB) {
        report("core-type", loc, PIPE_S, SPACE_NAMES[s], 0, bytes, "this core has no %s", SPACE_NAMES[s]);
    }
    if (bytes == 0) {
        report("parameter", loc, PIPE_S, SPACE_NAMES[s], 0, 0, "InitBuffer of 0 bytes");
    }
    const uint32_t rounded = (bytes + 31) / 32 * 32;
    if (c.used[s] + uint64_t(rounded) > capacity(s)) {
        report("capacity", loc, PIPE_S, SPACE_NAMES[s], c.used[s], c.used[s] + uint64_t(rounded),
               "%s holds %u bytes for a kernel; this buffer ends at byte %llu", SPACE_NAMES[s], capacity(s),
               static_cast<unsigned long long>(c.used[s] + uint64_t(rounded)));
        throw StopCore();
    }
    if (c.buffers.empty()) {
        c.buffers.emplace_back();
    }
    if (c.buffers.size() == 65) {
        report("capacity", loc, PIPE_S, SPACE_NAMES[s], 0, 0, "more than 64 buffers in one kernel");
    }
    BufferInfo b;
    b.space = s;
    b.addr = c.used[s];
    b.bytes = rounded;
    b.loc = loc;
    c.used[s] += rounded;
    c.buffers.push_back(b);
    memory(s);
    return static_cast<uint16_t>(c.buffers.size() - 1);
}

View view_of(uint16_t index, TPosition position, DType dtype)
{
    const BufferInfo& b = core->buffers[index];
    return {b.addr, b.bytes, index, b.generation, position, dtype};
}

QueueInfo& queue_of(int id, Loc loc)
{
    if (id < 0 || id >= static_cast<int>(core->queues.size())) {
        report("queue", loc, PIPE_S, nullptr, 0, 0, "a queue used before InitBuffer");
        throw StopCore();
    }
    return core->queues[id];
}

BufferInfo* owned(int id, const View& t, const char* call, Loc loc)
{
    const bool known = t.buffer != 0 && t.buffer < core->buffers.size() && core->buffers[t.buffer].queue == id;
    if (!known) {
        report("queue", loc, PIPE_S, nullptr, 0, 0, "%s with a tensor that is not of this queue", call);
        return nullptr;
    }
    BufferInfo& b = core->buffers[t.buffer];
    if (t.generation != b.generation || b.state == BufferInfo::FREE) {
        report("queue", loc, PIPE_S, SPACE_NAMES[b.space], b.addr, b.addr + b.bytes,
               "%s with a tensor that was already given back", call);
        return nullptr;
    }
    return &b;
}

void wait_event(int pair, int& id, Loc loc)
{
    flag_wait(pair, id, loc);
    event_give_back(pair, id, loc);
    id = -1;
}

}  // namespace

void pipe_open(void* self, Loc loc)
{
    core->pipe = self;
    core->had_pipe = true;
    if (core->pipe_live) {
        report("queue", loc, PIPE_S, nullptr, 0, 0, "a second TPipe while one is alive");
    }
    core->pipe_live = true;
    scalar_cost(launch->number("tpipe_cycles"));
}

void* current_pipe(Loc loc)
{
    scalar_cost(0);
    if (!core->pipe_live) {
        report("queue", loc, PIPE_S, nullptr, 0, 0, "GetTPipePtr without a live TPipe");
        throw StopCore();
    }
    return core->pipe;
}

// Flags of buffers given back are waited for here, so that none is left over for the next kernel.
static void release_events()
{
    const Loc end = {"", 0};
    for (size_t i = 1; i < core->buffers.size(); ++i) {
        BufferInfo& b = core->buffers[i];
        if (b.queue < 0) {
            continue;
        }
        const QueueInfo& q = core->queues[b.queue];
        if (b.free_event >= 0) {
            wait_event(q.free_pair, b.free_event, end);
        }
        if (b.state == BufferInfo::QUEUED) {
            report("queue", q.loc, PIPE_S, SPACE_NAMES[b.space], b.addr, b.addr + b.bytes,
                   "a tensor of this queue was enqueued and never taken out");
            wait_event(q.enque_pair, b.enque_event, end);
        } else if (b.state != BufferInfo::FREE) {
            report("queue", q.loc, PIPE_S, SPACE_NAMES[b.space], b.addr, b.addr + b.bytes,
                   "a tensor of this queue was never given back by FreeTensor");
        }
        b.state = BufferInfo::FREE;
    }
}

void pipe_close()
{
    if (core == nullptr || !core->pipe_live) {
        return;
    }
    core->pipe_live = false;
    if (!launch->check || std::uncaught_exceptions() > 0) {
        return;
    }
    try {
        release_events();
    } catch (const StopCore&) {
        // A destructor must not throw; the limit on findings is noticed by the next call.
    }
}

void pipe_reset(Loc loc)
{
    release_events();
    barrier(PIPE_ALL, loc);
    for (uint32_t& used : core->used) {
        used = 0;
    }
    core->queues.clear();
    for (BufferInfo& b : core->buffers) {
        b.queue = -1;
        ++b.generation;  // tensors of the old layout are dead
    }
}

int queue_init(TPosition src, TPosition dst, int depth, uint32_t buffers, uint32_t bytes, Loc loc)
{
    Pairs pairs;
    if (!pairs_of(src, dst, pairs)) {
        report("queue", loc, PIPE_S, nullptr, 0, 0, "this SoC has no queue at that position");
        throw StopCore();
    }
    scalar_cost(launch->number("init_buffer_cycles"));
    QueueInfo q;
    q.src = src;
    q.dst = dst;
    q.depth = depth;
    q.enque_pair = static_cast<int>(pairs.enque);
    q.free_pair = static_cast<int>(pairs.release);
    q.loc = loc;
    const int id = static_cast<int>(core->queues.size());
    for (uint32_t i = 0; i < buffers; ++i) {
        q.buffers.push_back(place(src, bytes, loc));
        core->buffers[q.buffers.back()].queue = id;
    }
    core->queues.push_back(q);
    return id;
}

View buffer_init(TPosition position, uint32_t bytes, Loc loc)
{
    scalar_cost(launch->number("init_buffer_cycles"));
    const uint16_t index = place(position, bytes, loc);
    View v = view_of(index, position, DType::U8);
    v.bytes = bytes;
    return v;
}

View queue_alloc(int id, DType dtype, Loc loc)
{
    scalar_cost(launch->number("queue_cycles"));
    QueueInfo& q = queue_of(id, loc);
    for (size_t i = 0; i < q.buffers.size(); ++i) {
        const size_t at = (q.next + i) % q.buffers.size();
        BufferInfo& b = core->buffers[q.buffers[at]];
        if (b.state != BufferInfo::FREE) {
            continue;
        }
        q.next = (at + 1) % q.buffers.size();
        if (b.free_event >= 0) {
            wait_event(q.free_pair, b.free_event, loc);
        }
        b.state = BufferInfo::ALLOCATED;
        ++b.generation;
        if (launch->check) {
            // Nothing published promises what the last tensor in a buffer left there (`assumed`: it is not kept).
            memory(b.space);
            memset(undefined_at(b.space, b.addr), 0xff, b.bytes);
        }
        return view_of(q.buffers[at], q.src, dtype);
    }
    report("queue", loc, PIPE_S, nullptr, 0, 0, "AllocTensor: all %zu buffers of the queue (line %d) are in use",
           q.buffers.size(), q.loc.line);
    throw StopCore();
}

void queue_free(int id, const View& t, Loc loc)
{
    scalar_cost(launch->number("queue_cycles"));
    QueueInfo& q = queue_of(id, loc);
    BufferInfo* b = owned(id, t, "FreeTensor", loc);
    if (b == nullptr) {
        return;
    }
    if (b->state == BufferInfo::QUEUED) {
        report("queue", loc, PIPE_S, SPACE_NAMES[b->space], b->addr, b->addr + b->bytes,
               "FreeTensor of a tensor that is still in the queue");
        return;
    }
    b->state = BufferInfo::FREE;
    b->free_event = event_take(q.free_pair, loc);
    flag_set(q.free_pair, b->free_event, loc);
}

void queue_enque(int id, const View& t, Loc loc)
{
    scalar_cost(launch->number("queue_cycles"));
    QueueInfo& q = queue_of(id, loc);
    BufferInfo* b = owned(id, t, "EnQue", loc);
    if (b == nullptr) {
        return;
    }
    if (b->state == BufferInfo::QUEUED) {
        report("queue", loc, PIPE_S, SPACE_NAMES[b->space], b->addr, b->addr + b->bytes,
               "EnQue of a tensor that is already in the queue");
        return;
    }
    const size_t depth = q.depth == 0 ? 1 : static_cast<size_t>(q.depth);
    if (q.line.size() >= depth) {
        report("queue", loc, PIPE_S, SPACE_NAMES[b->space], b->addr, b->addr + b->bytes,
               "EnQue: the queue of depth %d (line %d) is full", q.depth, q.loc.line);
    }
    b->state = BufferInfo::QUEUED;
    b->enque_event = event_take(q.enque_pair, loc);
    flag_set(q.enque_pair, b->enque_event, loc);
    q.line.push_back(t.buffer);
}

View queue_deque(int id, DType dtype, Loc loc)
{
    scalar_cost(launch->number("queue_cycles"));
    QueueInfo& q = queue_of(id, loc);
    if (q.line.empty()) {
        report("queue", loc, PIPE_S, nullptr, 0, 0, "DeQue of an empty queue (line %d)", q.loc.line);
        throw StopCore();
    }
    const uint16_t index = q.line.front();
    q.line.erase(q.line.begin());
    BufferInfo& b = core->buffers[index];
    b.state = BufferInfo::DEQUEUED;
    wait_event(q.enque_pair, b.enque_event, loc);
    return view_of(index, q.src, dtype);
}

int queue_free_buffers(int id)
{
    int n = 0;
    for (uint16_t b : queue_of(id, {"", 0}).buffers) {
        n += core->buffers[b].state == BufferInfo::FREE;
    }
    return n;
}

int queue_length(int id) { return static_cast<int>(queue_of(id, {"", 0}).line.size()); }

// Ids are taken lowest first; how TPipe numbers them is not published (`assumed`).
int event_take(int event, Loc loc)
{
    uint8_t& taken = core->events[event];
    for (int id = 0; id < 8; ++id) {
        if (!((taken >> id) & 1)) {
            taken = static_cast<uint8_t>(taken | (1 << id));
            return id;
        }
    }
    report("event", loc, event >> 3, nullptr, 0, 0, "all 8 events of %s_%s are in use (at most 8 buffers a position)",
           PIPE_NAMES[event >> 3], PIPE_NAMES[event & 7]);
    throw StopCore();
}

int event_peek(int event, Loc)
{
    const uint8_t taken = core->events[event];
    for (int id = 0; id < 8; ++id) {
        if (!((taken >> id) & 1)) {
            return id;
        }
    }
    return 0;
}

void event_give_back(int event, int id, Loc loc)
{
    uint8_t& taken = core->events[event];
    if (id < 0 || id > 7 || !((taken >> id) & 1)) {
        report("event", loc, event >> 3, nullptr, 0, 0, "event %d of %s_%s given back without being taken", id,
               PIPE_NAMES[event >> 3], PIPE_NAMES[event & 7]);
        return;
    }
    taken = static_cast<uint8_t>(taken & ~(1 << id));
}

}  // namespace pyasc_model
