// Elements, slices and attributes of values.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lm/jinja/loop.h"
#include "lm/jinja/methods.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

// The beginning of each character of `text`, and the end of the text.
std::vector<size_t> CharacterPlaces(Run& run, std::string_view text) {
  run.Charge(text.size());
  std::vector<size_t> places = {0};
  for (size_t at = 0; at < text.size();) places.push_back(at += CharacterLength(text, at));
  return places;
}

Value CharacterAt(Run& run, const Value& object, int64_t index) {
  const Text& text = TextOf(run, object);
  const std::vector<size_t> places = CharacterPlaces(run, text.bytes);
  const auto size = static_cast<int64_t>(places.size()) - 1;
  if (index < 0) index += size;
  if (index < 0 || index >= size) return Undefined{};
  const auto at = static_cast<size_t>(index);
  return NewText(run, text.Slice(places[at], places[at + 1]));
}

struct Bounds {
  int64_t begin, end, step;
};

// The bounds according to Python's slice.indices().
Bounds BoundsOf(Run& run, const std::array<Value, 3>& parts, int64_t size) {
  const auto integer = [&](const Value& value, int64_t otherwise) {
    if (value.IsNone()) return otherwise;
    if (value.IsUndefined()) run.FailUndefined(value);
    if (!IsInteger(value)) run.Fail("a slice takes integers");
    return std::clamp<int64_t>(IntegerOf(value), -(int64_t{1} << 40), int64_t{1} << 40);
  };
  Bounds bounds{};
  bounds.step = integer(parts[2], 1);
  if (bounds.step == 0) run.Fail("a slice has step 0");
  const bool back = bounds.step < 0;
  const int64_t low = back ? -1 : 0, high = back ? size - 1 : size;
  const auto place = [&](const Value& value, int64_t otherwise) {
    int64_t at = integer(value, otherwise);
    if (value.IsNone()) return at;
    if (at < 0) at += size;
    return std::clamp(at, low, high);
  };
  bounds.begin = place(parts[0], back ? high : low);
  bounds.end = place(parts[1], back ? low : high);
  return bounds;
}

bool IsStringMethod(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "capitalize",   "casefold",    "center",    "count",      "encode",       "endswith",
      "expandtabs",   "find",        "format",    "format_map", "index",        "isalnum",
      "isalpha",      "isascii",     "isdecimal", "isdigit",    "isidentifier", "islower",
      "isnumeric",    "isprintable", "isspace",   "istitle",    "isupper",      "join",
      "ljust",        "lower",       "lstrip",    "maketrans",  "partition",    "removeprefix",
      "removesuffix", "replace",     "rfind",     "rindex",     "rjust",        "rpartition",
      "rsplit",       "rstrip",      "split",     "splitlines", "startswith",   "strip",
      "swapcase",     "title",       "translate", "upper",      "zfill"};
  return std::ranges::count(kNames, name) > 0;
}

bool IsListMethod(std::string_view name) {
  constexpr std::string_view kNames[] = {"append", "clear", "copy",   "count",   "extend", "index",
                                         "insert", "pop",   "remove", "reverse", "sort"};
  return std::ranges::count(kNames, name) > 0;
}

bool HasMethod(const Value& object, std::string_view name) {
  if (object.text()) return IsStringMethod(name);
  if (object.dict()) return IsDictMethod(name);
  return object.list() && IsListMethod(name);
}

// A method that is not called immediately, as in a test whether it exists. It does not keep its
// object, so that values cannot form a reference cycle.
Value BoundMethod(std::string_view name) {
  return NewCallable([name = std::string(name)](Run& run, Arguments&) -> Value {
    run.Refuse(fmt::format("a method, {}, that is kept before it is called", name));
  });
}

// Like getattr(object, name), for methods, namespaces and loops.
std::optional<Value> PythonAttribute(Run& run, const Value& object, std::string_view name) {
  if (object.IsUndefined()) run.FailUndefined(object);
  if (name.starts_with("_")) run.Refuse(fmt::format("the attribute {}", name));
  if (HasMethod(object, name)) return BoundMethod(name);
  if (const auto* loop = object.As<std::shared_ptr<Loop>>()) return (*loop)->Attribute(run, name);
  if (const auto* space = object.As<std::shared_ptr<Namespace>>()) {
    for (const auto& [other, value] : (*space)->values) {
      if (other == name) return value;
    }
    return std::nullopt;
  }
  if (object.As<std::shared_ptr<const Callable>>() || IsNumber(object)) {
    run.Refuse(fmt::format("the attribute {} of a {}", name, TypeName(object)));
  }
  return std::nullopt;
}

std::optional<Value> PythonItem(Run& run, const Value& object, const Value& index) {
  if (object.IsUndefined()) run.FailUndefined(object);
  if (const Dict* dict = object.dict()) {
    const bool hashable = !index.dict() && !(index.list() && index.list()->kind == ListKind::kList);
    const Value* found = hashable ? Find(run, *dict, index) : nullptr;
    return found ? std::optional(*found) : std::nullopt;
  }
  if (!IsInteger(index)) return std::nullopt;
  if (object.text()) return CharacterAt(run, object, IntegerOf(index));
  const List* list = object.list();
  if (!list || list->kind == ListKind::kGenerator || list->kind == ListKind::kView) {
    return std::nullopt;
  }
  const auto size = static_cast<int64_t>(list->items.size());
  int64_t at = IntegerOf(index);
  if (at < 0) at += size;
  if (at < 0 || at >= size) return std::nullopt;
  return list->items[static_cast<size_t>(at)];
}

}  // namespace

bool IsDictMethod(std::string_view name) {
  constexpr std::string_view kNames[] = {"clear",      "copy",   "fromkeys", "get",
                                         "items",      "keys",   "pop",      "popitem",
                                         "setdefault", "update", "values"};
  return std::ranges::count(kNames, name) > 0;
}

Value ItemOf(Run& run, const Value& object, const Value& index) {
  if (const auto item = PythonItem(run, object, index)) return *item;
  if (const Text* name = index.text()) {
    if (const auto attribute = PythonAttribute(run, object, name->bytes)) return *attribute;
  }
  return Undefined{};
}

Value AttributeOf(Run& run, const Value& object, std::string_view name) {
  if (const Dict* dict = object.dict(); dict && !IsDictMethod(name) && !name.starts_with("_")) {
    run.Step(dict->entries.size());
    const Value* found = Find(*dict, name);
    return found ? *found : Value(Undefined{name});
  }
  if (const auto attribute = PythonAttribute(run, object, name)) return *attribute;
  return Undefined{name};
}

Value SliceOf(Run& run, const Value& object, const Value& begin, const Value& end,
              const Value& step) {
  if (object.IsUndefined()) run.FailUndefined(object);
  const std::array<Value, 3> parts = {begin, end, step};
  if (object.text() != nullptr) {
    const Text& text = TextOf(run, object);
    const std::vector<size_t> places = CharacterPlaces(run, text.bytes);
    const Bounds b = BoundsOf(run, parts, static_cast<int64_t>(places.size()) - 1);
    const auto at = [&](int64_t i) { return places[static_cast<size_t>(i)]; };
    if (b.step == 1) return NewText(run, text.Slice(at(b.begin), at(std::max(b.begin, b.end))));
    Text slice;
    for (int64_t i = b.begin; b.step < 0 ? i > b.end : i < b.end; i += b.step) {
      run.Step(1 + text.marks.size());
      slice.Append(text.Slice(at(i), at(i + 1)));
    }
    return NewText(run, std::move(slice));
  }
  const List* list = object.list();
  if (list == nullptr || list->kind == ListKind::kGenerator || list->kind == ListKind::kView) {
    run.Fail(fmt::format("a {} has no slices", TypeName(object)));
  }
  const Bounds b = BoundsOf(run, parts, static_cast<int64_t>(list->items.size()));
  Items items;
  for (int64_t i = b.begin; b.step < 0 ? i > b.end : i < b.end; i += b.step) {
    items.push_back(list->items[static_cast<size_t>(i)]);
  }
  return run.NewList(list->kind, std::move(items));
}

}  // namespace agentr::jinja
