#include "revision/actor_verifier.h"

#include <fmt/core.h>

#include <limits>

#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, JudgeOptions& o) {
  set.Group("Verifier actor");
  set.Add("--judge_temperature", o.temperature, "Temperature of judgements").Range(0, 10);
  set.Add("--judge_max_new_tokens", o.max_new_tokens, "Most new tokens of a judgement").Min(1);
  set.Add("--judge_ahead", o.ahead, "Steps of one path judged at once; the first bad one counts")
      .Range(1, 64);
}

Result<StepJudgement> ActorVerifier::Judge(const PathPair& /*pair*/, int node) {
  Sampling sampling;
  sampling.temperature = options_.temperature;
  sampling.max_tokens = options_.max_new_tokens;
  sampling.seed = random_.Split(static_cast<uint64_t>(node)).Next();
  sampling.task = tree_.origin().task;
  const int64_t room = options_.max_context == 0 ? std::numeric_limits<int64_t>::max()
                                                 : options_.max_context - options_.max_new_tokens;
  std::string refusal;
  for (int dropped = 0; dropped < tree_.node(node).depth; ++dropped) {
    const std::vector<Message> question = prompt_.Ask(tree_, node, dropped);
    if (model_.CountTokens(question) > room) continue;
    Result<CompletionBatch> answer = model_.Complete(question, 1, sampling);
    if (answer && !answer->completions.empty()) {
      return ParseJudgement(answer->completions.front().text);
    }
    if (answer) return Fail(ErrorKind::kProtocol, "the model returned no completion");
    if (answer.error().kind != ErrorKind::kContextLength) {
      return tl::make_unexpected(answer.error());
    }
    refusal = "; the model says: " + answer.error().message;
  }
  return Fail(
      ErrorKind::kContextLength,
      fmt::format("the question about one step alone does not fit into a context of {} with "
                  "{} new tokens; raise --max_context{}",
                  options_.max_context, options_.max_new_tokens, refusal));
}

}  // namespace agentr
