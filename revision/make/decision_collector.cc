#include "revision/make/decision_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "revision/find/choice.h"
#include "revision/find/mistakes.h"
#include "revision/make/dedup.h"
#include "tasks/revision_hints.h"

namespace agentr {

bool Keeps(const Decision& decision, bool keep_diverged) {
  switch (decision.replay.outcome) {
    case ReplayOutcome::kVerified:
      return true;
    case ReplayOutcome::kUnchecked:  // nobody knows the reply that only the environment gives
      return std::ranges::none_of(decision.turns, [](const SplicedTurn& turn) {
        return turn.part == Part::kRevision && turn.observation.empty();
      });
    case ReplayOutcome::kDiverged:
      return keep_diverged;
    case ReplayOutcome::kFailed:
      break;
  }
  return false;
}

DecisionCollector::DecisionCollector(const Context& context, const RandomStream& random,
                                     Replayer* replayer, bool forks)
    : context_(context),
      random_(random),
      repairer_(context.tree, context.states, context.family, context.thoughts, context.repair,
                replayer, forks) {}

std::string DecisionCollector::ThoughtFor(const Decision& decision, RandomStream& random) const {
  if (decision.pair.bad.leaf < 0) return "";
  if (decision.mistake.empty()) return context_.thoughts.Pick({}, {}, random);
  const Node& error = context_.tree.node(decision.error.steps.back().node);
  std::vector<std::string> kinds = {decision.mistake, decision.refused ? "refused" : "dead_end"};
  Thoughts::Words words{error.action, error.observation, ""};
  // What is not shown as the agent's own it cannot notice in its words.
  if (error.slip && !error.slip->response.empty()) {
    kinds.insert(kinds.begin(), {fmt::format("slip {}", VerbOf(error.action)), "slip"});
    words.said = error.slip->said;
  }
  return context_.thoughts.Pick(kinds, words, random);
}

// True if the row would train the mistaken action in the very state in which it was a mistake.
// Where the family knows no states (RevisionHints::StateKey), the page stands for it. A page alone
// is not enough: in TextCraft each crafting of planks has the same answer, and what failed with
// four of them is right with eight.
bool DecisionCollector::Contradicts(const Trajectory& trajectory, int error) const {
  if (error < 0) return false;
  const std::string& mistaken = context_.tree.node(error).action;
  std::vector<Message> history = {{"user", trajectory.first_observation}};
  const auto state = [&] {
    const std::string key = context_.family.hints().StateKey(history);
    return key.empty() ? history.back().content : key;
  };
  std::string mistaken_in;
  for (const SplicedTurn& turn : trajectory.turns) {
    if (turn.node == error) {
      mistaken_in = state();
    } else if (turn.action == mistaken && IsTrained(trajectory, turn) && state() == mistaken_in) {
      return true;
    }
    if (turn.part == Part::kRevision || turn.refused) continue;
    history.push_back({"assistant", turn.response});
    history.push_back({"user", turn.observation});
  }
  return false;
}

bool DecisionCollector::AllowsForm() const {
  return AtLeast(context_.form_share * (kept_ + 1), forms_ + 1);
}

namespace {

int BrokenAt(const Decision& decision) {
  for (const auto& [turn, observation] : decision.replay.observations) {
    if (decision.turns[turn].part == Part::kGood) return decision.turns[turn].node;
  }
  return -1;
}

}  // namespace

Result<DecisionCollector::Outcome> DecisionCollector::Add(Decision decision) {
  broken_at_ = -1;
  if (context_.stop) return Fail(ErrorKind::kCancelled, "stopped");
  const int error = decision.error.found ? decision.error.steps.back().node : -1;
  RandomStream random = random_.Split("thought")
                            .Split(static_cast<uint64_t>(decision.pair.good.leaf))
                            .Split(static_cast<uint64_t>(decision.pair.bad.leaf))
                            .Split(static_cast<uint64_t>(error));
  const std::string thought = ThoughtFor(decision, random);
  AGENTR_ASSIGN_OR_RETURN(
      Repaired repaired, repairer_.Run({decision.pair, decision.error.bad_steps, thought}, random));
  if (!actions_.insert(ActionsHash(repaired.trajectory)).second) {
    ++context_.counts.duplicate_drafts;
    return Outcome::kDuplicate;
  }
  if (Contradicts(repaired.trajectory, error)) {
    ++context_.counts.contradictions;
    return Outcome::kFailed;
  }
  decision.turns = std::move(repaired.trajectory.turns);
  decision.replay = std::move(repaired.replay);
  decision.pruned = repaired.pruned;
  decision.recovery = repaired.recovery;
  broken_at_ = BrokenAt(decision);
  const bool kept = Keeps(decision, context_.keep_diverged);
  const bool hopeless = !kept && !decision.refused && broken_at_ < 0;
  if (kept) {
    ++kept_;
    forms_ += IsOfForm(decision.mistake) ? 1 : 0;
  }
  decisions_.push_back(std::move(decision));
  return kept ? Outcome::kKept : hopeless ? Outcome::kHopeless : Outcome::kFailed;
}

}  // namespace agentr
