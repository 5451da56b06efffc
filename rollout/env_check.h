// Tries an environment server as a search, a revision and an evaluation will use it, and says in
// words what works and what to change.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "rollout/run_options.h"
#include "rollout/workbench.h"

namespace agentr {

struct EnvCheckOptions {
  std::vector<std::string> task = {};     // one: a task file, or the name of a kind
  std::string file = {};                  // DeclareTaskFile
  EnvironmentOptions environment = {};    // its task is set by `task`
  std::vector<Secret> bases = {};         // --base, besides --env_server_base
  std::vector<int> ids = {0, 1};          // tasks to play
  std::vector<std::string> actions = {};  // to take besides those that the kind knows
  int episodes = 3;                       // of each task
  int steps = 12;                         // of an episode; more where offers are explored
  uint64_t seed = 0;
  bool openenv = false;  // the task is the base URL of an OpenEnv server: a file is written first
  std::string output = {};  // its path; empty: standard output
};

void Declare(OptionSet& set, EnvCheckOptions& options);

// What was found: lines for people, and whether search, revision and evaluation will work.
struct EnvCheckReport {
  std::vector<std::string> lines = {};
  bool works = true;
};

// Plays random episodes. A fault of the server or of what describes it is in the report.
EnvCheckReport CheckEnvironment(const EnvCheckOptions& options, const std::string& task,
                                Environment& environment);

// With `openenv`: asks the server, writes a first task file for it and checks that. Prints the
// report, behind a file on standard output as remarks in it. kOk if all will work, else
// kIncomplete. Throws FatalError.
ExitCode EnvCheck(const EnvCheckOptions& options, Workbench& workbench);

}  // namespace agentr
