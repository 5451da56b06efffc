#include "lm/local_language_model.h"

#include <fmt/core.h>

#include <utility>

#include "clients/openai/openai_protocol.h"
#include "lm/engine/sequence.h"

namespace agentr {
namespace {

CompletionBatch ToBatch(Generation generation) {
  CompletionBatch batch;
  batch.usage.requests = 1;
  batch.usage.prompt_tokens = generation.prompt_tokens;
  batch.usage.cached_tokens = generation.cached_tokens;
  for (GeneratedSequence& sequence : generation.sequences) {
    batch.usage.completion_tokens += static_cast<int64_t>(sequence.token_ids.size());
    batch.completions.push_back({std::move(sequence.text), std::move(sequence.finish_reason),
                                 std::move(sequence.token_ids), std::move(sequence.logprobs)});
  }
  return batch;
}

}  // namespace

Result<void> CheckRoom(const GenerationRequest& request, const DecoderShape& shape) {
  const int64_t prompt = std::ssize(request.prompt);
  if (prompt + request.params.max_tokens <= Capacity(shape)) return {};
  return Fail(ErrorKind::kContextLength,
              fmt::format("{} tokens of the prompt and {} new ones are together over the maximum "
                          "context length of {}; shorten the prompt or ask for fewer",
                          prompt, request.params.max_tokens, Capacity(shape)));
}

Result<CompletionBatch> LocalLanguageModel::Complete(std::span<const Message> prompt, int n,
                                                     const SamplingParams& sampling) {
  AGENTR_ASSIGN_OR_RETURN(ChatTokens chat, model_.chat->Apply(prompt, /*generation=*/true));
  GenerationRequest request;
  request.prompt = std::move(chat.ids);
  request.n = n;
  request.params = sampling;
  request.params.seed = static_cast<uint64_t>(RequestSeed(sampling.seed, /*first=*/0));
  request.stop_tokens = model_.stop_tokens;
  AGENTR_RETURN_IF_ERROR(CheckRoom(request, model_.decoder->shape()));
  return model_.engine->Generate(std::move(request)).Wait().map(ToBatch);
}

int64_t LocalLanguageModel::CountTokens(std::span<const Message> prompt) const {
  const Result<ChatTokens> chat = model_.chat->Apply(prompt, /*generation=*/true);
  return chat ? static_cast<int64_t>(chat->ids.size()) : LanguageModel::CountTokens(prompt);
}

}  // namespace agentr
