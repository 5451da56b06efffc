// Jinja's tests: the operators after `is`.
#include <fmt/format.h>

#include <array>
#include <span>

#include "common/named_values.h"
#include "lm/jinja/filters.h"
#include "lm/jinja/methods.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

bool IsCallable(const Value& v) { return v.As<std::shared_ptr<const Callable>>() != nullptr; }
bool IsIterable(const Value& v) {
  return v.IsUndefined() || v.text() || v.list() || v.dict() || v.As<std::shared_ptr<Loop>>();
}
// True for values with a length and elements, including Jinja's Undefined.
bool IsSequenceValue(const Value& v) {
  const List* list = v.list();
  const bool elements = list && list->kind != ListKind::kGenerator && list->kind != ListKind::kView;
  return v.IsUndefined() || v.text() || v.dict() || elements;
}

int64_t NeedInteger(Run& run, const Value& value) {
  if (!IsInteger(value)) run.Fail("the test takes an int");
  return IntegerOf(value);
}

constexpr auto kTests = std::to_array<NamedValue<bool (*)(Run&, const Value&)>>({
    {"defined", [](Run&, const Value& v) { return !v.IsUndefined(); }},
    {"undefined", [](Run&, const Value& v) { return v.IsUndefined(); }},
    {"none", [](Run&, const Value& v) { return v.IsNone(); }},
    {"string", [](Run&, const Value& v) { return v.text() != nullptr; }},
    {"mapping", [](Run&, const Value& v) { return v.dict() != nullptr; }},
    {"iterable", [](Run&, const Value& v) { return IsIterable(v); }},
    {"sequence", [](Run&, const Value& v) { return IsSequenceValue(v); }},
    {"number", [](Run&, const Value& v) { return IsNumber(v); }},
    {"integer", [](Run&, const Value& v) { return v.As<int64_t>() != nullptr; }},
    {"float", [](Run&, const Value& v) { return v.As<double>() != nullptr; }},
    {"boolean", [](Run&, const Value& v) { return v.As<bool>() != nullptr; }},
    {"true", [](Run&, const Value& v) { return v.As<bool>() && *v.As<bool>(); }},
    {"false", [](Run&, const Value& v) { return v.As<bool>() && !*v.As<bool>(); }},
    {"callable", [](Run&, const Value& v) { return IsCallable(v); }},
    {"odd", [](Run& r, const Value& v) { return NeedInteger(r, v) % 2 != 0; }},
    {"even", [](Run& r, const Value& v) { return NeedInteger(r, v) % 2 == 0; }},
    {"upper", [](Run& r, const Value& v) { return HasCase(r, SoftText(r, v), true); }},
    {"lower", [](Run& r, const Value& v) { return HasCase(r, SoftText(r, v), false); }},
});

// The tests that are operators.
constexpr NamedValue<std::string_view> kRelations[] = {
    {"==", "=="},      {"eq", "=="}, {"equalto", "=="}, {"!=", "!="},
    {"ne", "!="},      {">", ">"},   {"gt", ">"},       {"greaterthan", ">"},
    {">=", ">="},      {"ge", ">="}, {"<", "<"},        {"lt", "<"},
    {"lessthan", "<"}, {"<=", "<="}, {"le", "<="},      {"in", "in"},
};

bool IsKnownTest(std::string_view name) {
  return ValueOf(kTests, name) || ValueOf(std::span(kRelations), name);
}

// The object itself; constants are equal by value.
bool IsSame(Run& run, const Value& a, const Value& b) {
  if (IsNumber(a) || a.text() != nullptr) {
    if (a.As<bool>() && b.As<bool>()) return *a.As<bool>() == *b.As<bool>();
    run.Refuse("sameas of numbers and texts");
  }
  return a.variant() == b.variant();
}

}  // namespace

bool ApplyTest(Run& run, std::string_view name, const Value& value, const Arguments& arguments) {
  run.Step();
  if (const auto holds = ValueOf(kTests, name)) {
    BindArguments(run, name, arguments, {});
    return (*holds)(run, value);
  }
  if (const auto operation = ValueOf(std::span(kRelations), name)) {
    return Relation(run, *operation, value, BindArguments(run, name, arguments, {"other"}, 1)[0]);
  }
  if (name == "divisibleby") {
    const int64_t by = NeedInteger(run, BindArguments(run, name, arguments, {"num"}, 1)[0]);
    if (by == 0) run.Fail("division by zero");
    return by == -1 || NeedInteger(run, value) % by == 0;
  }
  if (name == "sameas") {
    return IsSame(run, value, BindArguments(run, name, arguments, {"other"}, 1)[0]);
  }
  if (name == "test" || name == "filter") {
    const std::string_view named = TextOf(run, value).bytes;
    const bool known =
        name == "test" ? IsKnownTest(named) : FindTextFilter(named) || FindSequenceFilter(named);
    if (!known) run.Refuse(fmt::format("'is {}' of what this interpreter may only lack", name));
    return true;
  }
  run.Refuse(fmt::format("the test '{}'", name));
}

}  // namespace agentr::jinja
