#include "lm/named_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/error.h"
#include "common/installed_file.h"
#include "lm/bundled_model.h"

namespace agentr {
namespace {

// A file that `scripts/setup.sh --<name>` puts into CacheFolder().
struct DownloadedModel {
  std::string_view name, file;
};

constexpr std::array<DownloadedModel, 2> kDownloadedModels = {
    {{"smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"}, {"gemma3", "gemma-3-270m-q4_k_m.gguf"}}};

}  // namespace

bool IsNamedModel(std::string_view name) {
  return name == kBundledModel ||
         std::ranges::count(kDownloadedModels, name, &DownloadedModel::name) > 0;
}

std::filesystem::path NamedModel(std::string_view name) {
  const auto* model = std::ranges::find(kDownloadedModels, name, &DownloadedModel::name);
  if (model == kDownloadedModels.end()) return BundledModelFolder();
  std::filesystem::path file = CacheFolder() / model->file;
  if (std::filesystem::exists(file)) return file;
  throw FatalError(ExitCode::kFile,
                   fmt::format("the model {} is not there ({}): scripts/setup.sh --{} downloads it",
                               name, file.string(), name));
}

std::filesystem::path PlaceOfModel(const std::string& name) {
  return IsNamedModel(name) && !std::filesystem::exists(name) ? NamedModel(name)
                                                              : std::filesystem::path(name);
}

}  // namespace agentr
