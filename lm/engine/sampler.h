// Samples tokens from logits.
//
// Every function depends only on its arguments; a Sampler keeps only scratch memory between calls.
// Each Sampler is used by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/random.h"
#include "lm/engine/generation.h"

namespace agentr {

// A token that can be drawn.
struct Candidate {
  int32_t token = 0;
  float weight = 0;  // proportional to its probability; the most probable token's is 1
};

struct SampledToken {
  int32_t token = 0;
  float logprob = 0;  // of the model's own distribution
  std::vector<TokenLogprob>
      alternatives;  // the most probable tokens of the model's own distribution
};

// The tokens with the `count` greatest values, greatest first; among equals the lower id first.
// Candidate::weight is the value. Costs one comparison for most values.
std::vector<Candidate> TopK(std::span<const float> values, size_t count);

// Draws one of `candidates` (at least one) in proportion to its weight. Takes one number from
// `random`.
int32_t Draw(std::span<const Candidate> candidates, RandomStream& random);

// How the error begins that a request gets for logits that are NaN or have no finite maximum.
inline constexpr std::string_view kLogitsNotFinite = "its logits are not finite";

// Throws std::runtime_error for logits that are NaN or have no finite maximum.
class Sampler {
 public:
  // The tokens of a row of logits that remain after the filters of `params`, in no particular
  // order. `history`: prompt and completion so far. At temperature 0 only the token with the
  // greatest logit remains; among equals, the lowest id.
  std::span<const Candidate> FilterLogits(std::span<const float> logits,
                                          const SamplingParams& params,
                                          std::span<const int32_t> history);

  // ln of the sum of exp(logit): ln p(token) = logits[token] - LogSumExp(logits).
  double LogSumExp(std::span<const float> logits);

  // The next token after `history`, with `top_logprobs` alternatives.
  SampledToken Sample(std::span<const float> logits, const SamplingParams& params,
                      std::span<const int32_t> history, RandomStream& random, int top_logprobs);

 private:
  std::span<const float> Penalise(std::span<const float> logits, double penalty,
                                  std::span<const int32_t> history);
  double Weigh(std::span<const float> logits, float greatest, double temperature);
  void KeepNucleus(double mass);
  void Gather(double least, size_t vocabulary);

  std::vector<float> penalised_;
  std::vector<float> weights_;  // exp((logit - greatest) / temperature), filled up with zeros
  std::vector<Candidate> candidates_;
  std::optional<double>
      own_log_sum_exp_;  // set if FilterLogits already computed the LogSumExp of the original row
};

}  // namespace agentr
