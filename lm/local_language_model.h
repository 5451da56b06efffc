// A language model in this process, behind the interface that the search knows.
#pragma once

#include <cstdint>
#include <memory>
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
  explicit LocalLanguageModel(LoadedModel model) : model_(std::move(model)) {}

  std::string name() const override { return model_.name; }
  std::string identity() const override { return model_.identity; }

  // kContextLength where prompt and sampling.max_tokens together do not fit; kRejected for roles
  // in an order that the template cannot say.
  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override;

  // Exact; for a conversation that Complete would reject, the estimate of the interface.
  int64_t CountTokens(std::span<const Message> prompt) const override;

 private:
  const LoadedModel model_;
};

}  // namespace agentr
