#include "lm/weights/safetensors.h"

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

// A whole file mapped into memory; the system reads pages on first access.
class WeightFiles::Mapping {
 public:
  explicit Mapping(const fs::path& path) {
    const auto fail = [&](std::string_view why) {
      Refuse(path, fmt::format("cannot read weights: {}; {}", why, kPartsCure));
    };
    std::error_code error;
    const uintmax_t size = fs::file_size(path, error);
    if (error) fail(error.message());
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(std::strerror(errno));
    size_ = size;
    // mmap fails for an empty file.
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
  files_.push_back(std::make_unique<Mapping>(file));
  return ParseSafetensors(files_.back()->bytes(), file);
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

WeightFiles::~WeightFiles() = default;
WeightFiles::WeightFiles(WeightFiles&&) noexcept = default;

}  // namespace agentr
