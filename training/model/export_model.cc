#include "training/model/export_model.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/error.h"
#include "common/file.h"
#include "lm/weights/safetensors.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// Names of files that belong to a model, without its weights.
bool IsCompanion(const std::string& name) {
  static const char* const kNames[] = {"generation_config.json",
                                       "tokenizer.json",
                                       "tokenizer_config.json",
                                       "special_tokens_map.json",
                                       "added_tokens.json",
                                       "vocab.json",
                                       "merges.txt",
                                       "tokenizer.model",
                                       "chat_template.jinja",
                                       "chat_template.json"};
  return std::ranges::any_of(kNames, [&](const char* known) { return name == known; });
}

std::string ConfigWith(const fs::path& model_dir, WeightType type) {
  const fs::path path = model_dir / "config.json";
  auto config = nlohmann::ordered_json::parse(ReadFile(path));
  const char* name = type == WeightType::kF32 ? "float32" : "bfloat16";
  // Newer files have "dtype", older ones "torch_dtype"; if neither is present, both are written.
  const bool newer = config.contains("dtype");
  if (newer) config["dtype"] = name;
  if (!newer || config.contains("torch_dtype")) config["torch_dtype"] = name;
  return config.dump(2) + "\n";
}

}  // namespace

std::vector<fs::path> CompanionFiles(const fs::path& model_dir) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(model_dir)) {
    if (IsCompanion(entry.path().filename().string())) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

void ExportModel(const fs::path& folder, const fs::path& model_dir,
                 const WeightSnapshot& weights) try {
  const fs::path unfinished = TemporaryPath(folder);
  fs::remove_all(unfinished);
  fs::create_directories(unfinished);
  WriteWeights(unfinished, weights.weights());
  WriteFileAtomically(unfinished / "config.json", ConfigWith(model_dir, weights.type()));
  for (const fs::path& file : CompanionFiles(model_dir)) {
    WriteFileAtomically(unfinished / file.filename(), ReadFile(file));
  }
  const fs::path old = folder.string() + ".old";
  fs::remove_all(old);
  if (fs::exists(folder)) fs::rename(folder, old);
  fs::rename(unfinished, folder);
  fs::remove_all(old);
} catch (const fs::filesystem_error& error) {
  throw FatalError(ExitCode::kFile,
                   "cannot export the model to " + folder.string() + ": " + error.what());
}

}  // namespace agentr
