// A bounded number of environment sessions, shared by all searches of a run.
//
// On a server without forks a session can only step forward or be reset, so its value depends on
// its present state. The pool records the state of each idle session and hands out the one that
// needs the fewest calls to reach the wanted state:
//   1. one in that state;
//   2. the nearest one in an ancestor of it, which only has to step forward;
//   3. one in no useful state (a finished tree, an ended leaf), to be reset;
//   4. a new one, while there are fewer than the limit;
//   5. the one unused for the longest time, to be reset.
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
  // The present state of a session: a state of one search (StateTree). tree < 0: unknown.
  struct Place {
    int64_t tree = -1;
    int state = 0;
  };

  // The right to use one session, which its destructor gives back.
  class Lease {
   public:
    Lease(SessionPool* pool, size_t slot, Place place);
    ~Lease();
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;

    Session& session() const;

    // The session's present state. The holder updates it after Reset and Step; after a lost reply
    // it is unknown.
    Place place;

    // Set if the holder will not return to this state: the next user may reset the session.
    bool spent = false;

   private:
    SessionPool* pool_;
    size_t slot_;
  };

  // At most `limit` sessions are ever open at once; 0: the environment's default number.
  SessionPool(Environment& environment, int limit);
  // Closes the sessions: the first one, then all others at once, because each may be a request that
  // waits.
  ~SessionPool();

  // A session for the state at the end of `path` (states of `tree` from its root on, with
  // increasing ids). Waits while all sessions are in use; kCancelled once `stop` is set. Fails when
  // a new session is needed and cannot be opened.
  Result<Lease> Acquire(int64_t tree, std::span<const int> path, const std::atomic<bool>& stop);

  // Records that `tree` is finished: its sessions are in no useful state any more.
  void Retire(int64_t tree);

  // A new number by which a search names its places.
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
  std::vector<std::unique_ptr<Slot>> slots_;  // guarded by mutex_, except that a lease guards its
                                              // session
  int64_t clock_ = 0;                         // guarded by mutex_
};

}  // namespace agentr
