#include "apps/wiring.h"

#include <fmt/core.h>

#include <utility>

#include "lm/found_model.h"
#include "lm/local_language_model.h"
#include "lm/named_model.h"
#include "tasks/scripted_policy.h"
#include "tasks/task_kinds.h"

namespace agentr {

void FindNamedModel(std::string& dir) { dir = PlaceOfModel(dir).string(); }

void FindNamedModel(ModelOptions& model) {
  const bool named = IsNamedModel(model.name) && model.openai.base.empty();
  if (named && model.dir.empty()) model.dir = model.name;
  FindNamedModel(model.dir);
}

std::vector<Secret> ProgramWorkbench::BasesOf(const EnvironmentOptions& options) {
  if (!options.env_server_base.empty()) return options.env_server_base;
  if (!TaskKindOf(options.task).file.empty()) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("the environment of {} runs on a server of its own: name it with "
                                 "--env_server_base http://HOST:PORT",
                                 options.task));
  }
  std::unique_ptr<EnvServer>& embedded = embedded_[options.task];
  if (embedded == nullptr) {
    EnvServerOptions server;
    server.task = options.task;
    server.port = 0;
    embedded = StartEnvServer(server);
  }
  return {embedded->base_url()};
}

std::unique_ptr<HttpEnvironment> ProgramWorkbench::OpenEnvironment(
    const EnvironmentOptions& options) {
  return std::make_unique<HttpEnvironment>(MakeProtocol(options.task), BasesOf(options),
                                           options.http);
}

std::unique_ptr<LanguageModel> ProgramWorkbench::OpenModel(const ModelOptions& asked,
                                                           const TaskFamily& family,
                                                           const EnvironmentOptions& environment) {
  ModelOptions options = asked;
  FindNamedModel(options);
  const bool served = !options.openai.base.empty();
  if (!options.dir.empty()) {
    if (!served) {
      return std::make_unique<LocalLanguageModel>(LoadModel(options.dir, options.name, local_));
    }
    throw FatalError(ExitCode::kUsage,
                     "--model_dir runs a model in this process, and --llm_base uses a model on "
                     "servers: give only one of the two");
  }
  if (served) {
    if (options.name.empty()) {
      throw FatalError(ExitCode::kUsage,
                       "--llm_base needs --model_name, the server's name for the model");
    }
    options.openai.extras.chat_kwargs = local_.chat_kwargs;
    auto model = std::make_unique<OpenAiModel>(options.name, options.openai);
    model->Discover();
    const ModelLimits& limits = options.openai.limits;
    if (limits.rate <= 0 && limits.budget <= 0 && !limits.price) return model;
    return std::make_unique<LimitedModel>(std::move(model), limits);
  }
  const std::string name = options.name.empty() ? "planner" : options.name;
  GoldSource* gold = nullptr;
  if (name == "planner" && PlansByGold(family.name())) {
    gold_.push_back(
        MakeHttpGold(MakeProtocol(environment.task), BasesOf(environment), environment.http));
    gold = gold_.back().get();
  }
  auto scripted = MakeScriptedModel(name, family, options.scripted, gold);
  if (scripted != nullptr) return scripted;
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("model '{}' is none of planner, random (scripted), bundled and smollm2: "
                  "give the base URL of an OpenAI-compatible server that has it, "
                  "--llm_base http://host:port/v1, or its folder, --model_dir",
                  name));
}

std::unique_ptr<ChatEncoder> ProgramWorkbench::OpenEncoder(const std::string& model_dir) {
  return LoadChatEncoder(FindModel(model_dir, local_.base_model).base, local_.chat_template,
                         local_.chat_date, local_.chat_kwargs);
}

}  // namespace agentr
