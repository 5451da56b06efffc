// Python's json.dumps.
#pragma once

#include <optional>
#include <string>

#include "lm/jinja/run.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

struct JsonStyle {
  bool ascii = false;                 // escape all non-ASCII characters
  std::optional<std::string> indent;  // per level; nullopt: everything on one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
};

Text JsonOf(Run& run, const Value& value, const JsonStyle& style);

}  // namespace agentr::jinja
