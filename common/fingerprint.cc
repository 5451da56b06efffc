#include "common/fingerprint.h"

#include <fmt/core.h>

namespace agentr {

std::string ValuesText(const nlohmann::ordered_json& options) {
  std::string text;
  const char* separator = "";
  for (const auto& value : options) {
    text += separator;
    separator = " ";
    if (value.is_array()) {
      text += ValuesText(value);
    } else if (value.is_string()) {
      text += value.get_ref<const std::string&>();
    } else {
      text += value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
    }
  }
  return text;
}

}  // namespace agentr
