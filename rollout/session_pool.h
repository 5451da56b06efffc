// A bounded number of environment sessions, shared by all searches of a run.
//
// On a server without forks a session can only go forward or be reset, so what a session is worth
// is where it stands. The pool remembers that for each idle session and hands out the one that
// costs the fewest calls to bring to the wanted state:
//   1. one that stands there;
//   2. the nearest one that stands at an ancestor: it only has to walk on;
//   3. one that stands nowhere useful (a finished tree, an ended leaf), to be reset;
//   4. a new one, while there are fewer than the limit;
//   5. the one longest unused, to be reset.
// Thread-safe. A thread holds at most one lease at a time, so waiting for one cannot deadlock.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "clients/environment.h"

namespace agentr {

class SessionPool {
 public:
  // Where a session stands: a state of one search (StateTree). tree < 0: nowhere.
  struct Place {
    int64_t tree = -1;
    int state = 0;
  };

  // The right to use one session; gives it back when destroyed.
  class Lease {
   public:
    Lease(SessionPool* pool, size_t slot, Place place);
    ~Lease();
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;

    Session& session() const;

    // Where the session stands now, as the holder keeps it: Reset and Step move it. A lost reply
    // means nowhere.
    Place place;

    // The holder will not come back to this place: the next one to need a session may reset it.
    bool spent = false;

   private:
    SessionPool* pool_;
    size_t slot_;
  };

  // At most `limit` sessions (>= 1) are ever open at once.
  SessionPool(Environment& environment, int limit);

  // A session for the state at the end of `path` (states of `tree` from its root on, ids growing).
  // Waits while all sessions are in use; kCancelled once `stop` is set. Fails when a new session is
  // needed and cannot be opened.
  Result<Lease> Acquire(int64_t tree, std::span<const int> path, const std::atomic<bool>& stop);

  // `tree` is finished: its sessions stand nowhere useful any more.
  void Retire(int64_t tree);

  // A number for a search to name its places by.
  int64_t NewTree() { return next_tree_++; }

  int64_t opened() const { return opened_; }

 private:
  struct Slot {
    std::unique_ptr<Session> session;  // null until it is opened
    Place place;
    bool leased = false;
    bool spent = false;
    int64_t last_used = 0;
  };

  // The best idle slot by the order above, or slots_.size() for none. Needs mutex_.
  size_t Choose(int64_t tree, std::span<const int> path) const;
  void Release(size_t slot, Place place, bool spent);
  Result<Lease> OpenInto(size_t slot);

  Environment& environment_;
  const size_t limit_;
  std::atomic<int64_t> next_tree_ = 0;
  std::atomic<int64_t> opened_ = 0;

  std::mutex mutex_;
  std::condition_variable released_;
  std::vector<std::unique_ptr<Slot>> slots_;  // guarded by mutex_, but a session by its lease
  int64_t clock_ = 0;                         // guarded by mutex_
};

}  // namespace agentr
