// lm_server: a language model behind OpenAI's HTTP protocol.
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "common/interrupt.h"
#include "common/logging.h"
#include "common/options.h"
#include "lm/bundled_model.h"
#include "lm/model_folder.h"
#include "servers/lm/lm_service.h"

namespace agentr {
namespace {

ExitCode Run(int argc, char** argv) {
  OptionSet set("lm_server",
                "Serves a language model from a Hugging Face folder over OpenAI's HTTP protocol:\n"
                "/v1/chat/completions, /v1/completions, /v1/models.",
                "  lm_server --model_dir models/my-model --port 8000\n"
                "  mcts_collect --llm_base http://127.0.0.1:8000/v1 --model_name my-model");
  std::string folder;
  std::string name;
  ModelFolderOptions model;
  LmServerOptions server;
  LogOptions log;
  set.Group("Model");
  set.Add("--model_dir", folder, "Folder with config.json, tokenizer.json, *.safetensors",
          "MODEL_DIR");
  set.Add("--model_name", name,
          "The model's name for clients (default: the folder's name); bundled, without a folder, "
          "is the "
          "small model that comes with the programs");
  Declare(set, model);
  Declare(set, server);
  Declare(set, log);
  if (const auto exit = set.Parse(argc, argv)) return *exit;
  InitLogging(log);
  if (folder.empty() && name == kBundledModel) folder = name;
  if (folder == kBundledModel && !std::filesystem::exists(folder)) {
    folder = BundledModelFolder().string();
  }
  if (folder.empty())
    throw FatalError(ExitCode::kUsage, "--model_dir is missing: give the folder of a model");

  SignalWait signals;
  const LmServer running(LoadModel(folder, name, model), server);
  fmt::print("{} ({})\n", running.base_url(), running.Summary());
  std::fflush(stdout);
  spdlog::info("signal {}: stopping; a second signal ends the program at once", signals.Wait());
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Run(argc, argv); });
}
