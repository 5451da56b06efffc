// Live sessions of an environment server, by increasing id.
//
// Forks: a session may have children, which are copies of its state at some moment. A session and
// all its forks are a family: closing a session closes its forks and theirs; using one keeps all of
// them alive; and they expire together, `ttl_s` after the last use.
//
// Threads: one lock guards the table and is held only briefly. Each session has its own lock, held
// while it is used, so two calls on one session take turns and other sessions are not affected. A
// call that holds a session may call the store; the store never waits for a session.
//
// Each call expires a bounded number of families, so there are no pauses.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agentr {

struct SessionLimits {
  double ttl_s = 3600;              // seconds without use after which a session is dropped
  size_t max_sessions = 1'000'000;  // live at once, including forks
};

struct SessionCounts {
  uint64_t live = 0;
  uint64_t created = 0;  // including forks, like the next two
  uint64_t closed = 0;
  uint64_t expired = 0;
};

// Seconds of a monotonic clock.
inline double MonotonicSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename State>
class SessionStore {
 private:
  struct Entry {
    explicit Entry(State begin) : state(std::move(begin)) {}

    std::mutex mutex;
    State state;  // guarded by mutex; everything below is guarded by the store's mutex

    int64_t id = 0;
    Entry* root = nullptr;  // of the family
    Entry* parent = nullptr;
    Entry* first_fork = nullptr;
    Entry* next = nullptr;  // fork of the same parent
    Entry* previous = nullptr;
    // For a root: the time of its last use, and its place in by_use_.
    double used_at = 0;
    typename std::list<Entry*>::iterator place;
  };

 public:
  using Clock = std::function<double()>;

  explicit SessionStore(SessionLimits limits, Clock clock = MonotonicSeconds)
      : limits_(limits), clock_(std::move(clock)) {}

  // A session in use: no other call uses it while this object lives. Empty for an id that is not
  // live.
  class Use {
   public:
    Use() = default;
    explicit Use(std::shared_ptr<Entry> entry) : entry_(std::move(entry)), lock_(entry_->mutex) {}
    explicit operator bool() const { return entry_ != nullptr; }
    State& operator*() { return entry_->state; }
    State* operator->() { return &entry_->state; }

   private:
    std::shared_ptr<Entry> entry_;
    std::unique_lock<std::mutex> lock_;
  };

  // Opens a new session; `make` gets its id. nullopt at the limit of sessions.
  template <typename Make>
  std::optional<int64_t> Create(Make make) {
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    const double now = clock_();
    Expire(now, dropped);
    if (entries_.size() >= limits_.max_sessions) return std::nullopt;
    const auto entry = std::make_shared<Entry>(make(next_id_));
    entry->root = entry.get();
    entry->used_at = now;
    entry->place = by_use_.insert(by_use_.end(), entry.get());
    return Insert(entry);
  }

  // Makes forks of a live session, in the order of `states`. nullopt at the limit of sessions, or
  // if the session is not live.
  std::optional<std::vector<int64_t>> Fork(int64_t id, std::vector<State> states) {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(id);
    if (at == entries_.end() || entries_.size() + states.size() > limits_.max_sessions) {
      return std::nullopt;
    }
    Entry* const parent = at->second.get();
    std::vector<int64_t> ids;
    for (State& state : states) {
      const auto entry = std::make_shared<Entry>(std::move(state));
      entry->root = parent->root;
      entry->parent = parent;
      entry->next = parent->first_fork;
      if (entry->next) entry->next->previous = entry.get();
      parent->first_fork = entry.get();
      ids.push_back(Insert(entry));
    }
    return ids;
  }

  // Waits while another call is using the session.
  Use Find(int64_t id) {
    std::shared_ptr<Entry> entry;
    {
      Dropped dropped;
      const std::lock_guard lock(mutex_);
      const double now = clock_();
      Expire(now, dropped);
      const auto at = entries_.find(id);
      if (at == entries_.end()) return {};
      Entry* const root = at->second->root;
      if (IsExpired(*root, now)) {
        counts_.expired += Remove(root, dropped);
        return {};
      }
      root->used_at = now;
      by_use_.splice(by_use_.end(), by_use_, root->place);
      entry = at->second;
    }
    return Use(std::move(entry));
  }

  // Closes the session and its forks. False if it was not live.
  bool Close(int64_t id) {
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    Expire(clock_(), dropped);
    const auto at = entries_.find(id);
    if (at == entries_.end()) return false;
    counts_.closed += Remove(at->second.get(), dropped);
    return true;
  }

  // The ids of all live sessions, in order.
  std::vector<int64_t> Ids() const {
    std::vector<int64_t> ids;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, entry] : entries_) ids.push_back(id);
    }
    std::ranges::sort(ids);
    return ids;
  }

  SessionCounts Counts() const {
    const std::lock_guard lock(mutex_);
    SessionCounts counts = counts_;
    counts.live = entries_.size();
    return counts;
  }

 private:
  // Sessions removed from the table. Declare it before the lock, so that they are destroyed after
  // the lock is released.
  using Dropped = std::vector<std::shared_ptr<Entry>>;

  int64_t Insert(const std::shared_ptr<Entry>& entry) {
    entry->id = next_id_++;
    entries_.emplace(entry->id, entry);
    ++counts_.created;
    return entry->id;
  }

  bool IsExpired(const Entry& root, double now) const {
    return now - root.used_at >= limits_.ttl_s;
  }

  void Expire(double now, Dropped& dropped) {
    // Each call adds at most one family, so removing up to two keeps up with the growth.
    constexpr int kPerCall = 2;
    for (int i = 0; i < kPerCall && !by_use_.empty(); ++i) {
      Entry* const oldest = by_use_.front();
      if (!IsExpired(*oldest, now)) return;
      counts_.expired += Remove(oldest, dropped);
    }
  }

  // Removes a session and its forks from the table; returns their number.
  uint64_t Remove(Entry* top, Dropped& dropped) {
    if (top->parent) {
      (top->previous ? top->previous->next : top->parent->first_fork) = top->next;
      if (top->next) top->next->previous = top->previous;
    } else {
      by_use_.erase(top->place);
    }
    std::vector<Entry*> todo = {top};
    for (size_t i = 0; i < todo.size(); ++i) {
      for (Entry* fork = todo[i]->first_fork; fork; fork = fork->next) todo.push_back(fork);
    }
    for (const Entry* entry : todo) {
      const auto at = entries_.find(entry->id);
      dropped.push_back(std::move(at->second));
      entries_.erase(at);
    }
    return todo.size();
  }

  const SessionLimits limits_;
  const Clock clock_;

  mutable std::mutex mutex_;  // guards the members below
  std::unordered_map<int64_t, std::shared_ptr<Entry>> entries_;
  std::list<Entry*> by_use_;  // roots, the least recently used first
  int64_t next_id_ = 0;
  SessionCounts counts_;
};

}  // namespace agentr
