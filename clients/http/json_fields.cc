#include "clients/http/json_fields.h"

namespace agentr {
namespace {

bool IsTooDeep(std::string_view text) {
  constexpr int kDeepest = 100;
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<nlohmann::json> ParseObject(std::string_view text, const std::string& what) {
  if (IsTooDeep(text)) return Fail(ErrorKind::kProtocol, "the " + what + " is nested too deep");
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
