// SPDX-License-Identifier: Apache-2.0
// State of one launch: cores with their memories, pipes and flags, and the findings made so far.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "../include/pyasc_model/core_api.h"

namespace pyasc_model {

constexpr int PIPES = 7;
constexpr int PAIRS = 64;  // of pipes, as HardEvent numbers them: source * 8 + destination
extern const char* const PIPE_NAMES[8];

enum Space : uint8_t { UB, L1, L0A, L0B, L0C, BT, FB, SPACES };
extern const char* const SPACE_NAMES[SPACES];

// An operation's identity: its number in its core's program order, and its pipe in the low three bits.
using OpId = uint32_t;
inline int pipe_of(OpId id) { return static_cast<int>(id & 7); }

// Who last wrote, and last read through each pipe, the 32 bytes of one block.
struct Cell {
    OpId write;
    OpId read[PIPES];
};
constexpr OpId SPLIT = 0xffffffff;  // in Cell::write: the bytes of the block have histories of their own
struct SplitCell {
    Cell byte[32];
};

// Starts vectors on a page, so that what is aligned on chip is aligned for the host's vector units too.
template <typename T>
struct PageAligned {
    using value_type = T;
    static constexpr std::align_val_t PAGE{4096};
    PageAligned() = default;
    template <typename U>
    PageAligned(const PageAligned<U>&) {}
    T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), PAGE)); }
    void deallocate(T* p, size_t) { ::operator delete(p, PAGE); }
    bool operator==(const PageAligned&) const { return true; }
    bool operator!=(const PageAligned&) const { return false; }
};

// One on-chip memory: contents, one shadow bit a data bit (set: never written), and the access history.
struct LocalMemory {
    uint32_t size = 0;
    bool used = false;
    std::vector<uint8_t, PageAligned<uint8_t>> data, undefined;
    std::vector<Cell, PageAligned<Cell>> cells;
    std::unordered_map<uint32_t, SplitCell> split;
};

// What is known to be complete: for each pipe of this core the last such operation, and for other cores likewise.
struct Clock {
    OpId seen[8] = {};
    double time = 0;
    void join(const Clock& other);
};
using RemoteClock = std::shared_ptr<const std::vector<OpId>>;

struct Flag {
    bool set = false;
    Clock clock;
    Loc loc = {"", 0};
};

// One set of a cross-core flag that is not waited for yet: what its setter had completed, and when.
struct CrossSet {
    RemoteClock clock;
    double time = 0;
    Loc loc = {"", 0};
};

struct BufferInfo {
    Space space = UB;
    uint32_t addr = 0, bytes = 0;
    uint16_t generation = 0;
    int queue = -1;
    enum State : uint8_t { FREE, ALLOCATED, QUEUED, DEQUEUED } state = FREE;
    int free_event = -1, enque_event = -1;
    Loc loc = {"", 0};
};

struct QueueInfo {
    TPosition src, dst;
    int depth = 1, enque_pair = 0, free_pair = 0;
    std::vector<uint16_t> buffers;
    std::vector<uint16_t> line;  // buffers in the queue, oldest first
    size_t next = 0;
    Loc loc = {"", 0};
};

struct CacheLine {
    uint64_t stamp = 0;   // the launch's write counter when the line was read
    uint64_t dirty = 0;   // one bit a byte
    Loc loc = {"", 0};
};

struct OpInfo {
    Loc loc;
};

struct Core {
    bool cube = false;
    int index = 0, block = 0, sub = 0;
    LocalMemory* mem = nullptr;  // SPACES entries

    uint32_t sequence = 0;
    uint32_t syncs = 0;  // synchronising calls so far
    Clock clock[PIPES];
    OpId last[PIPES] = {};
    OpId now_seen[8] = {};  // the clock of the operation under way
    RemoteClock remote;
    std::vector<OpInfo> ops;
    std::unique_ptr<Flag[]> flags[PAIRS];  // of each pair that was used, by id
    std::vector<CrossSet> cross[16];
    uint8_t events[PAIRS] = {};  // ids taken by TPipe

    bool pipe_live = false, had_pipe = false;
    bool soc_initialised = false;
    uint32_t barrier_all_at = 0, first_work_at = 0;  // operation numbers
    Loc first_work = {"", 0};
    void* pipe = nullptr;  // the kernel's TPipe
    uint32_t used[SPACES] = {};
    std::vector<BufferInfo> buffers;
    std::vector<QueueInfo> queues;

    bool counter_mode = false;
    uint64_t mask_low = ~0ull, mask_high = ~0ull;
    Atomic atomic = Atomic::NONE;
    DType atomic_type = DType::F32;
    float deq = 1.0f;
    int16_t deq_offset = 0;
    bool deq_signed = true, deq_set = false;
    uint64_t pad_value = 0;
    bool pad_set = false;
    uint64_t cmp_low = 0, cmp_high = 0;
    uint8_t cmp_undefined[16];
    float acc_value = 0, extreme_value = 0;
    uint32_t extreme_index = 0;
    uint16_t merge_counts[4] = {};
    bool column_major = false, hf32 = false;
    std::unordered_map<uint64_t, CacheLine> cache;

    Loc last_call = {"", 0};
    double scalar_time = 0;       // when the scalar unit issues next, in cycles
    double busy_until[PIPES] = {};
    double busy[PIPES] = {};

    bool finished = false, waiting = false;
    std::string waits_for;

    std::string name() const;
    Flag& flag(int pair, int id)
    {
        if (!flags[pair]) {
            flags[pair] = std::make_unique<Flag[]>(8);
        }
        return flags[pair][id];
    }
};

struct Finding {
    std::string kind, message, file, core, pipe, memory;
    int line = 0;
    uint64_t low = 0, high = 0, count = 1;
};

struct GmBuffer;

struct Launch {
    std::map<std::string, double> soc;
    struct Number {
        const char* key = nullptr;
        double value = 0;
    };
    mutable Number numbers[256];  // of `soc`, by the address of the literal that asks
    bool check = true;
    uint64_t seed = 0;
    int blocks = 1, kernel_kind = KERNEL_TYPE_UNMARKED;
    int cubes_per_block = 0, vectors_per_block = 1;
    std::vector<std::unique_ptr<GmBuffer>> buffers;
    std::vector<std::unique_ptr<Core>> cores;
    std::vector<Finding> findings;
    std::map<std::string, size_t> finding_index;
    std::string printed, report;
    uint64_t gm_stamp = 0;
    bool scalar_gm_writes = false;
    double cycles = 0;
    bool sync_all_used = false;
    double seconds = 0;  // real time after which the launch is given up; 0 never
    double started = 0;
    uint64_t calls = 0;
    bool probing = false;  // the kernel is called only to learn its declared type
    std::shared_ptr<struct CrossState> cross;
    std::vector<uint8_t> system_workspace;

    // A number of the SoC description; a missing one is an error of the caller, never a guess.
    double number(const char* key) const;
};

extern Launch* launch;
extern Core* core;

// Stops the running core after a finding that leaves nothing sensible to do.
struct StopCore {};
// Ends the call that only asks for the kernel's declared type.
struct ProbeDone {};

void report(const char* kind, Loc loc, int pipe, const char* memory, uint64_t low, uint64_t high, const char* format,
            ...) __attribute__((format(printf, 7, 8)));

// Instructions put off wait (batch.h); whatever looks at memory settles them first.
extern bool steps_waiting;
void catch_up();
inline void settle()
{
    if (steps_waiting) {
        catch_up();
    }
}

// Every call that does work passes here: counts the operation, fixes what it may rely on, gives it its pipe.
OpId begin(int pipe, Loc loc);
// The same for an instruction that may be put off with those before it.
OpId begin_deferrable(int pipe, Loc loc);
// Charges `cycles` of the pipe to the operation begun last.
void charge(int pipe, double cycles);
void scalar_cost(double cycles);
// All earlier work of the pipe is complete before its later work.
void drain(int pipe);

// No hand-over by hardware, or one that keeps or that releases the accumulator (api.md section 9).
inline bool known_unit_flag(uint32_t flag) { return flag == 0 || flag == 2 || flag == 3; }

// Calls that the static-tensor style (no TPipe) does not have.
void need_pipe(const char* call, Loc loc);
void need_vector_core(const char* call, Loc loc);
void need_cube_core(const char* call, Loc loc);
Space space_of(TPosition position, Loc loc);
LocalMemory& open_memory(Space space);
// The memory without its contents, which instructions put off may still change.
inline LocalMemory& quiet_memory(Space space)
{
    LocalMemory& m = core->mem[space];
    return m.used ? m : open_memory(space);
}
inline LocalMemory& memory(Space space)
{
    settle();
    return quiet_memory(space);
}
// Hands over to other cores until `ready`; `what` names the wait should nobody ever make it so.
void wait_until(const std::function<bool()>& ready, const std::string& what);
bool is_mix_kernel();

}  // namespace pyasc_model
