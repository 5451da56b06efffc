#include "lm/weights/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

// A tensor and its position in the bytes after the header.
struct Placed {
  std::string name;
  Weight weight;
  uint64_t begin = 0;
  uint64_t end = 0;
};

[[noreturn]] void RefuseHeader(const fs::path& path, std::string_view what,
                               std::string_view cure = kDamagedCure) {
  throw FatalError(ExitCode::kFile, fmt::format("{}: {}; {}", path.string(), what, cure));
}

// The header's text; stores the bytes after it in `data`.
std::string_view HeaderText(std::span<const std::byte> file, const fs::path& path,
                            std::span<const std::byte>& data) {
  RefuseLfsPointer({reinterpret_cast<const char*>(file.data()), file.size()}, path);
  constexpr size_t kLengthBytes = 8;
  if (file.size() < kLengthBytes) {
    RefuseHeader(path, fmt::format("{} bytes are too few for a safetensors file", file.size()));
  }
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<uint8_t>(file[i]);
  data = file.subspan(kLengthBytes);
  if (length > data.size()) {
    RefuseHeader(path,
                 fmt::format("its header should have {} bytes, and the file ends {} bytes after "
                             "its start",
                             length, data.size()));
  }
  if (length > kMaxHeaderBytes) {
    RefuseHeader(path, fmt::format("its header should have {} bytes, the format allows {}", length,
                                   kMaxHeaderBytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(data.data()), length);
  data = data.subspan(length);
  return text;
}

// A member of an entry; null if it is missing.
const nlohmann::json& Member(const nlohmann::json& entry, const char* name) {
  static const nlohmann::json kNull;
  const auto at = entry.find(name);
  return at == entry.end() ? kNull : *at;
}

bool AreSizes(const nlohmann::json& values) {
  return values.is_array() && std::ranges::all_of(values, [](const nlohmann::json& value) {
           return IsJson<int64_t>(value) && value.get<int64_t>() >= 0;
         });
}

Placed ParseEntry(const std::string& name, const nlohmann::json& entry, const fs::path& path) {
  const auto refuse = [&](std::string_view what, std::string_view cure = kDamagedCure) {
    RefuseHeader(path, fmt::format("tensor {}: {}", name, what), cure);
  };
  if (!entry.is_object()) refuse("its entry in the header is no object");
  Placed placed;
  placed.name = name;
  const nlohmann::json& dtype = Member(entry, "dtype");
  const std::optional<WeightType> type =
      dtype.is_string() ? ValueOf(kWeightTypes, dtype.get_ref<const std::string&>()) : std::nullopt;
  if (!type || IsQuantised(*type)) {
    refuse(fmt::format("dtype {} is not supported", Member(entry, "dtype").dump()),
           "convert it to F32, F16 or BF16");
  }
  placed.weight.type = *type;
  if (!AreSizes(Member(entry, "shape"))) refuse("its shape is no list of sizes");
  placed.weight.shape = entry["shape"].get<std::vector<int64_t>>();
  const nlohmann::json& offsets = Member(entry, "data_offsets");
  if (!AreSizes(offsets) || offsets.size() != 2) refuse("its data_offsets are not two positions");
  placed.begin = offsets[0].get<uint64_t>();
  placed.end = offsets[1].get<uint64_t>();
  const std::string place = fmt::format("data_offsets {} to {}", placed.begin, placed.end);
  if (placed.begin > placed.end) refuse(place + " end before they begin");
  const std::optional<uint64_t> bytes = ShapeBytes(placed.weight);
  const std::string shape = fmt::format("shape [{}]", fmt::join(placed.weight.shape, ", "));
  if (!bytes) refuse(shape + " has more elements than can be counted");
  if (*bytes != placed.end - placed.begin) {
    refuse(fmt::format("{} of {} takes {} bytes, {} are {}", shape, Name(*type), *bytes, place,
                       placed.end - placed.begin));
  }
  return placed;
}

void CheckMetadata(const nlohmann::json& metadata, const fs::path& path) {
  const bool texts = metadata.is_object() && std::ranges::all_of(metadata, [](const auto& value) {
                       return value.is_string();
                     });
  if (!texts) RefuseHeader(path, fmt::format("{} is no object of texts", kMetadata));
}

// The format requires tensors without gaps, so that no other data can hide between them.
void CheckCover(const std::vector<Placed>& sorted, uint64_t data_bytes, const fs::path& path) {
  uint64_t at = 0;
  std::string before = "the header";
  for (const Placed& placed : sorted) {
    if (placed.end > data_bytes) {
      RefuseHeader(path,
                   fmt::format("tensor {} ends at byte {} after the header, but the file at {}",
                               placed.name, placed.end, data_bytes));
    }
    if (placed.begin < at) {
      RefuseHeader(path, fmt::format("tensors {} and {} overlap", before, placed.name));
    }
    if (placed.begin > at) {
      RefuseHeader(path, fmt::format("a gap of {} bytes between {} and tensor {}",
                                     placed.begin - at, before, placed.name));
    }
    at = placed.end;
    before = placed.name;
  }
  if (at < data_bytes) {
    RefuseHeader(path, fmt::format("a gap of {} bytes between {} and the file's end",
                                   data_bytes - at, before));
  }
}

}  // namespace

std::optional<uint64_t> ShapeBytes(const Weight& weight) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  auto bytes = static_cast<int64_t>(Bytes(weight.type));
  for (const int64_t size : weight.shape) {
    if (size != 0 && bytes > kMost / size) return std::nullopt;
    bytes *= size;
  }
  return static_cast<uint64_t>(bytes);
}

nlohmann::json ParseStrictObject(std::string_view text, const fs::path& path) {
  RefuseLfsPointer(text, path);
  if (IsTooDeep(text)) RefuseHeader(path, "the JSON is nested too deep");
  std::vector<std::set<std::string>> names;  // of the open objects
  const auto on_event = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) names.emplace_back();
    if (event == Event::object_end) names.pop_back();
    if (event == Event::key && !names.back().insert(parsed.get<std::string>()).second) {
      RefuseHeader(path, fmt::format("the name {} occurs twice", parsed.get<std::string>()));
    }
    return true;
  };
  nlohmann::json object;
  try {
    object = nlohmann::json::parse(text, on_event);
  } catch (const nlohmann::json::parse_error& error) {
    RefuseHeader(path, fmt::format("no JSON at byte {}", error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    RefuseHeader(path, "a number in the JSON is too large");
  }
  if (!object.is_object()) RefuseHeader(path, "the JSON is no object");
  return object;
}

std::map<std::string, Weight> ParseSafetensors(std::span<const std::byte> file,
                                               const fs::path& path) {
  std::span<const std::byte> data;
  const nlohmann::json header = ParseStrictObject(HeaderText(file, path, data), path);
  std::vector<Placed> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      CheckMetadata(entry, path);
    } else {
      tensors.push_back(ParseEntry(name, entry, path));
    }
  }
  std::ranges::sort(tensors, {}, [](const Placed& placed) {
    return std::pair(placed.begin, placed.end);  // at equal begin, empty tensors come first
  });
  CheckCover(tensors, data.size(), path);
  std::map<std::string, Weight> weights;
  for (Placed& placed : tensors) {
    placed.weight.data = data.subspan(placed.begin, placed.end - placed.begin);
    weights.emplace(std::move(placed.name), std::move(placed.weight));
  }
  return weights;
}

}  // namespace agentr
