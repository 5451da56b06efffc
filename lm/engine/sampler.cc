#include "lm/engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "lm/kernels/kernels.h"

namespace agentr {
namespace {

bool Before(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

float Maximum(std::span<const float> values) {
  float lanes[16];
  std::fill_n(lanes, 16, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + 16 <= values.size(); i += 16) {
    for (size_t j = 0; j < 16; ++j) lanes[j] = values[i + j] > lanes[j] ? values[i + j] : lanes[j];
  }
  float maximum = *std::max_element(lanes, lanes + 16);
  for (; i < values.size(); ++i) maximum = std::max(maximum, values[i]);
  return maximum;
}

void RequireFinite(double value) {
  if (std::isfinite(value)) return;
  throw std::runtime_error(std::string(kLogitsNotFinite) +
                           "; a wider --dtype or other weights may help");
}

float FiniteMaximum(std::span<const float> logits) {
  const float maximum = Maximum(logits);
  RequireFinite(maximum);
  return maximum;
}

}  // namespace

std::vector<Candidate> TopK(std::span<const float> values, size_t count) {
  count = std::min(count, values.size());
  std::vector<Candidate> heap;  // a heap with the smallest kept value at the front
  heap.reserve(count);
  for (size_t i = 0; i < count; ++i) heap.push_back({static_cast<int32_t>(i), values[i]});
  std::make_heap(heap.begin(), heap.end(), Before);
  for (size_t i = count; count > 0 && i < values.size(); ++i) {
    if (!(values[i] > heap.front().weight)) continue;  // among equals the lower id was kept first
    std::pop_heap(heap.begin(), heap.end(), Before);
    heap.back() = {static_cast<int32_t>(i), values[i]};
    std::push_heap(heap.begin(), heap.end(), Before);
  }
  std::sort_heap(heap.begin(), heap.end(), Before);
  return heap;
}

int32_t Draw(std::span<const Candidate> candidates, RandomStream& random) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  double rest = random.Uniform() * total;
  for (const Candidate& candidate : candidates) {
    rest -= candidate.weight;
    if (rest < 0) return candidate.token;
  }
  return candidates.back().token;  // reached only by rounding
}

// Makes tokens of the history less probable: a positive logit is divided and a negative one
// multiplied, once per token however often it occurred.
std::span<const float> Sampler::Penalise(std::span<const float> logits, double penalty,
                                         std::span<const int32_t> history) {
  if (penalty == 1) return logits;
  penalised_.assign(logits.begin(), logits.end());
  for (const int32_t token : history) {
    const double logit = logits[static_cast<size_t>(token)];
    penalised_[static_cast<size_t>(token)] =
        static_cast<float>(logit > 0 ? logit / penalty : logit * penalty);
  }
  return penalised_;
}

// Fills weights_ and returns their sum.
double Sampler::Weigh(std::span<const float> logits, float greatest, double temperature) {
  const size_t padded = (logits.size() + kLanes - 1) / kLanes * kLanes;
  weights_.resize(padded);
  std::copy(logits.begin(), logits.end(), weights_.begin());
  std::fill(weights_.begin() + static_cast<std::ptrdiff_t>(logits.size()), weights_.end(),
            -std::numeric_limits<float>::infinity());
  const float factor =
      static_cast<float>(std::min(1 / temperature, double{std::numeric_limits<float>::max()}));
  const double total =
      KernelsOf(ActiveSimd())
          .exponentials(weights_.data(), static_cast<int>(padded), greatest, factor);
  RequireFinite(total);
  return total;
}

// Keeps the shortest prefix of the ordered candidates that has the probability mass.
void Sampler::KeepNucleus(double mass) {
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates_.size() && sum < mass) sum += candidates_[kept++].weight;
  candidates_.resize(std::max<size_t>(kept, 1));
}

void Sampler::Gather(double least, size_t vocabulary) {
  candidates_.resize(vocabulary);
  size_t kept = 0;
  for (size_t i = 0; i < vocabulary; ++i) {
    candidates_[kept] = {static_cast<int32_t>(i), weights_[i]};
    kept += weights_[i] > 0 && weights_[i] >= least;
  }
  candidates_.resize(kept);
}

std::span<const Candidate> Sampler::FilterLogits(std::span<const float> logits,
                                                 const SamplingParams& params,
                                                 std::span<const int32_t> history) {
  const std::span<const float> row = Penalise(logits, params.repetition_penalty, history);
  const float greatest = FiniteMaximum(row);
  own_log_sum_exp_.reset();
  if (params.temperature == 0) {
    const auto best = std::find(row.begin(), row.end(), greatest);
    candidates_.assign(1, {static_cast<int32_t>(best - row.begin()), 1.0f});
    return candidates_;
  }
  const double total = Weigh(row, greatest, params.temperature);
  const bool own = params.temperature == 1 && params.repetition_penalty == 1;
  if (own) own_log_sum_exp_ = greatest + std::log(total);
  const double vocabulary = static_cast<double>(row.size());
  if (params.top_k > 0 && params.top_k < vocabulary) {
    candidates_ = TopK(std::span(weights_).first(row.size()), static_cast<size_t>(params.top_k));
    double mass = 0;
    for (const Candidate& candidate : candidates_) mass += candidate.weight;
    if (params.top_p < 1) KeepNucleus(params.top_p * mass);
    std::erase_if(candidates_, [&](const Candidate& candidate) {
      return candidate.weight <= 0 || candidate.weight < params.min_p;
    });
  } else if (params.top_p < 1) {
    // The tokens with a probability below (1 - top_p) / vocabulary have at most 1 - top_p together,
    // so the nucleus is among the others, which are usually few.
    Gather(std::max(params.min_p, (1 - params.top_p) * total / vocabulary), row.size());
    std::sort(candidates_.begin(), candidates_.end(), Before);
    KeepNucleus(params.top_p * total);
  } else {
    Gather(params.min_p, row.size());
  }
  return candidates_;
}

double Sampler::LogSumExp(std::span<const float> logits) {
  const float greatest = FiniteMaximum(logits);
  return greatest + std::log(Weigh(logits, greatest, 1));
}

SampledToken Sampler::Sample(std::span<const float> logits, const SamplingParams& params,
                             std::span<const int32_t> history, RandomStream& random,
                             int top_logprobs) {
  SampledToken sampled;
  sampled.token = Draw(FilterLogits(logits, params, history), random);
  const double log_sum = own_log_sum_exp_ ? *own_log_sum_exp_ : LogSumExp(logits);
  sampled.logprob = static_cast<float>(logits[static_cast<size_t>(sampled.token)] - log_sum);
  for (const auto& [token, logit] : TopK(logits, static_cast<size_t>(top_logprobs))) {
    sampled.alternatives.push_back({token, static_cast<float>(logit - log_sum)});
  }
  return sampled;
}

}  // namespace agentr
