#include "rollout/run_options.h"

#include "common/options.h"

namespace agentr {

HttpOptions EnvironmentOptions::ManyConnections() {
  HttpOptions options;
  options.max_connections = 256;
  return options;
}

void DeclareTask(OptionSet& set, EnvironmentOptions& o) {
  set.Add("--task", o.task,
          "Kind of task: webshop, textcraft, sciworld; babyai with --env_server_base", "TASK");
}

void Declare(OptionSet& set, EnvironmentOptions& o) {
  set.Group("Environment");
  set.Add("--env_server_base", o.env_server_base,
          "Base URL of an AgentGym-compatible server (repeatable); none: an embedded one");
  Declare(set, o.http, "env", "environment server");
}

}  // namespace agentr
