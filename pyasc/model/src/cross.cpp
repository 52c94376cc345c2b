// SPDX-License-Identifier: Apache-2.0
// Synchronisation between cores (hardware.md section 7): flags of modes 0, 1 and 2, and SyncAll.
#include <string.h>

#include <algorithm>
#include <deque>

#include "gm.h"

namespace pyasc_model {

// Sets that count only once every member of a group has made its own.
struct CrossState {
    std::map<int, std::map<const Core*, std::deque<CrossSet>>> pending;  // by group and flag
    std::vector<const Core*> arrived;                                    // at SyncAll
    CrossSet merged;
    uint64_t generation = 0;
};

namespace {

CrossState& state()
{
    if (!launch->cross) {
        launch->cross = std::make_shared<CrossState>();
    }
    return *launch->cross;
}

std::vector<Core*> cores_where(const std::function<bool(const Core&)>& keep)
{
    std::vector<Core*> out;
    for (auto& c : launch->cores) {
        if (keep(*c)) {
            out.push_back(c.get());
        }
    }
    return out;
}

void merge(CrossSet& into, const CrossSet& other)
{
    into.time = std::max(into.time, other.time);
    into.loc = other.loc;
    if (!into.clock) {
        into.clock = other.clock;
        return;
    }
    auto v = std::make_shared<std::vector<OpId>>(*into.clock);
    for (size_t i = 0; i < v->size(); ++i) {
        (*v)[i] = std::max((*v)[i], (*other.clock)[i]);
    }
    into.clock = v;
}

void deliver(Core& to, int id, const CrossSet& set)
{
    if (to.cross[id].size() >= 15) {
        report("event", set.loc, PIPE_S, nullptr, 0, 0, "cross-core flag %d of %s counts more than 15 sets", id,
               to.name().c_str());
        return;
    }
    to.cross[id].push_back(set);
}

// Enters `set` of this core; when all of `members` have one, `receivers` get the merged set.
void gather(int group, const std::vector<Core*>& members, const std::vector<Core*>& receivers, int id,
            const CrossSet& set)
{
    auto& table = state().pending[group * 16 + id];
    table[core].push_back(set);
    for (const Core* m : members) {
        if (table[m].empty()) {
            return;
        }
    }
    CrossSet all;
    for (const Core* m : members) {
        merge(all, table[m].front());
        table[m].pop_front();
    }
    for (Core* r : receivers) {
        deliver(*r, id, all);
    }
}

CrossSet snapshot(int pipe, Loc loc)
{
    ++core->syncs;
    Clock clock = core->clock[pipe];
    clock.join(core->clock[PIPE_S]);
    return {publish(clock, pipe), std::max(core->busy_until[pipe], core->scalar_time)
                                      + launch->number("cross_core_flag_cycles"), loc};
}

bool cross_allowed(const char* call, Loc loc)
{
    if (!is_mix_kernel()) {
        report("event", loc, PIPE_S, nullptr, 0, 0, "%s needs a kernel of a mixed type (KERNEL_TASK_TYPE_DEFAULT)", call);
        return false;
    }
    const double physical = launch->number(launch->cubes_per_block ? "cube_cores" : "vector_cores");
    if (launch->blocks > physical) {
        report("deadlock", loc, PIPE_S, nullptr, 0, 0, "%s with %d blocks on %d cores: blocks wait for ones not started",
               call, launch->blocks, static_cast<int>(physical));
        throw StopCore();
    }
    return true;
}

bool flag_id(int id, const char* call, Loc loc)
{
    if (id >= 11 && id <= 14 && launch->sync_all_used) {
        report("event", loc, PIPE_S, nullptr, 0, 0, "%s(%d): SyncAll uses flags 11 to 14", call, id);
    }
    if (id >= 0 && id < 16) {
        return true;
    }
    report("event", loc, PIPE_S, nullptr, 0, 0, "%s: flag id %d outside 0..15", call, id);
    return false;
}

void take(const CrossSet& set)
{
    ++core->syncs;
    learn(set.clock);
    for (int p = 0; p < PIPES; ++p) {
        core->clock[p].time = std::max(core->clock[p].time, set.time);
    }
    core->scalar_time = std::max(core->scalar_time, set.time);
}

}  // namespace

void cross_set(int mode, int pipe, int id, Loc loc)
{
    scalar_cost(launch->number("sync_cycles"));
    if (!cross_allowed("CrossCoreSetFlag", loc) || !flag_id(id, "CrossCoreSetFlag", loc)) {
        return;
    }
    const CrossSet set = snapshot(pipe, loc);
    const bool cube = core->cube;
    const int block = core->block;
    const auto same_kind = [cube](const Core& c) { return c.cube == cube; };
    const auto vectors = [block](const Core& c) { return !c.cube && c.block == block; };
    const auto cubes = [block](const Core& c) { return c.cube && c.block == block; };
    if (mode == 2 && cube) {
        const std::vector<Core*> receivers = cores_where(vectors);
        for (Core* r : receivers) {
            deliver(*r, id, set);
        }
    } else if (mode == 2) {
        gather(4096 + block, cores_where(vectors), cores_where(cubes), id, set);
    } else if (mode == 1 && !cube) {
        const std::vector<Core*> group = cores_where(vectors);
        gather(8192 + block, group, group, id, set);
    } else if (mode == 0) {
        const std::vector<Core*> group = cores_where(same_kind);
        gather(cube ? 1 : 0, group, group, id, set);
    } else {
        report("event", loc, pipe, nullptr, 0, 0, "CrossCoreSetFlag: this SoC has no mode %d here", mode);
    }
}

void cross_wait(int id, Loc loc)
{
    scalar_cost(launch->number("sync_cycles"));
    if (!cross_allowed("CrossCoreWaitFlag", loc) || !flag_id(id, "CrossCoreWaitFlag", loc)) {
        return;
    }
    Core& c = *core;
    wait_until([&c, id] { return !c.cross[id].empty(); },
               "CrossCoreWaitFlag(" + std::to_string(id) + ") at line " + std::to_string(loc.line));
    const CrossSet set = c.cross[id].front();
    c.cross[id].erase(c.cross[id].begin());
    take(set);
}

namespace {

void meet(const std::vector<Core*>& group, const char* what, Loc loc)
{
    barrier(PIPE_ALL, loc);  // that SyncAll completes the core's earlier work on every pipe is `assumed`
    CrossState& s = state();
    Clock clock;
    for (int p = 0; p < PIPES; ++p) {
        clock.join(core->clock[p]);
    }
    clock.seen[PIPE_S] = core->last[PIPE_S];
    if (s.arrived.empty()) {
        s.merged = CrossSet{};
    }
    merge(s.merged, {publish(clock, PIPE_ALL), core->scalar_time, loc});
    s.arrived.push_back(core);
    const uint64_t mine = s.generation;
    if (s.arrived.size() == group.size()) {
        s.arrived.clear();
        ++s.generation;
    } else {
        wait_until([&s, mine] { return s.generation != mine; },
                   std::string(what) + " at line " + std::to_string(loc.line));
    }
    CrossSet set = s.merged;
    set.time += launch->number("sync_all_cycles");
    take(set);
}

}  // namespace

void sync_all(bool vector_only, Loc loc)
{
    scalar_cost(launch->number("sync_cycles"));
    if (!cross_allowed("SyncAll", loc)) {
        return;
    }
    launch->sync_all_used = true;
    if (vector_only && core->cube) {
        report("core-type", loc, PIPE_S, nullptr, 0, 0, "SyncAll<true> is for vector cores, called on a cube core");
        return;
    }
    meet(cores_where([vector_only](const Core& c) { return !vector_only || !c.cube; }), "SyncAll", loc);
}

void sync_all_soft(const GmView& ws, const View& ub, int32_t used, Loc loc)
{
    scalar_cost(launch->number("sync_cycles"));
    need_vector_core("SyncAll(workspace)", loc);
    const int cores = used > 0 ? used : launch->blocks * launch->vectors_per_block;
    const uint64_t bytes = static_cast<uint64_t>(launch->blocks) * 32;
    GmBuffer* b = find_gm(ws, ws.ptr, bytes, PIPE_S, loc);
    check_rows(ub, {UB, ub.addr, 1, static_cast<uint32_t>(bytes), static_cast<uint32_t>(bytes)}, 32, PIPE_S, loc);
    if (b != nullptr && state().generation == 0 && state().arrived.empty()) {
        const bool zero = std::all_of(ws.ptr, ws.ptr + bytes, [](uint8_t v) { return v == 0; });
        const bool defined = b->undefined.empty()
            || std::all_of(b->undefined.data() + (ws.ptr - b->base), b->undefined.data() + (ws.ptr - b->base) + bytes,
                           [](uint8_t v) { return v == 0; });
        if (!zero || !defined) {
            report("undefined", loc, PIPE_S, b->name.c_str(), 0, bytes, "the workspace of SyncAll must be zeroed");
        }
    }
    meet(cores_where([cores](const Core& c) { return !c.cube && c.index < cores; }), "SyncAll", loc);
}

}  // namespace pyasc_model
