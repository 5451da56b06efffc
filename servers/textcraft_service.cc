#include "servers/textcraft_service.h"

#include <fmt/format.h>

#include "servers/http/json_text.h"
#include "servers/http/session_replies.h"

namespace agentr {
namespace {

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
  http.Post("/close", CloseHandler(sessions_, "id"));
  http.AddMetrics([this](std::string& out) { AppendSessionMetrics(sessions_.Counts(), out); });
  if (!extensions_) return;
  http.Post("/expand", [this](const HttpRequest& request) { return Expand(request); });
  http.Get("/version",
           VersionHandler("textcraft", game_.DataHash(), R"(["expand"])", game_.task_count()));
}

std::string TextCraftService::Summary() const {
  return fmt::format("textcraft: {} tasks, {} recipes", game_.task_count(),
                     game_.book().recipes().size());
}

HttpResponse TextCraftService::Create(const HttpRequest& request) {
  // The public server accepts commands and a goal, but shows the task of the id anyway.
  const nlohmann::json body = ParseObject(request.body);
  WantTextOrNull(body, "commands");
  WantTextOrNull(body, "goal");
  TextCraftState state;
  const int64_t id =
      OrFull(sessions_.Create([&](int64_t new_id) { return state = game_.Start(new_id); }));
  return Begun(id, state);
}

HttpResponse TextCraftService::Reset(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const int64_t data_idx = body.contains("data_idx") ? IntField(body, "data_idx") : 0;
  auto session = sessions_.Find(id);
  if (!session) return NotValid("id", id);
  *session = game_.Start(data_idx);
  return Begun(id, *session);
}

HttpResponse TextCraftService::Step(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const std::string& action = StringField(body, "action");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("id", id);
  game_.Step(*session, action);
  HttpResponse reply{.body = "{"};
  AppendStep(*session, reply.body);
  reply.body += '}';
  return reply;
}

HttpResponse TextCraftService::Observation(const HttpRequest& request) {
  const int64_t id = IntParameter(request, "id");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("id", id);
  HttpResponse reply;
  AppendJson(game_.Observation(*session), reply.body);
  return reply;
}

HttpResponse TextCraftService::Detail(const HttpRequest& request) {
  const int64_t id = IntParameter(request, "id");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("id", id);
  HttpResponse reply{.body = "{"};
  AppendStep(*session, reply.body);
  reply.body += R"(,"deleted":false})";
  return reply;
}

HttpResponse TextCraftService::Expand(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const std::vector<std::string> actions = ActionsOf(body);
  auto session = sessions_.Find(id);
  if (!session) return NotValid("id", id);
  TextCraftState here = *session;
  here.observation.clear();  // each fork is about to get its own
  std::vector<TextCraftState> forks(actions.size(), here);
  for (size_t i = 0; i < actions.size(); ++i) game_.Step(forks[i], actions[i]);
  const auto ids = OrFull(sessions_.Fork(id, forks));
  return {.body = ChildrenJson("id", ids,
                               [&](size_t i, std::string& out) { AppendStep(forks[i], out); })};
}

HttpResponse TextCraftService::Begun(int64_t id, const TextCraftState& state) const {
  HttpResponse reply{.body = fmt::format(R"({{"id":{},"observation":)", id)};
  AppendJson(game_.Prompt(state.task_id), reply.body);
  reply.body += R"(,"done":false,"reward":0})";
  return reply;
}

void TextCraftService::AppendStep(const TextCraftState& state, std::string& out) const {
  out += R"("observation":)";
  AppendJson(game_.Observation(state), out);
  out += state.done ? R"(,"reward":1,"done":true)" : R"(,"reward":0,"done":false)";
}

}  // namespace agentr
