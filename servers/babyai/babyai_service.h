// BabyAI-Text over HTTP, in AgentGym's BabyAI protocol, with three extensions:
//
//   GET  /                 "This is environment BabyAI."
//   POST /create           {}                    -> {"id"}; the world is made at the first /reset
//   POST /reset            {"id", "data_idx"}    -> {"observation", "reward", "score", "deleted", "done"}
//   POST /step             {"id", "action"}      -> {"observation", "reward", "score", "done"}
//   GET  /observation?id=                        -> text
//   GET  /detail?id=                             -> what /reset answers, as of the last step
//   POST /close            {"id"}                -> true, or false when it is not live
//   POST /expand           {"id", "actions": []} -> {"children": [{"id", "observation", …}, …]}
//   GET  /gold?id=         {"gold"}: actions that solve the session's task from its beginning
//   GET  /version          {"server", "version", "task", "data_hash", "extensions", "tasks"}
//
// Errors of the environment are {"error": …} with status 200: for an id that is not live, a session
// that has not begun or has finished, and a data_idx that is not a task. Errors of the request are
// 4xx (see http_service.h), and the limit of sessions is a 503.
#pragma once

#include <optional>

#include "servers/babyai/babyai_text.h"
#include "servers/env_service.h"
#include "servers/http/session_store.h"

namespace agentr {

class BabyAiService : public EnvService {
 public:
  BabyAiService(const BabyAiOptions& options, SessionLimits limits, bool extensions)
      : game_(options), extensions_(extensions), sessions_(limits) {}

  void AddTo(HttpService& http) override;
  std::string Summary() const override;

 private:
  struct Session {
    std::optional<BabyAiTextState> state;  // empty until the first reset
    int64_t task_id = 0;
  };

  HttpResponse Create();
  HttpResponse Reset(const HttpRequest& request);
  HttpResponse Step(const HttpRequest& request);
  HttpResponse Close(const HttpRequest& request);
  HttpResponse Expand(const HttpRequest& request);
  HttpResponse Gold(const HttpRequest& request);
  HttpResponse Version() const;

  // Replies with the body that `use` makes of a session that has begun and, if `playing`, is not
  // done.
  template <typename Use>
  HttpResponse With(int64_t id, bool playing, Use use);

  const BabyAiText game_;
  const bool extensions_;
  SessionStore<Session> sessions_;
};

}  // namespace agentr
