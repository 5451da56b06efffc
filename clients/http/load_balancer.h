// Chooses among equal servers: takes the one with the least work and skips servers for a while
// after a failure.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace agentr {

// Thread-safe. Servers are numbers 0 … count-1.
class LoadBalancer {
 public:
  using Clock = std::chrono::steady_clock;

  // Tests replace `now`.
  LoadBalancer(size_t count, double cool_down_s,
               std::function<Clock::time_point()> now = Clock::now);

  // The server with the fewest pieces of work among those that are not cooling down (the first of
  // equals); if all are, the one whose cool-down ends first. Adds a piece of work to it; the caller
  // must call Release once for each Acquire.
  size_t Acquire();
  void Release(size_t server);

  // Adds a piece of work to this very server.
  void Acquire(size_t server);

  // Records that the server did not answer: it begins to cool down.
  void Fault(size_t server);
  bool CoolingDown(size_t server) const;

  // True if some server is not cooling down.
  bool AnyAvailable() const;

  // Makes Acquire never choose this server again. Must not be called for the last one.
  void Exclude(size_t server);

 private:
  struct State {
    int load = 0;
    Clock::time_point down_until{};
    bool excluded = false;
  };

  const Clock::duration cool_down_;
  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  std::vector<State> servers_;  // guarded by mutex_
};

}  // namespace agentr
