// SPDX-License-Identifier: Apache-2.0
//
// A small persistent thread pool for the hand-written baselines.
//
// The calling thread always takes part, so one thread means no pool at all. Tasks are claimed one by one from a
// shared counter: a thread that the operating system takes away delays only the task it holds.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace hw {

inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Pool {
 public:
  // Never destroyed: workers may outlive static destructors when the process exits.
  static Pool& instance() {
    static Pool* pool = new Pool(default_threads());
    return *pool;
  }

  int threads() const { return threads_.load(std::memory_order_relaxed); }

  // Workers above the wanted number stay parked.
  void set_threads(int wanted) {
    if (wanted < 1) wanted = 1;
    while (static_cast<int>(workers_.size()) < wanted - 1) {
      const int id = static_cast<int>(workers_.size()) + 1;
      workers_.emplace_back([this, id] { work_forever(id); });
      workers_.back().detach();
    }
    threads_.store(wanted, std::memory_order_relaxed);
  }

  // Calls body(task) once for every task in [0, tasks), on any thread, and returns when all have finished.
  // Not reentrant, and to be called from one thread at a time.
  template <class Body>
  void run(int64_t tasks, Body&& body) {
    if (tasks <= 1 || threads() == 1) {
      for (int64_t task = 0; task < tasks; ++task) body(task);
      return;
    }
    // The job before is closed first: a worker that is late for it would take the new job's tasks for open ones of it.
    const uint64_t before = state_.load(std::memory_order_relaxed) >> 32;
    state_.store(before << 32 | UINT32_MAX);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    call_.store([](void* ctx, int64_t task) { (*static_cast<std::remove_reference_t<Body>*>(ctx))(task); },
                std::memory_order_relaxed);
    context_.store(const_cast<void*>(static_cast<const void*>(&body)), std::memory_order_relaxed);
    tasks_.store(static_cast<uint32_t>(tasks), std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    const uint32_t epoch = static_cast<uint32_t>(before) + 1;
    state_.store(static_cast<uint64_t>(epoch) << 32);
    if (parked_.load() > 0) {
      std::lock_guard<std::mutex> lock(mutex_);
      wake_.notify_all();
    }
    help(epoch);
    for (int spins = 0; done_.load(std::memory_order_acquire) != tasks; ++spins) {
      cpu_relax();
      if (spins > kSpins) std::this_thread::yield();
    }
  }

 private:
  using Call = void (*)(void*, int64_t);
  static constexpr int kSpins = 300;  // some tens of microseconds, about what waking a parked thread costs

  explicit Pool(int threads) { set_threads(threads); }

  static int default_threads() {
    if (const char* text = std::getenv("PYASC_BENCH_THREADS")) return std::atoi(text);
    const unsigned cores = std::thread::hardware_concurrency();
    return cores ? static_cast<int>(cores) : 1;
  }

  // Epoch and next task share one word, so that a late worker can never claim a task of another job: the job's
  // function is read before the exchange, and the exchange succeeds only while that job is open.
  void help(uint32_t epoch) {
    uint64_t seen = state_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(seen >> 32) == epoch) {
      const uint32_t task = static_cast<uint32_t>(seen);
      if (task >= tasks_.load(std::memory_order_relaxed)) return;
      const Call call = call_.load(std::memory_order_relaxed);
      void* context = context_.load(std::memory_order_relaxed);
      if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        call(context, task);
        done_.fetch_add(1, std::memory_order_release);
        seen = state_.load(std::memory_order_acquire);
      }
    }
  }

  uint32_t wait_for_job(uint32_t last) {
    for (int spins = 0; spins < kSpins; ++spins) {
      const uint32_t epoch = static_cast<uint32_t>(state_.load(std::memory_order_acquire) >> 32);
      if (epoch != last) return epoch;
      cpu_relax();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    parked_.fetch_add(1);
    wake_.wait(lock, [&] { return static_cast<uint32_t>(state_.load() >> 32) != last; });
    parked_.fetch_sub(1);
    return static_cast<uint32_t>(state_.load() >> 32);
  }

  void work_forever(int id) {
    uint32_t last = 0;
    for (;;) {
      last = wait_for_job(last);
      if (id < threads()) help(last);
    }
  }

  std::atomic<int> threads_{1};
  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<int64_t> done_{0};
  alignas(64) std::atomic<uint32_t> tasks_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int> parked_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

// Calls body(begin, end) over [0, n) cut at multiples of grain.
template <class Body>
void parallel_for(int64_t n, int64_t grain, Body&& body) {
  const int64_t tasks = (n + grain - 1) / grain;
  Pool::instance().run(tasks, [&](int64_t task) {
    const int64_t begin = task * grain;
    const int64_t end = begin + grain < n ? begin + grain : n;
    body(begin, end);
  });
}

}  // namespace hw
