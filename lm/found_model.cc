#include "lm/found_model.h"

#include <fmt/format.h>

#include "common/error.h"
#include "lm/named_model.h"
#include "lm/weights/adapter.h"
#include "lm/weights/model_config.h"

namespace agentr {
namespace fs = std::filesystem;

FoundModel FindModel(const fs::path& dir, const std::string& base_model) {
  if (!IsAdapter(dir)) {
    if (base_model.empty()) return {dir, {}};
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--base_model names the model beneath an adapter, and {} is none",
                                 dir.string()));
  }
  const std::string name = base_model.empty() ? BaseNameOf(dir) : base_model;
  if (base_model.empty() && fs::exists(dir / name)) return {(dir / name).lexically_normal(), dir};
  if (fs::exists(name) || IsNamedModel(name)) return {PlaceOfModel(name), dir};
  throw FatalError(
      ExitCode::kFile,
      fmt::format("{} is an adapter of {}, which is not there: name the folder or GGUF "
                  "file of that model with --base_model",
                  dir.string(), name));
}

std::shared_ptr<const WeightSource> OpenWeights(const FoundModel& model) {
  auto base = OpenWeights(model.base);
  return model.adapter.empty() ? base : MergeAdapter(model.adapter, std::move(base));
}

}  // namespace agentr
