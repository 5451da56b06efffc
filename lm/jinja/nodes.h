// A template as a syntax tree, which the parser builds and rendering evaluates.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/jinja/run.h"
#include "lm/jinja/template.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

struct Node {
  Place place;
  virtual ~Node() = default;
};

struct Expression : Node {
  // Calls Eval and counts work and depth.
  Value Evaluate(Run& run) const;
  virtual Value Eval(Run& run) const = 0;
};

enum class Flow { kNormal, kBreak, kContinue };

struct Statement : Node {
  virtual Flow Execute(Run& run) const = 0;
};

// Nodes belong to the Program; pointers to them do not own.
using ExpressionPtr = const Expression*;
using Block = std::vector<const Statement*>;
Flow ExecuteBlock(const Block& block, Run& run);

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr star = nullptr;       // *args
  ExpressionPtr star_star = nullptr;  // **kwargs

  Arguments Evaluate(Run& run) const;
};

struct Constant : Expression {
  Value value;
  Value Eval(Run&) const override { return value; }
};
struct Name : Expression {
  int symbol = 0;
  std::string name;
  Value Eval(Run& run) const override;
};
struct ListDisplay : Expression {
  ListKind kind = ListKind::kList;
  std::vector<ExpressionPtr> items;
  Value Eval(Run& run) const override;
};
struct DictDisplay : Expression {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> items;
  Value Eval(Run& run) const override;
};
struct GetAttribute : Expression {
  ExpressionPtr object = nullptr;
  std::string name;
  Value Eval(Run& run) const override;
};
struct GetItem : Expression {
  ExpressionPtr object = nullptr;
  ExpressionPtr index = nullptr;
  Value Eval(Run& run) const override;
};
struct GetSlice : Expression {
  ExpressionPtr object = nullptr;
  ExpressionPtr begin = nullptr, end = nullptr, step = nullptr;  // null if left out
  Value Eval(Run& run) const override;
};
struct Call : Expression {
  ExpressionPtr callee = nullptr;
  CallArguments arguments;
  Value Eval(Run& run) const override;

 private:
  Value CallValue(Run& run, const Value& function) const;
};
struct Filter : Expression {
  ExpressionPtr input = nullptr;  // null at the beginning of {% filter %} and of {% set %}
  std::string name;
  CallArguments arguments;
  Value Eval(Run& run) const override;
  Value ApplyChain(Run& run, Value value) const;

 private:
  Value Apply(Run& run, const Value& value) const;
};
struct Test : Expression {
  ExpressionPtr input = nullptr;
  std::string name;
  CallArguments arguments;
  Value Eval(Run& run) const override;
};
struct Conditional : Expression {
  ExpressionPtr condition = nullptr, then = nullptr, otherwise = nullptr;
  Value Eval(Run& run) const override;
};
struct Logical : Expression {
  bool is_and = false;
  ExpressionPtr left = nullptr, right = nullptr;
  Value Eval(Run& run) const override;
};
struct Not : Expression {
  ExpressionPtr operand = nullptr;
  Value Eval(Run& run) const override;
};
struct Compare : Expression {
  ExpressionPtr left = nullptr;
  std::vector<std::pair<std::string, ExpressionPtr>> operations;
  Value Eval(Run& run) const override;
};
struct Binary : Expression {
  std::string operation;
  ExpressionPtr left = nullptr, right = nullptr;
  Value Eval(Run& run) const override;
};
struct Concat : Expression {
  std::vector<ExpressionPtr> parts;
  Value Eval(Run& run) const override;
};
struct Sign : Expression {
  bool negative = false;
  ExpressionPtr operand = nullptr;
  Value Eval(Run& run) const override;
};

// The target of an assignment: a name, an attribute of a namespace, or several targets.
struct Target {
  int symbol = -1;
  std::string attribute;  // of the namespace in `symbol`
  std::vector<Target> parts;

  void Assign(Run& run, const Value& value) const;
};

struct Data : Statement {
  std::string text;
  Flow Execute(Run& run) const override;
};
struct Output : Statement {
  ExpressionPtr value = nullptr;
  Flow Execute(Run& run) const override;
};
struct If : Statement {
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Block otherwise;
  Flow Execute(Run& run) const override;
};
struct For : Statement {
  Target target;
  ExpressionPtr items = nullptr, filter = nullptr;
  Block body, otherwise;
  int loop_symbol = 0;
  Flow Execute(Run& run) const override;
};
struct LoopControl : Statement {
  Flow flow = Flow::kBreak;
  Flow Execute(Run&) const override { return flow; }
};
struct Set : Statement {
  Target target;
  ExpressionPtr value = nullptr;
  Flow Execute(Run& run) const override;
};
struct SetBlock : Statement {
  Target target;
  const Filter* filter = nullptr;  // the last one; null without
  Block body;
  Flow Execute(Run& run) const override;
};
struct With : Statement {
  std::vector<std::pair<Target, ExpressionPtr>> values;
  Block body;
  Flow Execute(Run& run) const override;
};
struct FilterBlock : Statement {
  const Filter* filter = nullptr;
  Block body;
  Flow Execute(Run& run) const override;
};
struct Generation : Statement {
  Block body;
  Flow Execute(Run& run) const override;
};

struct MacroBody {
  std::string name;
  struct Parameter {
    int symbol;
    std::string name;
    ExpressionPtr value;  // null without a default
  };
  std::vector<Parameter> parameters;
  int caller_symbol = -1, varargs_symbol = -1, kwargs_symbol = -1;  // -1: not used
  Block body;

  Value Bind(Run& run) const;  // as a callable in the scope of `run`

 private:
  Value Invoke(Run& run, Scope* scope, Arguments& arguments) const;
  void BindRest(Run& run, Arguments& arguments, std::optional<Value> caller) const;
};
struct Macro : Statement {
  int symbol = 0;
  MacroBody body;
  Flow Execute(Run& run) const override;
};
struct CallBlock : Statement {
  const Call* call = nullptr;
  MacroBody body;
  Flow Execute(Run& run) const override;
};

class Program {
 public:
  std::vector<std::unique_ptr<const Node>> nodes;
  std::vector<std::string> symbols;  // names of variables, by number
  Block body;
};

// Throws Failure(kSyntax, kUnsupported, kLimit).
std::unique_ptr<const Program> ParseProgram(std::string_view source);

}  // namespace agentr::jinja
