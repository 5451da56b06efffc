// Keeps one model in memory while it is trained: the engine receives new weights, and nothing is
// opened again.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "lm/weights/weight_source.h"
#include "rollout/workbench.h"

namespace agentr {

class LoopWorkbench : public Workbench {
 public:
  // `inner` opens everything else; it outlives this object. `adapter`: the start model, if it is an
  // adapter of `base_model`, which `inner` takes for the base of every folder; else empty.
  explicit LoopWorkbench(Workbench& inner, std::string adapter = "", std::string base_model = "")
      : inner_(inner), adapter_(std::move(adapter)), base_model_(std::move(base_model)) {}

  std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) override;
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
  const std::string adapter_, base_model_;
  std::unique_ptr<LanguageModel> model_;
  std::string folder_;  // the folder of its present weights
};

}  // namespace agentr
