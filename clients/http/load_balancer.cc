#include "clients/http/load_balancer.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace agentr {

LoadBalancer::LoadBalancer(size_t count, double cool_down_s, std::function<Clock::time_point()> now)
    : cool_down_(
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(cool_down_s))),
      now_(std::move(now)),
      servers_(count) {}

size_t LoadBalancer::Acquire() {
  std::lock_guard lock(mutex_);
  const auto now = now_();
  // All available servers have the same second member, so the load decides among them.
  const auto rank = [now](const State& s) {
    return std::tuple(s.excluded, std::max(s.down_until, now), s.load);
  };
  const auto best =
      std::min_element(servers_.begin(), servers_.end(),
                       [&](const State& a, const State& b) { return rank(a) < rank(b); });
  ++best->load;
  return static_cast<size_t>(best - servers_.begin());
}

void LoadBalancer::Acquire(size_t server) {
  std::lock_guard lock(mutex_);
  ++servers_[server].load;
}

void LoadBalancer::Release(size_t server) {
  std::lock_guard lock(mutex_);
  --servers_[server].load;
}

void LoadBalancer::Fault(size_t server) {
  std::lock_guard lock(mutex_);
  servers_[server].down_until = now_() + cool_down_;
}

bool LoadBalancer::CoolingDown(size_t server) const {
  std::lock_guard lock(mutex_);
  return now_() < servers_[server].down_until;
}

bool LoadBalancer::AnyAvailable() const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      servers_, [now = now_()](const State& s) { return !s.excluded && s.down_until <= now; });
}

void LoadBalancer::Exclude(size_t server) {
  std::lock_guard lock(mutex_);
  servers_[server].excluded = true;
}

}  // namespace agentr
