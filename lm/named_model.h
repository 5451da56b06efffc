// The models that --model_name and --model_dir know by a name: the bundled one, and those that
// scripts/setup.sh downloads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace agentr {

bool IsNamedModel(std::string_view name);

// The folder or file of the model of this name. Throws FatalError(kFile) naming the cure, such as
// the command that downloads it, if it is not there.
std::filesystem::path NamedModel(std::string_view name);

// Where the model is that a user calls `name`: a file or folder of that name, or else the named
// model. Throws like NamedModel.
std::filesystem::path PlaceOfModel(const std::string& name);

}  // namespace agentr
