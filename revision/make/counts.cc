#include "revision/make/counts.h"

#include <algorithm>

#include "revision/find/verifier.h"
#include "revision/make/task_record.h"

namespace agentr {

RevisionCounts& RevisionCounts::operator+=(const RevisionCounts& other) {
  AddFields(kRevisionSums, other, *this);
  for (const auto& [position, count] : other.first_errors) first_errors[position] += count;
  for (const auto& [name, count] : other.mistakes) mistakes[name] += count;
  for (const auto& [actions, count] : other.recoveries) recoveries[actions] += count;
  for (size_t i = 0; i < judgements.size(); ++i) judgements[i] += other.judgements[i];
  for (size_t i = 0; i < replays.size(); ++i) replays[i] += other.replays[i];
  calls += other.calls;
  // An empty one is less than any other.
  best_reward = std::max(best_reward, other.best_reward);
  return *this;
}

void Count(const Decision& decision, RevisionCounts& counts) {
  ++counts.pairs;
  if (decision.pair.bad.leaf >= 0) {
    ++counts.first_errors[decision.error.found ? decision.error.bad_steps : 0];
    ++counts.mistakes[decision.mistake.empty() ? "none_found" : decision.mistake];
    ++counts.recoveries[decision.recovery];
  }
  for (const JudgedStep& step : decision.error.steps) {
    ++counts.judgements[static_cast<size_t>(step.judged.judgement)];
    if (!step.judged.parsed) ++counts.unparsed;
  }
  counts.pruned_turns += decision.pruned;
  ++counts.replays[static_cast<size_t>(decision.replay.outcome)];
  if (decision.replay.ended_bad) ++counts.ended_bad;
}

}  // namespace agentr
