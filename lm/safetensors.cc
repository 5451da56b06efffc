#include "lm/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "lm/safetensors_header.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

[[noreturn]] void Refuse(const fs::path& path, std::string_view what) {
  throw FatalError(ExitCode::kFile, fmt::format("{}: {}", path.string(), what));
}

bool Exists(const fs::path& path) {
  std::error_code unreadable;  // opening it will say why
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
    Refuse(path, "it has no weight_map; download or write the model again");
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

// Why a folder has no weights that can be read.
[[noreturn]] void RefuseFolder(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) Refuse(folder, error.message());
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("pytorch_model") && entry.path().extension() != ".json") {
      Refuse(folder, fmt::format("{} is in a format that can run code; convert it to {}: load it "
                                 "with transformers and call save_pretrained",
                                 name, kSingle));
    }
    if (name.starts_with("model-") && entry.path().extension() == ".safetensors") {
      Refuse(folder, fmt::format("{} is there without {}; finish the download or write the model "
                                 "again",
                                 name, kIndex));
    }
  }
  Refuse(folder, fmt::format("neither {} nor {} is there; name the folder of a Hugging Face model",
                             kSingle, kIndex));
}

}  // namespace

std::string_view Name(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return "F32";
    case WeightType::kF16:
      return "F16";
    case WeightType::kBF16:
      return "BF16";
  }
  return "?";
}

size_t Bytes(WeightType type) { return type == WeightType::kF32 ? 4 : 2; }

// A whole file, read by the system where and when it is looked at.
class WeightFiles::Mapping {
 public:
  explicit Mapping(const fs::path& path) {
    const auto fail = [&](std::string_view why) {
      Refuse(path, fmt::format("cannot read weights: {}", why));
    };
    std::error_code error;
    const uintmax_t size = fs::file_size(path, error);
    if (error) fail(error.message());
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(std::strerror(errno));
    size_ = size;
    // Nothing can be mapped of an empty file.
    void* const start =
        size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    const int reason = errno;
    ::close(fd);
    if (start == MAP_FAILED) fail(std::strerror(reason));
    start_ = start;
  }
  ~Mapping() {
    if (start_ != nullptr) ::munmap(start_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(start_), size_};
  }

 private:
  void* start_ = nullptr;
  size_t size_ = 0;
};

WeightFiles::WeightFiles(const fs::path& folder_or_file) {
  const auto read = [&](const fs::path& path) {
    files_.push_back(std::make_unique<Mapping>(path));
    return ParseSafetensors(files_.back()->bytes(), path);
  };
  std::error_code unreadable;
  if (!fs::is_directory(folder_or_file, unreadable)) {
    weights_ = read(folder_or_file);
    return;
  }
  const fs::path& folder = folder_or_file;
  // The writer leaves both only for the moment between a new single file and the removal of shards.
  if (Exists(folder / kSingle)) {
    weights_ = read(folder / kSingle);
    return;
  }
  const fs::path index = folder / kIndex;
  if (!Exists(index)) RefuseFolder(folder);
  std::map<std::string, std::string> file_of = ReadIndex(index);
  std::set<std::string> shards;
  for (const auto& [name, file] : file_of) shards.insert(file);
  for (const std::string& shard : shards) {
    if (!Exists(folder / shard)) {
      Refuse(folder / shard, fmt::format("this shard is missing, {} names it; finish the download "
                                         "or write the model again",
                                         kIndex));
    }
    for (auto& [name, weight] : read(folder / shard)) {
      const auto at = file_of.find(name);
      if (at == file_of.end() || at->second != shard) {
        Refuse(folder / shard,
               fmt::format("tensor {} is in this shard, {} {}; the files are of different models: "
                           "download or write all of them again",
                           name, kIndex,
                           at == file_of.end() ? "does not name it" : "has it in " + at->second));
      }
      weights_.emplace(name, std::move(weight));
    }
  }
  for (const auto& [name, file] : file_of) {
    if (!weights_.contains(name)) {
      Refuse(folder / file, fmt::format("tensor {} is not in this shard, {} says it is; download "
                                        "or write the model again",
                                        name, kIndex));
    }
  }
}

WeightFiles::~WeightFiles() = default;
WeightFiles::WeightFiles(WeightFiles&&) noexcept = default;

}  // namespace agentr
