// The header of one safetensors file. It comes from anywhere and is believed in nothing.
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

// The tensors of `file`, the bytes of a whole file; the views point into it. They cover the bytes
// behind the header without a gap and without sharing any. Throws FatalError(kFile) naming `path`,
// the tensor and the cure.
std::map<std::string, Weight> ParseSafetensors(std::span<const std::byte> file,
                                               const std::filesystem::path& path);

// What a tensor of this type and shape takes; nothing where that is more than a file can have.
std::optional<uint64_t> ShapeBytes(const Weight& weight);

// A JSON object in which no name stands twice (a parser would silently keep one of them). Throws
// FatalError(kFile) naming `path`.
nlohmann::json ParseStrictObject(std::string_view text, const std::filesystem::path& path);

// What to do about a file of which one cannot say more than that it is broken.
inline constexpr std::string_view kDamagedCure = "the file is damaged: download or write it again";

}  // namespace agentr
