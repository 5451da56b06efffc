#include "lm/local_language_model.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "clients/openai/openai_protocol.h"
#include "common/interrupt.h"
#include "lm/engine/completion.h"
#include "lm/engine/sequence.h"
#include "lm/sampled_turns.h"

namespace agentr {
namespace {

constexpr std::chrono::milliseconds kLook(50);  // between two looks for an interrupt

CompletionBatch ToBatch(Generation generation, const SamplingParams& params,
                        const Tokenizer& tokenizer) {
  CompletionBatch batch;
  batch.usage.requests = 1;
  batch.usage.prompt_tokens = generation.prompt_tokens;
  batch.usage.cached_tokens = generation.cached_tokens;
  for (GeneratedSequence& sequence : generation.sequences) {
    if (!params.stop.empty()) LeaveOutStop(tokenizer, sequence);
    batch.usage.completion_tokens += std::ssize(sequence.token_ids) + sequence.left_out;
    batch.completions.push_back({std::move(sequence.text), std::move(sequence.finish_reason),
                                 std::move(sequence.token_ids), std::move(sequence.logprobs),
                                 generation.weights_version});
  }
  return batch;
}

}  // namespace

Result<void> CheckRoom(const GenerationRequest& request, const DecoderShape& shape) {
  const int64_t prompt = std::ssize(request.prompt);
  if (prompt + request.params.max_tokens <= Capacity(shape)) return {};
  return Fail(ErrorKind::kContextLength,
              fmt::format("{} tokens of the prompt and {} new ones exceed the maximum context "
                          "length of {}; shorten the prompt or request fewer tokens",
                          prompt, request.params.max_tokens, Capacity(shape)));
}

std::string LocalLanguageModel::identity() const {
  const std::lock_guard lock(mutex_);
  return identity_;
}

Result<int64_t> LocalLanguageModel::Load(const std::shared_ptr<const WeightSource>& weights) {
  std::string identity = model_.identify ? model_.identify(*weights) : model_.identity;
  Result<int64_t> version = model_.engine->Load(weights).Wait();
  if (!version) return version;
  const std::lock_guard lock(mutex_);
  identity_ = std::move(identity);
  return version;
}

Result<CompletionBatch> LocalLanguageModel::Complete(std::span<const Message> prompt, int n,
                                                     const SamplingParams& sampling) {
  AGENTR_ASSIGN_OR_RETURN(const PreparedPrompt prepared, Prepare({prompt.begin(), prompt.end()}));
  return CompletePrepared(prepared, n, sampling);
}

Result<PreparedPrompt> LocalLanguageModel::Prepare(std::vector<Message> conversation,
                                                   SampledIds sampled) const {
  AGENTR_ASSIGN_OR_RETURN(ChatTokens chat, model_.chat->Apply(conversation, /*generation=*/true));
  PreparedPrompt prompt = UseSampledIds(std::move(chat), conversation, sampled,
                                        {*model_.tokenizer, model_.chat->stop_tokens()});
  prompt.messages = std::move(conversation);
  return prompt;
}

Result<CompletionBatch> LocalLanguageModel::CompletePrepared(const PreparedPrompt& prompt, int n,
                                                             const SamplingParams& sampling) {
  GenerationRequest request;
  request.prompt = prompt.ids;
  request.n = n;
  request.params = sampling;
  request.params.seed = static_cast<uint64_t>(RequestSeed(sampling.seed, /*first=*/0));
  request.stop_tokens = model_.stop_tokens;
  AGENTR_RETURN_IF_ERROR(CheckRoom(request, model_.decoder->shape()));
  Pending<Generation> pending = model_.engine->Generate(std::move(request));
  // A run that is being stopped takes no further turn, and a large model may need minutes for one.
  while (!pending.WaitFor(kLook)) {
    if (Interrupted()) pending.Cancel();
  }
  Result<CompletionBatch> batch = pending.Wait().map([&](Generation generation) {
    return ToBatch(std::move(generation), sampling, *model_.tokenizer);
  });
  if (!batch) return batch;
  batch->usage.reused_turns = prompt.reused_turns;
  batch->usage.reencoded_turns = prompt.reencoded_turns;
  return batch;
}

}  // namespace agentr
