#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "lm/weights/safetensors.h"
#include "lm/weights/safetensors_header.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr size_t kBlockBytes = size_t{16} << 20;

// The tensors of one file.
using Shard = std::vector<const std::pair<const std::string, Weight>*>;

std::vector<Shard> Split(const std::map<std::string, Weight>& weights, int64_t shard_bytes) {
  std::vector<Shard> shards(1);
  size_t bytes = 0;
  for (const auto& weight : weights) {
    const size_t more = weight.second.data.size();
    if (!shards.back().empty() && bytes + more > static_cast<size_t>(shard_bytes)) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(&weight);
    bytes += more;
  }
  return shards;
}

// The length and the header, padded to a multiple of 8 bytes, so that the tensors after it are
// aligned.
std::string Header(const Shard& shard) {
  std::string json = R"({"__metadata__":{"format":"pt"})";
  size_t at = 0;
  for (const auto* entry : shard) {
    const auto& [name, weight] = *entry;
    assert(weight.data.size() == ShapeBytes(weight));
    const size_t end = at + weight.data.size();
    json += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        nlohmann::json(name).dump(), Name(weight.type),
                        fmt::join(weight.shape, ","), at, end);
    at = end;
  }
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string header;
  for (uint64_t length = json.size(); header.size() < 8; length >>= 8) {
    header += static_cast<char>(length & 0xff);
  }
  return header + json;
}

// Wide types come first, which keeps every tensor aligned to its type; Python's safetensors uses
// the same order.
int Rank(WeightType type) {
  return type == WeightType::kF32 ? 0 : type == WeightType::kBF16 ? 1 : 2;
}

void WriteShard(const fs::path& path, Shard shard) {
  std::ranges::sort(shard, {}, [](const auto* entry) {
    return std::pair(Rank(entry->second.type), std::string_view(entry->first));
  });
  const std::string header = Header(shard);
  std::vector<std::span<const std::byte>> pieces = {std::as_bytes(std::span(header))};
  for (const auto* entry : shard) pieces.push_back(entry->second.data);
  auto piece = pieces.begin();
  WriteFileAtomically(path, [&](std::string& block) {
    while (piece != pieces.end() && piece->empty()) ++piece;
    if (piece == pieces.end()) return false;
    const auto part = piece->first(std::min(piece->size(), kBlockBytes));
    block.assign(reinterpret_cast<const char*>(part.data()), part.size());
    *piece = piece->subspan(part.size());
    return true;
  });
}

std::string ShardName(size_t number, size_t shards) {  // numbered from 1
  return fmt::format("model-{:05}-of-{:05}.safetensors", number, shards);
}

bool IsWeights(const std::string& name) {
  return name == kWeightsFile || name == kWeightsIndex ||
         (name.size() == ShardName(1, 1).size() && name.starts_with("model-") &&
          name.ends_with(".safetensors"));
}

// Files of an earlier model that a reader would mistake for parts of this one.
void RemoveOthers(const fs::path& folder, const std::set<std::string>& written) {
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (IsWeights(name) && !written.contains(name)) others.push_back(entry.path());
  }
  for (const fs::path& path : others) fs::remove(path);
}

void WriteShards(const fs::path& folder, const std::vector<Shard>& shards) {
  std::set<std::string> written = {std::string(kWeightsIndex)};
  nlohmann::json index = {{"metadata", {{"total_size", 0}}},
                          {"weight_map", nlohmann::json::object()}};
  size_t total = 0;
  // Shards of an earlier model with the same names are replaced one by one. Until all are replaced,
  // a mixture with the old index could be read as a model, so the old index is removed first.
  if (fs::exists(folder / ShardName(1, shards.size()))) fs::remove(folder / kWeightsIndex);
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = ShardName(i + 1, shards.size());
    WriteShard(folder / name, shards[i]);
    written.insert(name);
    for (const auto* entry : shards[i]) {
      index["weight_map"][entry->first] = name;
      total += entry->second.data.size();
    }
  }
  index["metadata"]["total_size"] = total;
  WriteFileAtomically(folder / kWeightsIndex, index.dump(2) + "\n");
  RemoveOthers(folder, written);
}

}  // namespace

void WriteSafetensors(const fs::path& file, const std::map<std::string, Weight>& weights) {
  Shard all;
  for (const auto& weight : weights) all.push_back(&weight);
  WriteShard(file, all);
}

void WriteWeights(const fs::path& folder, const std::map<std::string, Weight>& weights,
                  int64_t shard_bytes) try {
  const std::vector<Shard> shards = Split(weights, shard_bytes);
  if (shards.size() > 1) {
    WriteShards(folder, shards);
  } else {
    WriteShard(folder / kWeightsFile, shards[0]);
    RemoveOthers(folder, {std::string(kWeightsFile)});
  }
} catch (const fs::filesystem_error& error) {
  throw FatalError(ExitCode::kFile, fmt::format("cannot replace the weights in {}: {}",
                                                folder.string(), error.code().message()));
}

}  // namespace agentr
