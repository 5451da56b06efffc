// Python's operators on the values of a template. Failures are those of Python and end the
// rendering.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lm/jinja/run.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

// + - * / // % **
Value Arithmetic(Run& run, std::string_view operation, const Value& left, const Value& right);
Value Negate(Run& run, const Value& value);

// Negative, zero or positive if `left` is smaller than, equal to or greater than `right`.
int Order(Run& run, const Value& left, const Value& right);
bool Contains(Run& run, const Value& container, const Value& item);
// == != < <= > >= in "not in"
bool Relation(Run& run, std::string_view operation, const Value& left, const Value& right);

// The items of a loop over the value. This uses up a generator.
Items ItemsOf(Run& run, const Value& value);
int64_t LengthOf(Run& run, const Value& value);

// object[index], object.name; undefined if there is none.
Value ItemOf(Run& run, const Value& object, const Value& index);
Value AttributeOf(Run& run, const Value& object, std::string_view name);
// object[begin:end:step]
Value SliceOf(Run& run, const Value& object, const Value& begin, const Value& end,
              const Value& step);

// The text of a value, which must be a text.
const Text& TextOf(Run& run, const Value& value);
// The value converted by str(), as string filters use it.
Text SoftText(Run& run, const Value& value);
Value NewText(Run& run, Text text);

// Python's "…" % values.
Text FormatPercent(Run& run, const Text& format, const Value& values);

}  // namespace agentr::jinja
