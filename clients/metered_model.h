// A language model that adds up what its requests cost.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

// Thread-safe.
class MeteredModel : public LanguageModel {
 public:
  // `inner` outlives it.
  explicit MeteredModel(LanguageModel& inner) : inner_(inner) {}

  std::string name() const override { return inner_.name(); }
  std::string identity() const override { return inner_.identity(); }
  Result<PreparedPrompt> Prepare(std::vector<Message> conversation,
                                 SampledIds sampled = {}) const override;
  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override;
  Result<CompletionBatch> CompletePrepared(const PreparedPrompt& prompt, int n,
                                           const SamplingParams& sampling) override;

  // Of the requests that succeeded.
  Usage usage() const;

 private:
  Result<CompletionBatch> Count(Result<CompletionBatch> batch);

  LanguageModel& inner_;
  mutable std::mutex mutex_;
  Usage usage_;  // guarded by mutex_
};

}  // namespace agentr
