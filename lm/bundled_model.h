// The language model that comes with the programs: models/bundled, a few million parameters that
// play TextCraft (models/bundled/README.md).
#pragma once

#include <filesystem>
#include <string_view>

namespace agentr {

inline constexpr std::string_view kBundledModel = "bundled";

// The folder of the bundled model for a program in the folder `program`: "models/bundled" or
// "share/agentr/models/bundled" in it or in the nearest folder above it, so that it is found in an
// installation and from a build folder in the source tree. Throws FatalError(kFile) with the cure.
std::filesystem::path BundledModelFolder(const std::filesystem::path& program);

// The same for this program.
std::filesystem::path BundledModelFolder();

}  // namespace agentr
