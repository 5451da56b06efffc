#include "revision/actor_verifier.h"

#include <limits>
#include <utility>

#include "common/options.h"
#include "rollout/prompt_truncation.h"

namespace agentr {

void Declare(OptionSet& set, JudgeOptions& o) {
  set.Group("Verifier actor");
  set.Add("--judge_temperature", o.temperature, "Temperature of judgements").Range(0, 10);
  set.Add("--judge_max_new_tokens", o.max_new_tokens, "Largest number of new tokens of a judgement")
      .Min(1);
  set.Add("--judge_ahead", o.ahead,
          "Steps of one path judged in parallel; the first bad one counts")
      .Range(1, 64);
}

Result<StepJudgement> ActorVerifier::Judge(const PathPair& /*pair*/, int node) {
  SamplingParams sampling;
  sampling.temperature = options_.temperature;
  sampling.max_tokens = options_.max_new_tokens;
  sampling.seed = random_.Split(static_cast<uint64_t>(node)).Next();
  sampling.task_id = tree_.origin().task_id;
  TruncatableConversation question;
  question.messages = [&](int dropped_turns) { return prompt_.Query(tree_, node, dropped_turns); };
  question.most_dropped = tree_.node(node).depth - 1;
  const int context =
      options_.max_context == 0 ? std::numeric_limits<int>::max() : options_.max_context;
  Result<TruncatedCompletion> answer = CompleteTruncated(model_, question, 1, sampling, context);
  if (!answer) return tl::make_unexpected(std::move(answer.error()));
  if (answer->batch.completions.empty()) {
    return Fail(ErrorKind::kProtocol, "the model returned no completion");
  }
  return ParseJudgement(answer->batch.completions.front().text);
}

}  // namespace agentr
