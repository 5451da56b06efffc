#include "servers/babyai/babyai_service.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/version.h"
#include "servers/http/json_text.h"
#include "servers/http/session_replies.h"

namespace agentr {
namespace {

// "observation":…,"reward":…,"score":…,"done":…
void AppendBabyAiStep(const BabyAiTextState& state, std::string& out) {
  out += R"("observation":)";
  AppendJson(state.observation, out);
  out += fmt::format(R"(,"reward":{},"score":{},"done":{})", state.reward, state.score,
                     state.game.done());
}

std::string WholeBabyAiReply(const BabyAiTextState& state) {
  std::string out = "{";
  AppendBabyAiStep(state, out);
  return out + R"(,"deleted":false})";
}

}  // namespace

void BabyAiService::AddTo(HttpService& http) {
  http.Get("/", [](const HttpRequest&) {
    return HttpResponse{.body = R"("This is environment BabyAI.")"};
  });
  http.Post("/create", [this](const HttpRequest&) { return Create(); });
  http.Post("/reset", [this](const HttpRequest& request) { return Reset(request); });
  http.Post("/step", [this](const HttpRequest& request) { return Step(request); });
  http.Post("/close", [this](const HttpRequest& request) { return Close(request); });
  http.Get("/observation", [this](const HttpRequest& request) {
    return With(IntParameter(request, "id"), /*playing=*/false, [](Session& session) {
      std::string out;
      AppendJson(session.state->observation, out);
      return out;
    });
  });
  http.Get("/detail", [this](const HttpRequest& request) {
    return With(IntParameter(request, "id"), /*playing=*/false,
                [](Session& session) { return WholeBabyAiReply(*session.state); });
  });
  http.AddMetrics([this](std::string& out) { AppendSessionMetrics(sessions_.Counts(), out); });
  if (!extensions_) return;
  http.Post("/expand", [this](const HttpRequest& request) { return Expand(request); });
  http.Get("/gold", [this](const HttpRequest& request) { return Gold(request); });
  http.Get("/version", [reply = Version()](const HttpRequest&) { return reply; });
}

std::string BabyAiService::Summary() const {
  return fmt::format("babyai: {} tasks", game_.task_count());
}

HttpResponse BabyAiService::Create() {
  const std::optional<int64_t> id = sessions_.Create([](int64_t) { return Session{}; });
  if (!id) ThrowFull();
  return {.body = fmt::format(R"({{"id":{}}})", *id)};
}

HttpResponse BabyAiService::Reset(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const int64_t data_idx = IntField(body, "data_idx");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("id", id);
  std::optional<BabyAiTextState> state = game_.Start(data_idx);
  if (!state) {
    return {.body = ErrorJson(fmt::format("The data_idx {} is not valid: there are the tasks 0 to "
                                          "{}.",
                                          data_idx, game_.task_count() - 1))};
  }
  session->state = std::move(state);
  session->task_id = static_cast<int>(data_idx);
  return {.body = WholeBabyAiReply(*session->state)};
}

template <typename Use>
HttpResponse BabyAiService::With(int64_t id, bool playing, Use use) {
  auto session = sessions_.Find(id);
  if (!session) return NotValid("id", id);
  if (!session->state) {
    return {.body = ErrorJson(
                fmt::format("The task with environment {} has not begun: call /reset.", id))};
  }
  if (playing && session->state->game.done()) {
    return {.body = ErrorJson(fmt::format("The task with environment {} has finished.", id))};
  }
  return {.body = use(*session)};
}

HttpResponse BabyAiService::Step(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const std::string& action = StringField(body, "action");
  return With(IntField(body, "id"), /*playing=*/true, [&](Session& session) {
    game_.Step(*session.state, action);
    std::string out = "{";
    AppendBabyAiStep(*session.state, out);
    return out + "}";
  });
}

HttpResponse BabyAiService::Close(const HttpRequest& request) {
  const int64_t id = IntField(ParseObject(request.body), "id");
  return {.body = sessions_.Close(id) ? "true" : "false"};
}

HttpResponse BabyAiService::Expand(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const std::vector<std::string> actions = ActionsOf(body);
  return With(id, /*playing=*/true, [&](Session& session) {
    std::vector<Session> forks(actions.size(), session);
    for (size_t i = 0; i < actions.size(); ++i) game_.Step(*forks[i].state, actions[i]);
    const auto ids = sessions_.Fork(id, forks);
    if (!ids) ThrowFull();
    std::string out = R"({"children":[)";
    for (size_t i = 0; i < forks.size(); ++i) {
      out += fmt::format("{}{{\"id\":{},", i == 0 ? "" : ",", (*ids)[i]);
      AppendBabyAiStep(*forks[i].state, out);
      out += '}';
    }
    return out + "]}";
  });
}

HttpResponse BabyAiService::Gold(const HttpRequest& request) {
  return With(IntParameter(request, "id"), /*playing=*/false, [&](Session& session) {
    return nlohmann::json({{"gold", game_.Gold(session.task_id)}}).dump();
  });
}

HttpResponse BabyAiService::Version() const {
  return {.body = fmt::format(R"({{"server":"agentr","version":"{}","task":"babyai",)"
                              R"("data_hash":"{}","extensions":["expand","gold"],"tasks":{}}})",
                              kVersion, game_.DataHash(), game_.task_count())};
}

}  // namespace agentr
