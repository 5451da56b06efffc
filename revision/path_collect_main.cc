// path_collect: makes self-correction data out of search trees.
#include <memory>

#include "common/error.h"
#include "common/logging.h"
#include "common/options.h"
#include "revision/path_collect.h"
#include "servers/env_server.h"

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::PathCollectOptions options;
    agentr::LogOptions log;
    agentr::OptionSet set(
        "path_collect",
        "Makes training data out of search trees: failed paths, cut at their first error, go on "
        "with a\n"
        "turn that owns the mistake and with a path that succeeds. Each row is run in the "
        "environment\n"
        "before it is written. With nothing set it works on what mcts_collect wrote last.",
        "  path_collect --revise 1\n"
        "  path_collect --task textcraft --data_type good\n"
        "  path_collect --verifier actor --llm_base http://127.0.0.1:8000/v1 --model_name "
        "my-model");
    Declare(set, options);
    Declare(set, log);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    InitLogging(log);

    std::unique_ptr<agentr::EnvServer> embedded;
    return PathCollect(options, set, [&](const std::string& task) {
      agentr::EnvServerOptions server;
      server.task = task;
      server.port = 0;
      embedded = agentr::StartEnvServer(server);
      return embedded->base_url();
    });
  });
}
