// SPDX-License-Identifier: Apache-2.0
// Operations, clocks, findings and on-chip memories of the running core.
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <stdexcept>

namespace pyasc_model {

const char* const PIPE_NAMES[8] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
const char* const SPACE_NAMES[SPACES] = {"UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};

Launch* launch = nullptr;
Core* core = nullptr;

double Launch::number(const char* key) const
{
    const uintptr_t address = reinterpret_cast<uintptr_t>(key);
    Number& known = numbers[(address ^ (address >> 8)) % 256];
    if (known.key == key) {
        return known.value;
    }
    const auto it = soc.find(key);
    if (it == soc.end()) {
        throw std::runtime_error(std::string("the SoC description does not give '") + key + "'");
    }
    known = {key, it->second};
    return it->second;
}

std::string Core::name() const
{
    return std::string(cube ? "AIC " : "AIV ") + std::to_string(index);
}

void Clock::join(const Clock& other)
{
    for (int p = 0; p < 8; ++p) {
        seen[p] = seen[p] > other.seen[p] ? seen[p] : other.seen[p];
    }
    time = time > other.time ? time : other.time;
}

// What a run without checks still notices, since it cannot go on.
static bool always_told(const char* kind)
{
    for (const char* one : {"deadlock", "crash", "timeout", "gm-bounds", "bounds"}) {
        if (strcmp(kind, one) == 0) {
            return true;
        }
    }
    return false;
}

void report(const char* kind, Loc loc, int pipe, const char* memory, uint64_t low, uint64_t high, const char* format,
            ...)
{
    if (!launch->check && !always_told(kind)) {
        return;
    }
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const std::string key = std::string(kind) + "|" + loc.file + ":" + std::to_string(loc.line) + "|" + format;
    const auto known = launch->finding_index.find(key);
    if (known != launch->finding_index.end()) {
        ++launch->findings[known->second].count;
        return;
    }
    launch->finding_index[key] = launch->findings.size();
    Finding f;
    f.kind = kind;
    f.message = text;
    f.file = loc.file;
    f.line = loc.line;
    f.core = core ? core->name() : "";
    f.pipe = PIPE_NAMES[pipe & 7];
    f.memory = memory ? memory : "";
    f.low = low;
    f.high = high;
    launch->findings.push_back(f);
    if (launch->findings.size() > 200) {
        throw StopCore();
    }
}

namespace {

void leave_probe()
{
    if (launch->probing) {
        throw ProbeDone();
    }
}

}  // namespace

// What the operation may rely on.
static void fix_seen(Core& c, int pipe, OpId id)
{
    // The scalar unit issues every instruction in order, so what it has waited for is complete for all later ones.
    for (int p = 0; p < PIPES; ++p) {
        const OpId own = c.clock[pipe].seen[p];
        const OpId scalar = p == PIPE_S ? 0 : c.clock[PIPE_S].seen[p];
        c.now_seen[p] = own > scalar ? own : scalar;
    }
    if (pipe == PIPE_S) {
        c.now_seen[PIPE_S] = id;
    }
}

OpId begin(int pipe, Loc loc)
{
    settle();
    return begin_deferrable(pipe, loc);
}

OpId begin_deferrable(int pipe, Loc loc)
{
    leave_probe();
    Core& c = *core;
    const OpId id = (++c.sequence << 3) | static_cast<OpId>(pipe);
    if (launch->check) {
        fix_seen(c, pipe, id);
    }
    c.last[pipe] = id;
    c.last_call = loc;
    if (pipe != PIPE_S && c.first_work_at == 0) {
        c.first_work_at = c.sequence;
        c.first_work = loc;
    }
    if (launch->check) {
        if (c.ops.size() <= c.sequence) {
            c.ops.resize(c.sequence + 1024);
        }
        c.ops[c.sequence].loc = loc;
    }
    return id;
}

void charge(int pipe, double cycles)
{
    Core& c = *core;
    double start = c.scalar_time;
    if (c.busy_until[pipe] > start) {
        start = c.busy_until[pipe];
    }
    if (c.clock[pipe].time > start) {
        start = c.clock[pipe].time;
    }
    c.busy_until[pipe] = start + cycles;
    c.busy[pipe] += cycles;
    if (pipe == PIPE_S) {
        c.scalar_time = start + cycles;
    }
}

namespace {

double now_seconds()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// A kernel that never ends still makes calls; every so many of them the time is looked at.
void check_time()
{
    if (launch->seconds == 0 || (++launch->calls & 0xfff) != 0) {
        return;
    }
    if (launch->started == 0) {
        launch->started = now_seconds();
    }
    if (now_seconds() - launch->started > launch->seconds) {
        report("timeout", core->last_call, PIPE_S, nullptr, 0, 0, "the kernel still runs after %g s", launch->seconds);
        throw StopCore();
    }
}

}  // namespace

void scalar_cost(double cycles)
{
    leave_probe();
    check_time();
    core->scalar_time += cycles;
    core->busy[PIPE_S] += cycles;
}

void drain(int pipe)
{
    ++core->syncs;
    core->clock[pipe].seen[pipe] = core->last[pipe];
    if (core->busy_until[pipe] > core->clock[pipe].time) {
        core->clock[pipe].time = core->busy_until[pipe];
    }
}

void need_pipe(const char* call, Loc loc)
{
    if (!core->pipe_live) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "%s needs a TPipe: the static-tensor style does not have it",
               call);
    }
}

void need_vector_core(const char* call, Loc loc)
{
    if (core->cube) {
        report("core-type", loc, PIPE_V, nullptr, 0, 0, "%s is a vector-core call, made on a cube core", call);
        throw StopCore();
    }
}

void need_cube_core(const char* call, Loc loc)
{
    if (!core->cube) {
        report("core-type", loc, PIPE_M, nullptr, 0, 0,
               "%s is a cube-core call, made on a vector core (mark the kernel type)", call);
        throw StopCore();
    }
}

Space space_of(TPosition position, Loc loc)
{
    switch (position) {
    case TPosition::VECIN: case TPosition::VECOUT: case TPosition::VECCALC: case TPosition::LCM: return UB;
    case TPosition::A1: case TPosition::B1: case TPosition::C1: case TPosition::TSCM: return L1;
    case TPosition::A2: return L0A;
    case TPosition::B2: return L0B;
    case TPosition::CO1: return L0C;
    case TPosition::C2: return BT;
    case TPosition::C2PIPE2GM: return FB;
    default: break;
    }
    report("ownership", loc, PIPE_S, nullptr, 0, 0,
           "a tensor without memory of its own on this architecture (never allocated, or a position in GM)");
    throw StopCore();
}

namespace {
const char* const SIZE_KEYS[SPACES] = {"ub_bytes", "l1_bytes", "l0a_bytes", "l0b_bytes",
                                       "l0c_bytes", "bt_bytes", "fb_bytes"};
}

LocalMemory& open_memory(Space space)
{
    leave_probe();
    LocalMemory& m = core->mem[space];
    m.size = static_cast<uint32_t>(launch->number(SIZE_KEYS[space]));
    m.used = true;
    if (!launch->check) {
        m.data.resize(m.size + 64, 0xff);
        return m;
    }
    // NaN in every float format, so that a lane nobody wrote spoils what it reaches.
    m.data.assign(m.size + 64, 0xff);
    m.undefined.assign(m.size + 64, 0xff);
    m.cells.assign(m.size / 32 + 2, Cell{});
    m.split.clear();
    return m;
}

}  // namespace pyasc_model
