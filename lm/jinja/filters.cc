// Filters of texts and numbers.
#include "lm/jinja/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "common/named_values.h"
#include "lm/jinja/json.h"
#include "lm/jinja/methods.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

Value TrimFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "trim", arguments, {"chars"});
  const Text text = SoftText(run, value);
  const bool space = a[0].IsUndefined() || a[0].IsNone();
  return NewText(run, space ? Strip(text, {}) : Strip(text, TextOf(run, a[0]).bytes, {}));
}

// The argument, or its default if it is not given.
Value Or(const Value& value, Value otherwise) { return value.IsUndefined() ? otherwise : value; }

Value JsonFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "tojson", arguments,
                                {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ascii = Truth(a[0]);
  style.sort_keys = Truth(a[3]);
  if (IsInteger(a[1])) {
    const int64_t width = std::clamp<int64_t>(IntegerOf(a[1]), 0, 1000);
    style.indent = std::string(static_cast<size_t>(width), ' ');
  } else if (!a[1].IsUndefined() && !a[1].IsNone()) {
    style.indent = TextOf(run, a[1]).bytes;
  }
  if (style.indent) style.item_separator = ",";
  if (!a[2].IsUndefined() && !a[2].IsNone()) {
    const Items separators = ItemsOf(run, a[2]);
    if (separators.size() != 2) run.Fail("separators are two");
    style.item_separator = TextOf(run, separators[0]).bytes;
    style.key_separator = TextOf(run, separators[1]).bytes;
  }
  return NewText(run, JsonOf(run, value, style));
}

Value DefaultFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "default", arguments, {"default_value", "boolean"});
  const bool missing = value.IsUndefined() || (Truth(a[1]) && !Truth(value));
  return missing ? Or(a[0], Value(Text())) : value;
}

Value ReplaceFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "replace", arguments, {"old", "new", "count"}, 2);
  const int64_t count = IsInteger(a[2]) ? IntegerOf(a[2]) : -1;
  return NewText(run, ReplaceText(run, SoftText(run, value), SoftText(run, a[0]).bytes,
                                  SoftText(run, a[1]), count));
}

// Jinja's title: words begin after white space and some brackets, unlike in str.title(), where they
// begin after any non-letter.
Value TitleFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "title", arguments, {});
  Text text = SoftText(run, value);
  if (!IsAscii(text.bytes)) run.Refuse("title of letters beyond ASCII");
  text = LowerText(run, text);
  bool begins = true;
  for (char& c : text.bytes) {
    if (begins) c = static_cast<char>(std::toupper(c));
    begins = IsSpaceCharacter(c) || std::string_view("-({[<").find(c) != std::string_view::npos;
  }
  return NewText(run, std::move(text));
}

Value StringFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "string", arguments, {});
  return value.text() ? value : NewText(run, StringOf(run, value));
}

// Python's int() in base 10 or float() of a text: white space around, a sign, and digits.
// Underscores between them are refused. `name`: of the filter.
template <typename Number>
std::optional<Number> NumberIn(Run& run, const Text& text, const std::string& name) {
  std::string digits = Strip(text, {}).bytes;
  if (!IsAscii(digits) || digits.find('_') != std::string::npos)
    run.Refuse(name + " of such a text");
  if (digits.starts_with('+')) digits.erase(0, 1);
  Number number = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (std::is_integral_v<Number> && end.ec == std::errc::result_out_of_range) {
    run.Refuse("an integer beyond 63 bits");
  }
  if (end.ec != std::errc() || end.ptr != digits.data() + digits.size()) return std::nullopt;
  return number;
}

Value IntFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "int", arguments, {"default", "base"});
  if (!a[1].IsUndefined() && !(IsInteger(a[1]) && IntegerOf(a[1]) == 10)) {
    run.Refuse("int in another base");
  }
  const Value otherwise = Or(a[0], Value(int64_t{0}));
  if (value.IsUndefined()) run.FailUndefined(value);
  if (IsInteger(value)) return Value(IntegerOf(value));
  if (value.As<double>() || value.text()) {
    std::optional<double> number;
    if (value.text() != nullptr) {
      if (const auto integer = NumberIn<int64_t>(run, TextOf(run, value), "int")) {
        return Value(*integer);
      }
      number = NumberIn<double>(run, TextOf(run, value), "float");
    } else {
      number = FloatOf(value);
    }
    if (!number || !std::isfinite(*number)) return otherwise;
    if (std::fabs(*number) >= 9e18) run.Refuse("an integer beyond 63 bits");
    return Value(static_cast<int64_t>(*number));
  }
  return otherwise;
}

Value FloatFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "float", arguments, {"default"});
  if (value.IsUndefined()) run.FailUndefined(value);
  if (IsNumber(value)) return Value(FloatOf(value));
  std::optional<double> number;
  if (value.text() != nullptr) number = NumberIn<double>(run, TextOf(run, value), "float");
  return number ? Value(*number) : Or(a[0], Value(0.0));
}

Value AbsFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "abs", arguments, {});
  if (value.As<double>()) return Value(std::fabs(FloatOf(value)));
  if (!IsInteger(value)) run.Fail("abs takes a number");
  return IntegerOf(value) < 0 ? Negate(run, value) : Value(IntegerOf(value));
}

Value RoundFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "round", arguments, {"precision", "method"});
  const Value precision = Or(a[0], Value(int64_t{0}));
  const std::string method = a[1].text() ? a[1].text()->bytes : "common";
  if (!IsNumber(value)) run.Fail("round takes a number");
  if (!IsInteger(precision) || IntegerOf(precision) != 0) run.Refuse("round to digits");
  const double number = FloatOf(value);
  if (method == "ceil") return Value(std::ceil(number));
  if (method == "floor") return Value(std::floor(number));
  if (method != "common") run.Fail("round's method is common, ceil or floor");
  return IsInteger(value) ? Value(IntegerOf(value)) : Value(std::nearbyint(number));
}

Value SafeFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "safe", arguments, {});
  Text text = StringOf(run, value);
  text.safe = true;
  return NewText(run, std::move(text));
}

// Indents every line except the first and empty ones by `width` spaces or a text.
Value IndentFilter(Run& run, const Value& value, const Arguments& arguments) {
  const Items a = BindArguments(run, "indent", arguments, {"width", "first", "blank"});
  const Value width = Or(a[0], Value(int64_t{4}));
  const std::string indentation =
      IsInteger(width) ? std::string(std::clamp<int64_t>(IntegerOf(width), 0, 1000), ' ')
                       : TextOf(run, width).bytes;
  Text text = TextOf(run, value);
  const bool other_breaks =
      text.bytes.find_first_of("\r\v\f\x1c\x1d\x1e") != std::string::npos || !IsAscii(text.bytes);
  if (other_breaks) run.Refuse("indent of a text with other line ends or letters");
  text.Append("\n");
  Text result;
  const size_t size = text.bytes.size();
  for (size_t begin = 0; begin < size;) {
    const size_t end = text.bytes.find('\n', begin);
    const bool indents = begin == 0 ? Truth(a[1]) : end > begin || Truth(a[2]);
    if (begin > 0) result.Append("\n");
    if (indents) result.Append(indentation);
    run.Charge(indentation.size() + 16);
    result.Append(text.Slice(begin, end));
    begin = end + 1;
  }
  return NewText(run, std::move(result));
}

template <Text (*kChange)(Run&, const Text&)>
Value CaseFilter(Run& run, const Value& value, const Arguments& arguments) {
  BindArguments(run, "the filter", arguments, {});
  return NewText(run, kChange(run, SoftText(run, value)));
}

constexpr auto kTextFilters = std::to_array<NamedValue<FilterFunction>>({
    {"trim", TrimFilter},
    {"tojson", JsonFilter},
    {"default", DefaultFilter},
    {"d", DefaultFilter},
    {"replace", ReplaceFilter},
    {"title", TitleFilter},
    {"string", StringFilter},
    {"int", IntFilter},
    {"float", FloatFilter},
    {"abs", AbsFilter},
    {"round", RoundFilter},
    {"safe", SafeFilter},
    {"indent", IndentFilter},
    {"upper", CaseFilter<UpperText>},
    {"lower", CaseFilter<LowerText>},
    {"capitalize", CaseFilter<CapitalizeText>},
});

}  // namespace

FilterFunction FindTextFilter(std::string_view name) {
  return ValueOf(kTextFilters, name).value_or(nullptr);
}

Value ApplyFilter(Run& run, std::string_view name, const Value& value, const Arguments& arguments) {
  run.Step();
  FilterFunction filter = FindTextFilter(name);
  if (filter == nullptr) filter = FindSequenceFilter(name);
  if (filter == nullptr) run.Refuse(fmt::format("the filter '{}'", name));
  return filter(run, value, arguments);
}

}  // namespace agentr::jinja
