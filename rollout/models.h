// Language models by their options.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "clients/language_model.h"
#include "clients/openai/openai_model.h"
#include "tasks/scripted_model.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

struct ModelOptions {
  // planner (also where it is empty) | random | the name of a model on a server; with `dir`, how
  // its results are called
  std::string name = "";
  std::string dir = "";  // folder of a model to run in this process
  OpenAiOptions openai;
  ScriptedOptions scripted;
};

void Declare(OptionSet& set, ModelOptions& options);

// Loads the model of a folder; `name` may be empty. It is lm that can (lm/model_folder.h), and the
// programs pass it on.
using ModelLoader =
    std::function<std::unique_ptr<LanguageModel>(const std::string& dir, const std::string& name)>;

// The model of the folder --model_dir, which `load` is for; else that of the name on the servers of
// --llm_base; without servers, the scripted model of that name. Throws FatalError(kUsage) when a
// name needs a server and none is given, or when both a folder and a server are. `gold` as for
// MakeScriptedModel.
std::unique_ptr<LanguageModel> MakeLanguageModel(const ModelOptions& options,
                                                 const TaskFamily& family, GoldSource* gold,
                                                 const ModelLoader& load);

// True if that model needs a GoldSource.
bool NeedsGold(const ModelOptions& options, const TaskFamily& family);

}  // namespace agentr
