// Scoring: the log-probabilities of a given continuation.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lm/engine/sequence.h"

namespace agentr {

// The error of a request that can never be answered (see Engine).
std::optional<Error> Check(const ScoreRequest& request, const DecoderShape& shape);

class ScoreJob : public TypedJob<ContinuationScores> {
 public:
  // `request` has passed Check, and its continuation is not empty.
  ScoreJob(ScoreRequest request, std::shared_ptr<std::atomic<bool>> cancelled);

 protected:
  ContinuationScores TakeResult() override;
};

// The last token of the continuation is not computed, because its logits are not needed.
class Scoring : public Sequence {
 public:
  Scoring(Job& job, ScoreRequest request);

  int32_t first_logits() const override;
  bool begun() const override { return false; }
  void ConsumeLogits(std::span<const float> rows, Sampler& sampler) override;
  bool Commit() override { return logprobs_.size() == continuation_.size(); }

  std::vector<float> TakeLogprobs() { return std::move(logprobs_); }

 private:
  std::vector<int32_t> continuation_;
  std::vector<float> logprobs_;  // so far
};

}  // namespace agentr
