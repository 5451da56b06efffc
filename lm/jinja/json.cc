#include "lm/jinja/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/utf8.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

std::string EscapedUnit(int32_t unit) { return fmt::format("\\u{:04x}", unit); }

std::string JsonCharacter(std::string_view bytes, int32_t code_point, bool ascii) {
  constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
  if (code_point > 0 && code_point < 0x80) {
    const size_t at = kEscaped.find(static_cast<char>(code_point));
    if (at != std::string_view::npos) return std::string("\\") + kLetters[at];
  }
  if (code_point >= 0 && code_point < 0x20) return EscapedUnit(code_point);
  if (!ascii || code_point < 0x80) return std::string(bytes);
  if (code_point < 0x10000) return EscapedUnit(code_point);
  return EscapedUnit(0xD800 + ((code_point - 0x10000) >> 10)) +
         EscapedUnit(0xDC00 + ((code_point - 0x10000) & 0x3FF));
}

class JsonWriter {
 public:
  JsonWriter(Run& run, const JsonStyle& style) : run_(run), style_(style) {}

  void Write(const Value& value, size_t level) {
    run_.Charge(8);
    run_.Step();
    if (value.IsNone()) return text_.Append("null");
    if (const bool* truth = value.As<bool>()) return text_.Append(*truth ? "true" : "false");
    if (const int64_t* number = value.As<int64_t>()) return text_.Append(std::to_string(*number));
    if (const double* number = value.As<double>()) return text_.Append(Float(*number));
    if (value.text() != nullptr) return WriteText(TextOf(run_, value));
    if (value.dict() != nullptr) return WriteDict(*value.dict(), level);
    const List* list = value.list();
    if (!list || (list->kind != ListKind::kList && list->kind != ListKind::kTuple)) {
      run_.Fail(fmt::format("a value of type {} is not JSON", TypeName(value)));
    }
    WriteItems('[', ']', list->items.size(), level,
               [&](size_t i) { Write(list->items[i], level + 1); });
  }

  Text Take() { return std::move(text_); }

 private:
  static std::string Float(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return FloatRepr(value);
  }

  void WriteText(const Text& text) {
    run_.Charge(text.bytes.size());
    text_.Append("\"");
    const bool plain = text.marks.empty();
    for (size_t at = 0; at < text.bytes.size();) {
      const size_t begin = at;
      const int32_t c = NextCodePoint(text.bytes, at);
      const std::string_view bytes = std::string_view(text.bytes).substr(begin, at - begin);
      const std::string escaped = JsonCharacter(bytes, c, style_.ascii);
      if (plain) {
        text_.Append(escaped);
      } else {
        text_.AppendAs(escaped, text, begin, at);
      }
    }
    if (text.bytes.empty()) text_.Append(text);  // keeps its mark
    text_.Append("\"");
  }

  void NewLine(size_t level) {
    if (!style_.indent) return;
    text_.Append("\n");
    for (size_t i = 0; i < level; ++i) text_.Append(*style_.indent);
    run_.Charge(level * style_.indent->size());
  }

  template <typename WriteItem>
  void WriteItems(char open, char close, size_t count, size_t level, WriteItem write_item) {
    text_.Append(std::string_view(&open, 1));
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text_.Append(style_.item_separator);
      NewLine(level + 1);
      write_item(i);
    }
    if (count > 0) NewLine(level);
    text_.Append(std::string_view(&close, 1));
  }

  // A key that is not a string is converted to one.
  Value KeyOf(const Value& key) {
    if (key.text() != nullptr) return key;
    if (key.IsNone()) return Value(std::string("null"));
    if (const bool* truth = key.As<bool>()) return Value(std::string(*truth ? "true" : "false"));
    if (!IsNumber(key)) run_.Fail("a key of JSON is a str, a number or none");
    return Value(key.As<double>() ? Float(FloatOf(key)) : std::to_string(IntegerOf(key)));
  }

  void WriteDict(const Dict& dict, size_t level) {
    auto entries = dict.entries;
    if (style_.sort_keys) {
      std::ranges::stable_sort(
          entries, [&](const auto& a, const auto& b) { return Order(run_, a.first, b.first) < 0; });
    }
    WriteItems('{', '}', entries.size(), level, [&](size_t i) {
      Write(KeyOf(entries[i].first), level + 1);
      text_.Append(style_.key_separator);
      Write(entries[i].second, level + 1);
    });
  }

  Run& run_;
  const JsonStyle& style_;
  Text text_;
};

}  // namespace

Text JsonOf(Run& run, const Value& value, const JsonStyle& style) {
  JsonWriter writer(run, style);
  writer.Write(value, 0);
  return writer.Take();
}

}  // namespace agentr::jinja
