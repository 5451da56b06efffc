#include "lm/local_value_model.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "lm/sampled_turns.h"

namespace agentr {

double MeanReward(std::span<const TokenLogprob> logprobs, int bins) {
  double mean = 0, total = 0;
  for (const TokenLogprob& bin : logprobs) {
    const double probability = std::exp(bin.logprob);
    total += probability;
    mean += probability * bin.token / (bins - 1);
  }
  return total > 0 ? mean / total : 0;
}

LocalValueModel::LocalValueModel(LoadedModel model)
    : model_(std::move(model)), bins_(model_.decoder->shape().width()) {
  const DecoderShape& shape = model_.decoder->shape();
  if (shape.outputs == 0 || shape.outputs == shape.vocab_size) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("{} is a language model, not a value model: its config.json has no "
                    "\"value_bins\". Cure: train one with agent_rl --algorithm value",
                    model_.name));
  }
}

Result<std::vector<double>> LocalValueModel::Values(std::span<const ValueRequest> states) {
  std::vector<Pending<Generation>> pending;
  for (const ValueRequest& state : states) {
    AGENTR_ASSIGN_OR_RETURN(ChatTokens chat,
                            model_.chat->Apply(state.conversation, /*generation=*/true));
    GenerationRequest request;
    request.prompt = UseSampledIds(std::move(chat), state.conversation, state.sampled,
                                   {*model_.tokenizer, model_.chat->stop_tokens()})
                         .ids;
    request.params.max_tokens = 1;
    request.params.temperature = 0;
    request.top_logprobs = bins_;
    pending.push_back(model_.engine->Generate(std::move(request)));
  }
  std::vector<double> values;
  for (Pending<Generation>& one : pending) {
    AGENTR_ASSIGN_OR_RETURN(const Generation generation, one.Wait());
    values.push_back(MeanReward(generation.sequences.at(0).alternatives.at(0), bins_));
  }
  return values;
}

}  // namespace agentr
