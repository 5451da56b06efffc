#include "clients/env/protocol.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "clients/http/json_fields.h"
#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

tl::unexpected<Error> In(const std::string& what, Error error) {
  error.message = what + ": " + error.message;
  return tl::make_unexpected(std::move(error));
}

// Whether a text in lower case speaks of a session: "session", "env_id 7", "environment with id 7".
// The word "environment" alone may be any.
bool NamesSession(std::string_view text) {
  const auto words = SplitWords(text, " \t\r\n_-.,:;=#'\"`\\/()[]{}<>");
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "id" || words[i] == "env" || words[i].starts_with("session")) return true;
    if (words[i] != "environment" || i + 1 == words.size()) continue;
    if (words[i + 1] == "with" || std::ranges::any_of(words[i + 1], IsAsciiDigit)) return true;
  }
  return false;
}

}  // namespace

Result<Json> ReplyObject(std::string_view reply, const std::string& what) {
  Result<Json> object = ParseObject(reply, what);
  if (!object) return object;
  const auto error = object->find("error");
  if (error == object->end() || !IsSaid(*error)) return object;
  return Fail(ErrorKind::kEnvironment,
              what + ": the environment says: " +
                  (error->is_string() ? error->get<std::string>() : error->dump()));
}

std::string Protocol::CreateBody() const { return "{}"; }

Result<int64_t> Protocol::ParseCreate(std::string_view reply) const {
  AGENTR_ASSIGN_OR_RETURN(const auto object, ReplyObject(reply, "/create reply"));
  auto id = Field<int64_t>(object, IdField());
  if (!id) return In("/create reply", id.error());
  return id;
}

Result<int64_t> Protocol::ParseSession(std::string_view /*value*/) const {
  return Fail(ErrorKind::kProtocol, "/create reply: no session is named by a header");
}

std::string Protocol::ResetBody(int64_t id, int task_id) const {
  return DumpJson({{IdField(), id}, {"data_idx", task_id}});
}

Result<std::string> Protocol::ParseReset(std::string_view reply) const {
  AGENTR_ASSIGN_OR_RETURN(const auto object, ReplyObject(reply, "/reset reply"));
  auto observation = Field<std::string>(object, "observation");
  if (!observation) return In("/reset reply", observation.error());
  return observation;
}

std::string Protocol::StepBody(int64_t id, std::string_view action) const {
  return DumpJson({{IdField(), id}, {"action", action}});
}

Result<StepResult> Protocol::ParseStep(std::string_view reply) const {
  AGENTR_ASSIGN_OR_RETURN(const auto object, ReplyObject(reply, "/step reply"));
  auto step = StepOf(object);
  if (!step) return In("/step reply", step.error());
  return step;
}

Result<StepResult> Protocol::StepOf(const Json& object) const {
  AGENTR_ASSIGN_OR_RETURN(auto observation, Field<std::string>(object, ObservationField()));
  const auto flag = object.find("done");
  const bool is_number = flag != object.end() && (*flag == 0 || *flag == 1);
  bool done = is_number && *flag == 1;
  if (!is_number) {
    AGENTR_ASSIGN_OR_RETURN(done, Field<bool>(object, "done"));
  }
  // Some servers know no reward before the end.
  const std::string name = RewardField();
  if (!done && object.value(name, Json(0)).is_null()) {
    return StepResult{std::move(observation), 0, done};
  }
  AGENTR_ASSIGN_OR_RETURN(const auto reward, Field<double>(object, name));
  return StepResult{std::move(observation), reward, done};
}

std::string Protocol::ExpandBody(int64_t id, const std::vector<std::string>& actions) const {
  return DumpJson({{IdField(), id}, {"actions", actions}});
}

Result<std::vector<ForkReply>> Protocol::ParseExpand(std::string_view reply, size_t count) const {
  const auto object = ReplyObject(reply, "/expand reply");
  AGENTR_RETURN_IF_ERROR(object);
  const auto children = Field<Json::array_t>(*object, "children");
  if (!children) return In("/expand reply", children.error());
  if (children->size() != count) {
    return Fail(ErrorKind::kProtocol,
                fmt::format("/expand reply: {} children for {} actions", children->size(), count));
  }
  std::vector<ForkReply> forks;
  for (size_t i = 0; i < count; ++i) {
    const std::string what = fmt::format("/expand reply, child {}", i);
    if (!(*children)[i].is_object()) return Fail(ErrorKind::kProtocol, what + " is no object");
    const auto id = Field<int64_t>((*children)[i], IdField());
    if (!id) return In(what, id.error());
    auto step = StepOf((*children)[i]);
    if (!step) return In(what, step.error());
    forks.push_back({*id, std::move(*step)});
  }
  return forks;
}

std::string Protocol::CloseBody(int64_t id) const { return DumpJson({{IdField(), id}}); }

std::string Protocol::AskPath(std::string_view extension, int64_t id) const {
  return fmt::format("/{}?{}={}", extension, IdField(), id);
}

Result<std::vector<std::string>> Protocol::ParseAnswer(std::string_view extension,
                                                       std::string_view reply) const {
  const std::string what = fmt::format("/{} reply", extension);
  AGENTR_ASSIGN_OR_RETURN(const auto object, ReplyObject(reply, what));
  auto list = Field<Json::array_t>(object, std::string(extension));
  if (!list) return In(what, list.error());
  std::vector<std::string> answer;
  for (Json& item : *list) {
    if (!item.is_string()) return Fail(ErrorKind::kProtocol, what + ": an item is no string");
    answer.push_back(std::move(item.get_ref<std::string&>()));
  }
  return answer;
}

Result<std::string> Protocol::ParseObservation(std::string_view reply,
                                               std::string_view /*first*/) const {
  const std::string what = "/observation reply";
  AGENTR_ASSIGN_OR_RETURN(auto value, ParseJson(reply, what));
  if (value.is_string()) return std::move(value.get_ref<std::string&>());
  AGENTR_RETURN_IF_ERROR(ReplyObject(reply, what));
  return Fail(ErrorKind::kProtocol, what + " is no string");
}

std::string_view Protocol::ReplyShape(std::string_view path) const {
  if (path == "/create") return R"({"id": integer})";
  if (path == "/reset") return R"({"observation": text})";
  if (path == "/step") return R"({"observation": text, "reward": number, "done": true or false})";
  return "";
}

bool Protocol::IsLostSession(const Error& error) const {
  if (error.kind != ErrorKind::kEnvironment) return false;
  // Only the server's own words count.
  constexpr std::string_view kSays = "the environment says: ";
  const size_t says = error.message.find(kSays);
  const std::string text =
      AsciiLower(error.message.substr(says == std::string::npos ? 0 : says + kSays.size()));
  const auto says_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(
        words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
  };
  return says_one_of({"has been deleted", "no environment with", "no session"}) ||
         (NamesSession(text) &&
          says_one_of({"not found", "not exist", "doesn't exist", "unknown", "no such", "expired",
                       "timed out", "closed", "invalid", "is not valid"}));
}

Result<ServerVersion> ParseVersion(std::string_view reply) {
  AGENTR_ASSIGN_OR_RETURN(const auto object, ParseObject(reply, "/version reply"));
  ServerVersion out;
  for (auto [name, field] : {std::pair{"server", &out.server}, std::pair{"version", &out.version},
                             std::pair{"data_hash", &out.data_hash}}) {
    auto value = Field<std::string>(object, name);
    if (!value) return In("/version reply", value.error());
    *field = std::move(*value);
  }
  const auto extensions = Field<Json::array_t>(object, "extensions");
  if (!extensions) return In("/version reply", extensions.error());
  for (const Json& extension : *extensions) {
    if (!extension.is_string()) return Fail(ErrorKind::kProtocol, "an extension is no string");
    out.extensions.push_back(extension.get<std::string>());
  }
  if (object.contains("task")) {
    auto task = Field<std::string>(object, "task");
    if (!task) return In("/version reply", task.error());
    out.task = std::move(*task);
  }
  if (object.contains("tasks")) {
    const auto tasks = Field<int64_t>(object, "tasks");
    if (!tasks) return In("/version reply", tasks.error());
    out.tasks = *tasks;
  }
  return out;
}

}  // namespace agentr
