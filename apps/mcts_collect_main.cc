// mcts_collect: searches a tree for each task and writes it.
#include <memory>

#include "common/error.h"
#include "common/logging.h"
#include "common/options.h"
#include "lm/local_language_model.h"
#include "lm/model_folder.h"
#include "mcts/mcts_collect.h"
#include "servers/env_server.h"

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::MctsCollectOptions options;
    agentr::ModelFolderOptions local;
    agentr::LogOptions log;
    agentr::OptionSet set(
        "mcts_collect",
        "Collects trajectories by Monte Carlo tree search over an environment server: one tree "
        "per\n"
        "task, many trees at once. With nothing set it starts an embedded server and searches with "
        "a\n"
        "scripted planner. Kill it at any moment: the same command goes on where it stopped.",
        "  mcts_collect --task webshop --min 0 --max 200\n"
        "  mcts_collect --env_server_base http://127.0.0.1:32361 \\\n"
        "               --llm_base http://127.0.0.1:8000/v1 --model_name my-model\n"
        "  mcts_collect --task textcraft --model_dir models/my-model --device cuda\n"
        "  mcts_collect --config mcts_result/webshop/planner/resolved.toml");
    Declare(set, options);
    Declare(set, local);
    Declare(set, log);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    InitLogging(log);

    std::unique_ptr<agentr::EnvServer> embedded;
    if (options.environment.env_server_base.empty()) {
      agentr::EnvServerOptions server;
      server.task = options.environment.task;
      server.port = 0;
      embedded = agentr::StartEnvServer(server);
      options.environment.env_server_base = {embedded->base_url()};
    }
    return Collect(options, set, [&](const std::string& folder, const std::string& name) {
      return std::make_unique<agentr::LocalLanguageModel>(agentr::LoadModel(folder, name, local));
    });
  });
}
