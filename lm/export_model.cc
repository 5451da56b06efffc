#include "lm/export_model.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/file.h"
#include "lm/model_files.h"
#include "lm/weights/model_config.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

std::string WithType(const std::string& text, WeightType type) {
  auto config = nlohmann::ordered_json::parse(text);
  const std::string_view name = NameOf(kTorchTypes, type);
  // Newer files have "dtype", older ones "torch_dtype"; if neither is present, both are written.
  const bool newer = config.contains("dtype");
  if (newer) config["dtype"] = name;
  if (!newer || config.contains("torch_dtype")) config["torch_dtype"] = name;
  return config.dump(2) + "\n";
}

}  // namespace

void ExportModel(const fs::path& folder, const fs::path& model_dir,
                 const WeightSource& weights) try {
  const WeightType type = weights.weights().begin()->second.type;
  const fs::path unfinished = TemporaryPath(folder);
  fs::remove_all(unfinished);
  fs::create_directories(unfinished);
  WriteWeights(unfinished, weights.weights());
  for (const auto& [name, text] : ModelFiles(model_dir)) {
    WriteFileAtomically(unfinished / name, name == "config.json" ? WithType(text, type) : text);
  }
  const fs::path old = unfinished.string() + ".old";
  fs::remove_all(old);
  if (fs::exists(folder)) fs::rename(folder, old);
  fs::rename(unfinished, folder);
  fs::remove_all(old);
} catch (const fs::filesystem_error& error) {
  throw FatalError(ExitCode::kFile,
                   "cannot export the model to " + folder.string() + ": " + error.what());
}

}  // namespace agentr
