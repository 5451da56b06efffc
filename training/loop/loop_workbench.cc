#include "training/loop/loop_workbench.h"

#include <fmt/core.h>

#include "clients/forwarding_model.h"
#include "lm/local_language_model.h"
#include "lm/weights/safetensors.h"

namespace agentr {

std::unique_ptr<HttpEnvironment> LoopWorkbench::OpenEnvironment(const EnvironmentOptions& options) {
  return inner_.OpenEnvironment(options);
}

std::unique_ptr<ValueModel> LoopWorkbench::OpenValueModel(const std::string& dir) {
  return inner_.OpenValueModel(dir);
}

std::unique_ptr<ChatEncoder> LoopWorkbench::OpenEncoder(const std::string& model_dir) {
  return inner_.OpenEncoder(model_dir);
}

std::unique_ptr<LanguageModel> LoopWorkbench::OpenModel(const ModelOptions& options,
                                                        const TaskFamily& family,
                                                        const EnvironmentOptions& environment) {
  if (options.dir.empty()) return inner_.OpenModel(options, family, environment);
  if (model_ == nullptr) {
    model_ = inner_.OpenModel(options, family, environment);
    folder_ = options.dir;
  } else if (options.dir != folder_) {
    Load(options.dir, std::make_shared<WeightFiles>(options.dir));
  }
  return std::make_unique<ForwardingModel>(*model_);
}

void LoopWorkbench::Take(const std::string& folder,
                         const std::shared_ptr<const WeightSource>& weights) {
  if (model_ != nullptr) Load(folder, weights);
}

void LoopWorkbench::Load(const std::string& folder,
                         const std::shared_ptr<const WeightSource>& weights) {
  const auto version = dynamic_cast<LocalLanguageModel&>(*model_).Load(weights);
  if (!version) {
    throw FatalError(ExitCode::kFile, fmt::format("the weights of {} cannot follow those of {}: {}",
                                                  folder, folder_, version.error().message));
  }
  folder_ = folder;
}

}  // namespace agentr
