#include "mcts/snapping.h"

#include <algorithm>
#include <span>

#include "clients/sciworld_snap.h"

namespace agentr {
namespace {
constexpr size_t kRecent = 3;
}  // namespace

Result<void> SnapActions(Executor& executor, int state, const std::vector<std::string>& taken,
                         std::vector<Node>& children) {
  const std::string look = "look around";
  const std::string inventory = "inventory";
  const Result<std::vector<std::string>> valid = executor.ValidActions(state);
  if (!valid) return tl::make_unexpected(valid.error());
  const Result<void> seen = executor.Execute(state, {look, inventory}, /*last_turn=*/false);
  if (!seen) return seen;
  const StateTree& states = executor.states();
  const std::span<const std::string> all(taken);
  for (Node& child : children) {
    child.action = SnapAction(child.action, *valid, states.Find(state, look)->result.observation,
                              states.Find(state, inventory)->result.observation,
                              all.last(std::min(kRecent, all.size())));
  }
  return {};
}

}  // namespace agentr
