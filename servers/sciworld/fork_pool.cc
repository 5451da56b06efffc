#include "servers/sciworld/fork_pool.h"

#include <utility>

namespace agentr {

int64_t ForkPool::NewState() {
  const std::lock_guard lock(mutex_);
  return next_++;
}

void ForkPool::Put(int64_t state, SciWorldEpisode episode, size_t most) {
  std::list<Entry> dropped;  // destroyed after the lock is released, because that calls Java
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(state);
  if (known != entries_.end()) dropped.splice(dropped.end(), by_use_, known->second);
  entries_[state] = by_use_.emplace(by_use_.end(), state, std::move(episode));
  while (by_use_.size() > most) {
    entries_.erase(by_use_.front().first);
    dropped.splice(dropped.end(), by_use_, by_use_.begin());
  }
}

std::optional<SciWorldEpisode> ForkPool::Take(int64_t state) {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(state);
  if (known == entries_.end()) return std::nullopt;
  std::optional<SciWorldEpisode> episode(std::move(known->second->second));
  by_use_.erase(known->second);
  entries_.erase(known);
  return episode;
}

size_t ForkPool::size() const {
  const std::lock_guard lock(mutex_);
  return by_use_.size();
}

std::shared_ptr<ForkPath> ForkPath::Begin(ForkPool& pool, SimulatorTask task) {
  return std::make_shared<ForkPath>(pool, task, nullptr, "");
}

std::shared_ptr<ForkPath> ForkPath::After(std::shared_ptr<ForkPath> before, std::string action) {
  ForkPool& pool = before->pool_;
  const SimulatorTask task = before->task_;
  return std::make_shared<ForkPath>(pool, task, std::move(before), std::move(action));
}

ForkPath::ForkPath(ForkPool& pool, SimulatorTask task, std::shared_ptr<ForkPath> before,
                   std::string action)
    : pool_(pool),
      task_(task),
      before_(std::move(before)),
      action_(std::move(action)),
      state_(pool.NewState()) {}

ForkPath::~ForkPath() {
  pool_.Take(state_);
  // A loop, because the destructors of a long path would call each other too deeply.
  std::shared_ptr<ForkPath> last = std::move(before_);
  while (last != nullptr && last.use_count() == 1) last = std::exchange(last->before_, nullptr);
}

SciWorldEpisode ForkPath::Take(SimulatorSource& source) const {
  if (std::optional<SciWorldEpisode> here = pool_.Take(state_)) return *std::move(here);
  std::vector<const std::string*> actions;
  std::optional<SciWorldEpisode> episode;
  const ForkPath* at = this;
  for (; !episode && at->before_ != nullptr; at = at->before_.get()) {
    actions.push_back(&at->action_);
    std::optional<SciWorldEpisode> earlier = pool_.Take(at->before_->state_);
    if (!earlier) continue;
    episode = earlier->Fork();
    // Larger than any limit, because it was within the limit just now.
    pool_.Put(at->before_->state_, *std::move(earlier), pool_.size() + 1);
  }
  if (!episode) episode.emplace(source, task_);
  for (auto action = actions.rbegin(); action != actions.rend(); ++action) episode->Step(**action);
  return *std::move(episode);
}

void ForkPath::Put(SciWorldEpisode episode, size_t most) const {
  pool_.Put(state_, std::move(episode), most);
}

}  // namespace agentr
