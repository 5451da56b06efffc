// lm_server: a language model behind OpenAI's HTTP protocol.
#include <memory>
#include <string>
#include <vector>

#include "apps/wiring.h"
#include "lm/found_model.h"
#include "servers/lm/lm_service.h"

namespace agentr {
namespace {

// Its folder and its name for clients, and the adapters of it that are served beside it.
struct ServedModel : ModelOptions {
  std::vector<std::string> adapters = {};  // NAME=DIR
};

void Declare(OptionSet& set, ServedModel& o) {
  set.Group("Model");
  set.Add("--model_dir", o.dir,
          "Folder with config.json, tokenizer.json, *.safetensors, or of an adapter of PEFT's",
          "MODEL_DIR");
  set.Add(
      "--model_name", o.name,
      "The model's name for clients (default: the folder's name); without a folder: bundled, the "
      "small model that comes with the programs, or smollm2, SmolLM2-135M-Instruct (98 MB, "
      "Apache-2.0) after scripts/setup.sh --smollm2");
  set.Add("--adapter", o.adapters,
          "NAME=DIR: serve also, as NAME, the model with this adapter of PEFT's merged; each takes "
          "the memory of a model of its own (repeatable)");
}

// The adapters, each merged into the served model, or into its base if that is one too.
std::vector<LoadedModel> LoadAdapters(const ServedModel& served, const ModelFolderOptions& local) {
  std::vector<LoadedModel> models;
  for (const std::string& adapter : served.adapters) {
    const size_t equals = adapter.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == adapter.size()) {
      throw FatalError(ExitCode::kUsage,
                       "--adapter '" + adapter + "' is not NAME=DIR, a name and a folder");
    }
    ModelFolderOptions options = local;
    options.base_model = FindModel(served.dir, local.base_model).base.string();
    models.push_back(LoadModel(adapter.substr(equals + 1), adapter.substr(0, equals), options));
  }
  return models;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  agentr::ServedModel served;
  agentr::ModelFolderOptions local;
  agentr::LmServerOptions options;
  const auto serve = [&](const agentr::OptionSet&) {
    FindNamedModel(served);
    if (served.dir.empty()) {
      throw agentr::FatalError(agentr::ExitCode::kUsage,
                               "--model_dir is missing: give the folder of a model");
    }
    return agentr::ServeUntilSignal([&] {
      return std::make_unique<agentr::LmServer>(agentr::LoadModel(served.dir, served.name, local),
                                                options, LoadAdapters(served, local));
    });
  };
  return agentr::RunWithOptions(
      argc, argv,
      {"lm_server",
       "Serves a language model from a Hugging Face folder over OpenAI's HTTP protocol:\n"
       "/v1/chat/completions, /v1/completions, /v1/models.",
       "  lm_server --model_dir models/my-model --port 8000\n"
       "  mcts_collect --llm_base http://127.0.0.1:8000/v1 --model_name my-model\n"
       "  lm_server --model_dir models/my-model --adapter web=train_result/web/model"},
      serve, served, local, options);
}
