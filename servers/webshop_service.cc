#include "servers/webshop_service.h"

#include <fmt/format.h>

#include "common/python_text.h"
#include "servers/http/json_text.h"
#include "servers/http/session_replies.h"

namespace agentr {

std::optional<WebShopState> PageShop::Start(int64_t task_id) const {
  if (task_id < 0 || task_id >= static_cast<int64_t>(shop_->task_count())) return std::nullopt;
  return shop_->Start(static_cast<size_t>(task_id));
}

template <typename Shop>
void WebShopService<Shop>::AddTo(HttpService& http) {
  http.Get("/", [](const HttpRequest&) { return HttpResponse{.body = R"("ok")"}; });
  http.Get("/list_envs", [this](const HttpRequest&) {
    return HttpResponse{.body = nlohmann::json(sessions_.Ids()).dump()};
  });
  http.Post("/create", [this](const HttpRequest&) { return Create(); });
  http.Post("/reset", [this](const HttpRequest& request) { return Reset(request); });
  http.Post("/step", [this](const HttpRequest& request) { return Step(request); });
  http.Post("/close", CloseHandler(sessions_, "env_idx"));
  http.Get("/observation", [this](const HttpRequest& request) {
    return About(request, [&](int64_t, const State& state, std::string& out) {
      AppendJson(shop_.Observation(state), out);
    });
  });
  http.Get("/instruction_text", [this](const HttpRequest& request) {
    return About(request, [&](int64_t, const State& state, std::string& out) {
      AppendJson(InstructionText(state), out);
    });
  });
  http.Get("/available_actions", [this](const HttpRequest& request) {
    return About(request,
                 [&](int64_t, const State& state, std::string& out) { out = Actions(state); });
  });
  http.Get("/state", [this](const HttpRequest& request) {
    return About(request, [&](int64_t id, const State& state, std::string& out) {
      out = StateReply(id, state);
    });
  });
  http.AddMetrics([this](std::string& out) { AppendSessionMetrics(sessions_.Counts(), out); });
  if (!extensions_) return;
  http.Post("/expand", [this](const HttpRequest& request) { return Expand(request); });
  http.Get("/version", VersionHandler(Shop::kTask, shop_.shop().data_hash(), R"(["expand"])",
                                      shop_.shop().task_count()));
}

template <typename Shop>
std::string WebShopService<Shop>::Summary() const {
  return fmt::format("{}: {} tasks, {} products", Shop::kTask, shop_.shop().task_count(),
                     shop_.shop().catalogue().products().size());
}

template <typename Shop>
auto WebShopService<Shop>::StartDrawn(int64_t env_idx, uint32_t draws) const -> State {
  const size_t task = shop_.shop().DrawTask((static_cast<uint64_t>(env_idx) << 32) + draws);
  return *shop_.Start(static_cast<int64_t>(task));
}

template <typename Shop>
HttpResponse WebShopService<Shop>::Create() {
  return {.body = std::to_string(OrFull(sessions_.Create([&](int64_t id) {
            return Session{StartDrawn(id, 0), 1};
          })))};
}

template <typename Shop>
HttpResponse WebShopService<Shop>::Reset(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "env_idx");
  const auto task = body.find("session_id");
  const bool draw = task == body.end() || task->is_null();
  const int64_t number = draw ? 0 : IntField(body, "session_id");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("env_idx", id);
  std::optional<State> state = draw ? StartDrawn(id, session->draws++) : shop_.Start(number);
  if (!state) {
    return {.body = ErrorJson(
                fmt::format("The session_id {} is not valid: there are the goals 0 to {}.", number,
                            shop_.shop().task_count() - 1))};
  }
  session->state = std::move(*state);
  HttpResponse reply{.body = "["};
  AppendJson(shop_.Observation(session->state), reply.body);
  reply.body += ",null]";
  return reply;
}

template <typename Shop>
HttpResponse WebShopService<Shop>::Step(const HttpRequest& request) {
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

template <typename Shop>
HttpResponse WebShopService<Shop>::Expand(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "env_idx");
  const std::vector<std::string> actions = ActionsOf(body);
  auto session = sessions_.Find(id);
  if (!session) return NotValid("env_idx", id);
  std::vector<Session> forks(actions.size(), *session);
  for (size_t i = 0; i < actions.size(); ++i) shop_.Step(forks[i].state, actions[i]);
  const auto ids = OrFull(sessions_.Fork(id, forks));
  return {.body = ChildrenJson("env_idx", ids, [&](size_t i, std::string& out) {
            AppendStep(forks[i].state, out);
          })};
}

template <typename Shop>
template <typename Write>
HttpResponse WebShopService<Shop>::About(const HttpRequest& request, Write write) {
  const int64_t id = IntParameter(request, "env_idx");
  auto session = sessions_.Find(id);
  if (!session) return NotValid("env_idx", id);
  HttpResponse reply;
  write(id, session->state, reply.body);
  return reply;
}

template <typename Shop>
std::string WebShopService<Shop>::InstructionText(const State& state) const {
  // The original uses the text of the page's element, in which only the start page has a blank.
  const WebShopState& place = Shop::Place(state);
  const std::string_view label =
      place.place == ShopPlace::kStart ? "Instruction: " : "Instruction:";
  return std::string(label) + shop_.shop().Instruction(place);
}

template <typename Shop>
std::string WebShopService<Shop>::Actions(const State& state) const {
  const bool has_search_bar = Shop::Place(state).place == ShopPlace::kStart;
  std::string out = fmt::format(R"({{"has_search_bar":{},"clickables":[)", has_search_bar);
  bool first = true;
  for (const std::string& clickable : shop_.Clickables(state)) {
    if (!first) out += ',';
    first = false;
    AppendJson(clickable, out);
  }
  return out + "]}";
}

template <typename Shop>
std::string WebShopService<Shop>::StateReply(int64_t env_idx, const State& state) const {
  const WebShop& shop = shop_.shop();
  const WebShopState& place = Shop::Place(state);
  std::string out = R"({"url":)";
  AppendJson(shop.Url(place, std::to_string(env_idx)), out);
  out += R"(,"html":)";
  AppendJson(PageHtml(shop.PageOf(place)), out);
  out += R"(,"instruction_text":)";
  AppendJson(InstructionText(state), out);
  out += R"(,"reward":)";
  if (place.place != ShopPlace::kDone) return out + "null}";
  const ShopReward parts = shop.Reward(place);
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

template <typename Shop>
void WebShopService<Shop>::AppendStep(const State& state, std::string& out) const {
  out += R"("state":)";
  AppendJson(shop_.Observation(state), out);
  const WebShopState& place = Shop::Place(state);
  out +=
      fmt::format(R"(,"reward":{},"done":{},"info":null)", PythonFloat(place.reward), place.done);
}

template class WebShopService<PageShop>;
template class WebShopService<ArcherShop>;

}  // namespace agentr
