#include "rl/policies/policy_model.h"

#include <fmt/format.h>

#include "rl/agent_rl.h"

namespace agentr {
namespace {

constexpr size_t kRoomForAction = 128;  // tokens of the context that prompts leave free

}  // namespace

// What plays computes in float32: probabilities of the sampler and of the update must agree to
// 1e-4.
PolicyModel::PolicyModel(const AgentRlOptions& o)
    : config_(ReadModelConfig(o.start.dir)),
      tokenizer_(Tokenizer::Load(o.start.dir)),
      tokens_{TokenizerHash(o.start.dir), config_.vocab_size},
      network_(config_, *FirstWeights(o.start, config_, o.seed),
               {.type = o.dtype == "bfloat16" ? at::kBFloat16 : at::kFloat}) {
  RequireRows(*tokenizer_, config_.vocab_size, o.start.dir);
  if (o.lora.rank > 0) {
    network_.TrainAdapters(o.lora, o.seed);
  } else {
    network_.TrainAll();
  }
}

std::vector<int32_t> PolicyModel::PromptIds(std::string_view text) const {
  std::vector<int32_t> ids = tokenizer_->Encode(text, SpecialText::kPlain);
  const size_t context = static_cast<size_t>(config_.max_context);
  const size_t most = context > 2 * kRoomForAction ? context - kRoomForAction : context / 2;
  if (ids.size() > most) ids.erase(ids.begin(), ids.end() - static_cast<int64_t>(most));
  return ids;
}

std::vector<int32_t> PolicyModel::ActionIds(std::string_view text, bool listed) const {
  const std::string whole = listed ? std::string(text) : std::string(text) + "\n";
  return tokenizer_->Encode(whole, SpecialText::kPlain);
}

std::shared_ptr<const WeightSnapshot> PolicyModel::Snapshot(int64_t version) const {
  return std::make_shared<WeightSnapshot>(fmt::format("policy after {} steps", version),
                                          network_.merged(), WeightType::kF32);
}

TrainingRow ActionRow(const std::vector<int32_t>& prompt, const std::vector<int32_t>& action,
                      float weight) {
  TrainingRow row;
  row.ids = prompt;
  row.ids.insert(row.ids.end(), action.begin(), action.end());
  row.trained = {{static_cast<int32_t>(prompt.size()), static_cast<int32_t>(row.ids.size())}};
  row.weight = weight;
  return row;
}

}  // namespace agentr
