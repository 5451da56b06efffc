// Reads and writes weights in safetensors files: mapped into memory for reading, written completely
// or not at all.
//
// A file is the length of a header (8 bytes, little endian), the header (JSON: name -> dtype,
// shape, data_offsets), and the bytes of the tensors. A folder has model.safetensors, or shards and
// model.safetensors.index.json (weight_map: name -> file).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lm/weights/mapped_file.h"
#include "lm/weights/weight_source.h"

namespace agentr {

// The names of the files in a folder.
inline constexpr std::string_view kWeightsFile = "model.safetensors";
inline constexpr std::string_view kWeightsIndex = "model.safetensors.index.json";

// The weights of a folder, or of one file. Immutable; the views live as long as this object.
// Meanwhile a file may only be replaced, not changed: reading a mapped file that has shrunk kills
// the process.
class WeightFiles : public WeightSource {
 public:
  // Throws FatalError(kFile) naming the file, the tensor and the cure for data that is truncated,
  // overlapping, out of range, of an unknown type, duplicated, or missing from a shard.
  explicit WeightFiles(const std::filesystem::path& folder_or_file);

  const std::map<std::string, Weight>& weights() const override { return weights_; }
  const std::string& name() const override { return name_; }
  bool immutable() const override { return true; }

 private:
  std::map<std::string, Weight> ReadOne(const std::filesystem::path& file);
  void ReadShards(const std::filesystem::path& folder);

  std::string name_;
  std::vector<std::unique_ptr<MappedFile>> files_;
  std::map<std::string, Weight> weights_;
};

// Writes `weights` into one file, completely or not at all. Throws FatalError(kFile).
void WriteSafetensors(const std::filesystem::path& file,
                      const std::map<std::string, Weight>& weights);

// Writes `weights` to `folder`: model.safetensors or, if they take more than `shard_bytes`,
// model-00001-of-0000N.safetensors … with the index. Complete files replace older ones; the index
// is written last, and then shards of an earlier model are removed. The data must have the size
// that type and shape require. Throws FatalError(kFile).
void WriteWeights(const std::filesystem::path& folder, const std::map<std::string, Weight>& weights,
                  int64_t shard_bytes = int64_t{5} << 30);

}  // namespace agentr
