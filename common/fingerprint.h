// The options of a struct that determine the results. The struct's Declare function is their only
// list, so an option that is added there cannot be forgotten here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/options.h"

namespace agentr {

// Values by name, in the order of their declarations.
template <typename Options>
nlohmann::ordered_json FingerprintOf(Options options) {
  OptionSet set("", "");
  Declare(set, options);
  return set.Fingerprint();
}

// The values with spaces between them, those of lists too.
std::string ValuesText(const nlohmann::ordered_json& options);

// Those that are not at their defaults.
template <typename Options>
nlohmann::ordered_json ChangedOptions(const Options& options) {
  const nlohmann::ordered_json standard = FingerprintOf(Options{});
  const nlohmann::ordered_json present = FingerprintOf(options);
  auto changed = nlohmann::ordered_json::object();
  for (const auto& [name, value] : present.items()) {
    if (value != standard.at(name)) changed[name] = value;
  }
  return changed;
}

}  // namespace agentr
