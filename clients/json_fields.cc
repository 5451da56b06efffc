#include "clients/json_fields.h"

namespace agentr {

Result<nlohmann::json> ParseObject(std::string_view text, const std::string& what) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_object()) return value;
  return Fail(ErrorKind::kProtocol,
              "the " + what + (value.is_discarded() ? " is not JSON: " : " is not an object: ") +
                  std::string(text.substr(0, 200)));
}

std::string JsonText(const nlohmann::json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

}  // namespace agentr
