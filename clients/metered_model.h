// A language model that adds up what its requests cost.
#pragma once

#include <mutex>
#include <span>

#include "clients/forwarding_model.h"

namespace agentr {

// Thread-safe.
class MeteredModel : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;

  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override;
  Result<CompletionBatch> CompletePrepared(const PreparedPrompt& prompt, int n,
                                           const SamplingParams& sampling) override;

  // Of the requests that succeeded.
  Usage usage() const;

 private:
  Result<CompletionBatch> Count(Result<CompletionBatch> batch);

  mutable std::mutex mutex_;
  Usage usage_;  // guarded by mutex_
};

}  // namespace agentr
