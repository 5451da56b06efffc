#include "revision/find/actor_verifier.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "common/options.h"
#include "revision/find/pairing.h"
#include "rollout/prompt_truncation.h"

namespace agentr {

void Declare(OptionSet& set, JudgeOptions& o) {
  set.Group("Verifier actor");
  set.Add("--judge_temperature", o.temperature, "Temperature of judgements").Range(0, 10);
  set.Add("--judge_max_new_tokens", o.max_new_tokens, "Largest number of new tokens of a judgement")
      .Min(1);
  set.Add("--judge_evidence", o.evidence,
          "true: the question also contains how the search's episodes ended that went on after the "
          "step, and those that took another action instead");
  set.Add("--judge_refusals", o.refusals,
          "true: also ask about steps that the environment refused (false: they are bad)");
  set.Add("--judge_ahead", o.ahead,
          "Steps of one path judged in parallel; the first bad one counts")
      .Range(1, 64)
      .OnlySpeed();
}

// In words, for the judge.
std::string ActorVerifier::Evidence(int node) const {
  const auto found = [](int episodes, double best) {
    if (episodes == 0) return std::string("none ended");
    return fmt::format("{} ended, the best with a reward of {:.2f}", episodes, best);
  };
  const Node& step = tree_.node(node);
  int others = 0;
  double best = 0;
  std::set<int> seen = {states_.Of(node)};
  for (const int sibling : tree_.node(step.parent).children) {
    if (!seen.insert(states_.Of(sibling)).second || !states_.Changed(sibling)) continue;
    // A state that ended the episode is an episode itself.
    others += std::max(states_.At(sibling).leaves, states_.At(sibling).ended ? 1 : 0);
    best = std::max(best, states_.At(sibling).best);
  }
  const bool own = states_.Changed(node);
  return fmt::format(
      "\n\nWhat was tried from there on: of the episodes that went on behind this step, {}; of "
      "those "
      "that took another action in its place, {}.",
      found(own ? states_.At(node).leaves : 0, states_.At(node).best), found(others, best));
}

Result<StepJudgement> ActorVerifier::Judge(const PathPair& /*pair*/, int node) {
  if (!options_.refusals && states_.Refused(node)) {
    return StepJudgement{Judgement::kBad, std::string(kRefusedVerdict), true};
  }
  SamplingParams sampling;
  sampling.temperature = options_.temperature;
  sampling.max_tokens = options_.max_new_tokens;
  sampling.seed = random_.Split(static_cast<uint64_t>(node)).Next();
  sampling.task_id = tree_.origin().task_id;
  TruncatableConversation question;
  const std::string evidence = options_.evidence ? Evidence(node) : "";
  question.messages = [&](int dropped_turns) {
    return prompt_.Query(tree_, node, dropped_turns, evidence);
  };
  question.most_dropped = tree_.node(node).depth - 1;
  AGENTR_ASSIGN_OR_RETURN(const Completion answer,
                          RespondTruncated(model_, question, sampling, options_.max_context));
  return ParseJudgement(answer.text);
}

}  // namespace agentr
