#include "loop/loop_workbench.h"

#include <fmt/core.h>

#include "clients/forwarding_model.h"
#include "lm/found_model.h"
#include "lm/local_language_model.h"

namespace agentr {
namespace {

// The model of one stage, during which its weights stay: their version is 0, as if the stage's
// program had opened them. So results do not depend on which stages this process has done before.
class StageModel : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;

  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override {
    return WithoutVersion(inner_.Complete(prompt, n, sampling));
  }
  Result<CompletionBatch> CompletePrepared(const PreparedPrompt& prompt, int n,
                                           const SamplingParams& sampling) override {
    return WithoutVersion(inner_.CompletePrepared(prompt, n, sampling));
  }

 private:
  static Result<CompletionBatch> WithoutVersion(Result<CompletionBatch> batch) {
    if (!batch) return batch;
    for (Completion& completion : batch->completions) completion.weights_version = 0;
    return batch;
  }
};

}  // namespace

std::unique_ptr<HttpEnvironment> LoopWorkbench::OpenEnvironment(const EnvironmentOptions& options) {
  return inner_.OpenEnvironment(options);
}

std::unique_ptr<ChatEncoder> LoopWorkbench::OpenEncoder(const std::string& model_dir) {
  return inner_.OpenEncoder(adapter_.empty() ? model_dir : adapter_);
}

std::unique_ptr<LanguageModel> LoopWorkbench::OpenModel(const ModelOptions& options,
                                                        const TaskFamily& family,
                                                        const EnvironmentOptions& environment) {
  if (options.dir.empty()) return inner_.OpenModel(options, family, environment);
  if (model_ == nullptr) {
    ModelOptions first = options;
    if (!adapter_.empty()) first.dir = adapter_;
    model_ = inner_.OpenModel(first, family, environment);
    folder_ = first.dir;
  }
  if (options.dir != folder_) {
    const std::string base = options.dir == adapter_ ? base_model_ : "";
    Load(options.dir, OpenWeights(FindModel(options.dir, base)));
  }
  return std::make_unique<StageModel>(*model_);
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
