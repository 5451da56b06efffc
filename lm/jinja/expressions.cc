// Evaluates expressions.
#include <fmt/format.h>

#include "lm/jinja/filters.h"
#include "lm/jinja/loop.h"
#include "lm/jinja/methods.h"
#include "lm/jinja/nodes.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

const Dict* MappingOf(Run& run, const Value& value) {
  if (value.dict() == nullptr) run.Fail("** takes a dict");
  return value.dict();
}

// loop.cycle('a', 'b')
Value Cycle(Run& run, Loop& loop, const Arguments& arguments) {
  if (arguments.positional.empty()) run.Fail("cycle needs a value");
  const auto index = static_cast<size_t>(IntegerOf(*loop.Attribute(run, "index0")));
  return arguments.positional[index % arguments.positional.size()];
}

}  // namespace

Value Expression::Evaluate(Run& run) const {
  const Deeper deeper(run);
  run.Step();
  run.place = place;
  return Eval(run);
}

Arguments CallArguments::Evaluate(Run& run) const {
  Arguments arguments;
  for (const ExpressionPtr argument : positional) {
    arguments.positional.push_back(argument->Evaluate(run));
  }
  if (star != nullptr) {
    for (const Value& value : ItemsOf(run, star->Evaluate(run))) {
      arguments.positional.push_back(value);
    }
  }
  for (const auto& [name, argument] : named) {
    arguments.named.emplace_back(name, argument->Evaluate(run));
  }
  if (star_star != nullptr) {
    const Value value = star_star->Evaluate(run);
    for (const auto& [key, other] : MappingOf(run, value)->entries) {
      const std::string& name = TextOf(run, key).bytes;
      for (const auto& [given, unused] : arguments.named) {
        if (given == name) run.Fail("the argument " + name + " is given twice");
      }
      arguments.named.emplace_back(name, other);
    }
  }
  return arguments;
}

Value Name::Eval(Run& run) const {
  const Value* value = run.Lookup(symbol);
  return value != nullptr ? *value : Value(Undefined{name});
}

Value ListDisplay::Eval(Run& run) const {
  Items values;
  for (const ExpressionPtr item : items) values.push_back(item->Evaluate(run));
  return run.NewList(kind, std::move(values));
}

Value DictDisplay::Eval(Run& run) const {
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key, value] : items) {
    Value name = key->Evaluate(run);
    entries.emplace_back(std::move(name), value->Evaluate(run));
  }
  return run.NewDict(std::move(entries));
}

Value GetAttribute::Eval(Run& run) const {
  const Value value = object->Evaluate(run);
  run.place = place;
  return AttributeOf(run, value, name);
}

Value GetItem::Eval(Run& run) const {
  const Value value = object->Evaluate(run);
  const Value at = index->Evaluate(run);
  run.place = place;
  return ItemOf(run, value, at);
}

Value GetSlice::Eval(Run& run) const {
  const Value value = object->Evaluate(run);
  const auto part = [&](ExpressionPtr e) {
    return e != nullptr ? e->Evaluate(run) : Value(None{});
  };
  const Value from = part(begin), to = part(end), by = part(step);
  run.place = place;
  return SliceOf(run, value, from, to, by);
}

Value Call::Eval(Run& run) const {
  // Calls a method directly, without making a value of it first.
  if (const auto* method = dynamic_cast<const GetAttribute*>(callee)) {
    const Value object = method->object->Evaluate(run);
    if (const auto* loop = object.As<std::shared_ptr<Loop>>(); loop && method->name == "cycle") {
      const Arguments values = arguments.Evaluate(run);
      return Cycle(run, **loop, values);
    }
    if (object.text() || object.list() || (object.dict() && IsDictMethod(method->name))) {
      const Arguments values = arguments.Evaluate(run);
      run.place = place;
      return CallMethod(run, object, method->name, values);
    }
    run.place = method->place;
    const Value function = AttributeOf(run, object, method->name);
    return CallValue(run, function);
  }
  return CallValue(run, callee->Evaluate(run));
}

Value Call::CallValue(Run& run, const Value& function) const {
  Arguments values = arguments.Evaluate(run);
  run.place = place;
  if (function.IsUndefined()) run.FailUndefined(function);
  const auto* callable = function.As<std::shared_ptr<const Callable>>();
  if (callable == nullptr) run.Fail(fmt::format("a {} cannot be called", TypeName(function)));
  return (*callable)->call(run, values);
}

Value Filter::Eval(Run& run) const { return Apply(run, input->Evaluate(run)); }

// The chain of a {% filter %} begins with a filter without an input.
Value Filter::ApplyChain(Run& run, Value value) const {
  const auto* before = dynamic_cast<const Filter*>(input);
  return Apply(run, before != nullptr ? before->ApplyChain(run, std::move(value)) : value);
}

Value Filter::Apply(Run& run, const Value& value) const {
  const Arguments values = arguments.Evaluate(run);
  run.place = place;
  return ApplyFilter(run, name, value, values);
}

Value Test::Eval(Run& run) const {
  const Value value = input->Evaluate(run);
  const Arguments values = arguments.Evaluate(run);
  run.place = place;
  return Value(ApplyTest(run, name, value, values));
}

Value Conditional::Eval(Run& run) const {
  if (Truth(condition->Evaluate(run))) return then->Evaluate(run);
  return otherwise != nullptr ? otherwise->Evaluate(run) : Value(Undefined{});
}

Value Logical::Eval(Run& run) const {
  Value value = left->Evaluate(run);
  return Truth(value) == is_and ? right->Evaluate(run) : value;
}

Value Not::Eval(Run& run) const { return Value(!Truth(operand->Evaluate(run))); }

Value Compare::Eval(Run& run) const {
  Value value = left->Evaluate(run);
  for (const auto& [operation, expression] : operations) {
    Value next = expression->Evaluate(run);
    run.place = place;
    if (!Relation(run, operation, value, next)) return Value(false);
    value = std::move(next);
  }
  return Value(true);
}

Value Binary::Eval(Run& run) const {
  const Value first = left->Evaluate(run);
  const Value second = right->Evaluate(run);
  run.place = place;
  return Arithmetic(run, operation, first, second);
}

Value Concat::Eval(Run& run) const {
  Text text;
  for (const ExpressionPtr part : parts) {
    const Value value = part->Evaluate(run);
    run.place = place;
    text.Append(StringOf(run, value));
  }
  return NewText(run, std::move(text));
}

Value Sign::Eval(Run& run) const {
  const Value value = operand->Evaluate(run);
  run.place = place;
  if (negative) return Negate(run, value);
  if (value.IsUndefined()) run.FailUndefined(value);
  if (!IsNumber(value)) run.Fail("+ takes a number");
  return value.As<bool>() ? Value(IntegerOf(value)) : value;
}

}  // namespace agentr::jinja
