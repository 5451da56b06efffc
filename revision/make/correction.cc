#include "revision/make/correction.h"

#include <algorithm>
#include <utility>

#include "revision/make/turn_thoughts.h"
#include "tasks/action_text.h"

namespace agentr {

std::optional<RowPreference> CorrectionOf(const Trajectory& trajectory, int repeats) {
  const std::vector<SplicedTurn>& turns = trajectory.turns;
  const auto last = std::ranges::find(turns.rbegin(), turns.rend(), Part::kBad, &SplicedTurn::part);
  if (last == turns.rend() || !last->refused) return std::nullopt;
  const SplicedTurn& bad = *last;
  auto mends = last.base();
  if (mends != turns.end() && mends->part == Part::kRevision) ++mends;
  if (mends == turns.end() || !IsTrained(trajectory, *mends) || mends->action == bad.action) {
    return std::nullopt;
  }
  const std::string admits = mends->admits.value_or("");
  RowPreference pair = {.prompt = trajectory.instruction,
                        .chosen = {"assistant", mends->response, mends->reasoning},
                        .rejected = {"assistant", SaidFirst(admits, bad.response), bad.reasoning}};
  pair.prompt.push_back({"user", trajectory.first_observation});
  for (auto turn = turns.begin() + static_cast<std::ptrdiff_t>(trajectory.dropped_turns);
       turn != mends; ++turn) {
    pair.prompt.push_back({"assistant", turn->response, turn->reasoning});
    pair.prompt.push_back({"user", turn->observation});
  }
  for (int i = 0; i < repeats && !bad.slipped; ++i) {
    pair.prompt.push_back(pair.rejected);
    pair.prompt.push_back({"user", bad.observation});
  }
  return pair;
}

}  // namespace agentr
