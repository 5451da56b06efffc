// Methods of strings, dicts and lists, and the matching of arguments with parameters.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "lm/jinja/run.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

// The arguments in the order of `parameters`; undefined if not given. Too many or unknown
// arguments, or fewer than `needed`, are failures that name `function`.
Items BindArguments(Run& run, std::string_view function, const Arguments& arguments,
                    std::initializer_list<std::string_view> parameters, size_t needed = 0);

bool IsDictMethod(std::string_view name);

// object.name(arguments). Methods that would change a list or dict fail, as in Jinja's immutable
// sandbox; methods that are not implemented are refused.
Value CallMethod(Run& run, const Value& object, std::string_view name, const Arguments& arguments);

// String functions that filters and methods share.
Text ReplaceText(Run& run, const Text& text, std::string_view from, const Text& to, int64_t count);
Text LowerText(Run& run, const Text& text);
Text UpperText(Run& run, const Text& text);
Text CapitalizeText(Run& run, const Text& text);
// Python's isupper and islower: at least one cased letter, and none of the other case.
bool HasCase(Run& run, const Text& text, bool upper);
Text JoinTexts(Run& run, const Text& separator, const std::vector<Text>& parts);
Value TextList(Run& run, std::vector<Text> parts);

}  // namespace agentr::jinja
