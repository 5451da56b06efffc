// A fixed team of threads that run the same function at the same time and meet at barriers.
//
// A layer of a small model takes microseconds, so waiting threads spin at first. After about ten
// microseconds, and therefore between two calls of Run, they sleep.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace agentr {

class ThreadTeam {
 public:
  explicit ThreadTeam(int size);  // at least 1; the caller of Run is one of them
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  // Calls work(rank) for every rank in 0 … size - 1 at once; returns when all are done. The work
  // must not throw. One thread at a time.
  void Run(const std::function<void(int rank)>& work);

  // Called within the work: returns when every thread has called it the same number of times.
  void Barrier();

  // The part [begin, end) of 0 … count - 1 that belongs to `rank`.
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };
  Range Share(int64_t count, int rank) const {
    return {count * rank / size_, count * (rank + 1) / size_};
  }

 private:
  void Work(int rank);

  const int size_;
  const std::function<void(int)>* work_ = nullptr;  // null: end
  std::atomic<uint32_t> runs_ = 0;
  std::atomic<int> arrived_ = 0;
  std::atomic<uint32_t> phase_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace agentr
