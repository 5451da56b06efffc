#include "lm/thread_team.h"

namespace agentr {
namespace {

constexpr int kSpins = 2000;  // some ten microseconds

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
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
    return;
  }
  for (int i = 0; phase_.load(std::memory_order_acquire) == phase; ++i) {
    if (i < kSpins) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadTeam::Work(int rank) {
  for (uint32_t seen = 0;; ++seen) {
    for (int i = 0; i < kSpins && runs_.load(std::memory_order_acquire) == seen; ++i) Pause();
    runs_.wait(seen, std::memory_order_acquire);
    if (work_ == nullptr) return;
    (*work_)(rank);
    Barrier();
  }
}

}  // namespace agentr
