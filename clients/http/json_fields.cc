#include "clients/http/json_fields.h"

#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {

Result<nlohmann::json> ParseObject(std::string_view text, const std::string& what) {
  if (IsTooDeep(text)) return Fail(ErrorKind::kProtocol, "the " + what + " is nested too deep");
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_object()) return value;
  return Fail(ErrorKind::kProtocol,
              "the " + what + (value.is_discarded() ? " is not JSON: " : " is not an object: ") +
                  EscapeControls(text.substr(0, 200)));
}

std::string JsonText(const nlohmann::json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

}  // namespace agentr
