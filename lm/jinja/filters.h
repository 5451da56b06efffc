// Jinja's filters and tests.
#pragma once

#include <string_view>

#include "lm/jinja/run.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

// value | name(arguments). A filter that is unknown or not implemented is refused only when it is
// executed, because a template may use it in a branch that a conversation does not reach.
Value ApplyFilter(Run& run, std::string_view name, const Value& value, const Arguments& arguments);

// value is name(arguments).
bool ApplyTest(Run& run, std::string_view name, const Value& value, const Arguments& arguments);

using FilterFunction = Value (*)(Run&, const Value&, const Arguments&);
// Null if there is no filter of this name.
FilterFunction FindTextFilter(std::string_view name);
FilterFunction FindSequenceFilter(std::string_view name);

}  // namespace agentr::jinja
