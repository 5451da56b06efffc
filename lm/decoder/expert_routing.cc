#include "lm/decoder/expert_routing.h"

#include <algorithm>
#include <cmath>

namespace agentr {

ExpertRouting::ExpertRouting(const ModelConfig& config, int64_t most_rows, int block_rows)
    : experts_(config.experts),
      chosen_(config.token_experts),
      normal_(config.normal_experts),
      block_rows_(block_rows),
      choices_(most_rows * chosen_),
      rows_(most_rows * chosen_) {}

void ExpertRouting::Choose(int64_t row, const float* logits) {
  Choice* const chosen = choices_.data() + row * chosen_;
  const float highest = *std::max_element(logits, logits + experts_);
  float all = 0, sum = 0;
  for (int64_t e = 0; e < experts_; ++e) all += std::exp(logits[e] - highest);
  for (int64_t k = 0; k < chosen_; ++k) {
    int64_t best = -1;
    for (int64_t e = 0; e < experts_; ++e) {
      const auto is_e = [e](const auto& choice) { return choice.expert == e; };
      if (std::any_of(chosen, chosen + k, is_e)) continue;
      if (best < 0 || logits[e] > logits[best]) best = e;
    }
    chosen[k] = {best, std::exp(logits[best] - highest) / all, 0};
    sum += chosen[k].weight;
  }
  for (int64_t k = 0; k < chosen_ && normal_; ++k) chosen[k].weight /= sum;
}

void ExpertRouting::Sort(int64_t rows) {
  ends_.assign(experts_, 0);
  for (int64_t i = 0; i < rows * chosen_; ++i) ++ends_[choices_[i].expert];
  blocks_.clear();
  int64_t entry = 0;
  for (int64_t e = 0; e < experts_; ++e) {
    const int64_t end = entry + ends_[e];
    for (int64_t at = entry; at < end; at += block_rows_) {
      blocks_.push_back({e, at, static_cast<int>(std::min<int64_t>(block_rows_, end - at))});
    }
    ends_[e] = entry;  // grows to its end
    entry = end;
  }
  for (int64_t i = 0; i < rows * chosen_; ++i) {
    Choice& choice = choices_[i];
    choice.entry = ends_[choice.expert]++;
    rows_[choice.entry] = i / chosen_;
  }
}

// An expert has one block more than it has full ones, or none.
int64_t ExpertRouting::MostBlocks(int64_t rows) const {
  const int64_t entries = rows * chosen_;
  return std::min(experts_, entries) + entries / block_rows_;
}

}  // namespace agentr
