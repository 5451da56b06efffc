#include "rollout/slips.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "common/options.h"
#include "common/text.h"
#include "tasks/scripted_policy.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

constexpr int kDraws = 40;

// What a player without a plan might do in the state, as often as it would; empty if the task has
// no such player, or if the player does not understand what is shown. With `mistakes` they are
// followed by the mistakes of a player with a plan, where it has one of its own.
Result<std::vector<std::string>> DrawActions(const TaskFamily& family, const Executor& executor,
                                             int state, int task_id, bool mistakes,
                                             RandomStream& random) {
  std::vector<std::string> drawn;
  const std::optional<ScriptedPolicy> policy = MakeScriptedPolicy(family.name());
  if (!policy) return drawn;
  const std::vector<Message> history = executor.History(state);  // the player points into it
  AGENTR_ASSIGN_OR_RETURN(const std::unique_ptr<PolicyState> player,
                          policy->read(history, task_id));
  if (player == nullptr) return drawn;
  for (int i = 0; i < kDraws; ++i) drawn.push_back(player->AnyAction(random));
  const TaskKind& kind = TaskKindOf(family.name());
  if (!mistakes || kind.plans_by_gold || !kind.file.empty()) return drawn;
  for (int i = 0; i < kDraws; ++i) drawn.push_back(player->Mistake(random));
  return drawn;
}

// The actions that the environment lists for the state, in random order; empty if it lists none.
Result<std::vector<std::string>> ListedActions(const TaskFamily& family, Executor& executor,
                                               int state, RandomStream& random) {
  const TaskKind* kind = FindTaskKind(family.name());
  if (kind == nullptr || !kind->snapping) return std::vector<std::string>();
  Result<std::vector<std::string>> valid = executor.ValidActions(state);
  if (!valid && valid.error().kind == ErrorKind::kRejected) return std::vector<std::string>();
  AGENTR_RETURN_IF_ERROR(valid);
  return random.Sample(*std::move(valid), kDraws);
}

// The actions that will probably change something, and the others.
struct ByEffect {
  std::vector<std::string> changing, idle;
};

ByEffect SortByEffect(const TaskFamily& family, const std::vector<Message>& history,
                      std::vector<std::string> actions) {
  const std::vector<bool> unchanged = family.LikelyUnchanged(history, actions);
  ByEffect sorted;
  for (size_t i = 0; i < actions.size(); ++i) {
    (unchanged[i] ? sorted.idle : sorted.changing).push_back(std::move(actions[i]));
  }
  return sorted;
}

void Append(std::vector<std::string>& list, std::vector<std::string> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

// "2 get" for "get 2".
std::string WordsReversed(std::string_view text) {
  std::string reversed;
  while (!text.empty()) {
    const size_t blank = text.rfind(' ');
    const size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
    reversed += reversed.empty() ? "" : " ";
    reversed += text.substr(begin);
    text = text.substr(0, begin == 0 ? 0 : blank);
  }
  return reversed;
}

// Each action once, without `said`.
std::vector<std::string> Distinct(std::vector<std::string> actions, const std::string& said) {
  std::vector<std::string> distinct;
  for (std::string& action : actions) {
    if (action.empty() || action == said) continue;
    if (std::ranges::find(distinct, action) == distinct.end()) {
      distinct.push_back(std::move(action));
    }
  }
  return distinct;
}

}  // namespace

void Declare(OptionSet& set, SlipOptions& o) {
  set.Add("--slip", o.probability,
          "Probability that the environment gets another action than the one the agent said")
      .Range(0, 1);
  set.AddNamed("--slip_kind", o.kind, kSlipKinds,
               "That action: plausible (of another sample of this model), random (any that the "
               "environment takes there), refused (one that it refuses) or lost (none: the reply "
               "says that nothing happened)");
  set.AddNamed("--slip_shown", o.shown, kSlipShown,
               "What the conversation shows of it: done (that action as the agent's own, with the "
               "agent's thought) or said (what the agent said)");
}

void CheckSlips(const SlipOptions& options, std::string_view task) {
  if (options.probability == 0 || options.kind != SlipKind::kRandom) return;
  const TaskKind& kind = TaskKindOf(task);
  if (kind.policy || kind.snapping) return;
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("--slip_kind random: {} names no actions that could be taken instead; "
                  "list them in its task file (examples or offered), or choose another "
                  "--slip_kind",
                  task));
}

Result<std::vector<std::string>> SlipCandidates(SlipKind kind, const SlipPlace& place,
                                                const std::string& said,
                                                const std::vector<std::string>& earlier,
                                                RandomStream& random) {
  const auto& [family, executor, state, task_id, revision_action] = place;
  std::vector<std::string> actions;
  if (kind == SlipKind::kRandom) {
    AGENTR_ASSIGN_OR_RETURN(actions, ListedActions(family, executor, state, random));
  } else {
    actions = random.Sample(earlier, kDraws);
  }
  if (kind == SlipKind::kRefused || actions.empty()) {
    AGENTR_ASSIGN_OR_RETURN(std::vector<std::string> drawn,
                            DrawActions(family, executor, state, task_id,
                                        /*mistakes=*/kind == SlipKind::kRefused, random));
    Append(actions, std::move(drawn));
  }
  ByEffect sorted =
      SortByEffect(family, executor.History(state), Distinct(std::move(actions), said));
  if (kind == SlipKind::kRandom) {
    Append(sorted.changing, std::move(sorted.idle));
    return std::move(sorted.changing);
  }
  Append(sorted.idle, {WordsReversed(said), said + " " + said});
  Append(sorted.idle, std::move(sorted.changing));
  return Distinct(std::move(sorted.idle), said);
}

Result<bool> MaySlipTo(SlipKind kind, const SlipPlace& place, const std::string& action,
                       const std::string& said) {
  if (action.empty() || action == said || action == place.revision_action) return false;
  AGENTR_RETURN_IF_ERROR(place.executor.Execute(place.state, {action}, /*last_turn=*/false));
  const StateTree::Transition& taken = *place.executor.states().Find(place.state, action);
  if (taken.result.done || taken.result.reward < 0) return false;
  const bool refused = place.family.IsRefusal(place.executor.Seen(place.state), action,
                                              OneLine(taken.result.observation));
  return kind == SlipKind::kRefused ? refused : !refused && taken.state != place.state;
}

Result<std::optional<Substitute>> FindSubstitute(SlipKind kind, const SlipPlace& place,
                                                 std::string_view response, const std::string& said,
                                                 const std::vector<std::string>& earlier,
                                                 RandomStream& random) {
  AGENTR_ASSIGN_OR_RETURN(std::vector<std::string> actions,
                          SlipCandidates(kind, place, said, earlier, random));
  for (std::string& action : actions) {
    std::string text = WithAction(place.family, response, said, action);
    // No agent could have said what the family reads in another way.
    if (place.family.ParseAction(text) != action) continue;
    AGENTR_ASSIGN_OR_RETURN(const bool suitable, MaySlipTo(kind, place, action, said));
    if (suitable) return Substitute{std::move(action), std::move(text)};
  }
  return std::nullopt;
}

std::string WithAction(const TaskFamily& family, std::string_view response, std::string_view said,
                       const std::string& action) {
  constexpr std::string_view kLabel = "Action:";
  const size_t at = said.empty() ? std::string_view::npos : response.rfind(said);
  std::vector<std::string> texts;
  if (at != std::string_view::npos) {
    texts.push_back(
        fmt::format("{}{}{}", response.substr(0, at), action, response.substr(at + said.size())));
  }
  if (const size_t label = response.rfind(kLabel); label != std::string_view::npos) {
    texts.push_back(fmt::format("{} {}", response.substr(0, label + kLabel.size()), action));
  }
  texts.push_back(fmt::format("{} {}", kLabel, action));
  for (const std::string& text : texts) {
    if (family.ParseAction(text) == action) return text;
  }
  return action;
}

}  // namespace agentr
