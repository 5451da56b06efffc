#include "lm/jinja/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lm/jinja/loop.h"
#include "lm/jinja/methods.h"

namespace agentr::jinja {
namespace {

[[noreturn]] void FailOperands(Run& run, std::string_view operation, const Value& left,
                               const Value& right) {
  if (left.IsUndefined()) run.FailUndefined(left);
  if (right.IsUndefined()) run.FailUndefined(right);
  run.Fail(fmt::format("'{}' does not take {} and {}", operation, TypeName(left), TypeName(right)));
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0))); }

int64_t Power(Run& run, int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (int64_t i = 0; i < exponent && result != 0 && !(result == 1 && i > 0 && base == 1); ++i) {
    run.Step();
    if (__builtin_mul_overflow(result, base, &result)) run.Refuse("an integer beyond 63 bits");
  }
  return result;
}

Value IntegerArithmetic(Run& run, std::string_view operation, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (operation == "+") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (operation == "-") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (operation == "*") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (operation == "**") {
    if (b < 0) run.Refuse("a negative power");
    result = Power(run, a, b);
  } else {
    if (b == 0) run.Fail("division by zero");
    if (a == std::numeric_limits<int64_t>::min()) run.Refuse("an integer beyond 63 bits");
    if (operation == "/") {
      constexpr int64_t kExact = int64_t{1} << 53;
      if (std::abs(a) > kExact || std::abs(b) > kExact) run.Refuse("a quotient of such integers");
      return Value(static_cast<double>(a) / static_cast<double>(b));
    }
    result = operation == "//" ? FloorDivide(a, b) : a - FloorDivide(a, b) * b;
  }
  if (overflow) run.Refuse("an integer beyond 63 bits");
  return Value(result);
}

Value FloatArithmetic(Run& run, std::string_view operation, double a, double b) {
  if (operation == "+") return Value(a + b);
  if (operation == "-") return Value(a - b);
  if (operation == "*") return Value(a * b);
  if (operation == "**") run.Refuse("a power of floats");
  if (b == 0) run.Fail("division by zero");
  if (operation == "/") return Value(a / b);
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (operation == "%") return Value(rest);
  return Value(std::floor((a - rest) / b + 0.5));
}

Value Repeat(Run& run, const Value& value, int64_t count) {
  const size_t times = static_cast<size_t>(std::max<int64_t>(count, 0));
  if (const Text* text = value.text()) {
    TextOf(run, value);
    if (times > 0 && !text->bytes.empty()) {
      run.Charge(times > (size_t{1} << 32) ? times : times * text->bytes.size());
    }
    Text repeated;
    for (size_t i = 0; i < times && !text->bytes.empty(); ++i) repeated.Append(*text);
    if (text->bytes.empty()) repeated = *text;
    return Value(std::move(repeated));
  }
  const List& list = *value.list();
  if (times > 0 && !list.items.empty()) {
    run.Charge(times > (size_t{1} << 32) ? times : times * list.items.size() * sizeof(Value));
  }
  Items items;
  for (size_t i = 0; i < times && !list.items.empty(); ++i) {
    items.insert(items.end(), list.items.begin(), list.items.end());
  }
  return run.NewList(list.kind, std::move(items));
}

bool IsSequence(const Value& value) {
  return value.list() &&
         (value.list()->kind == ListKind::kList || value.list()->kind == ListKind::kTuple);
}

Value Add(Run& run, const Value& left, const Value& right) {
  if (left.text() && right.text()) {
    Text sum = TextOf(run, left);
    sum.Append(TextOf(run, right));
    return NewText(run, std::move(sum));
  }
  if (IsSequence(left) && IsSequence(right) && left.list()->kind == right.list()->kind) {
    Items items = left.list()->items;
    run.Charge(right.list()->items.size() * sizeof(Value));
    items.insert(items.end(), right.list()->items.begin(), right.list()->items.end());
    return run.NewList(left.list()->kind, std::move(items));
  }
  FailOperands(run, "+", left, right);
}

}  // namespace

Value NewText(Run& run, Text text) {
  run.Charge(text.bytes.size() + text.marks.size() * sizeof(Mark) + 32);
  return Value(std::move(text));
}

Value Arithmetic(Run& run, std::string_view operation, const Value& left, const Value& right) {
  if (IsInteger(left) && IsInteger(right)) {
    return IntegerArithmetic(run, operation, IntegerOf(left), IntegerOf(right));
  }
  if (IsNumber(left) && IsNumber(right)) {
    return FloatArithmetic(run, operation, FloatOf(left), FloatOf(right));
  }
  if (operation == "+") return Add(run, left, right);
  const auto repeatable = [](const Value& value) { return value.text() || IsSequence(value); };
  if (operation == "*" && repeatable(left) && IsInteger(right)) {
    return Repeat(run, left, IntegerOf(right));
  }
  if (operation == "*" && IsInteger(left) && repeatable(right)) {
    return Repeat(run, right, IntegerOf(left));
  }
  if (operation == "%" && left.text()) {
    return NewText(run, FormatPercent(run, TextOf(run, left), right));
  }
  FailOperands(run, operation, left, right);
}

Value Negate(Run& run, const Value& value) {
  if (value.As<double>()) return Value(-*value.As<double>());
  if (!IsInteger(value)) FailOperands(run, "-", value, value);
  return IntegerArithmetic(run, "-", 0, IntegerOf(value));
}

int Order(Run& run, const Value& left, const Value& right) {
  run.Step();
  const auto order = [](const auto& a, const auto& b) { return a < b ? -1 : b < a ? 1 : 0; };
  if (IsInteger(left) && IsInteger(right)) return order(IntegerOf(left), IntegerOf(right));
  if (IsNumber(left) && IsNumber(right)) {
    if (std::isnan(FloatOf(left)) || std::isnan(FloatOf(right))) run.Refuse("the order of nan");
    return order(FloatOf(left), FloatOf(right));
  }
  // The byte order of UTF-8 is the order of its characters.
  if (left.text() && right.text()) {
    StepToCompare(run, *left.text(), *right.text());
    return order(left.text()->bytes, right.text()->bytes);
  }
  if (IsSequence(left) && IsSequence(right) && left.list()->kind == right.list()->kind) {
    const Items &a = left.list()->items, &b = right.list()->items;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (!Equal(run, a[i], b[i])) return Order(run, a[i], b[i]);
    }
    return order(a.size(), b.size());
  }
  FailOperands(run, "<", left, right);
}

bool Contains(Run& run, const Value& container, const Value& item) {
  if (const Text* text = container.text()) {
    if (!item.text()) FailOperands(run, "in", item, container);
    run.Step(text->bytes.size() / 64);
    return Contains(text->bytes, item.text()->bytes);
  }
  if (const Dict* dict = container.dict()) return Find(run, *dict, item) != nullptr;
  if (container.list() == nullptr && !container.IsUndefined()) {
    FailOperands(run, "in", item, container);
  }
  if (container.list() && container.list()->kind == ListKind::kGenerator) {
    run.Refuse("'in' of a generator");
  }
  for (const Value& other : ItemsOf(run, container)) {
    if (Equal(run, other, item)) return true;
  }
  return false;
}

bool Relation(Run& run, std::string_view operation, const Value& left, const Value& right) {
  if (operation == "==") return Equal(run, left, right);
  if (operation == "!=") return !Equal(run, left, right);
  if (operation == "in") return Contains(run, right, left);
  if (operation == "not in") return !Contains(run, right, left);
  const int order = Order(run, left, right);
  if (operation == "<") return order < 0;
  if (operation == "<=") return order <= 0;
  return operation == ">" ? order > 0 : order >= 0;
}

Items ItemsOf(Run& run, const Value& value) {
  if (value.IsUndefined()) return {};
  if (const List* list = value.list()) {
    run.Charge(list->items.size() * sizeof(Value));
    if (list->kind != ListKind::kGenerator) return list->items;
    const size_t taken = std::exchange(list->taken, list->items.size());
    return Items(list->items.begin() + static_cast<ptrdiff_t>(taken), list->items.end());
  }
  Items items;
  if (const Dict* dict = value.dict()) {
    run.Charge(dict->entries.size() * sizeof(Value));
    for (const auto& [key, other] : dict->entries) items.push_back(key);
    return items;
  }
  if (const Text* text = value.text()) {
    TextOf(run, value);
    for (size_t at = 0; at < text->bytes.size();) {
      const size_t length = CharacterLength(text->bytes, at);
      run.Step(1 + text->marks.size());
      items.push_back(NewText(run, text->Slice(at, at + length)));
      at += length;
    }
    return items;
  }
  run.Fail(fmt::format("a {} has no elements to go through", TypeName(value)));
}

int64_t LengthOf(Run& run, const Value& value) {
  if (value.IsUndefined()) return 0;
  if (const Text* text = value.text()) return static_cast<int64_t>(CountCharacters(text->bytes));
  if (const Dict* dict = value.dict()) return static_cast<int64_t>(dict->entries.size());
  if (const List* list = value.list(); list && list->kind != ListKind::kGenerator) {
    return static_cast<int64_t>(list->items.size());
  }
  run.Fail(fmt::format("a {} has no length", TypeName(value)));
}

const Text& TextOf(Run& run, const Value& value) {
  const Text* text = value.text();
  if (text == nullptr) {
    if (value.IsUndefined()) run.FailUndefined(value);
    run.Fail(fmt::format("expected a str, not {}", TypeName(value)));
  }
  if (text->safe) run.Refuse("working with a text made safe");
  return *text;
}

Text SoftText(Run& run, const Value& value) {
  Text text = StringOf(run, value);
  if (text.safe) run.Refuse("working with a text made safe");
  run.Charge(text.bytes.size());
  return text;
}

}  // namespace agentr::jinja
