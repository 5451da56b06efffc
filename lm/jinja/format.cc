#include "lm/jinja/format.h"

#include <algorithm>
#include <charconv>

#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

const Value& FieldOf(Run& run, std::string_view field, const Arguments& arguments, size_t& next) {
  if (field.find_first_of(".[:!{") != std::string_view::npos) run.Refuse("a format specification");
  for (const auto& [name, value] : arguments.named) {
    if (name == field) return value;
  }
  size_t index = next;
  if (field.empty()) {
    ++next;
  } else {
    const auto end = std::from_chars(field.data(), field.data() + field.size(), index);
    if (end.ptr != field.data() + field.size()) run.Fail("format lacks a named argument");
    if (next > 0) run.Fail("format mixes {} and {0}");
  }
  if (index >= arguments.positional.size()) run.Fail("format lacks an argument");
  return arguments.positional[index];
}

}  // namespace

Text FormatBraces(Run& run, const Text& format, const Arguments& arguments) {
  Text result;
  size_t next = 0;
  const std::string_view bytes = format.bytes;
  for (size_t at = 0; at < bytes.size();) {
    const size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
    result.Append(format.Slice(at, brace));
    if (brace == bytes.size()) break;
    if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
      result.Append(format.Slice(brace, brace + 1));
      at = brace + 2;
      continue;
    }
    const size_t end = bytes.find('}', brace + 1);
    if (bytes[brace] == '}' || end == std::string_view::npos) run.Fail("format has a single brace");
    const Text text =
        SoftText(run, FieldOf(run, bytes.substr(brace + 1, end - brace - 1), arguments, next));
    result.Append(text);
    run.Charge(result.bytes.size() / 16 + 16);
    at = end + 1;
  }
  return result;
}

Text FormatPercent(Run& run, const Text& format, const Value& values) {
  const List* tuple = values.list();
  const bool many = tuple != nullptr && tuple->kind == ListKind::kTuple;
  if (values.dict() != nullptr) run.Refuse("% of a dict");
  Text result;
  size_t next = 0;
  const std::string_view bytes = format.bytes;
  for (size_t at = 0; at < bytes.size();) {
    const size_t percent = std::min(bytes.find('%', at), bytes.size());
    result.Append(format.Slice(at, percent));
    if (percent == bytes.size()) break;
    const char type = percent + 1 < bytes.size() ? bytes[percent + 1] : '\0';
    at = percent + 2;
    if (type == '%') {
      result.Append("%");
      continue;
    }
    if (type != 's' && type != 'd') run.Refuse("this % in a format");
    if (next >= (many ? tuple->items.size() : 1))
      run.Fail("not enough arguments for format string");
    const Value& value = many ? tuple->items[next] : values;
    ++next;
    if (type == 'd' && !IsInteger(value)) run.Refuse("%d of what is no integer");
    result.Append(type == 'd' ? Text(std::to_string(IntegerOf(value))) : SoftText(run, value));
    run.Charge(result.bytes.size() / 16 + 16);
  }
  if (next < (many ? tuple->items.size() : 1)) {
    run.Fail("not all arguments converted during string formatting");
  }
  return result;
}

}  // namespace agentr::jinja
