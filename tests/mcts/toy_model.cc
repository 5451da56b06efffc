#include "tests/mcts/toy_model.h"

#include <fmt/core.h>

#include <utility>

#include "common/random.h"
#include "tests/clients/count_tokens.h"

namespace agentr {

Result<CompletionBatch> ToyModel::Complete(std::span<const Message> prompt, int n,
                                           const SamplingParams& sampling) {
  const int now = ++at_once_;
  int most = most_at_once_;
  while (most < now && !most_at_once_.compare_exchange_weak(most, now)) {
  }
  {
    const std::lock_guard lock(mutex_);
    prompts_.emplace_back(prompt.begin(), prompt.end());
    samplings_.push_back(sampling);
  }
  if (wait) wait();
  Result<std::vector<std::string>> texts = Texts(prompt, n, sampling);
  --at_once_;
  if (!texts) return tl::make_unexpected(texts.error());
  CompletionBatch batch;
  batch.usage = {.requests = 1,
                 .retries = 0,
                 .prompt_tokens = CountTokens(*this, prompt),
                 .completion_tokens = n};
  for (std::string& text : *texts) {
    const auto size = static_cast<int32_t>(text.size());
    batch.completions.push_back(
        {std::move(text), finish_reason, {size, 7}, {-0.5F, -1.25F}, 0, reasoning});
  }
  return batch;
}

Result<std::vector<std::string>> ToyModel::Texts(std::span<const Message> prompt, int n,
                                                 const SamplingParams& sampling) const {
  if (reply) return reply(prompt, n);
  RandomStream random(sampling.seed);
  std::vector<std::string> texts;
  for (int i = 0; i < n; ++i) {
    const std::string& action = random.Pick(actions_);
    texts.push_back(Response(action, static_cast<int>(random.Below(2))));
  }
  return texts;
}

Result<PreparedPrompt> ToyModel::Prepare(std::vector<Message> conversation,
                                         SampledIds /*sampled*/) const {
  PreparedPrompt prompt;
  prompt.tokens = 10 * static_cast<int64_t>(conversation.size());
  prompt.messages = std::move(conversation);
  return prompt;
}

std::vector<std::vector<Message>> ToyModel::prompts() const {
  const std::lock_guard lock(mutex_);
  return prompts_;
}

std::vector<SamplingParams> ToyModel::samplings() const {
  const std::lock_guard lock(mutex_);
  return samplings_;
}

std::string ToyModel::Response(const std::string& action, int thought) {
  return fmt::format("Thought: idea {}.\nAction: {}", thought, action);
}

}  // namespace agentr
