// Any text is either refused with a line number, or gives distinct keys and values that are
// unchanged after writing by ToToml and reading.
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "common/error.h"
#include "common/toml.h"
#include "tests/fuzz/fuzz_input.h"

using agentr::Check;

namespace {

void CheckItems(const std::vector<agentr::TomlItem>& items) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  std::set<std::string> keys;
  for (const agentr::TomlItem& item : items) {
    Check(keys.insert(item.key).second);
    if (!item.values.empty()) object["key" + std::to_string(keys.size())] = item.values;
  }
  size_t next = 0;
  for (const agentr::TomlItem& again : agentr::ParseToml(agentr::ToToml(object))) {
    while (items[next].values.empty()) ++next;
    Check(again.values == items[next++].values);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<agentr::TomlItem> items;
  try {
    items = agentr::ParseToml(agentr::AsText(data, size));
  } catch (const agentr::FatalError& error) {
    Check(std::string_view(error.what()).starts_with("line "));
    return 0;
  }
  CheckItems(items);
  return 0;
}
