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
// session_id n is goal n of the shop (goals.h). "reward" in /state is null until the purchase, then
// an object with its parts (reward.h). For an env_idx that is not live, or a session_id after the
// last goal, the reply is {"error": …} with status 200 (500 on the public server); errors of the
// request are 4xx (see http_service.h), and the limit of sessions is a 503.
#pragma once

#include "servers/env_service.h"
#include "servers/http/session_store.h"
#include "servers/webshop/webshop.h"

namespace agentr {

class WebShopService : public EnvService {
 public:
  WebShopService(Catalogue catalogue, const ShopOptions& options, SessionLimits limits,
                 bool extensions)
      : shop_(std::move(catalogue), options), extensions_(extensions), sessions_(limits) {}

  void AddTo(HttpService& http) override;
  std::string Summary() const override;

  const WebShop& shop() const { return shop_; }

 private:
  struct Session {
    WebShopState state;
    uint32_t draws = 0;  // number of goals drawn so far, so that each draw differs
  };

  HttpResponse Create();
  HttpResponse Reset(const HttpRequest& request);
  HttpResponse Step(const HttpRequest& request);
  HttpResponse Close(const HttpRequest& request);
  HttpResponse Expand(const HttpRequest& request);
  HttpResponse Version() const;

  // A reply about the session in the query.
  template <typename Write>
  HttpResponse About(const HttpRequest& request, Write write);

  WebShopState StartDrawn(int64_t env_idx, uint32_t draws) const;
  std::string InstructionText(const WebShopState& state) const;
  std::string Actions(const WebShopState& state) const;
  std::string StateReply(int64_t env_idx, const WebShopState& state) const;
  // "state":…,"reward":…,"done":…,"info":null
  void AppendStep(const WebShopState& state, std::string& out) const;

  const WebShop shop_;
  const bool extensions_;
  SessionStore<Session> sessions_;
};

}  // namespace agentr
