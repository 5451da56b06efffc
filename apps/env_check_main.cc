// env_check: tries an environment server before a search uses it.
#include "apps/program.h"
#include "apps/wiring.h"
#include "rollout/env_check.h"

int main(int argc, char** argv) {
  agentr::EnvCheckOptions options;
  return agentr::RunWithOptions(
      argc, argv,
      {"env_check",
       "Tries an environment server as search, revision and evaluation will use it: begins tasks\n"
       "twice, plays random episodes, replays them in another session, tries forks and the action\n"
       "of a revision, and says in words what to change. The exit code is 0 only if all will "
       "work.\n"
       "--openenv writes the first task file for an OpenEnv server.",
       "  env_check my_game.toml --base http://127.0.0.1:8080\n"
       "  env_check my_game.toml --base http://127.0.0.1:8080 --action look --id 7\n"
       "  env_check http://127.0.0.1:8000 --openenv --output my_game.toml"},
      [&](const agentr::OptionSet&) {
        agentr::ProgramWorkbench workbench;
        return agentr::EnvCheck(options, workbench);
      },
      options);
}
