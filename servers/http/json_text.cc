#include "servers/http/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "common/json_depth.h"
#include "common/json_fields.h"
#include "common/text.h"
#include "servers/http/http_service.h"

namespace agentr {
namespace {

const nlohmann::json& Field(const nlohmann::json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end())
    throw HttpStatusError(422, fmt::format("The field '{}' is missing.", name));
  return *at;
}

[[noreturn]] void WrongType(const char* name, std::string_view wanted) {
  throw HttpStatusError(422, fmt::format("The field '{}' must be {}.", name, wanted));
}

}  // namespace

nlohmann::json ParseObject(std::string_view body) {
  if (body.empty()) return nlohmann::json::object();
  if (IsTooDeep(body)) {
    throw HttpStatusError(400,
                          fmt::format("The body is nested deeper than {} levels.", kDeepestJson));
  }
  nlohmann::json object = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) throw HttpStatusError(400, "The body is not valid JSON.");
  if (!object.is_object()) throw HttpStatusError(422, "The body must be a JSON object.");
  return object;
}

// The original servers read bodies with pydantic, which accepts 3, "3" and 3.0 as an integer.
int64_t IntField(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = Field(object, name);
  std::optional<int64_t> number;
  if (value.is_number_unsigned()) {
    const auto big = value.get<uint64_t>();
    if (big <= uint64_t{INT64_MAX}) number = static_cast<int64_t>(big);
  } else if (value.is_number_integer()) {
    number = value.get<int64_t>();
  } else if (value.is_number_float()) {
    constexpr double kLimit = 9007199254740992;  // 2^53: above it a double does not represent a
                                                 // single integer
    const auto real = value.get<double>();
    if (std::trunc(real) == real && std::abs(real) <= kLimit) number = static_cast<int64_t>(real);
  } else if (value.is_string()) {
    number = ParseNumber<int64_t>(value.get_ref<const std::string&>());
  }
  if (!number) WrongType(name, "an integer of 64 bits");
  return *number;
}

const std::string& StringField(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = Field(object, name);
  if (!IsJson<std::string>(value)) WrongType(name, "a string");
  return value.get_ref<const std::string&>();
}

std::vector<std::string> StringsField(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = Field(object, name);
  if (!IsJson<std::vector<std::string>>(value)) WrongType(name, "a list of strings");
  return value.get<std::vector<std::string>>();
}

void AppendJson(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  out += '"';
}

std::string ErrorJson(std::string_view message) {
  std::string json = R"({"error":)";
  AppendJson(message, json);
  return json + '}';
}

}  // namespace agentr
