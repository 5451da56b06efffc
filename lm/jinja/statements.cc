// Executes statements.
#include <fmt/format.h>

#include <algorithm>

#include "lm/jinja/loop.h"
#include "lm/jinja/nodes.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {

Flow ExecuteBlock(const Block& block, Run& run) {
  const Deeper deeper(run);
  for (const Statement* statement : block) {
    run.Step();
    run.place = statement->place;
    const Flow flow = statement->Execute(run);
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

void Target::Assign(Run& run, const Value& value) const {
  if (parts.empty() && attribute.empty()) return run.Assign(symbol, value);
  if (parts.empty()) {
    const Value* object = run.Lookup(symbol);
    const auto* space = object ? object->As<std::shared_ptr<Namespace>>() : nullptr;
    if (space == nullptr) run.Fail("an attribute is set of what is no namespace");
    if (attribute.starts_with("_")) run.Fail("an attribute of a namespace begins with _");
    run.NewList(ListKind::kTuple, {value});  // charges the bytes and checks the depth
    for (auto& [name, old] : (*space)->values) {
      if (name == attribute) {
        old = value;
        return;
      }
    }
    (*space)->values.emplace_back(attribute, value);
    return;
  }
  const Items items = ItemsOf(run, value);
  if (items.size() != parts.size()) {
    run.Fail(fmt::format("{} values for {} names", items.size(), parts.size()));
  }
  for (size_t i = 0; i < parts.size(); ++i) parts[i].Assign(run, items[i]);
}

Flow Data::Execute(Run& run) const {
  run.Write(text);
  return Flow::kNormal;
}

Flow Output::Execute(Run& run) const {
  const Value result = value->Evaluate(run);
  run.place = place;
  if (const Text* text = result.text()) {
    run.Write(*text);
  } else {
    run.Write(StringOf(run, result));
  }
  return Flow::kNormal;
}

Flow If::Execute(Run& run) const {
  for (const auto& [condition, block] : branches) {
    if (Truth(condition->Evaluate(run))) return ExecuteBlock(block, run);
  }
  return ExecuteBlock(otherwise, run);
}

Flow For::Execute(Run& run) const {
  Scope* const outer = run.scope;
  Loop::Filter keeps;
  if (filter != nullptr) {
    keeps = [this, &run, outer](const Value& item) {
      const InScope scope(run, run.NewScope(outer));
      target.Assign(run, item);
      return Truth(filter->Evaluate(run));
    };
  }
  const Value all = items->Evaluate(run);
  const auto loop = std::make_shared<Loop>(ItemsOf(run, all), std::move(keeps));
  Scope* own = run.NewScope(outer);
  bool none = true;
  while (const std::optional<Value> item = loop->Next()) {
    none = false;
    const size_t captures = run.captures;
    const InScope scope(run, own);
    run.Assign(loop_symbol, Value(loop));
    target.Assign(run, *item);
    const size_t begin = run.whole.bytes.size();
    const bool whole = run.WritesWhole();
    const Flow flow = ExecuteBlock(body, run);
    if (const Dict* dict = item->dict(); whole && dict && dict->message >= 0) {
      run.turns.push_back({begin, run.whole.bytes.size(), dict->message});
    }
    if (flow == Flow::kBreak) break;
    // A macro defined in the body refers to its scope, so that scope is kept.
    if (run.captures == captures) {
      own->variables.clear();
    } else {
      own = run.NewScope(outer);
    }
  }
  own->variables.clear();
  if (!none) return Flow::kNormal;
  const InScope scope(run, run.NewScope(outer));
  return ExecuteBlock(otherwise, run);
}

Flow Set::Execute(Run& run) const {
  const Value result = value->Evaluate(run);
  run.place = place;
  target.Assign(run, result);
  return Flow::kNormal;
}

namespace {

// The output of a block, executed in its own scope.
Text Captured(Run& run, const Block& body) {
  Text text;
  const InScope scope(run, run.NewScope(run.scope));
  const Capture capture(run, text);
  ExecuteBlock(body, run);
  return text;
}

}  // namespace

Flow SetBlock::Execute(Run& run) const {
  Value value = NewText(run, Captured(run, body));
  if (filter != nullptr) value = filter->ApplyChain(run, std::move(value));
  target.Assign(run, value);
  return Flow::kNormal;
}

Flow FilterBlock::Execute(Run& run) const {
  const Value value = filter->ApplyChain(run, NewText(run, Captured(run, body)));
  run.Write(StringOf(run, value));
  return Flow::kNormal;
}

Flow With::Execute(Run& run) const {
  Items results;
  for (const auto& [target, value] : values) results.push_back(value->Evaluate(run));
  const InScope scope(run, run.NewScope(run.scope));
  for (size_t i = 0; i < values.size(); ++i) values[i].first.Assign(run, results[i]);
  return ExecuteBlock(body, run);
}

Flow Generation::Execute(Run& run) const {
  const size_t begin = run.out->bytes.size();
  {
    const InScope scope(run, run.NewScope(run.scope));
    ExecuteBlock(body, run);
  }
  if (run.WritesWhole()) run.generations.push_back({begin, run.out->bytes.size()});
  return Flow::kNormal;
}

Value MacroBody::Bind(Run& run) const {
  ++run.captures;
  return NewCallable([this, scope = run.scope](Run& other, Arguments& arguments) {
    return Invoke(other, scope, arguments);
  });
}

Value MacroBody::Invoke(Run& run, Scope* scope, Arguments& arguments) const {
  const Deeper deeper(run);
  const InScope inside(run, run.NewScope(scope));
  const auto take = [&](const std::string& key) -> std::optional<Value> {
    const auto found =
        std::ranges::find(arguments.named, key, &std::pair<std::string, Value>::first);
    if (found == arguments.named.end()) return std::nullopt;
    Value value = std::move(found->second);
    arguments.named.erase(found);
    return value;
  };
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    std::optional<Value> value = take(parameter.name);
    if (i < arguments.positional.size()) {
      if (value) run.Fail(fmt::format("{} got '{}' twice", name, parameter.name));
      value = arguments.positional[i];
    }
    if (!value && parameter.value != nullptr) value = parameter.value->Evaluate(run);
    run.Assign(parameter.symbol, value ? *value : Value(Undefined{parameter.name}));
  }
  BindRest(run, arguments, take("caller"));
  Text text;
  {
    const Capture capture(run, text);
    ExecuteBlock(body, run);
  }
  return NewText(run, std::move(text));
}

void MacroBody::BindRest(Run& run, Arguments& arguments, std::optional<Value> caller) const {
  if (caller && caller_symbol < 0) run.Fail(name + " takes no caller");
  if (caller_symbol >= 0) run.Assign(caller_symbol, caller ? *caller : Value(Undefined{"caller"}));
  const size_t taken = std::min(parameters.size(), arguments.positional.size());
  Items more(arguments.positional.begin() + static_cast<ptrdiff_t>(taken),
             arguments.positional.end());
  if (!more.empty() && varargs_symbol < 0) run.Fail(name + " got too many arguments");
  if (!arguments.named.empty() && kwargs_symbol < 0) {
    run.Fail(fmt::format("{} has no argument '{}'", name, arguments.named[0].first));
  }
  if (varargs_symbol >= 0) {
    run.Assign(varargs_symbol, run.NewList(ListKind::kTuple, std::move(more)));
  }
  if (kwargs_symbol < 0) return;
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key, value] : arguments.named) entries.emplace_back(Value(key), value);
  run.Assign(kwargs_symbol, run.NewDict(std::move(entries)));
}

Flow Macro::Execute(Run& run) const {
  run.Assign(symbol, body.Bind(run));
  return Flow::kNormal;
}

Flow CallBlock::Execute(Run& run) const {
  const Value function = call->callee->Evaluate(run);
  Arguments arguments = call->arguments.Evaluate(run);
  arguments.named.emplace_back("caller", body.Bind(run));
  run.place = place;
  const auto* callable = function.As<std::shared_ptr<const Callable>>();
  if (callable == nullptr) run.Fail("{% call %} needs a macro");
  const Value result = (*callable)->call(run, arguments);
  run.Write(StringOf(run, result));
  return Flow::kNormal;
}

}  // namespace agentr::jinja
