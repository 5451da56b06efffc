// path_collect: makes self-correction data out of search trees.
#include <memory>

#include "common/error.h"
#include "common/logging.h"
#include "common/options.h"
#include "lm/local_language_model.h"
#include "lm/model_folder.h"
#include "revision/path_collect.h"
#include "servers/env_server.h"

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::PathCollectOptions options;
    agentr::ModelFolderOptions local;
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
        "  path_collect --verifier actor --model_dir models/my-model --format tokens\n"
        "  path_collect --verifier actor --llm_base http://127.0.0.1:8000/v1 --model_name "
        "my-model");
    Declare(set, options);
    Declare(set, local);
    Declare(set, log);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    InitLogging(log);

    std::unique_ptr<agentr::EnvServer> embedded;
    agentr::PathCollectParts parts;
    parts.start_server = [&](const std::string& task) {
      agentr::EnvServerOptions server;
      server.task = task;
      server.port = 0;
      embedded = agentr::StartEnvServer(server);
      return embedded->base_url();
    };
    parts.load_model = [&](const std::string& folder, const std::string& name) {
      return std::make_unique<agentr::LocalLanguageModel>(agentr::LoadModel(folder, name, local));
    };
    parts.load_encoder = [&](const std::string& folder) {
      return agentr::LoadChatEncoder(folder, local.chat_template, local.chat_date);
    };
    return PathCollect(options, set, parts);
  });
}
