#include "rollout/session_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

namespace agentr {

SessionPool::Lease::Lease(SessionPool* pool, size_t slot, Place place_now)
    : place(place_now), pool_(pool), slot_(slot) {}

SessionPool::Lease::Lease(Lease&& other) noexcept
    : place(other.place),
      spent(other.spent),
      pool_(std::exchange(other.pool_, nullptr)),
      slot_(other.slot_) {}

SessionPool::Lease::~Lease() {
  if (pool_ != nullptr) pool_->Release(slot_, place, spent);
}

Session& SessionPool::Lease::session() const {
  const std::lock_guard lock(pool_->mutex_);
  return *pool_->slots_[slot_]->session;
}

SessionPool::SessionPool(Environment& environment, int limit)
    : environment_(environment),
      limit_(static_cast<size_t>(limit > 0 ? limit : environment.DefaultSessions())) {}

SessionPool::~SessionPool() {
  constexpr size_t kClosers = 32;
  // The first tells whether the server answers at all, and whether it has such a call.
  if (!slots_.empty()) slots_.front().reset();
  std::atomic<size_t> next = 1;
  std::vector<std::jthread> closers;
  for (size_t i = 1; i < std::min(kClosers, slots_.size()); ++i) {
    closers.emplace_back([&] {
      for (size_t slot; (slot = next++) < slots_.size();) slots_[slot].reset();
    });
  }
}

size_t SessionPool::Choose(int64_t tree, std::span<const int> path) const {
  // Smaller is better; the parts are compared in order.
  using Rank = std::tuple<int, int64_t>;
  const int wanted = path.back();
  size_t best = slots_.size();
  Rank best_rank;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = *slots_[i];
    if (slot.leased) continue;
    Rank rank{4, slot.last_used};
    if (slot.place.tree < 0 || slot.spent) rank = {2, slot.last_used};
    // A session that could not be opened ranks as a new one.
    if (slot.session == nullptr) rank = {3, slot.last_used};
    if (slot.place.tree == tree && std::ranges::binary_search(path, slot.place.state)) {
      // The nearest ancestor has the greatest id.
      rank = {slot.place.state == wanted ? 0 : 1, -static_cast<int64_t>(slot.place.state)};
    }
    if (best == slots_.size() || rank < best_rank) std::tie(best, best_rank) = std::tie(i, rank);
  }
  // A session in a state that may still be useful (rank 4) is reset only if no new one may be
  // opened.
  const bool may_open = slots_.size() < limit_;
  return may_open && best != slots_.size() && std::get<0>(best_rank) == 4 ? slots_.size() : best;
}

Result<SessionPool::Lease> SessionPool::Acquire(int64_t tree, std::span<const int> path,
                                                const std::atomic<bool>& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (stop) return Fail(ErrorKind::kCancelled, "stopped while waiting for a session");
    const size_t chosen = Choose(tree, path);
    if (chosen < slots_.size()) {
      Slot& slot = *slots_[chosen];
      slot.leased = true;
      if (slot.session != nullptr) return Lease(this, chosen, slot.place);
      lock.unlock();
      return OpenInto(chosen);
    }
    if (slots_.size() < limit_) {
      slots_.push_back(std::make_unique<Slot>());
      slots_.back()->leased = true;
      lock.unlock();
      return OpenInto(chosen);
    }
    // The time-out only limits the delay until `stop` is noticed.
    released_.wait_for(lock, std::chrono::milliseconds(200));
  }
}

Result<SessionPool::Lease> SessionPool::OpenInto(size_t slot) {
  // Without the lock, because opening may take seconds; the slot is leased, so no other thread uses
  // it.
  auto session = environment_.Open();
  if (!session) {
    Release(slot, Place{}, /*spent=*/true);
    return tl::make_unexpected(session.error());
  }
  ++opened_;
  const std::lock_guard lock(mutex_);
  slots_[slot]->session = std::move(*session);
  return Lease(this, slot, Place{});
}

void SessionPool::Release(size_t slot, Place place, bool spent) {
  {
    const std::lock_guard lock(mutex_);
    Slot& released = *slots_[slot];
    released.place = place;
    released.spent = spent;
    released.leased = false;
    released.last_used = ++clock_;
  }
  // Outside the lock, so that the woken thread need not wait for it.
  released_.notify_one();
}

void SessionPool::Retire(int64_t tree) {
  const std::lock_guard lock(mutex_);
  for (const auto& slot : slots_) {
    if (!slot->leased && slot->place.tree == tree) slot->place = Place{};
  }
}

}  // namespace agentr
