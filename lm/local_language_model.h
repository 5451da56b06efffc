// A language model in this process, behind the interface that the search knows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clients/language_model.h"
#include "lm/chat/chat_template.h"
#include "lm/decoder/decoder.h"
#include "lm/engine/engine.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

// What a model consists of, in the order of life: the engine ends before what it uses.
struct LoadedModel {
  std::string name;      // for folders and reports
  std::string identity;  // LanguageModel::identity
  // The identity that the model has with other weights; unset: the one that it has now.
  std::function<std::string(const WeightSource& weights)> identify;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat;
  std::vector<int32_t> stop_tokens;  // that end a turn: the template's and generation_config.json's
  std::unique_ptr<Decoder> decoder;
  std::unique_ptr<Engine> engine;
};

// kContextLength where prompt and max_tokens together are more than the model can hold. (The engine
// would take the request and end completions early, which a search could not tell from a choice.)
Result<void> CheckRoom(const GenerationRequest& request, const DecoderShape& shape);

// Completions tell the ids and log-probabilities of their tokens as sampled, the token that ended
// the turn included, whether or not SamplingParams asks for them. The seed is the one that
// OpenAiModel sends: the same model gives the same completions in process and behind lm_server.
// Thread-safe.
class LocalLanguageModel : public LanguageModel {
 public:
  explicit LocalLanguageModel(LoadedModel model)
      : model_(std::move(model)), identity_(model_.identity) {}

  std::string name() const override { return model_.name; }
  std::string identity() const override;

  // Replaces the weights while requests are under way, and waits until that is done: Engine::Load.
  // The version of the new weights, which completions carry from then on.
  Result<int64_t> Load(const std::shared_ptr<const WeightSource>& weights);

  // kContextLength where prompt and sampling.max_tokens together do not fit; kRejected for roles
  // in an order that the template cannot say.
  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override;

  // Exact. An earlier response goes in as the ids that were sampled for it where they are the same
  // text as the template has there, and end as it does.
  Result<PreparedPrompt> Prepare(std::vector<Message> conversation,
                                 SampledIds sampled = {}) const override;

  Result<CompletionBatch> CompletePrepared(const PreparedPrompt& prompt, int n,
                                           const SamplingParams& sampling) override;

 private:
  const LoadedModel model_;
  mutable std::mutex mutex_;
  std::string identity_;  // guarded by mutex_
};

}  // namespace agentr
