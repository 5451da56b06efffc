// One rendering of a template: its variables, its output, and the limits that stop a hostile
// template.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lm/jinja/template.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

// Thrown only inside this folder; Template turns it into a TemplateError.
class Failure : public std::runtime_error {
 public:
  Failure(TemplateError::Kind of_kind, Place at, const std::string& message)
      : std::runtime_error(message), kind(of_kind), place(at) {}
  TemplateError::Kind kind;
  Place place;
};

// Variables by number (Program::symbols). A missing name is looked up in the parent scope.
struct Scope {
  Scope* parent = nullptr;
  std::vector<std::pair<int, Value>> variables = {};
};

class Run {
 public:
  Run(std::vector<Value> globals, std::vector<bool> has_global, const RenderOptions& how,
      size_t input_bytes);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[noreturn]] void Fail(const std::string& message) const;   // a failure of Python or Jinja
  [[noreturn]] void Refuse(const std::string& what) const;    // a feature that is not implemented
  [[noreturn]] void Raise(const std::string& message) const;  // raise_exception
  [[noreturn]] void FailUndefined(const Value& value) const;

  void Step(size_t count = 1);  // of work
  void Charge(size_t bytes);    // of new text and values
  Value NewList(ListKind kind, Items items);
  Value NewDict(std::vector<std::pair<Value, Value>> entries);
  Value NewNamespace(std::vector<std::pair<std::string, Value>> values);

  const Value* Lookup(int symbol) const;
  void Assign(int symbol, Value value);  // in the innermost scope
  Scope* NewScope(Scope* parent);

  // Writes to the innermost output; regions are recorded only for the output of the whole
  // rendering.
  void Write(const Text& text);
  void Write(std::string_view text);
  bool WritesWhole() const { return out == &whole; }

  Place place;  // of the evaluated node, for messages
  Scope* scope = nullptr;
  size_t captures = 0;  // of scopes by macros
  int depth = 0;        // of evaluation
  Text whole;
  Text* out = &whole;
  std::vector<Region> generations;
  std::vector<Region> turns;
  const RenderOptions& options;

 private:
  int DepthOf(const Value& value) const;

  const std::vector<Value> globals_;
  const std::vector<bool> has_global_;
  std::deque<Scope> scopes_;
  std::vector<std::shared_ptr<Namespace>> namespaces_;
  size_t steps_ = 0;
  size_t bytes_ = 0;
  const size_t max_bytes_;
};

// One level of evaluation or of calls.
class Deeper {
 public:
  explicit Deeper(Run& run);
  ~Deeper() { --run_.depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  Run& run_;
};

// Enters a scope until the end of a block.
class InScope {
 public:
  InScope(Run& run, Scope* scope) : run_(run), outer_(run.scope) { run.scope = scope; }
  ~InScope() { run_.scope = outer_; }
  InScope(const InScope&) = delete;
  InScope& operator=(const InScope&) = delete;

 private:
  Run& run_;
  Scope* outer_;
};

// Redirects the output to `text` until the end of a block.
class Capture {
 public:
  Capture(Run& run, Text& text) : run_(run), outer_(run.out) { run.out = &text; }
  ~Capture() { run_.out = outer_; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

 private:
  Run& run_;
  Text* outer_;
};

}  // namespace agentr::jinja
