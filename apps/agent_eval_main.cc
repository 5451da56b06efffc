// agent_eval: plays the tasks of a test split and says how well it went.
#include <memory>

#include "common/error.h"
#include "common/logging.h"
#include "common/options.h"
#include "eval/agent_eval.h"
#include "lm/local_language_model.h"
#include "lm/model_folder.h"
#include "servers/env_server.h"

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::AgentEvalOptions options;
    agentr::ModelFolderOptions local;
    agentr::LogOptions log;
    agentr::OptionSet set(
        "agent_eval",
        "Evaluates a model as an agent: plays each task of a split, many at once, and prints\n"
        "rewards, successes and what went wrong. With nothing set it plays the 200 test tasks of\n"
        "an embedded WebShop with a scripted planner. Kill it at any moment: the same command\n"
        "goes on where it stopped.",
        "  agent_eval --max_steps 30\n"
        "  agent_eval --task textcraft --attempts 4 --model_dir models/my-model\n"
        "  agent_eval --llm_base http://127.0.0.1:8000/v1 --model_name my-model\n"
        "  agent_eval --compare test_result/webshop/before_local test_result/webshop/after_local\n"
        "  agent_eval --revision_from test_result/webshop/my-model_local --model_dir models/other");
    Declare(set, options);
    Declare(set, local);
    Declare(set, log);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    InitLogging(log);

    std::unique_ptr<agentr::EnvServer> embedded;
    const auto start_server = [&](const std::string& task) {
      agentr::EnvServerOptions server;
      server.task = task;
      server.port = 0;
      embedded = agentr::StartEnvServer(server);
      return embedded->base_url();
    };
    return Evaluate(options, set, start_server,
                    [&](const std::string& folder, const std::string& name) {
                      return std::make_unique<agentr::LocalLanguageModel>(
                          agentr::LoadModel(folder, name, local));
                    });
  });
}
