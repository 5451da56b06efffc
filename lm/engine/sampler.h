// Draws tokens from logits.
//
// Every function depends only on its arguments; a Sampler keeps nothing but scratch memory from one
// call to the next. One thread at a time per Sampler.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/random.h"
#include "lm/engine/generation.h"

namespace agentr {

// A token that may be drawn.
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

// The tokens of the `count` greatest values with these values, greatest first, the lower id first
// among equals. Time: one comparison per value beside those that enter.
std::vector<Candidate> TopK(std::span<const float> values, size_t count);

// One of `candidates` (at least one), by weight. Takes one number of `random`.
int32_t Draw(std::span<const Candidate> candidates, RandomStream& random);

// Logits that have no finite maximum or are not numbers: std::runtime_error.
class Sampler {
 public:
  // The tokens that `params` leave of a row of logits, in no particular order. `history`: prompt
  // and completion so far. At temperature 0 only the greatest logit is left, of equals the lowest
  // id.
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
      own_log_sum_exp_;  // where FilterLogits came by the LogSumExp of the row itself
};

}  // namespace agentr
