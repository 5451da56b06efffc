#include "lm/jinja/globals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "common/named_values.h"
#include "common/utf8.h"
#include "lm/jinja/methods.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

constexpr int64_t kMaxRange = 100000;  // the limit of Jinja's sandbox

Value RangeFunction(Run& run, Arguments& arguments) {
  const Items a = BindArguments(run, "range", arguments, {"start", "stop", "step"}, 1);
  const auto integer = [&](const Value& value, int64_t otherwise) {
    if (&value != &a[0] && value.IsUndefined() && arguments.positional.size() < 2) return otherwise;
    if (value.IsUndefined() && &value == &a[2] && arguments.positional.size() < 3) return otherwise;
    if (!IsInteger(value)) run.Fail("range takes integers");
    return IntegerOf(value);
  };
  if (!arguments.named.empty()) run.Fail("range takes no named arguments");
  const bool one = arguments.positional.size() == 1;
  const int64_t begin = one ? 0 : integer(a[0], 0);
  const int64_t end = integer(one ? a[0] : a[1], 0);
  const int64_t step = integer(a[2], 1);
  if (step == 0) run.Fail("range has step 0");
  Items items;
  for (int64_t i = begin; step > 0 ? i < end : i > end;) {
    if (static_cast<int64_t>(items.size()) >= kMaxRange) run.Fail("range is too long");
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return run.NewList(ListKind::kRange, std::move(items));
}

std::vector<std::pair<Value, Value>> EntriesOf(Run& run, Arguments& arguments) {
  std::vector<std::pair<Value, Value>> entries;
  if (arguments.positional.size() > 1) run.Fail("dict takes one argument without a name");
  if (!arguments.positional.empty()) {
    const Dict* dict = arguments.positional[0].dict();
    if (dict == nullptr) run.Refuse("dict of what is no mapping");
    entries = dict->entries;
  }
  for (const auto& [name, value] : arguments.named) entries.emplace_back(Value(name), value);
  return entries;
}

Value DictFunction(Run& run, Arguments& arguments) {
  return run.NewDict(EntriesOf(run, arguments));
}

Value NamespaceFunction(Run& run, Arguments& arguments) {
  std::vector<std::pair<std::string, Value>> values;
  const Value dict = run.NewDict(EntriesOf(run, arguments));
  for (const auto& [key, value] : dict.dict()->entries) {
    const std::string& name = TextOf(run, key).bytes;
    if (name.starts_with("_")) run.Fail("an attribute of a namespace begins with _");
    values.emplace_back(name, value);
  }
  return run.NewNamespace(std::move(values));
}

// A function that returns an empty text on the first call and a separator on later ones.
Value JoinerFunction(Run& run, Arguments& arguments) {
  const Items a = BindArguments(run, "joiner", arguments, {"sep"});
  const Value separator = a[0].IsUndefined() ? Value(std::string(", ")) : a[0];
  if (separator.text() == nullptr) run.Refuse("a joiner of what is no text");
  return NewCallable([separator, used = std::make_shared<bool>(false)](Run&, Arguments&) {
    return std::exchange(*used, true) ? separator : Value(Text());
  });
}

Value RaiseFunction(Run& run, Arguments& arguments) {
  const Items a = BindArguments(run, "raise_exception", arguments, {"message"}, 1);
  run.Raise(StringOf(run, a[0]).bytes);
}

std::string DateText(Run* run, const std::string& date, const char* format) {
  std::tm tm{};
  if (std::sscanf(date.c_str(), "%d-%d-%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3) {
    if (run != nullptr) run->Fail("the date is not YYYY-MM-DD");
    return "";
  }
  tm.tm_year -= 1900;
  tm.tm_mon -= 1;
  const std::time_t time = timegm(&tm);  // also sets the day of the week
  gmtime_r(&time, &tm);
  std::array<char, 256> buffer;
  return std::string(buffer.data(), std::strftime(buffer.data(), buffer.size(), format, &tm));
}

Value DateFunction(Run& run, Arguments& arguments) {
  const Items a = BindArguments(run, "strftime_now", arguments, {"format"}, 1);
  const std::string& format = TextOf(run, a[0]).bytes;
  // Other formats depend on the locale or differ between systems.
  for (size_t at = 0; (at = format.find('%', at)) != std::string::npos; at += 2) {
    const char letter = at + 1 < format.size() ? format[at + 1] : '\0';
    if (letter == '\0' ||
        std::string_view("aAbBdmyYHIMSpjeFTDR%").find(letter) == std::string::npos) {
      run.Refuse("this % in a format of dates");
    }
  }
  if (format.size() > 64) run.Refuse("a long format of dates");
  return NewText(run, Text(DateText(&run, run.options.date, format.c_str())));
}

int DepthOf(const Value& value) {
  if (const List* list = value.list()) return list->depth;
  if (const Dict* dict = value.dict()) return dict->depth;
  return 0;
}

Value FromJson(const nlohmann::ordered_json& json) {
  if (json.is_string()) return Text(ToValidUtf8(json.get_ref<const std::string&>()));
  if (json.is_boolean()) return json.get<bool>();
  // An integer beyond 64 bits is a float here, as Jinja's own limits are not those of Python.
  if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) return json.get<double>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_array()) {
    auto list = std::make_shared<List>();
    for (const auto& item : json) {
      list->items.push_back(FromJson(item));
      list->depth = std::max(list->depth, 1 + DepthOf(list->items.back()));
    }
    return Value(std::shared_ptr<const List>(std::move(list)));
  }
  if (!json.is_object()) return None{};
  auto dict = std::make_shared<Dict>();
  for (const auto& [name, value] : json.items()) {
    dict->entries.emplace_back(Value(ToValidUtf8(name)), FromJson(value));
    dict->depth = std::max(dict->depth, 1 + DepthOf(dict->entries.back().second));
  }
  return Value(std::shared_ptr<const Dict>(std::move(dict)));
}

// The text of a message, marked as its own.
Value TextOfMessage(const std::string& text, int message) {
  Text marked(ToValidUtf8(text));
  marked.marks = {{0, marked.bytes.size(), message}};
  return marked;
}

Value MessageList(std::span<const Message> messages) {
  auto list = std::make_shared<List>();
  list->depth = 2;
  for (size_t i = 0; i < messages.size(); ++i) {
    auto dict = std::make_shared<Dict>();
    dict->message = static_cast<int>(i);
    dict->entries = {
        {Value(std::string("role")), Value(messages[i].role)},
        {Value(std::string("content")), TextOfMessage(messages[i].content, dict->message)}};
    if (!messages[i].reasoning.empty()) {
      dict->entries.emplace_back(Value(std::string("reasoning_content")),
                                 TextOfMessage(messages[i].reasoning, dict->message));
    }
    list->items.emplace_back(std::shared_ptr<const Dict>(std::move(dict)));
  }
  return Value(std::shared_ptr<const List>(std::move(list)));
}

constexpr auto kFunctions = std::to_array<NamedValue<Value (*)(Run&, Arguments&)>>({
    {"range", RangeFunction},
    {"dict", DictFunction},
    {"namespace", NamespaceFunction},
    {"joiner", JoinerFunction},
    {"raise_exception", RaiseFunction},
    {"strftime_now", DateFunction},
    {"cycler", [](Run& run, Arguments&) -> Value { run.Refuse("the function cycler"); }},
});

}  // namespace

std::optional<Value> GlobalFunction(std::string_view name) {
  const auto function = ValueOf(kFunctions, name);
  return function ? std::optional(NewCallable(*function)) : std::nullopt;
}

std::optional<Value> ConversationVariable(std::string_view name, std::span<const Message> messages,
                                          const RenderOptions& options) {
  if (name == "messages") return MessageList(messages);
  if (name == "add_generation_prompt") return Value(options.add_generation_prompt);
  if (name == "tools" || name == "documents") return Value(None{});
  if (name == "date_string" && options.tell_date) {
    return Value(DateText(nullptr, options.date, "%d %b %Y"));
  }
  if (options.arguments != nullptr) {
    const auto given = options.arguments->find(name);
    if (given != options.arguments->end()) return FromJson(*given);
  }
  const auto found = options.variables.find(std::string(name));
  return found == options.variables.end() ? std::nullopt : std::optional(Value(found->second));
}

}  // namespace agentr::jinja
