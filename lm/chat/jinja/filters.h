// Jinja's filters and tests.
#pragma once

#include <string_view>

#include "lm/chat/jinja/run.h"
#include "lm/chat/jinja/value.h"

namespace agentr::jinja {

// value | name(arguments). An unknown filter, and one that this interpreter lacks, is refused when
// it is reached: a template may name it where it does not go for a conversation.
Value ApplyFilter(Run& run, std::string_view name, const Value& value, const Arguments& arguments);

// value is name(arguments).
bool ApplyTest(Run& run, std::string_view name, const Value& value, const Arguments& arguments);

using FilterFunction = Value (*)(Run&, const Value&, const Arguments&);
// Null where there is none of the name.
FilterFunction FindTextFilter(std::string_view name);
FilterFunction FindSequenceFilter(std::string_view name);

}  // namespace agentr::jinja
