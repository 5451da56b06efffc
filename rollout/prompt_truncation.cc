#include "rollout/prompt_truncation.h"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace agentr {

void CheckContext(int max_context, int max_new_tokens) {
  if (max_new_tokens < max_context) return;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--max_context {} has no room for a prompt beside --max_new_tokens "
                               "{}: raise the one or lower the other",
                               max_context, max_new_tokens));
}

Result<TruncatedCompletion> CompleteTruncated(LanguageModel& model,
                                              const TruncatableConversation& conversation, int n,
                                              const SamplingParams& sampling, int max_context) {
  const int64_t room = max_context - sampling.max_tokens;
  std::string refusal;
  for (int dropped = conversation.least_dropped; dropped <= conversation.most_dropped; ++dropped) {
    const std::vector<Message> prompt = conversation.messages(dropped);
    if (model.CountTokens(prompt) > room) continue;
    Result<CompletionBatch> batch = model.Complete(prompt, n, sampling);
    if (batch) return TruncatedCompletion{std::move(*batch), dropped};
    if (batch.error().kind != ErrorKind::kContextLength) {
      return tl::make_unexpected(std::move(batch.error()));
    }
    refusal = "; the model says: " + batch.error().message;
  }
  return Fail(ErrorKind::kContextLength,
              fmt::format("what has to be seen leaves no room for {} new tokens in a context of "
                          "{}; raise --max_context or lower --max_new_tokens{}",
                          sampling.max_tokens, max_context, refusal));
}

}  // namespace agentr
