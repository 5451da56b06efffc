#include "lm/weights/safetensors.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "lm/weights/safetensors_header.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// The cure for a folder whose files do not belong together.
constexpr std::string_view kPartsCure = "finish the download or write the model again";

[[noreturn]] void Refuse(const fs::path& path, std::string_view what) {
  throw FatalError(ExitCode::kFile, fmt::format("{}: {}", path.string(), what));
}

bool Exists(const fs::path& path) {
  std::error_code unreadable;  // the later open reports the reason
  return fs::exists(path, unreadable);
}

// Any other path could lead out of the folder.
bool IsFileName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

// Tensor -> file name, as the index of a sharded model has it.
std::map<std::string, std::string> ReadIndex(const fs::path& path) {
  const nlohmann::json index = ParseStrictObject(ReadFile(path), path);
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object() || map->empty()) {
    Refuse(path, "it has no weight_map; " + std::string(kDamagedCure));
  }
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string() || !IsFileName(file.get<std::string>())) {
      Refuse(path,
             fmt::format("tensor {}: its shard is not the name of a file beside the index; {}",
                         name, kDamagedCure));
    }
    files.emplace(name, file.get<std::string>());
  }
  return files;
}

// Reports why a folder has no readable weights.
[[noreturn]] void RefuseFolder(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) Refuse(folder, error.message());
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("pytorch_model") && entry.path().extension() != ".json") {
      Refuse(folder, fmt::format("{} is in a format that can run code; convert it to {}: load it "
                                 "with transformers and call save_pretrained",
                                 name, kWeightsFile));
    }
    if (name.starts_with("model-") && entry.path().extension() == ".safetensors") {
      Refuse(folder, fmt::format("{} is there without {}; {}", name, kWeightsIndex, kPartsCure));
    }
  }
  Refuse(folder, fmt::format("neither {} nor {} is there; name the folder of a Hugging Face model",
                             kWeightsFile, kWeightsIndex));
}

}  // namespace

WeightFiles::WeightFiles(const fs::path& folder_or_file) : name_(folder_or_file.string()) {
  const fs::path& path = folder_or_file;
  std::error_code unreadable;
  if (!fs::is_directory(path, unreadable)) {
    weights_ = ReadOne(path);
  } else if (Exists(path / kWeightsFile)) {
    // An index beside it is a left-over of an interrupted writer; the single file is complete.
    weights_ = ReadOne(path / kWeightsFile);
  } else if (Exists(path / kWeightsIndex)) {
    ReadShards(path);
  } else {
    RefuseFolder(path);
  }
}

std::map<std::string, Weight> WeightFiles::ReadOne(const fs::path& file) {
  files_.push_back(std::make_unique<MappedFile>(file));
  std::map<std::string, Weight> weights = ParseSafetensors(files_.back()->bytes(), file);
  for (auto& [name, weight] : weights) weight.mapped = true;
  return weights;
}

void WeightFiles::ReadShards(const fs::path& folder) {
  const std::map<std::string, std::string> file_of = ReadIndex(folder / kWeightsIndex);
  std::set<std::string> shards;
  for (const auto& [name, shard] : file_of) shards.insert(shard);
  for (const std::string& shard : shards) {
    const auto refuse = [&](std::string_view what) { Refuse(folder / shard, what); };
    if (!Exists(folder / shard)) {
      refuse(fmt::format("this shard is missing, {} names it; {}", kWeightsIndex, kPartsCure));
    }
    for (auto& [name, weight] : ReadOne(folder / shard)) {
      const auto at = file_of.find(name);
      if (at == file_of.end() || at->second != shard) {
        refuse(fmt::format("tensor {} is in this shard, {} {}; {}", name, kWeightsIndex,
                           at == file_of.end() ? "does not name it" : "has it in " + at->second,
                           kPartsCure));
      }
      weights_.emplace(name, std::move(weight));
    }
  }
  for (const auto& [name, shard] : file_of) {
    if (weights_.contains(name)) continue;
    Refuse(folder / shard, fmt::format("tensor {} is not in this shard, {} says it is; {}", name,
                                       kWeightsIndex, kPartsCure));
  }
}

}  // namespace agentr
