#include "clients/http/json_fields.h"

#include <fmt/format.h>

#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {

namespace {

tl::unexpected<Error> Unreadable(const std::string& what, const std::string& fault,
                                 std::string_view text) {
  return Fail(ErrorKind::kProtocol,
              "the " + what + " is " + fault + ": " + EscapeControls(text.substr(0, 200)));
}

}  // namespace

Result<nlohmann::json> ParseJson(std::string_view text, const std::string& what) {
  if (IsTooDeep(text)) return Fail(ErrorKind::kProtocol, "the " + what + " is nested too deep");
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return Unreadable(what, fmt::format("not JSON ({})", JsonFault(text)), text);
  }
  return value;
}

Result<nlohmann::json> ParseObject(std::string_view text, const std::string& what) {
  auto value = ParseJson(text, what);
  if (value && !value->is_object()) return Unreadable(what, "not an object", text);
  return value;
}

}  // namespace agentr
