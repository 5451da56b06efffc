#include "lm/engine/scoring.h"

namespace agentr {
namespace {

std::vector<int32_t> AllButTheLast(const ScoreRequest& request) {
  std::vector<int32_t> tokens = request.prompt;
  tokens.insert(tokens.end(), request.continuation.begin(), request.continuation.end() - 1);
  return tokens;
}

}  // namespace

std::optional<Error> Check(const ScoreRequest& request, const DecoderShape& shape) {
  if (request.prompt.empty()) {
    return Error{ErrorKind::kRejected, "the prompt must have at least one token"};
  }
  const auto positions = static_cast<int64_t>(request.prompt.size() + request.continuation.size());
  auto error = CheckTokens(request.prompt, positions, shape);
  return error ? error : CheckTokens(request.continuation, positions, shape);
}

ScoreJob::ScoreJob(ScoreRequest request, std::shared_ptr<std::atomic<bool>> cancelled)
    : TypedJob(std::move(cancelled), static_cast<int64_t>(request.prompt.size())) {
  sequences.push_back(std::make_unique<Scoring>(*this, std::move(request)));
}

ContinuationScores ScoreJob::TakeResult() {
  return {static_cast<Scoring&>(*sequences.front()).TakeLogprobs(), weights_version};
}

Scoring::Scoring(Job& job, ScoreRequest request)
    : Sequence(job, AllButTheLast(request)), continuation_(std::move(request.continuation)) {}

int32_t Scoring::first_logits() const {
  return static_cast<int32_t>(job().prompt_tokens() - 1 + std::ssize(logprobs_));
}

void Scoring::ConsumeLogits(std::span<const float> rows, Sampler& sampler) {
  const size_t count = static_cast<size_t>(table.tokens() - first_logits());
  const size_t vocabulary = rows.size() / count;
  for (; !rows.empty(); rows = rows.subspan(vocabulary)) {
    const std::span<const float> row = rows.first(vocabulary);
    const auto token = static_cast<size_t>(continuation_[logprobs_.size()]);
    logprobs_.push_back(static_cast<float>(row[token] - sampler.LogSumExp(row)));
  }
}

}  // namespace agentr
