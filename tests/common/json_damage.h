// Damages a JSON record in every place, for tests of the readers of our own files.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace agentr {

// Calls read(damaged, what) with copies of `record` in which one value, or one whole part, is
// replaced by something else or missing.
template <typename Read>
void ForEachDamage(const nlohmann::ordered_json& record, const Read& read) {
  using Json = nlohmann::ordered_json;
  const std::vector<Json> others = {1e300,         -1,           uint64_t{1} << 63, "text", true,
                                    Json::array(), Json{1, "x"}, Json::object(),    nullptr};
  std::vector<Json::json_pointer> places;
  const auto visit = [&](const auto& self, const Json& value,
                         const Json::json_pointer& at) -> void {
    if (!at.empty()) places.push_back(at);
    if (value.is_object()) {
      for (const auto& [name, part] : value.items()) self(self, part, at / name);
    } else if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) self(self, value[i], at / i);
    }
  };
  visit(visit, record, Json::json_pointer());
  for (const Json::json_pointer& place : places) {
    for (const Json& other : others) {
      Json damaged = record;
      damaged[place] = other;
      read(damaged, place.to_string() + " = " + other.dump());
    }
    Json damaged = record;
    Json& parent = damaged[place.parent_pointer()];
    if (parent.is_object()) parent.erase(place.back());
    read(damaged, place.to_string() + " is missing");
  }
}

}  // namespace agentr
