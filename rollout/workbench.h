// Opens the environment and the model that a job's options name. A program hands it to its job,
// because the folders of the jobs must not depend on embedded servers and model folders;
// apps/wiring.h implements it.
#pragma once

#include <memory>
#include <string>

#include "clients/chat_encoder.h"
#include "clients/env/http_environment.h"
#include "clients/language_model.h"
#include "rollout/run_options.h"
#include "tasks/task_family.h"

namespace agentr {

// The opened objects may refer to it and must be destroyed before it. Used by one thread at a time.
class Workbench {
 public:
  virtual ~Workbench() = default;

  // Connects to the servers of options.env_server_base; if there are none, to an embedded server,
  // which the first call starts. Throws FatalError.
  virtual std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) = 0;

  // The model in the folder options.dir; else the named model on the servers of options.openai;
  // else the scripted model of that name, which may look up solutions in `environment`. Throws
  // FatalError; kUsage if the name needs a server but none is given, or if both a folder and a
  // server are given.
  virtual std::unique_ptr<LanguageModel> OpenModel(const ModelOptions& options,
                                                   const TaskFamily& family,
                                                   const EnvironmentOptions& environment) = 0;

  // The tokenizer and chat template of a model's folder. Throws FatalError.
  virtual std::unique_ptr<ChatEncoder> OpenEncoder(const std::string& model_dir) = 0;
};

}  // namespace agentr
