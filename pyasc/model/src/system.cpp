// SPDX-License-Identifier: Apache-2.0
// System queries, static tensors, and the C interface of the driver.
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "gm.h"
#include "interface.h"

namespace pyasc_model {

std::string run_launch(void (*call)(const void* const*), const void* const* args);

int64_t block_index(Loc)
{
    scalar_cost(1);
    return core->index;
}

int64_t block_count(Loc)
{
    scalar_cost(1);
    return launch->blocks;
}

int64_t sub_block_index(Loc)
{
    scalar_cost(1);
    return core->sub;
}

int64_t sub_block_count(Loc)
{
    scalar_cost(1);
    return core->cube ? 1 : std::max(1, launch->vectors_per_block);
}

int64_t task_ratio(Loc)
{
    scalar_cost(1);
    return core->cube ? 1 : launch->cubes_per_block ? launch->vectors_per_block : 1;
}

int64_t system_cycle(Loc)
{
    scalar_cost(1);
    return static_cast<int64_t>(core->scalar_time / launch->number("cycles_per_tick"));
}

void init_soc_state(Loc)
{
    scalar_cost(1);
    core->soc_initialised = true;
    core->atomic = Atomic::NONE;
    core->counter_mode = false;
    core->mask_low = core->mask_high = ~0ull;
}

Loc last_call() { return core->last_call; }

void check_assertion(bool holds, const char* expression, Loc loc)
{
    scalar_cost(1);
    if (!holds) {
        report("assert", loc, PIPE_S, nullptr, 0, 0, "assert(%s) failed", expression);
    }
}

void dump(const View& t, uint32_t tag, uint32_t count, Loc loc)
{
    scalar_cost(1);
    char text[64];
    snprintf(text, sizeof text, "%s:%d tag %u:", core->name().c_str(), loc.line, tag);
    std::string line = text;
    const uint32_t esize = dtype_bytes(t.dtype);
    const Space s = space_of(t.position, loc);
    for (uint32_t i = 0; i < count && t.addr + (i + 1) * esize <= memory(s).size; ++i) {
        uint64_t bits = 0;
        memcpy(&bits, data_at(s, t.addr + i * esize), esize);
        const double value = t.dtype == DType::F16 ? half_value(static_cast<uint16_t>(bits))
                           : t.dtype == DType::BF16 ? bfloat16_value(static_cast<uint16_t>(bits))
                           : t.dtype == DType::F32 ? __builtin_bit_cast(float, static_cast<uint32_t>(bits))
                           : static_cast<double>(static_cast<int64_t>(bits << (64 - 8 * esize)) >> (64 - 8 * esize));
        snprintf(text, sizeof text, " %g", value);
        line += text;
    }
    print((line + "\n").c_str());
}

bool is_cube_core()
{
    scalar_cost(0);
    return core->cube;
}

void print(const char* text)
{
    if (launch->printed.size() < 1024 * 1024) {
        launch->printed += text;
    }
}

uint8_t* system_workspace(Loc)
{
    scalar_cost(1);
    return launch->system_workspace.data();
}

View static_tensor(TPosition position, uint32_t addr, uint32_t bytes, DType dtype, Loc loc)
{
    scalar_cost(0);
    const View v{addr, bytes, 0, 0, position, dtype};
    const Space s = space_of(position, loc);
    static const char* const KEYS[SPACES] = {"ub_usable_bytes", "l1_usable_bytes", "l0a_bytes", "l0b_bytes",
                                             "l0c_bytes", "bt_bytes", "fb_bytes"};
    const uint32_t limit = static_cast<uint32_t>(launch->number(KEYS[s]));
    if (uint64_t(addr) + bytes > limit) {
        report("capacity", loc, PIPE_S, SPACE_NAMES[s], addr, uint64_t(addr) + bytes,
               "%s holds %u bytes for a kernel; this tensor ends at byte %llu", SPACE_NAMES[s], limit,
               static_cast<unsigned long long>(uint64_t(addr) + bytes));
    }
    if (core->cube ? s == UB : s != UB) {
        report("core-type", loc, PIPE_S, SPACE_NAMES[s], addr, addr + bytes, "this core has no %s", SPACE_NAMES[s]);
        throw StopCore();
    }
    return v;
}

uint32_t linear_alloc(AscendC::Hardware, uint32_t* used, uint32_t bytes, Loc)
{
    scalar_cost(0);
    const uint32_t at = *used;
    *used += (bytes + 31) / 32 * 32;
    return at;
}

namespace {

void quote(std::string& out, const std::string& text)
{
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 32) {
            char code[8];
            snprintf(code, sizeof code, "\\u%04x", c);
            out += code;
        } else {
            out += c;
        }
    }
    out += '"';
}

void field(std::string& out, const char* name, const std::string& value)
{
    quote(out, name);
    out += ": ";
    quote(out, value);
    out += ", ";
}

std::string number(double v)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", v);
    return text;
}

void write_finding(std::string& out, const Finding& f)
{
    out += '{';
    field(out, "kind", f.kind);
    field(out, "message", f.message);
    field(out, "file", f.file);
    field(out, "core", f.core);
    field(out, "pipe", f.pipe);
    field(out, "memory", f.memory);
    out += "\"line\": " + std::to_string(f.line) + ", \"low\": " + std::to_string(f.low)
         + ", \"high\": " + std::to_string(f.high) + ", \"count\": " + std::to_string(f.count) + "}";
}

std::string write_report(const std::string& error)
{
    std::string out = "{";
    field(out, "error", error);
    field(out, "printed", launch->printed);
    out += "\"cycles\": " + number(launch->cycles) + ", \"kind\": " + std::to_string(launch->kernel_kind)
         + ", \"cores\": " + std::to_string(launch->cores.size()) + ", \"findings\": [";
    for (size_t i = 0; i < launch->findings.size(); ++i) {
        out += i ? ", " : "";
        write_finding(out, launch->findings[i]);
    }
    return out + "]}";
}

}  // namespace

}  // namespace pyasc_model

using namespace pyasc_model;

extern "C" {

Launch* pyasc_model_create(int check, uint64_t seed, int blocks, int kind)
{
    Launch* l = new Launch();
    l->check = check != 0;
    l->seed = seed;
    l->blocks = blocks;
    l->kernel_kind = kind;
    return l;
}

void pyasc_model_soc(Launch* l, const char* keys, const double* values, int count)
{
    for (int i = 0; i < count; ++i) {
        l->soc[keys] = values[i];
        keys += strlen(keys) + 1;
    }
}

void pyasc_model_limit(Launch* l, double seconds) { l->seconds = seconds; }

void pyasc_model_buffer(Launch* l, const char* name, uint8_t* base, uint64_t size, uint8_t* undefined, int writable)
{
    auto b = std::make_unique<GmBuffer>();
    b->name = name;
    b->base = base;
    b->size = size;
    b->writable = writable != 0;
    if (l->check) {
        b->undefined = UndefinedBits(undefined, size);
    }
    l->buffers.push_back(std::move(b));
}

void pyasc_model_unwritten(Launch* l, uint8_t* unwritten) { l->buffers.back()->unwritten = unwritten; }

const char* pyasc_model_run(Launch* l, void (*call)(const void* const*), const void* const* args)
{
    launch = l;
    std::vector<uint8_t> undefined(1 << 16, 0xff);
    l->system_workspace.assign(1 << 16, 0xff);
    pyasc_model_buffer(l, "system workspace", l->system_workspace.data(), l->system_workspace.size(), undefined.data(), 1);
    const std::string error = run_launch(call, args);
    l->report = write_report(error);
    launch = nullptr;
    return l->report.c_str();
}

void pyasc_model_times(const Launch* l, double* out)
{
    for (const auto& c : l->cores) {
        *out++ = c->index;
        *out++ = c->cube;
        double& end = *out++ = c->scalar_time;
        for (int p = 0; p < PIPES; ++p) {
            end = std::max(end, c->busy_until[p]);
            *out++ = c->busy[p];
        }
    }
}

void pyasc_model_destroy(Launch* l) { delete l; }
}
