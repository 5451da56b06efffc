#include "rollout/models.h"

#include <fmt/core.h>

#include "common/options.h"
#include "tasks/scripted_policy.h"

namespace agentr {
namespace {

std::string ScriptedName(const ModelOptions& options) {
  return options.name.empty() ? "planner" : options.name;
}

}  // namespace

void Declare(OptionSet& set, ModelOptions& o) {
  set.Group("Model");
  set.Add(
      "--model_name", o.name,
      "planner (the default) or random (scripted, no server), the name of a model on --llm_base, "
      "or how results of --model_dir are called (default: as the folder)",
      "MODEL_NAME");
  set.Add("--model_dir", o.dir,
          "Folder of a model to run in this process: config.json, tokenizer.json, *.safetensors",
          "MODEL_DIR");
  Declare(set, o.scripted);
  Declare(set, o.openai);
}

std::unique_ptr<LanguageModel> MakeLanguageModel(const ModelOptions& options,
                                                 const TaskFamily& family, GoldSource* gold,
                                                 const ModelLoader& load) {
  if (!options.dir.empty()) {
    if (options.openai.base.empty()) return load(options.dir, options.name);
    throw FatalError(ExitCode::kUsage,
                     "--model_dir runs a model in this process, --llm_base names servers that have "
                     "one: give one of the two");
  }
  if (!options.openai.base.empty()) {
    if (options.name.empty()) {
      throw FatalError(ExitCode::kUsage,
                       "--llm_base needs --model_name: which of the server's models to ask");
    }
    return std::make_unique<OpenAiModel>(options.name, options.openai);
  }
  auto scripted = MakeScriptedModel(ScriptedName(options), family, options.scripted, gold);
  if (scripted != nullptr) return scripted;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("model '{}' is not scripted (planner, random): give the base URL of "
                               "an OpenAI-compatible server that has it, --llm_base "
                               "http://host:port/v1",
                               options.name));
}

bool NeedsGold(const ModelOptions& options, const TaskFamily& family) {
  return options.dir.empty() && options.openai.base.empty() && ScriptedName(options) == "planner" &&
         PlansByGold(family.name());
}

}  // namespace agentr
