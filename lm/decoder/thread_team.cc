#include "lm/decoder/thread_team.h"

namespace agentr {
namespace {

constexpr int kSpins = 2000;  // about ten microseconds

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns when `value` differs from `old`.
void Await(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins && value.load(std::memory_order_acquire) == old; ++i) Pause();
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(int size) : size_(size) {
  for (int rank = 1; rank < size; ++rank) workers_.push_back(std::make_unique<Worker>());
  for (int rank = 1; rank < size; ++rank) {
    workers_[rank - 1]->thread = std::thread([this, rank] { Work(rank); });
  }
}

ThreadTeam::~ThreadTeam() {
  work_ = nullptr;
  for (const auto& worker : workers_) {
    worker->calls.fetch_add(1, std::memory_order_release);
    worker->calls.notify_one();
    worker->thread.join();
  }
}

void ThreadTeam::Run(const std::function<void(Member&)>& work, int members) {
  work_ = &work;
  members_ = members > 0 ? members : size_;
  first_step_ = step_.load(std::memory_order_relaxed);
  for (int i = 0; i < members_ - 1; ++i, ++sent_) {
    workers_[i]->calls.fetch_add(1, std::memory_order_release);
    workers_[i]->calls.notify_one();
  }
  Member member(*this, 0, first_step_);
  work(member);
  // The workers may still be inside, though nothing is left to do.
  for (uint32_t left; (left = left_.load(std::memory_order_acquire)) != sent_;) Await(left_, left);
}

bool ThreadTeam::Claim(uint32_t step, int64_t count, int64_t& piece) {
  uint64_t next = next_.load(std::memory_order_acquire);
  do {
    piece = static_cast<int64_t>(next & 0xFFFFFFFF);
    if (next >> 32 != step || piece >= count) return false;
  } while (!next_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel,
                                        std::memory_order_acquire));
  return true;
}

// Whoever finishes the last piece opens the next step: until then no other piece is to be had.
void ThreadTeam::Finish(uint32_t step, int64_t count) {
  if (finished_.fetch_add(1, std::memory_order_acq_rel) + 1 < count) return;
  finished_.store(0, std::memory_order_relaxed);
  next_.store(uint64_t{step + 1} << 32, std::memory_order_release);
  step_.store(step + 1, std::memory_order_release);
  step_.notify_all();
}

void ThreadTeam::AwaitEnd(uint32_t step) {
  if (next_.load(std::memory_order_acquire) >> 32 == step) Await(step_, step);
}

void ThreadTeam::Work(int rank) {
  std::atomic<uint32_t>& calls = workers_[rank - 1]->calls;
  for (uint32_t seen = 0;; ++seen) {
    Await(calls, seen);
    if (work_ == nullptr) return;
    Member member(*this, rank, first_step_);
    (*work_)(member);
    left_.fetch_add(1, std::memory_order_release);
    left_.notify_one();
  }
}

}  // namespace agentr
