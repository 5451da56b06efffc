#include "rollout/prompt_truncation.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace agentr {
namespace {

// Tolerance in tokens: where turns are removed, neighbouring text may be tokenised differently, so
// the rest may be longer or shorter than the message positions predict.
constexpr int64_t kMergedTokens = 8;

Result<PreparedPrompt> Prepare(const LanguageModel& model,
                               const TruncatableConversation& conversation, int dropped) {
  if (!conversation.sampled) return model.Prepare(conversation.messages(dropped));
  return model.Prepare(conversation.messages(dropped), conversation.sampled(dropped));
}

// The number of turns to drop next, after `prompt` was too long for `room` with `dropped` turns
// left out.
int NextToDrop(const PreparedPrompt& prompt, const TruncatableConversation& conversation,
               int dropped, int64_t room) {
  if (conversation.first_turn < 0) return dropped + 1;
  const std::vector<size_t>& begins = prompt.message_begins;
  const auto first = static_cast<size_t>(conversation.first_turn);
  for (int more = 1; dropped + more < conversation.most_dropped; ++more) {
    const size_t kept = first + 2 * static_cast<size_t>(more);
    if (kept >= begins.size()) return dropped + 1;
    const auto saved = static_cast<int64_t>(begins[kept] - begins[first]);
    if (prompt.tokens - saved <= room + kMergedTokens) return dropped + more;
  }
  return std::max(dropped + 1, conversation.most_dropped);
}

}  // namespace

Result<TruncatedCompletion> CompleteTruncated(LanguageModel& model,
                                              const TruncatableConversation& conversation, int n,
                                              const SamplingParams& sampling, ContextLimit limit) {
  const int64_t room = limit.tokens - sampling.max_tokens;
  const auto less = static_cast<int64_t>((1 - limit.slack) * static_cast<double>(room));
  int64_t wanted = room;  // until it proves too little
  std::string refusal;
  for (int dropped = conversation.least_dropped; dropped <= conversation.most_dropped;) {
    AGENTR_ASSIGN_OR_RETURN(const PreparedPrompt prompt, Prepare(model, conversation, dropped));
    if (prompt.tokens > (dropped == conversation.most_dropped ? room : wanted)) {
      wanted = less;
      dropped = NextToDrop(prompt, conversation, dropped, wanted);
      continue;
    }
    Result<CompletionBatch> batch = model.CompletePrepared(prompt, n, sampling);
    if (batch) return TruncatedCompletion{std::move(*batch), dropped};
    if (batch.error().kind != ErrorKind::kContextLength) {
      return tl::make_unexpected(std::move(batch.error()));
    }
    refusal = "; the model says: " + batch.error().message;
    ++dropped;
  }
  return Fail(ErrorKind::kContextLength,
              fmt::format("the shortest possible prompt leaves no room for {} new tokens in a "
                          "context of {}; raise --max_context or lower --max_new_tokens{}",
                          sampling.max_tokens, limit.tokens, refusal));
}

Result<Completion> RespondTruncated(LanguageModel& model,
                                    const TruncatableConversation& conversation,
                                    const SamplingParams& sampling, int max_context) {
  const int context = max_context == 0 ? std::numeric_limits<int>::max() : max_context;
  AGENTR_ASSIGN_OR_RETURN(TruncatedCompletion answer,
                          CompleteTruncated(model, conversation, 1, sampling, {context}));
  if (answer.batch.completions.empty()) {
    return Fail(ErrorKind::kProtocol, "the model returned no completion");
  }
  return std::move(answer.batch.completions.front());
}

}  // namespace agentr
