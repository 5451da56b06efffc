#include "lm/decoder/thread_team.h"

namespace agentr {
namespace {

constexpr int kSpins = 2000;  // about ten microseconds

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Returns when `value` differs from `old`. It spins at first, because a layer takes microseconds,
// and then sleeps, because other threads may need the core.
void Await(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins && value.load(std::memory_order_acquire) == old; ++i) Pause();
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(int size) : size_(size) {
  for (int rank = 1; rank < size; ++rank) threads_.emplace_back([this, rank] { Work(rank); });
}

ThreadTeam::~ThreadTeam() {
  work_ = nullptr;
  ++runs_;
  runs_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::Run(const std::function<void(int)>& work) {
  work_ = &work;
  runs_.fetch_add(1, std::memory_order_release);
  runs_.notify_all();
  work(0);
  Barrier();
}

void ThreadTeam::Barrier() {
  const uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    phase_.notify_all();
    return;
  }
  Await(phase_, phase);
}

void ThreadTeam::Work(int rank) {
  for (uint32_t seen = 0;; ++seen) {
    Await(runs_, seen);
    if (work_ == nullptr) return;
    (*work_)(rank);
    Barrier();
  }
}

}  // namespace agentr
