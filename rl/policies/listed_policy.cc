#include "rl/policies/listed_policy.h"

#include <algorithm>
#include <cmath>

#include "training/model/divergence.h"

namespace agentr {
namespace {

using at::Tensor;

// The index that `share` of the probability mass of a row reaches.
int64_t IndexAt(const float* log_probs, int64_t count, double share) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += std::exp(static_cast<double>(log_probs[i]));
    if (share < sum) return i;
  }
  return count - 1;  // rounding
}

}  // namespace

Mlp MakeValueHead(int64_t width, int64_t hidden, Activation activation, uint64_t seed) {
  Mlp head("value_head", {width, hidden, hidden, 1}, activation, seed);
  head.Train();
  return head;
}

ListedPolicy::ListedPolicy(PolicyModel& policy, Mlp* head,
                           std::span<const std::string_view> actions, ProcessGroup* group)
    : policy_(policy), head_(head), group_(group) {
  for (const std::string_view action : actions) {
    actions_.push_back(policy.ActionIds(action, /*listed=*/true));
  }
}

ListedPolicy::Scores ListedPolicy::Score(std::span<const std::vector<int32_t>> prompts, bool keep) {
  std::vector<TrainingRow> rows;
  std::vector<RowToken> states;
  for (const std::vector<int32_t>& prompt : prompts) {
    if (head_ != nullptr) {
      states.push_back({rows.size(), static_cast<int32_t>(prompt.size()) - 1});
    }
    for (const std::vector<int32_t>& action : actions_) rows.push_back(ActionRow(prompt, action));
  }
  auto pass = std::make_unique<SharedPass>(group_, policy_.network(), rows, states, keep);
  tokens_ += pass->tokens();
  const auto count = static_cast<int64_t>(prompts.size());
  Scores result;
  result.scores = pass->log_probs().view({count, static_cast<int64_t>(actions_.size())});
  result.values =
      head_ != nullptr ? head_->Forward(pass->states(), keep).squeeze(1) : at::zeros({count});
  if (keep) pass_ = std::move(pass);
  return result;
}

void ListedPolicy::Backward(const Tensor& by_scores, const Tensor& by_values) {
  Tensor by_states;
  if (head_ != nullptr) by_states = head_->Backward(by_values.unsqueeze(1));
  pass_->Backward(by_scores.reshape({-1}), by_states);
  pass_.reset();
}

std::vector<Choice> ChooseListed(std::span<const std::string_view> actions, const Tensor& scores,
                                 const Tensor& values, const RandomStream& random, bool greedy) {
  RequireFinite(scores, "the scores of the actions");
  RequireFinite(values, "the values of the states");
  const Tensor log_probs = at::log_softmax(scores, 1).contiguous();
  const int64_t count = log_probs.size(1);
  std::vector<Choice> choices;
  for (int64_t row = 0; row < log_probs.size(0); ++row) {
    const float* of = log_probs.data_ptr<float>() + row * count;
    const int64_t chosen =
        greedy ? std::max_element(of, of + count) - of
               : IndexAt(of, count, random.Split(static_cast<uint64_t>(row)).Uniform());
    choices.push_back({std::string(actions[static_cast<size_t>(chosen)]),
                       {},
                       {of[chosen]},
                       static_cast<int32_t>(chosen),
                       values[row].item<float>()});
  }
  return choices;
}

std::vector<Choice> ListedPolicy::Act(const World& world,
                                      std::span<const std::vector<int32_t>> prompts,
                                      const RandomStream& random) {
  const Scores scores = Score(prompts, /*keep=*/false);
  std::vector<Choice> choices =
      ChooseListed(world.actions(), scores.scores, scores.values, random, greedy_);
  for (Choice& choice : choices) choice.tokens = actions_[static_cast<size_t>(choice.listed)];
  return choices;
}

}  // namespace agentr
