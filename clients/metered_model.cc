#include "clients/metered_model.h"

namespace agentr {

Result<CompletionBatch> MeteredModel::Complete(std::span<const Message> prompt, int n,
                                               const SamplingParams& sampling) {
  return Count(inner_.Complete(prompt, n, sampling));
}

Result<CompletionBatch> MeteredModel::CompletePrepared(const PreparedPrompt& prompt, int n,
                                                       const SamplingParams& sampling) {
  return Count(inner_.CompletePrepared(prompt, n, sampling));
}

Usage MeteredModel::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

Result<CompletionBatch> MeteredModel::Count(Result<CompletionBatch> batch) {
  if (!batch) return batch;
  const std::lock_guard lock(mutex_);
  usage_ += batch->usage;
  return batch;
}

}  // namespace agentr
