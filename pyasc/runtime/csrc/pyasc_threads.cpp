// SPDX-License-Identifier: Apache-2.0
//
// The thread pool behind pyasc_parallel (see pyasc_abi.h), built once a machine into libpyasc_threads.so.
//
// One loop runs at a time. Its launcher holds `busy`; a launch that finds it taken (a nested loop, or a
// second Python thread) runs inline, which keeps every launch free of deadlock and of queueing.
//
// `ticket` is (job number << 32 | next chunk). A thread claims a chunk by a compare-and-swap on it. The
// launcher closes the ticket before it writes the next job's fields, so a swap that succeeds proves that
// the fields read between the load and the swap belong to the claimed chunk. A thread that wakes late
// finds no chunk left and touches nothing of a job that has ended.
//
// Uses POSIX threads and futexes directly, without the C++ library, so that any of the supported
// compilers builds it without linking one.

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pyasc_abi.h"

namespace {

// Long enough to catch the next loop of the same kernel, short enough not to show in the load average.
constexpr int64_t kSpinNanoseconds = 40000;
constexpr int kMaxThreads = 1024;
constexpr int64_t kMaxChunksPerJob = INT32_MAX;
constexpr uint64_t kClosed = UINT32_MAX;
constexpr int kCacheLine = 64;

struct Job {
  pyasc_body body;
  void* ctx;
  int64_t n;
  int64_t grain;
  int64_t first_chunk;
  uint32_t chunks;
};

struct Pool {
  alignas(kCacheLine) uint64_t ticket;
  alignas(kCacheLine) uint32_t done;
  uint32_t launcher_asleep;
  alignas(kCacheLine) uint32_t epoch;
  uint32_t sleepers;
  alignas(kCacheLine) Job job;
  alignas(kCacheLine) uint32_t busy;
  int wanted;
  int started;
  pthread_t workers[kMaxThreads];
};

Pool pool;

template <class T>
T load(const T& x) {
  return __atomic_load_n(&x, __ATOMIC_ACQUIRE);
}

template <class T>
void store(T& x, T value) {
  __atomic_store_n(&x, value, __ATOMIC_RELEASE);
}

template <class T>
T load_relaxed(const T& x) {
  return __atomic_load_n(&x, __ATOMIC_RELAXED);
}

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#else
  __asm__ volatile("" ::: "memory");
#endif
}

void futex_wait(uint32_t* word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(uint32_t* word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

int64_t now_nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

// Spins until ready() or the spin time is over; says which.
template <class Ready>
bool spin_until(Ready ready) {
  int64_t deadline = 0;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      cpu_relax();
    }
    int64_t now = now_nanoseconds();
    if (deadline == 0) deadline = now + kSpinNanoseconds;
    if (now >= deadline) return ready();
  }
}

void run_chunk(const Job& job, int64_t chunk) {
  int64_t begin = (job.first_chunk + chunk) * job.grain;
  int64_t end = job.n - begin > job.grain ? begin + job.grain : job.n;
  job.body(job.ctx, begin, end);
}

// Acquire and release on each field order them against the ticket on both sides.
Job read_job() {
  return Job{load(pool.job.body),  load(pool.job.ctx),         load(pool.job.n),
             load(pool.job.grain), load(pool.job.first_chunk), load(pool.job.chunks)};
}

void write_job(const Job& job) {
  store(pool.job.body, job.body);
  store(pool.job.ctx, job.ctx);
  store(pool.job.n, job.n);
  store(pool.job.grain, job.grain);
  store(pool.job.first_chunk, job.first_chunk);
  store(pool.job.chunks, job.chunks);
}

// Takes the next chunk of the current job. On success `job` is its description.
bool claim(Job& job, uint32_t& chunk) {
  uint64_t ticket = load(pool.ticket);
  for (;;) {
    job = read_job();
    chunk = uint32_t(ticket);
    if (chunk >= job.chunks) return false;
    if (__atomic_compare_exchange_n(&pool.ticket, &ticket, ticket + 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return true;
  }
}

// Runs chunks of the current job until none is left to claim.
void work() {
  Job job;
  uint32_t chunk;
  while (claim(job, chunk)) {
    run_chunk(job, chunk);
    uint32_t finished = __atomic_add_fetch(&pool.done, 1u, __ATOMIC_SEQ_CST);
    if (finished == job.chunks && __atomic_load_n(&pool.launcher_asleep, __ATOMIC_SEQ_CST))
      futex_wake(&pool.done, 1);
  }
}

void sleep_until_next(uint32_t seen) {
  __atomic_add_fetch(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&pool.epoch, __ATOMIC_SEQ_CST) == seen) futex_wait(&pool.epoch, seen);
  __atomic_sub_fetch(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
}

void* worker_main(void* argument) {
  const int index = int(intptr_t(argument));
  uint32_t seen = load(pool.epoch);
  while (index < load(pool.wanted) - 1) {
    work();
    if (!spin_until([&] { return load(pool.epoch) != seen; })) sleep_until_next(seen);
    seen = load(pool.epoch);
  }
  return nullptr;
}

void announce(int at_most) {
  __atomic_add_fetch(&pool.epoch, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST)) futex_wake(&pool.epoch, at_most);
}

bool try_acquire() {
  return load_relaxed(pool.busy) == 0 && __atomic_exchange_n(&pool.busy, 1u, __ATOMIC_ACQUIRE) == 0;
}

void release() { store(pool.busy, 0u); }

int allowed_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? int(online) : 1;
}

int clamp_threads(int count) { return count < 1 ? 1 : count > kMaxThreads ? kMaxThreads : count; }

// A child of fork has the pool's memory but none of its threads.
void forget_threads_after_fork() {
  pool.started = 0;
  pool.sleepers = 0;
  pool.launcher_asleep = 0;
  pool.done = 0;
  pool.ticket |= kClosed;
  pool.busy = 0;
}

// Signals belong to the program's own threads, so workers start with all of them blocked.
void start_missing_workers() {
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  while (pool.started < pool.wanted - 1) {
    void* index = reinterpret_cast<void*>(intptr_t(pool.started));
    if (pthread_create(&pool.workers[pool.started], nullptr, worker_main, index) != 0) {
      store(pool.wanted, pool.started + 1);
      break;
    }
    ++pool.started;
  }
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

void stop_surplus_workers() {
  if (pool.started <= pool.wanted - 1) return;
  announce(INT32_MAX);
  while (pool.started > pool.wanted - 1) pthread_join(pool.workers[--pool.started], nullptr);
}

void wait_for_chunks(uint32_t chunks) {
  if (spin_until([&] { return load(pool.done) == chunks; })) return;
  __atomic_store_n(&pool.launcher_asleep, 1u, __ATOMIC_SEQ_CST);
  for (;;) {
    uint32_t done = __atomic_load_n(&pool.done, __ATOMIC_SEQ_CST);
    if (done == chunks) break;
    futex_wait(&pool.done, done);
  }
  store(pool.launcher_asleep, 0u);
}

void run_job(const Job& job) {
  const uint64_t number = (load_relaxed(pool.ticket) >> 32) + 1;
  store(pool.ticket, number << 32 | kClosed);
  write_job(job);
  store(pool.done, 0u);
  store(pool.ticket, number << 32);
  announce(int(job.chunks) - 1);
  work();
  wait_for_chunks(job.chunks);
}

void run_inline(int64_t n, pyasc_body body, void* ctx, int64_t grain) {
  for (int64_t begin = 0; begin < n;) {
    int64_t end = n - begin > grain ? begin + grain : n;
    body(ctx, begin, end);
    begin = end;
  }
}

__attribute__((constructor)) void initialise() {
  pool.wanted = clamp_threads(allowed_cpus());
  pthread_atfork(nullptr, nullptr, forget_threads_after_fork);
}

}  // namespace

#define PYASC_EXPORT extern "C" __attribute__((visibility("default")))

PYASC_EXPORT void pyasc_parallel(int64_t n, pyasc_body body, void* ctx, int64_t grain) {
  if (grain < 1) grain = 1;
  if (n <= grain || load_relaxed(pool.wanted) == 1 || !try_acquire()) {
    run_inline(n, body, ctx, grain);
    return;
  }
  start_missing_workers();
  const int64_t chunks = n / grain + (n % grain != 0);
  for (int64_t first = 0; first < chunks; first += kMaxChunksPerJob) {
    int64_t left = chunks - first;
    run_job({body, ctx, n, grain, first, uint32_t(left < kMaxChunksPerJob ? left : kMaxChunksPerJob)});
  }
  release();
}

PYASC_EXPORT int32_t pyasc_get_num_threads() { return load(pool.wanted); }

// Waits for a loop that is running. Not to be called from within one.
PYASC_EXPORT void pyasc_set_num_threads(int32_t count) {
  while (!try_acquire()) sched_yield();
  store(pool.wanted, clamp_threads(count));
  stop_surplus_workers();
  release();
}
