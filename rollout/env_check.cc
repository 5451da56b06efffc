#include "rollout/env_check.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "clients/env/http_environment.h"
#include "common/file.h"
#include "common/interrupt.h"
#include "common/options.h"
#include "rollout/openenv_draft.h"
#include "tasks/task_file.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

// Writes the first task file for the server, and returns the name of its kind, which is registered.
std::string WriteDraft(const EnvCheckOptions& options) {
  const EnvironmentOptions& environment = options.environment;
  const std::string draft =
      OpenEnvDraft(AskOpenEnv(environment.env_server_base.front(), environment.http));
  TaskKind kind = ReadTaskFile(draft, options.output.empty() ? "the first file" : options.output);
  std::string name = kind.name;
  if (options.output.empty()) {
    fmt::print("{}\n", draft);
  } else {
    WriteFileAtomically(options.output, draft);
    fmt::print("{} is written; DECIDE marks what is yours to decide\n", options.output);
  }
  RegisterTaskKind(std::move(kind));
  return name;
}

}  // namespace

void Declare(OptionSet& set, EnvCheckOptions& o) {
  set.AddPositional("TASK", o.task, "A task file, FILE.toml, or the name of a kind of task");
  set.Group("Check");
  set.Add("--base", o.bases, "Base URL of the server, as --env_server_base").OnlySpeed();
  set.Add("--id", o.ids, "Task to play (repeatable)").OnlyOutput();
  set.Add("--action", o.actions, "Action to take besides those that the kind knows (repeatable)")
      .Verbatim()
      .OnlyOutput();
  set.Add("--episodes", o.episodes, "Random episodes of each task").Min(1).OnlyOutput();
  set.Add("--steps", o.steps,
          "Steps of an episode; four times as many where a task file says how to take what is "
          "offered (offered_as)")
      .Min(2)
      .OnlyOutput();
  set.Add("--seed", o.seed, "Seed of the random actions").OnlyOutput();
  set.AddSwitch("--openenv", o.openenv,
                "TASK is the base URL of an OpenEnv server: write a first task file for it, and "
                "check that")
      .OnlyOutput();
  set.Add("--output", o.output, "Where --openenv writes the file; default: standard output")
      .OnlyOutput();
  Declare(set, o.environment);
  set.AfterParsing([&] {
    if (o.task.size() != 1) {
      throw FatalError(ExitCode::kUsage, "give one task file or kind of task: env_check FILE.toml");
    }
    o.environment.task = o.task.front();
    std::vector<Secret>& bases = o.environment.env_server_base;
    bases.insert(bases.end(), o.bases.begin(), o.bases.end());
    if (o.openenv) bases.insert(bases.begin(), Secret(o.task.front()));
    if (!o.openenv && !o.output.empty()) {
      throw FatalError(ExitCode::kUsage, "--output is the file that --openenv writes");
    }
  });
  DeclareTaskFile(set, o.file, o.environment.task, "Check");
}

ExitCode EnvCheck(const EnvCheckOptions& options, Workbench& workbench) {
  const std::atomic<bool>& stop = StopOnSignal();
  EnvironmentOptions asked = options.environment;
  if (options.openenv) asked.task = WriteDraft(options);
  const auto environment = workbench.OpenEnvironment(asked);
  const EnvCheckReport report = CheckEnvironment(options, asked.task, *environment);
  if (stop) return ExitCode::kInterrupted;
  const char* const remark = options.openenv && options.output.empty() ? "# " : "";
  for (const std::string& line : report.lines) fmt::print("{}{}\n", remark, line);
  fmt::print("{}{}\n", remark,
             report.works ? "Search, revision and evaluation will work."
                          : "Not yet: change what is WRONG above, and check again.");
  return report.works ? ExitCode::kOk : ExitCode::kIncomplete;
}

}  // namespace agentr
