// TextCraft over HTTP, as AgentGym's public server speaks it, with two extensions:
//
//   GET  /                 "This is environment TextCraft."
//   POST /create           {}                    -> {"id", "observation", "done", "reward"}
//   POST /reset            {"id", "data_idx"}    -> {"id", "observation", "done", "reward"}
//   POST /step             {"id", "action"}      -> {"observation", "reward", "done"}
//   GET  /observation?id=                        -> text
//   GET  /detail?id=                             -> {"observation", "done", "reward", "deleted"}
//   POST /close            {"id"}                -> true, or false when it is not live
//   POST /expand           {"id", "actions": []} -> {"children": [{"id", "observation", …}, …]}
//   GET  /version          {"server", "version", "task", "data_hash", "extensions", "tasks"}
//
// A new session shows the task with the session's id. Texts are JSON strings. For an id that is not
// live the reply is {"error": "The id 7 is not valid."} with status 200, as on the public server;
// errors of the request are 4xx (see http_service.h), and the limit of sessions is a 503.
#pragma once

#include "games/textcraft/textcraft.h"
#include "servers/env_service.h"
#include "servers/http/session_store.h"

namespace agentr {

class TextCraftService : public EnvService {
 public:
  TextCraftService(TextCraft game, SessionLimits limits, bool extensions,
                   SessionStore<TextCraftState>::Clock clock = MonotonicSeconds)
      : game_(std::move(game)), extensions_(extensions), sessions_(limits, std::move(clock)) {}

  void AddTo(HttpService& http) override;
  std::string Summary() const override;

 private:
  HttpResponse Create(const HttpRequest& request);
  HttpResponse Reset(const HttpRequest& request);
  HttpResponse Step(const HttpRequest& request);
  HttpResponse Observation(const HttpRequest& request);
  HttpResponse Detail(const HttpRequest& request);
  HttpResponse Expand(const HttpRequest& request);

  // {"id":…,"observation":…,"done":false,"reward":0} for a session at its beginning.
  HttpResponse Begun(int64_t id, const TextCraftState& state) const;
  // "observation":…,"reward":…,"done":…
  void AppendStep(const TextCraftState& state, std::string& out) const;

  const TextCraft game_;
  const bool extensions_;
  SessionStore<TextCraftState> sessions_;
};

}  // namespace agentr
