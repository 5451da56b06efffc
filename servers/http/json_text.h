// JSON of requests and replies: typed fields with clear error messages, and fast writing.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The object in a request's body; an empty body is an empty object. Throws HttpStatusError: 400 for
// text that is not JSON or is nested too deep, 422 for a value that is not an object.
nlohmann::json ParseObject(std::string_view body);

// Fields of the object; an integer may be written as 3, "3" or 3.0. They throw HttpStatusError(422)
// naming a field that is missing or of another type.
int64_t IntField(const nlohmann::json& object, const char* name);
const std::string& StringField(const nlohmann::json& object, const char* name);
std::vector<std::string> StringsField(const nlohmann::json& object, const char* name);

// Appends `text` (valid UTF-8) as a JSON string.
void AppendJson(std::string_view text, std::string& out);

// {"error": message}
std::string ErrorJson(std::string_view message);

}  // namespace agentr
