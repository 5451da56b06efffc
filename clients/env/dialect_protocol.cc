#include "clients/env/dialect_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "clients/http/json_fields.h"
#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The value at a pointer; null if there is none.
const OrderedJson* At(const OrderedJson& reply, const std::string& pointer) {
  const OrderedJson::json_pointer place(pointer);
  return reply.contains(place) ? &reply.at(place) : nullptr;
}

// A value as an agent reads it.
std::string TextOf(const OrderedJson& value) {
  return value.is_string() ? value.get<std::string>() : DumpJson(value);
}

tl::unexpected<Error> Missing(const std::string& pointer, const char* what) {
  return Fail(ErrorKind::kProtocol, fmt::format("there is no {} at \"{}\"", what, pointer));
}

// Replaces each "{name}" by replace(name), which may leave it as it is (nullopt).
template <typename Replace>
std::string Filled(std::string_view text, Replace&& replace) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    filled += text.substr(0, open);
    text.remove_prefix(open);
    const size_t close = text.find('}');
    if (close == std::string_view::npos) break;
    const std::optional<std::string> value = replace(text.substr(1, close - 1));
    filled += value ? *value : "{";
    text.remove_prefix(value ? close + 1 : 1);
  }
  return filled + std::string(text);
}

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                       c == '.' || c == '~';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

// The name and the arguments in an action of the form {"name": …, "arguments": {…}}; another action
// is a name without arguments, about which the environment has to complain.
std::pair<OrderedJson, OrderedJson> ToolCallIn(std::string_view action) {
  std::pair<OrderedJson, OrderedJson> call = {action, OrderedJson::object()};
  const OrderedJson value = ParseJson<OrderedJson>(action);
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) return call;
  call.first = value["name"];
  if (value.contains("arguments")) call.second = value["arguments"];
  return call;
}

bool IsTrue(const OrderedJson& value) { return value == true || value == 1; }

}  // namespace

struct DialectProtocol::Values {
  OrderedJson id = nullptr, task = nullptr, action = nullptr, tool = nullptr, arguments = nullptr;

  const OrderedJson* Find(std::string_view name) const {
    const OrderedJson* value = name == "id"          ? &id
                               : name == "task"      ? &task
                               : name == "action"    ? &action
                               : name == "tool"      ? &tool
                               : name == "arguments" ? &arguments
                                                     : nullptr;
    return value != nullptr && !value->is_null() ? value : nullptr;
  }

  // The template with the values in the places of their names.
  OrderedJson Fill(const OrderedJson& shape) const {
    if (shape.is_string()) {
      const auto text = shape.get<std::string>();
      if (text.size() > 2 && text.front() == '{' && text.back() == '}') {
        const OrderedJson* value = Find(std::string_view(text).substr(1, text.size() - 2));
        if (value != nullptr) return *value;
      }
      return Filled(text, [&](std::string_view name) -> std::optional<std::string> {
        const OrderedJson* value = Find(name);
        return value == nullptr ? std::nullopt : std::optional(TextOf(*value));
      });
    }
    OrderedJson filled = shape;
    if (shape.is_structured()) {
      for (OrderedJson& value : filled) value = Fill(value);
    }
    return filled;
  }
};

std::string DialectProtocol::PathOf(std::string_view call) const {
  if (call == "/create") return dialect_.create.path;
  if (call == "/reset") return dialect_.reset.path;
  if (call == "/step") return dialect_.step.path;
  if (call == "/close") return dialect_.close.path;
  if (call == "/expand") return dialect_.expand;
  return std::string(call);
}

OrderedJson DialectProtocol::IdOf(int64_t id) const {
  if (id >= 0) return id;
  const std::lock_guard lock(mutex_);
  const auto place = static_cast<size_t>(-1 - id);
  return place < texts_.size() ? OrderedJson(texts_[place]) : OrderedJson(id);
}

int64_t DialectProtocol::NumberOf(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = numbers_.try_emplace(id, -1 - static_cast<int64_t>(texts_.size()));
  if (is_new) texts_.push_back(id);
  return at->second;
}

std::string DialectProtocol::Body(const HttpDialect::Call& call, const Values& values) const {
  return call.body.is_null() ? "" : DumpJson(values.Fill(call.body));
}

std::string DialectProtocol::CreateBody() const { return Body(dialect_.create, {}); }

std::string DialectProtocol::ResetBody(int64_t id, int task_id) const {
  int64_t task = dialect_.task_offset + task_id;
  if (dialect_.task_modulo > 0) task %= dialect_.task_modulo;
  return Body(dialect_.reset, {.id = IdOf(id), .task = task});
}

std::string DialectProtocol::StepBody(int64_t id, std::string_view action) const {
  Values values{.id = IdOf(id), .action = action};
  if (dialect_.calls_tools) std::tie(values.tool, values.arguments) = ToolCallIn(action);
  return Body(dialect_.step, values);
}

std::string DialectProtocol::ExpandBody(int64_t id, const std::vector<std::string>& actions) const {
  return DumpJson({{dialect_.id_field, IdOf(id)}, {"actions", actions}});
}

std::string DialectProtocol::CloseBody(int64_t id) const {
  return Body(dialect_.close, {.id = IdOf(id)});
}

std::string DialectProtocol::AskPath(std::string_view extension, int64_t id) const {
  const std::string text = PercentEncoded(TextOf(IdOf(id)));
  if (extension != "observation") {
    return fmt::format("/{}?{}={}", extension, dialect_.id_field, text);
  }
  return Filled(dialect_.observe, [&](std::string_view name) {
    return name == "id" ? std::optional(text) : std::nullopt;
  });
}

Result<OrderedJson> DialectProtocol::Read(std::string_view reply, std::string_view call) const {
  AGENTR_ASSIGN_OR_RETURN(OrderedJson value, Parsed(reply, call));
  return Content(std::move(value), call);
}

Result<OrderedJson> DialectProtocol::Parsed(std::string_view reply, std::string_view call) {
  const std::string what(call);
  if (IsTooDeep(reply)) return Fail(ErrorKind::kProtocol, what + ": the reply is nested too deep");
  OrderedJson value = OrderedJson::parse(reply, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return Fail(ErrorKind::kProtocol,
                fmt::format("{}: the reply is not JSON ({})", what, JsonFault(reply)));
  }
  return value;
}

Result<OrderedJson> DialectProtocol::Content(OrderedJson value, std::string_view call) const {
  if (dialect_.fault.empty()) return value;
  const OrderedJson* fault = At(value, dialect_.fault);
  if (fault == nullptr || !IsSaid(*fault)) return value;
  return Fail(ErrorKind::kEnvironment,
              fmt::format("{}: the environment says: {}", call, TextOf(*fault)));
}

Result<std::string> DialectProtocol::TextIn(const OrderedJson& reply,
                                            const HttpDialect::Text& text) const {
  const OrderedJson* value = At(reply, text.pointer);
  for (const std::string& next : text.or_else) {
    if (value == nullptr || value->is_null()) value = At(reply, next);
  }
  if (text.shape.empty() && (value == nullptr || value->is_null())) {
    return Missing(text.pointer, "observation");
  }
  std::string out = value == nullptr ? "" : TextOf(*value);
  if (text.extract) {
    const int group = std::min(text.extract->groups(), 1);
    out = text.extract->Last(out, group).value_or(out);
  }
  if (!text.shape.empty()) {
    const std::string whole = std::exchange(out, "");
    std::string missing;
    out = Filled(text.shape, [&](std::string_view name) -> std::optional<std::string> {
      if (name == "observation") return whole;
      if (!name.starts_with('/')) return std::nullopt;
      const OrderedJson* part = At(reply, std::string(name));
      if (part == nullptr) missing = name;
      return part == nullptr ? "" : TextOf(*part);
    });
    if (!missing.empty()) return Missing(missing, "text for the observation");
  }
  const OrderedJson* list = text.list.empty() ? nullptr : At(reply, text.list);
  if (list != nullptr && list->is_array() && !list->empty()) {
    out += text.list_head;
    const auto last = static_cast<size_t>(text.list_last);
    const size_t first = last > 0 && last < list->size() ? list->size() - last : 0;
    for (size_t i = first; i < list->size(); ++i) {
      if (i > first) out += text.list_join;
      const OrderedJson* item = At(list->at(i), text.list_item);
      if (item == nullptr) return Missing(text.list + "/…" + text.list_item, "text of a list");
      out += TextOf(*item);
    }
    out += text.list_tail;
  }
  if (IsFault(out)) return Fail(ErrorKind::kEnvironment, "the environment says: " + out);
  return out;
}

bool DialectProtocol::IsFault(std::string_view observation) const {
  return std::ranges::any_of(dialect_.faults,
                             [&](const Pattern& p) { return p.Matches(observation); });
}

Result<int64_t> DialectProtocol::ParseCreate(std::string_view reply) const {
  AGENTR_ASSIGN_OR_RETURN(const OrderedJson value, Read(reply, "/create"));
  return IdIn(value, dialect_.id);
}

Result<int64_t> DialectProtocol::IdIn(const OrderedJson& reply, const std::string& pointer) const {
  const OrderedJson* id = At(reply, pointer);
  if (id == nullptr) return Missing(pointer, "id of a session");
  if (id->is_string()) return NumberOf(id->get<std::string>());
  if (IsJson<int64_t>(*id) && id->get<int64_t>() >= 0) return id->get<int64_t>();
  return Fail(ErrorKind::kProtocol,
              fmt::format("the id at \"{}\" is neither a text nor a number", pointer));
}

Result<int64_t> DialectProtocol::ParseSession(std::string_view value) const {
  // It goes back as it is, so that a line break in it would begin another header.
  if (EscapeControls(value) != value) {
    return Fail(ErrorKind::kProtocol,
                "/create: the header " + dialect_.session_header + " contains control characters");
  }
  return NumberOf(std::string(value));
}

std::string DialectProtocol::RequestHeader(int64_t id) const {
  if (dialect_.session_header.empty()) return "";
  const bool cookie = dialect_.session_header == kCookieHeader;
  return fmt::format("{}: {}", cookie ? "Cookie" : dialect_.session_header, TextOf(IdOf(id)));
}

Result<std::string> DialectProtocol::ParseReset(std::string_view reply) const {
  AGENTR_ASSIGN_OR_RETURN(const OrderedJson value, Read(reply, "/reset"));
  if (dialect_.observes_after_reset) return "";
  return TextIn(value, dialect_.first);
}

Result<StepResult> DialectProtocol::StepIn(const OrderedJson& reply) const {
  AGENTR_ASSIGN_OR_RETURN(std::string observation, TextIn(reply, dialect_.observation));
  StepResult step{std::move(observation), 0, false};
  bool told = false;
  for (const std::string& pointer : dialect_.done) {
    const OrderedJson* done = At(reply, pointer);
    if (done == nullptr || done->is_null()) continue;
    if (!done->is_boolean() && *done != 0 && *done != 1) {
      return Fail(ErrorKind::kProtocol,
                  fmt::format("what stands at \"{}\" is not true or false", pointer));
    }
    told = true;
    step.done = step.done || IsTrue(*done);
  }
  if (!told)
    return Missing(fmt::format("{}", fmt::join(dialect_.done, "\" or \"")), "end of the episode");
  const OrderedJson* reward = At(reply, dialect_.reward);
  if (reward != nullptr && reward->is_boolean()) {
    step.reward = IsTrue(*reward) ? 1 : 0;
  } else if (reward != nullptr && IsJson<double>(*reward)) {
    step.reward = reward->get<double>();
  } else if (dialect_.null_keeps_reward && reward != nullptr && reward->is_null()) {
    step.reward = kNoReward;
  } else if (step.done || (reward != nullptr && !reward->is_null())) {
    return Missing(dialect_.reward, "number for the reward");
  }
  return step;
}

Result<StepResult> DialectProtocol::ParseStep(std::string_view reply) const {
  AGENTR_ASSIGN_OR_RETURN(const OrderedJson value, Read(reply, "/step"));
  return StepIn(value);
}

double DialectProtocol::RewardSoFar(RewardTally& tally, const StepResult& step) const {
  const double before = tally.last;
  if (!std::isnan(step.reward)) {
    tally.last = step.reward;
    tally.sum += step.reward;
    tally.most = std::max(tally.most.value_or(step.reward), step.reward);
  }
  if (dialect_.only_when_done && !step.done) return 0;
  double reward = 0;
  switch (dialect_.mode) {
    case RewardMode::kLast:
      reward = tally.last;
      break;
    case RewardMode::kSum:
      reward = tally.sum;
      break;
    case RewardMode::kMost:
      reward = tally.most.value_or(0);
      break;
    case RewardMode::kDelta:
      reward = tally.last - before;
      break;
  }
  reward = dialect_.scale * reward + dialect_.offset;
  if (dialect_.least) reward = std::max(reward, *dialect_.least);
  if (dialect_.most) reward = std::min(reward, *dialect_.most);
  return reward;
}

Result<std::vector<ForkReply>> DialectProtocol::ParseExpand(std::string_view reply,
                                                            size_t count) const {
  AGENTR_ASSIGN_OR_RETURN(const OrderedJson value, Read(reply, "/expand"));
  const OrderedJson* children = At(value, "/children");
  if (children == nullptr || !children->is_array() || children->size() != count) {
    return Fail(ErrorKind::kProtocol,
                fmt::format("/expand: \"/children\" is no list of {} children", count));
  }
  std::vector<ForkReply> forks;
  for (const OrderedJson& child : *children) {
    AGENTR_ASSIGN_OR_RETURN(StepResult step, StepIn(child));
    AGENTR_ASSIGN_OR_RETURN(const int64_t id, IdIn(child, "/" + dialect_.id_field));
    forks.push_back({id, std::move(step)});
  }
  return forks;
}

Result<std::string> DialectProtocol::ParseObservation(std::string_view reply,
                                                      std::string_view /*first*/) const {
  AGENTR_ASSIGN_OR_RETURN(const OrderedJson value, Read(reply, "/observation"));
  return TextIn(value, dialect_.observed);
}

std::string_view DialectProtocol::ReplyShape(std::string_view path) const {
  std::string shape;
  if (path == "/create") shape = fmt::format("a session's id at \"{}\"", dialect_.id);
  if (path == "/reset" && !dialect_.observes_after_reset) {
    shape = fmt::format("an observation at \"{}\"", dialect_.first.pointer);
  }
  if (path == "/step") {
    shape = fmt::format("an observation at \"{}\", a reward at \"{}\" and the end at \"{}\"",
                        dialect_.observation.pointer, dialect_.reward,
                        fmt::join(dialect_.done, "\" or \""));
  }
  const std::lock_guard lock(mutex_);
  return shapes_.try_emplace(std::string(path), std::move(shape)).first->second;
}

bool DialectProtocol::IsLostSession(const Error& error) const {
  if (Protocol::IsLostSession(error)) return true;
  return error.kind == ErrorKind::kEnvironment &&
         std::ranges::any_of(dialect_.lost,
                             [&](const Pattern& p) { return p.Matches(error.message); });
}

}  // namespace agentr
