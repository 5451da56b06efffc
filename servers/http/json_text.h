// JSON of requests and replies: typed fields that fail with a clear message, and quick writing.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The object in a request's body; an empty body is an empty object.
// Throws HttpStatusError: 400 for text that is no JSON or nested too deep, 422 for a value that is
// no object.
nlohmann::json ParseObject(std::string_view body);

// The integer that is all of `text`; nothing where it is none, or does not fit.
std::optional<int64_t> ParseInt(std::string_view text);

// Fields of it; an integer may be written as 3, "3" or 3.0. Throw HttpStatusError(422) naming the
// field when it is missing or of another type.
int64_t IntField(const nlohmann::json& object, const char* name);
const std::string& StringField(const nlohmann::json& object, const char* name);
std::vector<std::string> StringsField(const nlohmann::json& object, const char* name);

// Appends `text` (valid UTF-8) as a JSON string.
void AppendJson(std::string_view text, std::string& out);

// {"error": message}
std::string ErrorJson(std::string_view message);

}  // namespace agentr
