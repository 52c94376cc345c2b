// SPDX-License-Identifier: Apache-2.0
// Runs the cores of a launch, one after another or interleaved at cross-core waits, always in the same order for a seed.
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <stdexcept>

#include "bulk.h"
#include "crash.h"
#include "gm.h"

namespace pyasc_model {

using KernelCall = void (*)(const void* const*);

namespace {

constexpr size_t STACK_BYTES = 512 * 1024;
constexpr size_t GUARD_BYTES = 16 * 1024 * 1024;  // below each stack, so that an overflow meets nothing else

struct Stack {
    char* base;
    Stack()
        : base(static_cast<char*>(mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)))
    {
        if (base == MAP_FAILED || mprotect(low(), STACK_BYTES, PROT_READ | PROT_WRITE) != 0) {
            throw std::runtime_error("no memory for the stack of a core");
        }
    }
    ~Stack() { munmap(base, GUARD_BYTES + STACK_BYTES); }
    char* low() const { return base + GUARD_BYTES; }
};

// What a core owns while it runs; cores that end give it to those that start.
struct Seat {
    Stack stack;
    LocalMemory memories[SPACES];
    ucontext_t context;
};

struct Scheduler {
    ucontext_t main;
    std::vector<std::unique_ptr<Seat>> free_seats;
    std::vector<std::unique_ptr<Seat>> seats;  // by core
    KernelCall call = nullptr;
    const void* const* args = nullptr;
    std::string error;
};
Scheduler* scheduler = nullptr;

void leftovers(Core& c)
{
    for (int pair = 0; pair < PAIRS; ++pair) {
        for (int id = 0; c.flags[pair] && id < 8; ++id) {
            if (c.flags[pair][id].set) {
                report("event", c.flags[pair][id].loc, pair >> 3, nullptr, 0, 0,
                       "flag %s_%s(%d) is set at the end of the kernel and never waited for", PIPE_NAMES[pair >> 3],
                       PIPE_NAMES[pair & 7], id);
            }
        }
    }
}

// A kernel without TPipe sets its core up and waits for it itself (hardware.md section 7).
void check_static_style(const Core& c)
{
    if (c.had_pipe || c.first_work_at == 0) {
        return;
    }
    if (!c.soc_initialised) {
        report("parameter", c.first_work, PIPE_S, nullptr, 0, 0, "a kernel without TPipe calls InitSocState first");
    }
    if (c.barrier_all_at < std::max({c.last[PIPE_V], c.last[PIPE_MTE2], c.last[PIPE_MTE3], c.last[PIPE_FIX]}) >> 3) {
        report("parameter", c.first_work, PIPE_S, nullptr, 0, 0,
               "a kernel without TPipe ends with PipeBarrier<PIPE_ALL>");
    }
}

// A build may leave out the flush of the data cache that the compiler puts at the end of a kernel.
void check_flushed(const Core& c)
{
    for (const auto& entry : c.cache) {
        if (entry.second.dirty != 0) {
            report("cache-line", entry.second.loc, PIPE_S, nullptr, 0, 0,
                   "a scalar write is still in the data cache at the end of the kernel, which this build does not flush "
                   "(DataCacheCleanAndInvalid)");
        }
    }
}

void run_core()
{
    Core* c = core;
    try {
        scheduler->call(scheduler->args);
        pipe_close();
        if (launch->check) {
            leftovers(*c);
            check_static_style(*c);
            if (launch->number("dcache_flushed_at_end") == 0) {
                check_flushed(*c);
            }
        }
    } catch (const StopCore&) {
    } catch (const std::exception& e) {
        scheduler->error = e.what();
    }
    settle();
    c->cache.clear();
    c->finished = true;
}

// Kept from one launch to the next: a stack and memories cost more to make than a small kernel to run.
std::unique_ptr<Seat> kept_seat;

std::unique_ptr<Seat> new_seat()
{
    if (!kept_seat) {
        return std::make_unique<Seat>();
    }
    for (LocalMemory& m : kept_seat->memories) {
        m.data.clear();  // nothing of the last launch is seen in this one
    }
    return std::move(kept_seat);
}

void start(size_t i)
{
    auto& free_seats = scheduler->free_seats;
    if (free_seats.empty()) {
        free_seats.push_back(new_seat());
    }
    scheduler->seats[i] = std::move(free_seats.back());
    free_seats.pop_back();
    Seat& seat = *scheduler->seats[i];
    for (LocalMemory& m : seat.memories) {
        m.used = false;
    }
    launch->cores[i]->mem = seat.memories;
    getcontext(&seat.context);
    seat.context.uc_stack.ss_sp = seat.stack.low();
    seat.context.uc_stack.ss_size = STACK_BYTES;
    seat.context.uc_link = &scheduler->main;
    makecontext(&seat.context, run_core, 0);
}

void tell_crash(int signal)
{
    settle();
    core->finished = true;
    core->cache.clear();
    report("crash", core->last_call, PIPE_S, nullptr, 0, 0, "the kernel %s in scalar code after this call",
           signal == SIGFPE ? "divides by zero" : "follows a bad pointer or runs out of stack");
}

// Lets the core run until it ends or waits.
void resume(size_t i)
{
    core = launch->cores[i].get();
    if (!scheduler->seats[i]) {
        start(i);
    }
    const int signal = sigsetjmp(crash_point, 1);
    if (signal == 0) {
        crash_armed = true;
        swapcontext(&scheduler->main, &scheduler->seats[i]->context);
    } else {
        tell_crash(signal);
    }
    crash_armed = false;
    if (launch->cores[i]->finished) {
        launch->cores[i]->mem = nullptr;
        scheduler->free_seats.push_back(std::move(scheduler->seats[i]));
    }
}

uint64_t next_random(uint64_t& state)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

std::vector<size_t> core_order()
{
    std::vector<size_t> order(launch->cores.size());
    for (size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    if (launch->seed != 0) {
        uint64_t state = launch->seed * 0x9e3779b97f4a7c15ull + 1;
        for (size_t i = order.size(); i > 1; --i) {
            std::swap(order[i - 1], order[next_random(state) % i]);
        }
    }
    return order;
}

void tell_deadlock()
{
    std::string who;
    size_t count = 0;
    for (const auto& c : launch->cores) {
        if (!c->finished && ++count <= 4) {
            who += (count > 1 ? "; " : "") + c->name() + " waits at " + c->waits_for;
        }
    }
    core = nullptr;
    report("deadlock", {"", 0}, PIPE_S, nullptr, 0, 0, "no core can go on, %zu wait: %s", count, who.c_str());
}

void run_all()
{
    const std::vector<size_t> order = core_order();
    size_t left = order.size();
    while (left > 0) {
        bool progress = false;
        for (const size_t i : order) {
            Core& c = *launch->cores[i];
            if (c.finished) {
                continue;
            }
            const uint32_t before = c.sequence;
            const std::string waited = c.waiting ? c.waits_for : "";
            resume(i);
            progress = progress || c.finished || c.sequence != before || !c.waiting || c.waits_for != waited;
            left -= c.finished;
        }
        if (!progress) {
            tell_deadlock();
            return;
        }
    }
}

// The kernel says its type inside its body, so it is called once only to hear it.
void probe(KernelCall call, const void* const* args)
{
    Core asked;
    LocalMemory memories[SPACES];
    asked.mem = memories;
    core = &asked;
    launch->probing = true;
    const CrashGuard guard;
    if (sigsetjmp(crash_point, 1) == 0) {
        crash_armed = true;
        try {
            call(args);
        } catch (const ProbeDone&) {
        } catch (const StopCore&) {
        }
    }
    crash_armed = false;
    launch->probing = false;
    core = nullptr;
    launch->findings.clear();
    launch->finding_index.clear();
}

void make_cores()
{
    Launch& l = *launch;
    const int kind = l.kernel_kind;
    const bool cube = kind == KERNEL_TYPE_AIC_ONLY || kind == KERNEL_TYPE_MIX_AIC_1_0;
    l.cubes_per_block = cube || kind == KERNEL_TYPE_MIX_AIC_1_1 || kind == KERNEL_TYPE_MIX_AIC_1_2 ? 1 : 0;
    l.vectors_per_block = cube ? 0 : kind == KERNEL_TYPE_MIX_AIC_1_2 ? 2 : 1;
    int cubes = 0, vectors = 0;
    for (int b = 0; b < l.blocks; ++b) {
        for (int i = 0; i < l.cubes_per_block + l.vectors_per_block; ++i) {
            auto c = std::make_unique<Core>();
            c->cube = i < l.cubes_per_block;
            c->block = b;
            c->sub = c->cube ? 0 : i - l.cubes_per_block;
            c->index = c->cube ? cubes++ : vectors++;
            l.cores.push_back(std::move(c));
        }
    }
}

void tell_cross_leftovers()
{
    for (const auto& c : launch->cores) {
        core = c.get();
        for (int id = 0; id < 16; ++id) {
            if (!c->cross[id].empty()) {
                report("event", c->cross[id].front().loc, PIPE_S, nullptr, 0, 0,
                       "cross-core flag %d is set at the end of the kernel and never waited for", id);
            }
        }
    }
    core = nullptr;
}

// Blocks beyond the cores of the SoC start when one is free.
double predict()
{
    const double slots = launch->number(launch->cubes_per_block ? "cube_cores" : "vector_cores");
    const size_t per_block = static_cast<size_t>(launch->cubes_per_block + launch->vectors_per_block);
    std::vector<double> busy(static_cast<size_t>(std::min<double>(slots, launch->blocks)), 0);
    for (size_t i = 0; i < launch->cores.size(); i += per_block) {
        double block = 0;
        for (size_t k = i; k < i + per_block; ++k) {
            const Core& c = *launch->cores[k];
            block = std::max(block, c.scalar_time);
            for (const double t : c.busy_until) {
                block = std::max(block, t);
            }
        }
        *std::min_element(busy.begin(), busy.end()) += block;
    }
    return *std::max_element(busy.begin(), busy.end());
}

}  // namespace

void wait_until(const std::function<bool()>& ready, const std::string& what)
{
    Core* self = core;
    const size_t i = static_cast<size_t>(
        std::find_if(launch->cores.begin(), launch->cores.end(), [self](auto& c) { return c.get() == self; })
        - launch->cores.begin());
    settle();
    self->waits_for = what;
    while (!ready()) {
        self->waiting = true;
        swapcontext(&scheduler->seats[i]->context, &scheduler->main);
    }
    self->waiting = false;
}

bool is_mix_kernel()
{
    const int k = launch->kernel_kind;
    return k == KERNEL_TYPE_MIX_AIV_1_0 || k == KERNEL_TYPE_MIX_AIC_1_0 || k == KERNEL_TYPE_MIX_AIC_1_1
        || k == KERNEL_TYPE_MIX_AIC_1_2;
}

void kernel_type(int type)
{
    if (launch->probing) {
        launch->kernel_kind = type;
        throw ProbeDone();
    }
}

std::string run_launch(KernelCall call, const void* const* args)
{
    Scheduler local;
    local.call = call;
    local.args = args;
    scheduler = &local;
    try {
        if (launch->kernel_kind == KERNEL_TYPE_UNMARKED) {
            probe(call, args);
        }
        make_cores();
        const CrashGuard guard;
        local.seats.resize(launch->cores.size());
        run_all();
        end_streams();
        if (!local.free_seats.empty()) {
            kept_seat = std::move(local.free_seats.back());
        }
        if (launch->check) {
            tell_cross_leftovers();
        }
        launch->cycles = launch->number("kernel_head_cycles") + predict();
    } catch (const StopCore&) {
        // The limit on findings was reached while reporting leftovers.
    } catch (const std::exception& e) {
        local.error = e.what();
    }
    core = nullptr;
    scheduler = nullptr;
    return local.error;
}

}  // namespace pyasc_model
