// Language models by their options.
#pragma once

#include <memory>
#include <string>

#include "clients/language_model.h"
#include "clients/openai_model.h"
#include "clients/scripted_model.h"
#include "clients/task_family.h"

namespace agentr {

class OptionSet;

struct ModelOptions {
  std::string name = "planner";  // planner | random | the name of a model on a server
  OpenAiOptions openai;
  ScriptedOptions scripted;
};

void Declare(OptionSet& set, ModelOptions& options);

// The model of that name on the servers of --llm_base; without servers, the scripted model of that
// name. Throws FatalError(kUsage) when a name needs a server and none is given.
// `gold` as for MakeScriptedModel.
std::unique_ptr<LanguageModel> MakeLanguageModel(const ModelOptions& options,
                                                 const TaskFamily& family,
                                                 GoldSource* gold = nullptr);

// True if that model needs a GoldSource.
bool NeedsGold(const ModelOptions& options, const TaskFamily& family);

}  // namespace agentr
