// Reads a JSON file that does not fit into memory: the elements of one long array, or the members
// of one big object, one at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace agentr {

// Receives one element of an array (`name` is empty) or one member of an object. Returns false to
// stop reading.
using OnJsonElement = std::function<bool(const std::string& name, nlohmann::ordered_json& element)>;

// Calls `on_element` for each in the order of the file; the members of an element keep their order
// too. Throws FatalError(kFile) naming the file and the place where it stops being JSON.
void ForEachJsonElement(const std::filesystem::path& path, const OnJsonElement& on_element);

}  // namespace agentr
