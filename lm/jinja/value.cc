#include "lm/jinja/value.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/utf8.h"
#include "lm/jinja/run.h"

namespace agentr::jinja {
namespace {

bool IsPrintable(int32_t code_point) {
  return code_point == ' ' || !(U_GET_GC_MASK(code_point) & (U_GC_C_MASK | U_GC_Z_MASK));
}

// Appends the character at `at` as Python's repr writes it in a string with quotes `quote`.
std::string ReprCharacter(std::string_view bytes, char quote, int32_t code_point) {
  constexpr std::string_view kEscaped = "\n\r\t\\", kLetters = "nrt\\";
  const size_t at =
      code_point < 0x80 ? kEscaped.find(static_cast<char>(code_point)) : kEscaped.npos;
  if (at != kEscaped.npos) return std::string("\\") + kLetters[at];
  if (code_point == quote) return std::string("\\") + quote;
  if (IsPrintable(code_point)) return std::string(bytes);
  if (code_point < 0x100) return fmt::format("\\x{:02x}", code_point);
  return code_point < 0x10000 ? fmt::format("\\u{:04x}", code_point)
                              : fmt::format("\\U{:08x}", code_point);
}

void AppendTextRepr(const Text& text, Text& out) {
  const bool single = text.bytes.find('\'') != std::string::npos;
  const bool twice = text.bytes.find('"') != std::string::npos;
  const char quote = single && !twice ? '"' : '\'';
  out.Append(std::string_view(&quote, 1));
  for (size_t at = 0; at < text.bytes.size();) {
    const size_t begin = at;
    const int32_t code_point = NextCodePoint(text.bytes, at);
    const std::string_view bytes = std::string_view(text.bytes).substr(begin, at - begin);
    out.AppendAs(ReprCharacter(bytes, quote, code_point < 0 ? 0xFFFD : code_point), text, begin,
                 at);
  }
  out.Append(std::string_view(&quote, 1));
}

void AppendListRepr(Run& run, const List& list, Text& out) {
  if (list.kind != ListKind::kList && list.kind != ListKind::kTuple) {
    run.Refuse("the text of a range, a view or a generator");
  }
  const bool tuple = list.kind == ListKind::kTuple;
  out.Append(tuple ? "(" : "[");
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) out.Append(", ");
    AppendRepr(run, list.items[i], out);
  }
  if (tuple && list.items.size() == 1) out.Append(",");
  out.Append(tuple ? ")" : "]");
}

}  // namespace

Value NewCallable(std::function<Value(Run&, Arguments&)> call) {
  return Value(std::make_shared<const Callable>(Callable{std::move(call)}));
}

bool IsInteger(const Value& value) { return value.As<int64_t>() || value.As<bool>(); }
bool IsNumber(const Value& value) { return IsInteger(value) || value.As<double>(); }
int64_t IntegerOf(const Value& value) {
  return value.As<bool>() ? static_cast<int64_t>(*value.As<bool>()) : *value.As<int64_t>();
}
double FloatOf(const Value& value) {
  return value.As<double>() ? *value.As<double>() : static_cast<double>(IntegerOf(value));
}

std::string_view TypeName(const Value& value) {
  constexpr std::string_view kNames[] = {"undefined", "NoneType", "bool", "int",
                                         "float",     "str",      "list", "dict",
                                         "Namespace", "function", "loop"};
  if (const List* list = value.list()) {
    constexpr std::string_view kKinds[] = {"list", "tuple", "range", "view", "generator"};
    return kKinds[static_cast<size_t>(list->kind)];
  }
  return kNames[value.variant().index()];
}

bool Truth(const Value& value) {
  if (value.IsUndefined() || value.IsNone()) return false;
  if (IsNumber(value)) return FloatOf(value) != 0;
  if (const Text* text = value.text()) return !text->bytes.empty();
  if (const List* list = value.list()) {
    return list->kind == ListKind::kGenerator || !list->items.empty();
  }
  if (const Dict* dict = value.dict()) return !dict->entries.empty();
  return true;
}

void StepToCompare(Run& run, const Text& left, const Text& right) {
  run.Step(std::min(left.bytes.size(), right.bytes.size()) / 64);
}

bool Equal(Run& run, const Value& left, const Value& right) {
  run.Step();
  if (left.text() && right.text()) {
    StepToCompare(run, *left.text(), *right.text());
    return left.text()->bytes == right.text()->bytes;
  }
  if (IsInteger(left) && IsInteger(right)) return IntegerOf(left) == IntegerOf(right);
  if (IsNumber(left) && IsNumber(right)) return FloatOf(left) == FloatOf(right);
  if (left.variant().index() != right.variant().index()) return false;
  if (left.IsUndefined() || left.IsNone()) return true;
  if (const List* a = left.list(), *b = right.list(); a && b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->kind == ListKind::kGenerator || a->kind == ListKind::kView) {
      return false;
    }
    return std::ranges::equal(a->items, b->items,
                              [&](const Value& x, const Value& y) { return Equal(run, x, y); });
  }
  if (const Dict* a = left.dict(), *b = right.dict(); a && b) {
    return a->entries.size() == b->entries.size() &&
           std::ranges::all_of(a->entries, [&](const auto& entry) {
             const Value* other = Find(run, *b, entry.first);
             return other != nullptr && Equal(run, entry.second, *other);
           });
  }
  return left.variant() == right.variant();  // the same object
}

const Value* Find(Run& run, const Dict& dict, const Value& key) {
  run.Step(dict.entries.size() + 1);
  const bool mutable_key = key.dict() || (key.list() && key.list()->kind == ListKind::kList);
  if (mutable_key) run.Fail("a " + std::string(TypeName(key)) + " is no key of a dict");
  for (const auto& [name, value] : dict.entries) {
    if (Equal(run, name, key)) return &value;
  }
  return nullptr;
}

const Value* Find(const Dict& dict, std::string_view key) {
  for (const auto& [name, value] : dict.entries) {
    if (name.text() != nullptr && name.text()->bytes == key) return &value;
  }
  return nullptr;
}

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> buffer;
  const double size = std::fabs(value);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  return fixed && text.find('.') == std::string::npos ? text + ".0" : text;
}

Text StringOf(Run& run, const Value& value) {
  if (const Text* text = value.text()) return *text;
  if (value.IsUndefined()) return Text();
  Text text;
  AppendRepr(run, value, text);
  return text;
}

void AppendRepr(Run& run, const Value& value, Text& out) {
  run.Charge(16);
  if (value.IsUndefined()) return out.Append("Undefined");
  if (value.IsNone()) return out.Append("None");
  if (const bool* truth = value.As<bool>()) return out.Append(*truth ? "True" : "False");
  if (const int64_t* number = value.As<int64_t>()) return out.Append(std::to_string(*number));
  if (const double* number = value.As<double>()) return out.Append(FloatRepr(*number));
  if (const Text* text = value.text()) {
    run.Charge(text->bytes.size() * 2);
    if (text->safe) run.Refuse("the repr of a text made safe");
    return AppendTextRepr(*text, out);
  }
  if (const List* list = value.list()) return AppendListRepr(run, *list, out);
  if (const Dict* dict = value.dict()) {
    out.Append("{");
    for (size_t i = 0; i < dict->entries.size(); ++i) {
      if (i > 0) out.Append(", ");
      AppendRepr(run, dict->entries[i].first, out);
      out.Append(": ");
      AppendRepr(run, dict->entries[i].second, out);
    }
    return out.Append("}");
  }
  run.Refuse("the text of a " + std::string(TypeName(value)));
}

}  // namespace agentr::jinja
