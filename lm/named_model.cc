#include "lm/named_model.h"

#include <fmt/format.h>

#include <array>

#include "common/error.h"
#include "common/installed_file.h"
#include "common/named_values.h"
#include "lm/bundled_model.h"

namespace agentr {
namespace {

// The files that `scripts/setup.sh --<name>` puts into CacheFolder().
constexpr std::array<NamedValue<std::string_view>, 2> kDownloadedModels = {
    {{"smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"}, {"gemma3", "gemma-3-270m-q4_k_m.gguf"}}};

}  // namespace

bool IsNamedModel(std::string_view name) {
  return name == kBundledModel || ValueOf(kDownloadedModels, name);
}

std::filesystem::path NamedModel(std::string_view name) {
  const auto downloaded = ValueOf(kDownloadedModels, name);
  if (!downloaded) return BundledModelFolder();
  std::filesystem::path file = CacheFolder() / *downloaded;
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
