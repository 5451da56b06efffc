#include "revision/find/rollout_verifier.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/options.h"
#include "common/text.h"
#include "revision/find/choice.h"
#include "revision/find/pairing.h"
#include "rollout/cut_turns.h"
#include "rollout/prompt_truncation.h"

namespace agentr {
namespace {

constexpr double kNormal95 = 1.959963984540054;  // quantile of the normal distribution

// The centre of Wilson's interval, and half its width.
std::pair<double, double> Wilson(int successes, int trials) {
  if (trials == 0) return {0.5, 0.5};
  const double n = trials;
  const double share = successes / n;
  const double z2 = kNormal95 * kNormal95;
  const double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      kNormal95 / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  return {middle, half};
}

std::string Said(const ShareEstimate& value) {
  return fmt::format("{} of {} continuations succeed ({:.2f} to {:.2f})", value.successes,
                     value.trials, value.low(), value.high());
}

}  // namespace

double ShareEstimate::low() const {
  const auto [middle, half] = Wilson(successes, trials);
  return std::max(0.0, middle - half);
}

double ShareEstimate::high() const {
  const auto [middle, half] = Wilson(successes, trials);
  return std::min(1.0, middle + half);
}

void Declare(OptionSet& set, RolloutOptions& o) {
  set.Group("Verifier rollout");
  set.Add("--rollouts", o.continuations, "Continuations that the policy plays from each state")
      .Range(1, 1000);
  set.Add("--rollout_steps", o.max_steps, "Largest number of turns of a continuation").Min(1);
  set.Add("--rollout_temperature", o.temperature, "Temperature of continuations").Range(0, 10);
  set.Add("--rollout_max_new_tokens", o.max_new_tokens, "Largest number of new tokens per turn")
      .Min(1);
}

RolloutVerifier::RolloutVerifier(const Tree& tree, const StateMap& states, const TaskFamily& family,
                                 LanguageModel& policy, Replayer& replayer,
                                 const RolloutOptions& options, RandomStream random)
    : tree_(tree),
      states_(states),
      family_(family),
      policy_(policy),
      replayer_(replayer),
      options_(options),
      random_(random) {}

Result<FirstError> RolloutVerifier::Find(const PathPair& pair, double wanted) {
  // The steps that changed something, without the one that ended the episode.
  Result<FirstError> whole = FindFirstError(tree_, pair, nullptr, 1);
  std::vector<int> path = tree_.Path(pair.bad.leaf);
  path.erase(path.begin(), path.begin() + tree_.node(pair.ancestor).depth + 1);
  path.resize(static_cast<size_t>(whole->bad_steps));
  // A refused action is an error without any play; only steps before it can be an earlier error.
  const auto refused = std::ranges::find_if(path, [&](int node) { return states_.Refused(node); });
  const int refused_node = refused == path.end() ? -1 : *refused;
  path.erase(refused, path.end());
  std::erase_if(path, [&](int node) { return !states_.Changed(node); });
  AGENTR_ASSIGN_OR_RETURN(const ShareEstimate before, ValueOf(pair.ancestor, wanted));
  const auto lost = [&](int node) -> Result<bool> {
    AGENTR_ASSIGN_OR_RETURN(const ShareEstimate value, ValueOf(node, wanted));
    return value.high() < before.low();
  };
  // Invariant: path[0 … good) are not lost and path[bad …] are, assuming that values only fall
  // along a bad path.
  size_t good = 0;
  size_t bad = path.size();
  while (good < bad) {
    const size_t middle = good + (bad - good) / 2;
    AGENTR_ASSIGN_OR_RETURN(const bool is_lost, lost(path[middle]));
    (is_lost ? bad : good) = is_lost ? middle : middle + 1;
  }
  if (bad == path.size() && refused_node < 0) return whole;
  if (bad == path.size()) return ErrorAt(pair, refused_node, std::string(kRefusedVerdict));
  // The step itself must cause the fall: the value of the state directly before it must be clearly
  // higher.
  const int last_good = bad == 0 ? pair.ancestor : path[bad - 1];
  AGENTR_ASSIGN_OR_RETURN(const ShareEstimate above, ValueOf(last_good, wanted));
  const ShareEstimate below = *ValueOf(path[bad], wanted);
  const bool parts = below.high() < above.low();
  std::string reason = fmt::format("Before it {}, behind it {}.", Said(above), Said(below));
  const ValueChange values = {above, below};
  if (parts) return ErrorAt(pair, path[bad], std::move(reason), values);
  whole->steps.push_back({path[bad], {Judgement::kUncertain, std::move(reason), true, values}});
  return whole;
}

FirstError RolloutVerifier::ErrorAt(const PathPair& pair, int node, std::string reason,
                                    std::optional<ValueChange> values) const {
  const int steps = tree_.node(node).depth - tree_.node(pair.ancestor).depth;
  return {steps, true, {{node, {Judgement::kBad, std::move(reason), true, values}}}};
}

Result<ShareEstimate> RolloutVerifier::ValueOf(int node, double wanted) {
  std::vector<double>& rewards = rewards_[states_.Of(node)];
  RandomStream random = random_.Split(static_cast<uint64_t>(states_.Of(node)));
  while (static_cast<int>(rewards.size()) < options_.continuations) {
    AGENTR_ASSIGN_OR_RETURN(const double reward, Continue(node, random.Split(rewards.size())));
    rewards.push_back(reward);
  }
  const auto successes =
      std::ranges::count_if(rewards, [&](double reward) { return AtLeast(reward, wanted); });
  return ShareEstimate{static_cast<int>(successes), static_cast<int>(rewards.size())};
}

Result<int> RolloutVerifier::StateFor(int node) {
  std::vector<std::string> actions;
  for (const int at : tree_.Path(node)) {
    if (at != 0 && states_.Changed(at)) actions.push_back(tree_.node(at).action);
  }
  if (actions.empty()) return StateTree::kRoot;
  AGENTR_ASSIGN_OR_RETURN(const ReplayedEpisode episode, replayer_.Run(StateTree::kRoot, actions));
  return episode.back().state;
}

Result<Completion> RolloutVerifier::Respond(std::span<const Message> conversation,
                                            const SamplingParams& sampling) const {
  const size_t opening = tree_.instruction().size() + 1;  // with the first observation
  TruncatableConversation prompt;
  prompt.messages = [&](int dropped_turns) {
    std::vector<Message> messages(conversation.begin(), conversation.end());
    const auto first = messages.begin() + static_cast<std::ptrdiff_t>(opening);
    messages.erase(first, first + 2 * dropped_turns);
    return messages;
  };
  prompt.first_turn = static_cast<int>(opening);
  prompt.most_dropped = static_cast<int>((conversation.size() - opening) / 2);
  return RespondTruncated(policy_, prompt, sampling, options_.max_context);
}

Result<double> RolloutVerifier::Continue(int node, RandomStream random) {
  AGENTR_ASSIGN_OR_RETURN(const int start, StateFor(node));
  int state = start;
  std::vector<Message> conversation = tree_.Conversation(node);
  SamplingParams sampling;
  sampling.temperature = options_.temperature;
  sampling.max_tokens = options_.max_new_tokens;
  sampling.task_id = tree_.origin().task_id;
  double reward = 0;
  for (int turn = 0; turn < options_.max_steps; ++turn) {
    sampling.seed = random.Split(static_cast<uint64_t>(turn)).Next();
    AGENTR_ASSIGN_OR_RETURN(const Completion said, Respond(conversation, sampling));
    if (IsCutTurn(said, family_)) break;
    const std::string action = family_.ParseAction(said.text);
    AGENTR_ASSIGN_OR_RETURN(const ReplayedEpisode step, replayer_.Run(state, {&action, 1}));
    const StepResult& result = step.front().result;
    reward = std::max(result.reward, 0.0);
    if (result.done || result.reward < 0) break;
    state = step.front().state;
    conversation.push_back({"assistant", said.text});
    conversation.push_back({"user", OneLine(result.observation)});
  }
  return reward;
}

}  // namespace agentr
