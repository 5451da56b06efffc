// From options to objects, for the programs whose job is told where environment and model are: the
// embedded environment server, models in folders and on servers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/program.h"
#include "clients/env/gold_source.h"
#include "lm/model_folder.h"
#include "rollout/workbench.h"
#include "servers/env_server.h"

namespace agentr {

class ProgramWorkbench : public Workbench {
 public:
  // `local`: how models in folders are run. It outlives this.
  explicit ProgramWorkbench(const ModelFolderOptions& local) : local_(local) {}

  std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) override;
  std::unique_ptr<LanguageModel> OpenModel(const ModelOptions& options, const TaskFamily& family,
                                           const EnvironmentOptions& environment) override;
  std::unique_ptr<ChatEncoder> OpenEncoder(const std::string& model_dir) override;

 private:
  // The base URLs of the options or, where there are none, of the embedded server.
  std::vector<std::string> BasesOf(const EnvironmentOptions& options);

  const ModelFolderOptions& local_;
  std::unique_ptr<EnvServer> embedded_;
  std::vector<std::unique_ptr<GoldSource>> gold_;  // of scripted models
};

// The main function of a program whose job works on a Workbench: declares the options, reads them,
// and calls job(options, set, workbench).
template <typename Options>
int RunProgram(int argc, char** argv, const ProgramText& text,
               ExitCode (*job)(const Options&, const OptionSet&, Workbench&)) {
  Options options;
  ModelFolderOptions local;
  const auto run = [&](const OptionSet& set) {
    ProgramWorkbench workbench(local);
    return job(options, set, workbench);
  };
  return RunWithOptions(argc, argv, text, run, options, local);
}

}  // namespace agentr
