// What a program hands to its job, so that the job can open what its options name. The jobs live in
// the rooms and know neither embedded servers nor model folders; apps/wiring.h does.
#pragma once

#include <memory>
#include <string>

#include "clients/chat_encoder.h"
#include "clients/env/http_environment.h"
#include "clients/language_model.h"
#include "rollout/run_options.h"
#include "tasks/task_family.h"

namespace agentr {

// Everything that it opens may refer to it, and must go before it does. One thread at a time.
class Workbench {
 public:
  virtual ~Workbench() = default;

  // The servers of options.env_server_base; without any, an embedded server, which is started by the
  // first call. Throws FatalError.
  virtual std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) = 0;

  // The model of the folder options.dir; else that of the name on the servers of options.openai;
  // else the scripted one of that name, which may look up solutions in `environment`. Throws
  // FatalError, kUsage where a name needs a server and none is given, or both a folder and a server
  // are.
  virtual std::unique_ptr<LanguageModel> OpenModel(const ModelOptions& options,
                                                   const TaskFamily& family,
                                                   const EnvironmentOptions& environment) = 0;

  // The tokenizer and chat template of a model's folder. Throws FatalError.
  virtual std::unique_ptr<ChatEncoder> OpenEncoder(const std::string& model_dir) = 0;
};

}  // namespace agentr
