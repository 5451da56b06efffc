// A fixed team of threads that share the steps of a computation.
//
// Every member calls the same ForEach in the same order. The pieces of a step go to whoever comes
// for them, and a step is over when all its pieces are done, so a thread that the system has put
// aside holds up the others by the piece it has at most, and takes part again later. A layer of a
// small model takes microseconds, so waiting threads spin at first. After about ten microseconds,
// and therefore between two calls of Run, they sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace agentr {

class ThreadTeam {
 public:
  // A thread within a call of Run.
  class Member {
   public:
    int rank() const { return rank_; }

    // Calls body(i) for i in 0 … count - 1, each on one of the members; returns when all calls have
    // returned.
    template <class Body>
    void ForEach(int64_t count, const Body& body) {
      if (count == 0) return;
      if (team_.members_ == 1) {
        for (int64_t i = 0; i < count; ++i) body(i);
        return;
      }
      for (int64_t i = 0; team_.Claim(step_, count, i);) {
        body(i);
        team_.Finish(step_, count);
      }
      team_.AwaitEnd(step_++);
    }

   private:
    friend class ThreadTeam;
    Member(ThreadTeam& team, int rank, uint32_t step) : team_(team), rank_(rank), step_(step) {}

    ThreadTeam& team_;
    const int rank_;
    uint32_t step_;
  };

  explicit ThreadTeam(int size);  // at least 1; the caller of Run is one of them
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  // Calls work on `members` threads, by default all, with ranks from 0; returns when all are done.
  // The work must not throw. One thread at a time.
  void Run(const std::function<void(Member&)>& work, int members = 0);

 private:
  struct Worker {
    std::atomic<uint32_t> calls = 0;
    std::thread thread;
  };

  // Takes the next piece of a step. False if there is none, or if the step is over.
  bool Claim(uint32_t step, int64_t count, int64_t& piece);
  void Finish(uint32_t step, int64_t count);
  void AwaitEnd(uint32_t step);
  void Work(int rank);

  const int size_;
  const std::function<void(Member&)>* work_ = nullptr;  // null: end
  int members_ = 1;                                     // of this run
  uint32_t first_step_ = 0;                             // of this run
  std::atomic<uint64_t> next_ = 0;                      // step << 32 | next piece
  std::atomic<int64_t> finished_ = 0;                   // pieces of this step
  std::atomic<uint32_t> step_ = 0;                      // as in next_, to wait for
  std::atomic<uint32_t> left_ = 0;  // workers that are done with all runs so far
  uint32_t sent_ = 0;               // the same, when the present run is over
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace agentr
