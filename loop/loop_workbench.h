// Keeps one model in memory while it is trained: the engine receives new weights, and nothing is
// opened again.
#pragma once

#include <memory>
#include <string>

#include "lm/weights/weight_source.h"
#include "rollout/workbench.h"

namespace agentr {

class LoopWorkbench : public Workbench {
 public:
  // `inner` opens everything else; it outlives this object.
  explicit LoopWorkbench(Workbench& inner) : inner_(inner) {}

  std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) override;
  std::unique_ptr<ValueModel> OpenValueModel(const std::string& dir) override;
  std::unique_ptr<ChatEncoder> OpenEncoder(const std::string& model_dir) override;
  // The models of all folders must have the same shape, tokenizer and template. Only one is open at
  // a time.
  std::unique_ptr<LanguageModel> OpenModel(const ModelOptions& options, const TaskFamily& family,
                                           const EnvironmentOptions& environment) override;

  // Announces the weights that are, or will be, in `folder`: an open model gets them from memory.
  void Take(const std::string& folder, const std::shared_ptr<const WeightSource>& weights);

 private:
  void Load(const std::string& folder, const std::shared_ptr<const WeightSource>& weights);

  Workbench& inner_;
  std::unique_ptr<LanguageModel> model_;
  std::string folder_;  // the folder of its present weights
};

}  // namespace agentr
