#include "clients/models.h"

#include <fmt/core.h>

#include "clients/player.h"
#include "common/options.h"

namespace agentr {

void Declare(OptionSet& set, ModelOptions& o) {
  set.Group("Model");
  set.Add("--model_name", o.name,
          "planner or random (scripted, no server), or the name of a model on --llm_base",
          "MODEL_NAME");
  Declare(set, o.scripted);
  Declare(set, o.openai);
}

std::unique_ptr<LanguageModel> MakeLanguageModel(const ModelOptions& options,
                                                 const TaskFamily& family, GoldSource* gold) {
  if (!options.openai.base.empty()) {
    return std::make_unique<OpenAiModel>(options.name, options.openai);
  }
  auto scripted = MakeScriptedModel(options.name, family, options.scripted, gold);
  if (scripted != nullptr) return scripted;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("model '{}' is not scripted (planner, random): give the base URL of "
                               "an OpenAI-compatible server that has it, --llm_base "
                               "http://host:port/v1",
                               options.name));
}

bool NeedsGold(const ModelOptions& options, const TaskFamily& family) {
  return options.openai.base.empty() && options.name == "planner" && PlansByGold(family.name());
}

}  // namespace agentr
