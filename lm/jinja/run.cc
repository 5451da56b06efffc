#include "lm/jinja/run.h"

#include <fmt/format.h>

#include <algorithm>

namespace agentr::jinja {
namespace {

// Published templates need a few thousand steps for a conversation, and a few copies of its text.
constexpr size_t kMaxSteps = 20'000'000;
constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr size_t kBytesPerInput = 64;
constexpr int kMaxEvaluationDepth = 400;
constexpr int kMaxValueDepth = 60;

}  // namespace

Run::Run(std::vector<Value> globals, std::vector<bool> has_global, const RenderOptions& how,
         size_t input_bytes)
    : options(how),
      globals_(std::move(globals)),
      has_global_(std::move(has_global)),
      max_bytes_(kMaxBytes + kBytesPerInput * input_bytes) {
  scope = NewScope(nullptr);
}

// Namespaces may refer to each other in a cycle, so they are cleared explicitly.
Run::~Run() {
  for (const auto& space : namespaces_) {
    const auto values = std::move(space->values);
  }
}

void Run::Fail(const std::string& message) const {
  throw Failure(TemplateError::Kind::kFailed, place, message);
}
void Run::Refuse(const std::string& what) const {
  throw Failure(TemplateError::Kind::kUnsupported, place, what);
}
void Run::Raise(const std::string& message) const {
  throw Failure(TemplateError::Kind::kRaised, place, message);
}
void Run::FailUndefined(const Value& value) const {
  const Undefined* undefined = value.As<Undefined>();
  Fail(undefined->name.empty() ? "a value is undefined"
                               : fmt::format("'{}' is undefined", undefined->name));
}

void Run::Step(size_t count) {
  steps_ += count;
  if (steps_ > kMaxSteps) {
    throw Failure(TemplateError::Kind::kLimit, place,
                  fmt::format("the template took more than {} steps", kMaxSteps));
  }
}

void Run::Charge(size_t bytes) {
  if (bytes > max_bytes_ || (bytes_ += bytes) > max_bytes_) {
    throw Failure(TemplateError::Kind::kLimit, place,
                  fmt::format("the template made more than {} bytes of text", max_bytes_));
  }
}

int Run::DepthOf(const Value& value) const {
  if (value.As<std::shared_ptr<Loop>>()) Refuse("a loop as a part of a value");
  const int levels = value.list() ? value.list()->depth : value.dict() ? value.dict()->depth : 0;
  if (levels < kMaxValueDepth) return levels;
  throw Failure(TemplateError::Kind::kLimit, place,
                fmt::format("a value of more than {} levels", kMaxValueDepth));
}

Value Run::NewList(ListKind kind, Items items) {
  Charge(sizeof(List) + items.size() * sizeof(Value));
  Step(items.size() + 1);
  auto list = std::make_shared<List>();
  list->kind = kind;
  for (const Value& item : items) list->depth = std::max(list->depth, 1 + DepthOf(item));
  list->items = std::move(items);
  return Value(std::shared_ptr<const List>(std::move(list)));
}

Value Run::NewDict(std::vector<std::pair<Value, Value>> entries) {
  Charge(sizeof(Dict) + entries.size() * 2 * sizeof(Value));
  auto dict = std::make_shared<Dict>();
  for (auto& [key, value] : entries) {
    dict->depth = std::max(dict->depth, 1 + DepthOf(value));
    if (const Value* found = Find(*this, *dict, key)) {
      *const_cast<Value*>(found) = std::move(value);  // NOLINT: of the dict that is being made
    } else {
      dict->entries.emplace_back(std::move(key), std::move(value));
    }
  }
  return Value(std::shared_ptr<const Dict>(std::move(dict)));
}

Value Run::NewNamespace(std::vector<std::pair<std::string, Value>> values) {
  Charge(sizeof(Namespace) + values.size() * sizeof(Value));
  auto space = std::make_shared<Namespace>();
  for (const auto& [name, value] : values) DepthOf(value);
  space->values = std::move(values);
  namespaces_.push_back(space);
  return Value(space);
}

const Value* Run::Lookup(int symbol) const {
  for (const Scope* at = scope; at != nullptr; at = at->parent) {
    for (const auto& [name, value] : at->variables) {
      if (name == symbol) return &value;
    }
  }
  return has_global_[static_cast<size_t>(symbol)] ? &globals_[static_cast<size_t>(symbol)]
                                                  : nullptr;
}

void Run::Assign(int symbol, Value value) {
  for (auto& [name, old] : scope->variables) {
    if (name != symbol) continue;
    old = std::move(value);
    return;
  }
  scope->variables.emplace_back(symbol, std::move(value));
}

Scope* Run::NewScope(Scope* parent) {
  Charge(sizeof(Scope));
  scopes_.push_back({parent, {}});
  return &scopes_.back();
}

void Run::Write(const Text& text) {
  Charge(text.bytes.size() + text.marks.size() * sizeof(Mark));
  out->Append(text);
}
void Run::Write(std::string_view text) {
  Charge(text.size());
  out->Append(text);
}

Deeper::Deeper(Run& run) : run_(run) {
  if (++run.depth <= kMaxEvaluationDepth) return;
  --run.depth;
  throw Failure(TemplateError::Kind::kLimit, run.place,
                fmt::format("more than {} levels of evaluation", kMaxEvaluationDepth));
}

}  // namespace agentr::jinja
