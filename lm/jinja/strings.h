// Methods of Python's str.
#pragma once

#include <optional>
#include <string_view>

#include "lm/jinja/run.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

// nullopt for a method that is not implemented.
std::optional<Value> CallStringMethod(Run& run, const Text& text, std::string_view name,
                                      const Arguments& arguments);

}  // namespace agentr::jinja
