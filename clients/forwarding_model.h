// A language model that hands every call on to another one: the base of models that add something.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

class ForwardingModel : public LanguageModel {
 public:
  // `inner` outlives it.
  explicit ForwardingModel(LanguageModel& inner) : inner_(inner) {}

  std::string name() const override { return inner_.name(); }
  std::string identity() const override { return inner_.identity(); }
  Result<PreparedPrompt> Prepare(std::vector<Message> conversation,
                                 SampledIds sampled = {}) const override {
    return inner_.Prepare(std::move(conversation), sampled);
  }
  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override {
    return inner_.Complete(prompt, n, sampling);
  }
  Result<CompletionBatch> CompletePrepared(const PreparedPrompt& prompt, int n,
                                           const SamplingParams& sampling) override {
    return inner_.CompletePrepared(prompt, n, sampling);
  }

 protected:
  LanguageModel& inner_;
};

}  // namespace agentr
