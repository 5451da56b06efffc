#include "servers/textcraft_service.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "common/version.h"
#include "servers/http_metrics.h"
#include "servers/json_text.h"

namespace agentr {
namespace {

HttpResponse NotValid(int64_t id) {
  return {.body = ErrorJson(fmt::format("The id {} is not valid.", id))};
}

[[noreturn]] void Full() {
  throw HttpStatusError(
      503,
      "The server is at its limit of live sessions; close some, or start it with a "
      "larger --max_sessions.");
}

int64_t IdOfQuery(const HttpRequest& request) {
  const std::string text = request.Parameter("id").value_or("");
  int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw HttpStatusError(422, "The parameter 'id' must be an integer.");
  }
  return id;
}

void WantTextOrNull(const nlohmann::json& object, const char* name) {
  if (object.contains(name) && !object.at(name).is_null()) StringField(object, name);
}

}  // namespace

void TextCraftService::AddTo(HttpService& http) {
  http.Get("/", [](const HttpRequest&) {
    return HttpResponse{.body = R"("This is environment TextCraft.")"};
  });
  http.Post("/create", [this](const HttpRequest& request) { return Create(request); });
  http.Post("/reset", [this](const HttpRequest& request) { return Reset(request); });
  http.Post("/step", [this](const HttpRequest& request) { return Step(request); });
  http.Get("/observation", [this](const HttpRequest& request) { return Observation(request); });
  http.Get("/detail", [this](const HttpRequest& request) { return Detail(request); });
  http.Post("/close", [this](const HttpRequest& request) { return Close(request); });
  http.AddMetrics([this](std::string& out) { AppendMetrics(out); });
  if (!extensions_) return;
  http.Post("/expand", [this](const HttpRequest& request) { return Expand(request); });
  http.Get("/version", [reply = Version()](const HttpRequest&) { return reply; });
}

std::string TextCraftService::Summary() const {
  return fmt::format("textcraft: {} tasks, {} recipes", game_.task_count(),
                     game_.book().recipes().size());
}

HttpResponse TextCraftService::Create(const HttpRequest& request) {
  // The public server takes commands and a goal, and then shows the task of the id all the same.
  const nlohmann::json body = ParseObject(request.body);
  WantTextOrNull(body, "commands");
  WantTextOrNull(body, "goal");
  TextCraftState state;
  const std::optional<int64_t> id =
      sessions_.Create([&](int64_t new_id) { return state = game_.Start(new_id); });
  if (!id) Full();
  return Begun(*id, state);
}

HttpResponse TextCraftService::Reset(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const int64_t data_idx = IntField(body, "data_idx");
  auto session = sessions_.Find(id);
  if (!session) return NotValid(id);
  *session = game_.Start(data_idx);
  return Begun(id, *session);
}

HttpResponse TextCraftService::Step(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const std::string& action = StringField(body, "action");
  auto session = sessions_.Find(id);
  if (!session) return NotValid(id);
  game_.Step(*session, action);
  HttpResponse reply{.body = "{"};
  AppendStep(*session, reply.body);
  reply.body += '}';
  return reply;
}

HttpResponse TextCraftService::Observation(const HttpRequest& request) {
  const int64_t id = IdOfQuery(request);
  auto session = sessions_.Find(id);
  if (!session) return NotValid(id);
  HttpResponse reply;
  AppendJson(game_.Observation(*session), reply.body);
  return reply;
}

HttpResponse TextCraftService::Detail(const HttpRequest& request) {
  const int64_t id = IdOfQuery(request);
  auto session = sessions_.Find(id);
  if (!session) return NotValid(id);
  HttpResponse reply{.body = "{"};
  AppendStep(*session, reply.body);
  reply.body += R"(,"deleted":false})";
  return reply;
}

HttpResponse TextCraftService::Close(const HttpRequest& request) {
  const int64_t id = IntField(ParseObject(request.body), "id");
  return {.body = sessions_.Close(id) ? "true" : "false"};
}

HttpResponse TextCraftService::Expand(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const std::vector<std::string> actions = StringsField(body, "actions");
  if (actions.size() > kMaxActions) {
    throw HttpStatusError(422, fmt::format("At most {} actions at once.", kMaxActions));
  }
  auto session = sessions_.Find(id);
  if (!session) return NotValid(id);
  TextCraftState here = *session;
  here.observation.clear();  // each fork is about to get its own
  std::vector<TextCraftState> forks(actions.size(), here);
  for (size_t i = 0; i < actions.size(); ++i) game_.Step(forks[i], actions[i]);
  const auto ids = sessions_.Fork(id, forks);
  if (!ids) Full();
  HttpResponse reply{.body = R"({"children":[)"};
  for (size_t i = 0; i < forks.size(); ++i) {
    reply.body += fmt::format("{}{{\"id\":{},", i == 0 ? "" : ",", (*ids)[i]);
    AppendStep(forks[i], reply.body);
    reply.body += '}';
  }
  reply.body += "]}";
  return reply;
}

HttpResponse TextCraftService::Version() const {
  return {.body = fmt::format(R"({{"server":"agentr","version":"{}","task":"textcraft",)"
                              R"("data_hash":"{}","extensions":["expand"],"tasks":{}}})",
                              kVersion, game_.DataHash(), game_.task_count())};
}

HttpResponse TextCraftService::Begun(int64_t id, const TextCraftState& state) const {
  HttpResponse reply{.body = fmt::format(R"({{"id":{},"observation":)", id)};
  AppendJson(game_.Prompt(state.task), reply.body);
  reply.body += R"(,"done":false,"reward":0})";
  return reply;
}

void TextCraftService::AppendStep(const TextCraftState& state, std::string& out) const {
  out += R"("observation":)";
  AppendJson(game_.Observation(state), out);
  out += state.done ? R"(,"reward":1,"done":true)" : R"(,"reward":0,"done":false)";
}

void TextCraftService::AppendMetrics(std::string& out) const {
  const SessionCounts counts = sessions_.Counts();
  AppendMetric("agentr_sessions_live", "gauge", "Sessions open now, forks included.", counts.live,
               out);
  AppendMetric("agentr_sessions_created_total", "counter", "Sessions made.", counts.created, out);
  AppendMetric("agentr_sessions_closed_total", "counter", "Sessions closed.", counts.closed, out);
  AppendMetric("agentr_sessions_expired_total", "counter", "Sessions dropped after --session_ttl.",
               counts.expired, out);
}

}  // namespace agentr
