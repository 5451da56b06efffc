// Parses the header of one safetensors file. The file is not trusted: everything is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lm/weights/safetensors.h"

namespace agentr {

// The tensors of `file`, the bytes of a whole file; the views point into it. The tensors must cover
// the bytes after the header without gaps or overlaps. Throws FatalError(kFile) naming `path`, the
// tensor and the cure.
std::map<std::string, Weight> ParseSafetensors(std::span<const std::byte> file,
                                               const std::filesystem::path& path);

// The number of bytes of a tensor of this type and shape; nullopt if it is larger than any file.
std::optional<uint64_t> ShapeBytes(const Weight& weight);

// Parses a JSON object in which no name may occur twice (a parser would silently keep only one).
// Throws FatalError(kFile) naming `path`.
nlohmann::json ParseStrictObject(std::string_view text, const std::filesystem::path& path);

// The cure for a file that is broken in an unknown way.
inline constexpr std::string_view kDamagedCure = "the file is damaged: download or write it again";

}  // namespace agentr
