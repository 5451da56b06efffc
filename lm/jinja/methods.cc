#include "lm/jinja/methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "lm/jinja/format.h"
#include "lm/jinja/loop.h"
#include "lm/jinja/operators.h"
#include "lm/jinja/strings.h"

namespace agentr::jinja {
namespace {

Value DictView(Run& run, const Dict& dict, std::string_view name) {
  Items items;
  for (const auto& [key, value] : dict.entries) {
    if (name == "keys") items.push_back(key);
    if (name == "values") items.push_back(value);
    if (name == "items") items.push_back(run.NewList(ListKind::kTuple, {key, value}));
  }
  return run.NewList(ListKind::kView, std::move(items));
}

Value CallDictMethod(Run& run, const Value& object, std::string_view name,
                     const Arguments& arguments) {
  const Dict& dict = *object.dict();
  if (name == "get") {
    const Items a = BindArguments(run, "get", arguments, {"key", "default"}, 1);
    const Value* found = Find(run, dict, a[0]);
    if (found != nullptr) return *found;
    return arguments.positional.size() > 1 ? a[1] : Value(None{});
  }
  if (name == "items" || name == "keys" || name == "values" || name == "copy") {
    BindArguments(run, name, arguments, {});
    return name == "copy" ? object : DictView(run, dict, name);
  }
  run.Fail(fmt::format("the sandbox does not allow the method {} of a dict", name));
}

Value CallListMethod(Run& run, const List& list, std::string_view name,
                     const Arguments& arguments) {
  if (name == "index" || name == "count") {
    const Items a = BindArguments(run, name, arguments, {"value"}, 1);
    int64_t count = 0;
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (!Equal(run, list.items[i], a[0])) continue;
      if (name == "index") return Value(static_cast<int64_t>(i));
      ++count;
    }
    if (name == "index") run.Fail("the list does not have the value");
    return Value(count);
  }
  run.Fail(fmt::format("the sandbox does not allow the method {} of a list", name));
}

}  // namespace

Items BindArguments(Run& run, std::string_view function, const Arguments& arguments,
                    std::initializer_list<std::string_view> parameters, size_t needed) {
  if (arguments.positional.size() > parameters.size()) {
    run.Fail(fmt::format("{} takes {} arguments, not {}", function, parameters.size(),
                         arguments.positional.size()));
  }
  Items values = arguments.positional;
  size_t given = values.size();
  values.resize(parameters.size());
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::ranges::find(parameters, std::string_view(name));
    if (found == parameters.end()) {
      run.Fail(fmt::format("{} has no argument '{}'", function, name));
    }
    const auto at = static_cast<size_t>(found - parameters.begin());
    if (at < arguments.positional.size()) {
      run.Fail(fmt::format("{} got '{}' twice", function, name));
    }
    if (at < needed) ++given;
    values[at] = value;
  }
  if (given < needed) run.Fail(fmt::format("{} needs {} arguments", function, needed));
  return values;
}

Value CallMethod(Run& run, const Value& object, std::string_view name, const Arguments& arguments) {
  if (object.text() != nullptr) {
    const Text& text = TextOf(run, object);
    if (name == "format") return NewText(run, FormatBraces(run, text, arguments));
    if (auto value = CallStringMethod(run, text, name, arguments)) return std::move(*value);
  } else if (object.dict() != nullptr) {
    return CallDictMethod(run, object, name, arguments);
  } else if (const List* list = object.list()) {
    return CallListMethod(run, *list, name, arguments);
  }
  run.Refuse(fmt::format("the method {} of a {}", name, TypeName(object)));
}

Text ReplaceText(Run& run, const Text& text, std::string_view from, const Text& to, int64_t count) {
  Text result;
  size_t done = 0;
  size_t left = count < 0 ? std::string::npos : static_cast<size_t>(count);
  if (from.empty()) run.Refuse("replace of an empty text");
  Occurrences places(text.bytes, from);
  for (; left > 0; --left) {
    const size_t at = places.Next();
    if (at == std::string::npos) break;
    run.Charge(at - done + to.bytes.size());
    run.Step(1 + text.marks.size());
    result.Append(text.Slice(done, at));
    // A replacement of a content's bytes gets their mark.
    if (to.marks.empty()) {
      result.AppendAs(to.bytes, text, at, at + from.size());
    } else {
      result.Append(to);
    }
    done = at + from.size();
  }
  result.Append(text.Slice(done, text.bytes.size()));
  return result;
}

Text JoinTexts(Run& run, const Text& separator, const std::vector<Text>& parts) {
  Text result;
  for (size_t i = 0; i < parts.size(); ++i) {
    run.Charge(separator.bytes.size() + parts[i].bytes.size());
    if (i > 0) result.Append(separator);
    result.Append(parts[i]);
  }
  return result;
}

Value TextList(Run& run, std::vector<Text> parts) {
  Items items;
  for (Text& part : parts) items.push_back(NewText(run, std::move(part)));
  return run.NewList(ListKind::kList, std::move(items));
}

}  // namespace agentr::jinja
