// A fixed team of threads that work through the same function side by side, with barriers in it.
//
// A layer of a small model takes microseconds, so members wait for each other awake at first; after
// some ten microseconds, and so between two calls of Run, they sleep.
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

  // Within the work: returns when every member has called it as often.
  void Barrier();

  // The part of 0 … count - 1 that `rank` has: [begin, end).
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
