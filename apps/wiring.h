// Makes the objects that options name: the embedded environment server, and models in folders and
// on servers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/program.h"
#include "apps/report_option.h"
#include "clients/env/gold_source.h"
#include "common/secret.h"
#include "lm/model_folder.h"
#include "rollout/workbench.h"
#include "servers/env_server.h"

namespace agentr {

class ProgramWorkbench : public Workbench {
 public:
  // `local` says how models in folders run.
  explicit ProgramWorkbench(ModelFolderOptions local = {}) : local_(std::move(local)) {}

  std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) override;
  std::unique_ptr<LanguageModel> OpenModel(const ModelOptions& options, const TaskFamily& family,
                                           const EnvironmentOptions& environment) override;
  std::unique_ptr<ChatEncoder> OpenEncoder(const std::string& model_dir) override;

 private:
  // The base URLs of the options or, if there are none, of the task's embedded server.
  std::vector<Secret> BasesOf(const EnvironmentOptions& options);

  const ModelFolderOptions local_;
  std::map<std::string, std::unique_ptr<EnvServer>> embedded_;  // by kind of task
  std::vector<std::unique_ptr<GoldSource>> gold_;  // the solutions that scripted models use
};

// Puts the place of a named model (lm/named_model.h), such as "bundled", into `dir` where it says
// that name and there is no folder of that name.
void FindNamedModel(std::string& dir);
// The same, and also where the model's name is such a name and nothing else says where it is.
void FindNamedModel(ModelOptions& model);

// The main function of a program whose job works on a Workbench: declares the options, reads them,
// and calls job(options, set, workbench).
template <typename Options>
int RunProgram(int argc, char** argv, const ProgramText& text,
               ExitCode (*job)(const Options&, const OptionSet&, Workbench&)) {
  Options options;
  ModelFolderOptions local;
  ReportOption report;
  const auto run = [&](const OptionSet& set) {
    if constexpr (requires { options.model.dir; }) FindNamedModel(options.model);
    if constexpr (requires { options.model_dir; }) FindNamedModel(options.model_dir);
    CheckReport(report, options);
    ProgramWorkbench workbench(local);
    return WriteReport(report, options, job(options, set, workbench));
  };
  return RunWithOptions(argc, argv, text, run, options, local, report);
}

}  // namespace agentr
