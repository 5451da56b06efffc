// WebShop over HTTP, as AgentGym's public server speaks it, with /close and two extensions:
//
//   GET  /                              "ok"
//   GET  /list_envs                     [int]
//   POST /create                        int; the new session shows a goal drawn by weight
//   POST /reset        {"env_idx", "session_id": int or null}   -> [observation, null]
//   POST /step         {"env_idx", "action"}  -> {"state", "reward", "done", "info": null}
//   GET  /observation?env_idx=          text
//   GET  /available_actions?env_idx=    {"has_search_bar", "clickables"}
//   GET  /instruction_text?env_idx=     text
//   GET  /state?env_idx=                {"url", "html", "instruction_text", "reward"}
//   POST /close        {"env_idx"}      true, or false when it is not live
//   POST /expand       {"env_idx", "actions": []}
//                                       {"children": [{"env_idx", "state", "reward", …}, …]}
//   GET  /version      {"server", "version", "task", "data_hash", "extensions", "tasks"}
//
// Observations, actions and what can be clicked are those of a PageShop or of an ArcherShop.
//
// session_id n is goal n of the shop (goals.h). "reward" in /state is null until the purchase, then
// an object with its parts (reward.h). For an env_idx that is not live, or a session_id after the
// last goal, the reply is {"error": …} with status 200 (500 on the public server); errors of the
// request are 4xx (see http_service.h), and the limit of sessions is a 503.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "games/webshop/archer_shop.h"
#include "games/webshop/webshop.h"
#include "servers/env_service.h"
#include "servers/http/session_store.h"

namespace agentr {

// WebShop with AgentGym's text and actions.
class PageShop {
 public:
  using State = WebShopState;
  static constexpr std::string_view kTask = "webshop";

  explicit PageShop(std::shared_ptr<const WebShop> shop) : shop_(std::move(shop)) {}

  std::optional<WebShopState> Start(int64_t task_id) const;
  void Step(WebShopState& state, std::string_view action) const { shop_->Step(state, action); }
  std::string Observation(const WebShopState& state) const { return shop_->Observation(state); }
  std::vector<std::string> Clickables(const WebShopState& state) const {
    return agentr::Clickables(shop_->PageOf(state));
  }
  static const WebShopState& Place(const WebShopState& state) { return state; }
  const WebShop& shop() const { return *shop_; }

 private:
  std::shared_ptr<const WebShop> shop_;
};

// `Shop` is PageShop or ArcherShop.
template <typename Shop>
class WebShopService : public EnvService {
 public:
  WebShopService(std::shared_ptr<const WebShop> shop, SessionLimits limits, bool extensions)
      : shop_(std::move(shop)), extensions_(extensions), sessions_(limits) {}

  void AddTo(HttpService& http) override;
  std::string Summary() const override;

 private:
  using State = typename Shop::State;

  struct Session {
    State state;
    uint32_t draws = 0;  // number of goals drawn so far, so that each draw differs
  };

  HttpResponse Create();
  HttpResponse Reset(const HttpRequest& request);
  HttpResponse Step(const HttpRequest& request);
  HttpResponse Expand(const HttpRequest& request);

  // A reply about the session in the query.
  template <typename Write>
  HttpResponse About(const HttpRequest& request, Write write);

  State StartDrawn(int64_t env_idx, uint32_t draws) const;
  std::string InstructionText(const State& state) const;
  std::string Actions(const State& state) const;
  std::string StateReply(int64_t env_idx, const State& state) const;
  // "state":…,"reward":…,"done":…,"info":null
  void AppendStep(const State& state, std::string& out) const;

  const Shop shop_;
  const bool extensions_;
  SessionStore<Session> sessions_;
};

extern template class WebShopService<PageShop>;
extern template class WebShopService<ArcherShop>;

}  // namespace agentr
