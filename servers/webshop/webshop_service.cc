#include "servers/webshop/webshop_service.h"

#include <fmt/format.h>

#include "common/version.h"
#include "servers/http/json_text.h"
#include "servers/http/session_replies.h"
#include "servers/webshop/python_text.h"

namespace agentr {

void WebShopService::AddTo(HttpService& http) {
  http.Get("/", [](const HttpRequest&) { return HttpResponse{.body = R"("ok")"}; });
  http.Get("/list_envs", [this](const HttpRequest&) {
    return HttpResponse{.body = nlohmann::json(sessions_.Ids()).dump()};
  });
  http.Post("/create", [this](const HttpRequest&) { return Create(); });
  http.Post("/reset", [this](const HttpRequest& request) { return Reset(request); });
  http.Post("/step", [this](const HttpRequest& request) { return Step(request); });
  http.Post("/close", [this](const HttpRequest& request) { return Close(request); });
  http.Get("/observation", [this](const HttpRequest& request) {
    return About(request, [&](int64_t, const WebShopState& state, std::string& out) {
      AppendJson(shop_.Observation(state), out);
    });
  });
  http.Get("/instruction_text", [this](const HttpRequest& request) {
    return About(request, [&](int64_t, const WebShopState& state, std::string& out) {
      AppendJson(InstructionText(state), out);
    });
  });
  http.Get("/available_actions", [this](const HttpRequest& request) {
    return About(request, [&](int64_t, const WebShopState& state, std::string& out) {
      out = Actions(state);
    });
  });
  http.Get("/state", [this](const HttpRequest& request) {
    return About(request, [&](int64_t id, const WebShopState& state, std::string& out) {
      out = StateReply(id, state);
    });
  });
  http.AddMetrics([this](std::string& out) { AppendSessionMetrics(sessions_.Counts(), out); });
  if (!extensions_) return;
  http.Post("/expand", [this](const HttpRequest& request) { return Expand(request); });
  http.Get("/version", [reply = Version()](const HttpRequest&) { return reply; });
}

std::string WebShopService::Summary() const {
  return fmt::format("webshop: {} tasks, {} products", shop_.task_count(),
                     shop_.catalogue().products().size());
}

WebShopState WebShopService::StartDrawn(int64_t env_idx, uint32_t draws) const {
  return shop_.Start(shop_.DrawTask((static_cast<uint64_t>(env_idx) << 32) + draws));
}

HttpResponse WebShopService::Create() {
  const std::optional<int64_t> id = sessions_.Create([&](int64_t new_id) {
    return Session{StartDrawn(new_id, 0), 1};
  });
  if (!id) ThrowFull();
  return {.body = std::to_string(*id)};
}

HttpResponse WebShopService::Reset(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "env_idx");
  const auto task = body.find("session_id");
  const bool draw = task == body.end() || task->is_null();
  const int64_t number = draw ? 0 : IntField(body, "session_id");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("env_idx", id);
  if (number < 0 || number >= static_cast<int64_t>(shop_.task_count())) {
    return {.body = ErrorJson(
                fmt::format("The session_id {} is not valid: there are the goals 0 to {}.", number,
                            shop_.task_count() - 1))};
  }
  session->state =
      draw ? StartDrawn(id, session->draws++) : shop_.Start(static_cast<size_t>(number));
  HttpResponse reply{.body = "["};
  AppendJson(shop_.Observation(session->state), reply.body);
  reply.body += ",null]";
  return reply;
}

HttpResponse WebShopService::Step(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "env_idx");
  const std::string& action = StringField(body, "action");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("env_idx", id);
  shop_.Step(session->state, action);
  HttpResponse reply{.body = "{"};
  AppendStep(session->state, reply.body);
  reply.body += '}';
  return reply;
}

HttpResponse WebShopService::Close(const HttpRequest& request) {
  const int64_t id = IntField(ParseObject(request.body), "env_idx");
  return {.body = sessions_.Close(id) ? "true" : "false"};
}

HttpResponse WebShopService::Expand(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "env_idx");
  const std::vector<std::string> actions = ActionsOf(body);
  auto session = sessions_.Find(id);
  if (!session) return NotValid("env_idx", id);
  std::vector<Session> forks(actions.size(), *session);
  for (size_t i = 0; i < actions.size(); ++i) shop_.Step(forks[i].state, actions[i]);
  const auto ids = sessions_.Fork(id, forks);
  if (!ids) ThrowFull();
  HttpResponse reply{.body = R"({"children":[)"};
  for (size_t i = 0; i < forks.size(); ++i) {
    reply.body += fmt::format("{}{{\"env_idx\":{},", i == 0 ? "" : ",", (*ids)[i]);
    AppendStep(forks[i].state, reply.body);
    reply.body += '}';
  }
  reply.body += "]}";
  return reply;
}

HttpResponse WebShopService::Version() const {
  return {.body = fmt::format(R"({{"server":"agentr","version":"{}","task":"webshop",)"
                              R"("data_hash":"{}","extensions":["expand"],"tasks":{}}})",
                              kVersion, shop_.data_hash(), shop_.task_count())};
}

template <typename Write>
HttpResponse WebShopService::About(const HttpRequest& request, Write write) {
  const int64_t id = IntParameter(request, "env_idx");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("env_idx", id);
  HttpResponse reply;
  write(id, session->state, reply.body);
  return reply;
}

std::string WebShopService::InstructionText(const WebShopState& state) const {
  // The original uses the text of the page's element, in which only the start page has a blank.
  const std::string_view label =
      state.place == ShopPlace::kStart ? "Instruction: " : "Instruction:";
  return std::string(label) + shop_.Instruction(state);
}

std::string WebShopService::Actions(const WebShopState& state) const {
  const ShopPage page = shop_.PageOf(state);
  std::string out = fmt::format(R"({{"has_search_bar":{},"clickables":[)", page.has_search_bar);
  bool first = true;
  for (const std::string& clickable : Clickables(page)) {
    if (!first) out += ',';
    first = false;
    AppendJson(clickable, out);
  }
  return out + "]}";
}

std::string WebShopService::StateReply(int64_t env_idx, const WebShopState& state) const {
  std::string out = R"({"url":)";
  AppendJson(shop_.Url(state, std::to_string(env_idx)), out);
  out += R"(,"html":)";
  AppendJson(PageHtml(shop_.PageOf(state)), out);
  out += R"(,"instruction_text":)";
  AppendJson(InstructionText(state), out);
  out += R"(,"reward":)";
  if (state.place != ShopPlace::kDone) return out + "null}";
  const ShopReward parts = shop_.Reward(state);
  return out +
         nlohmann::json{{"reward", parts.reward},
                        {"type", parts.type},
                        {"same_query", parts.same_query},
                        {"same_category", parts.same_category},
                        {"title_score", parts.title_score},
                        {"attributes_met", parts.attributes_met},
                        {"attributes_wanted", parts.attributes_wanted},
                        {"options_met", parts.options_met},
                        {"options_wanted", parts.options_wanted},
                        {"price_met", parts.price_met}}
             .dump() +
         "}";
}

void WebShopService::AppendStep(const WebShopState& state, std::string& out) const {
  out += R"("state":)";
  AppendJson(shop_.Observation(state), out);
  out +=
      fmt::format(R"(,"reward":{},"done":{},"info":null)", PythonFloat(state.reward), state.done);
}

}  // namespace agentr
