// The values of a template: the Python types that chat templates use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lm/jinja/text.h"

namespace agentr::jinja {

class Run;
class Loop;
struct Dict;
struct List;
struct Namespace;
struct Callable;

// Jinja's Undefined: it prints as nothing, is false and has no elements; any other use is an error
// that names it.
struct Undefined {
  std::string_view name = {};  // of the variable or attribute; text of the template
  bool operator==(const Undefined&) const { return true; }
};
struct None {
  bool operator==(const None&) const = default;
};

using TextPtr = std::shared_ptr<const Text>;

class Value {
 public:
  using Variant =
      std::variant<Undefined, None, bool, int64_t, double, TextPtr, std::shared_ptr<const List>,
                   std::shared_ptr<const Dict>, std::shared_ptr<Namespace>,
                   std::shared_ptr<const Callable>, std::shared_ptr<Loop>>;

  Value() = default;
  template <typename T>
  Value(T value) : variant_(std::move(value)) {}  // NOLINT: any alternative converts
  Value(Text text) : variant_(TextPtr(std::make_shared<Text>(std::move(text)))) {}  // NOLINT
  Value(std::string text) : Value(Text(std::move(text))) {}                         // NOLINT

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&variant_);
  }
  bool IsUndefined() const { return As<Undefined>() != nullptr; }
  bool IsNone() const { return As<None>() != nullptr; }
  const Text* text() const { return As<TextPtr>() ? As<TextPtr>()->get() : nullptr; }
  const List* list() const {
    const auto* list = As<std::shared_ptr<const List>>();
    return list ? list->get() : nullptr;
  }
  const Dict* dict() const {
    const auto* dict = As<std::shared_ptr<const Dict>>();
    return dict ? dict->get() : nullptr;
  }
  const Variant& variant() const { return variant_; }

 private:
  Variant variant_;
};

using Items = std::vector<Value>;

enum class ListKind {
  kList,
  kTuple,
  kRange,
  kView,       // of a dict: keys(), values(), items()
  kGenerator,  // the result of map, select and so on: has no length and allows only one pass
};

struct List {
  ListKind kind = ListKind::kList;
  Items items = {};
  int depth = 1;             // of lists within lists
  mutable size_t taken = 0;  // of a generator: items that were used
};

struct Dict {
  std::vector<std::pair<Value, Value>> entries = {};  // in the order of insertion
  int depth = 1;
  int message = -1;  // if this is a message of the conversation, its number
};

// The only value that a template can change.
struct Namespace {
  std::vector<std::pair<std::string, Value>> values;
};

struct Arguments {
  Items positional = {};
  std::vector<std::pair<std::string, Value>> named = {};
};

struct Callable {
  std::function<Value(Run&, Arguments&)> call;
};
Value NewCallable(std::function<Value(Run&, Arguments&)> call);

// Python's rules for arithmetic: a bool counts as an int.
bool IsInteger(const Value& value);
bool IsNumber(const Value& value);
int64_t IntegerOf(const Value& value);  // of IsInteger
double FloatOf(const Value& value);     // of IsNumber

std::string_view TypeName(const Value& value);  // "str", "list": for messages
bool Truth(const Value& value);                 // Python's bool()
// The steps of a comparison of two texts.
void StepToCompare(Run& run, const Text& left, const Text& right);
bool Equal(Run& run, const Value& left, const Value& right);

// The value of a key; null if there is none.
const Value* Find(Run& run, const Dict& dict, const Value& key);
const Value* Find(const Dict& dict, std::string_view key);

// Python's str() and repr(). A result that would contain a memory address is an error instead.
Text StringOf(Run& run, const Value& value);
void AppendRepr(Run& run, const Value& value, Text& out);
std::string FloatRepr(double value);

}  // namespace agentr::jinja
