// SciWorld over HTTP, as AgentGym's public server speaks it, with /close and four extensions:
//
//   GET  /                       "This is environment ScienceWorld."
//   POST /create                 {"id"}; the simulator is made at the first /reset
//   POST /reset {"id", "data_idx"}  {"task_name", "var_num", "task_description", "observation",
//                                "reward", "score", "deleted", "done"}
//   POST /step {"id", "action"}  {"observation", "reward", "score", "done"}
//   GET  /observation?id=        text
//   GET  /action_hint?id=        {"possible_actions", "possible_objects"}
//   GET  /goals?id=              {"goals"}
//   GET  /task_description?id=   {"task_description"}, like AgentGym's servers for visualisation
//   GET  /detail?id=             what /reset answers, as of the last step
//   POST /close {"id"}           true, or false when it is not live
//   POST /expand {"id", "actions": []}  {"children": [{"id", "observation", "reward", …}, …]}
//   GET  /valid_actions?id=      {"valid_actions"}: all that the simulator would take now
//   GET  /gold?id=               {"gold"}: actions that solve the session's task from its beginning
//   GET  /version                {"server", "version", "task", "data_hash", "extensions", "tasks"}
//
// data_idx is a position in the list of sciworld_tasks.h. A fork that has not been used for long
// may lose its simulator when Java's heap is short of room; its next use then costs as much as
// playing its actions again (fork_pool.h).
//
// Errors of the environment are {"error": …} with status 200: for an id that is not valid, deleted
// (closed, expired or failed), or finished (then only /reset, /close and /gold are possible). A
// session whose simulator fails is closed and answers with the simulator's error. At the limit of
// sessions or of Java's heap the status is 503. Errors of the request are 4xx (see http_service.h).
#pragma once

#include <memory>
#include <string>

#include "servers/env_service.h"
#include "servers/http/session_store.h"
#include "servers/sciworld/fork_pool.h"
#include "servers/sciworld/sciworld.h"

namespace agentr {

class SciWorldService : public EnvService {
 public:
  // `data_hash` identifies the simulator in /version.
  SciWorldService(std::unique_ptr<SimulatorSource> source, std::string data_hash,
                  SessionLimits limits, bool extensions)
      : source_(std::move(source)),
        data_hash_(std::move(data_hash)),
        extensions_(extensions),
        sessions_(limits) {}

  void AddTo(HttpService& http) override;
  std::string Summary() const override;

 private:
  struct Session {
    std::shared_ptr<ForkPath> path;  // null until the first reset
    SciWorldReply last;
    // A fork's is null: it stands in the pool.
    std::unique_ptr<SciWorldEpisode> episode;
    bool failed = false;
  };

  HttpResponse Create();
  HttpResponse Reset(const HttpRequest& request);
  HttpResponse Step(const HttpRequest& request);
  HttpResponse Detail(const HttpRequest& request);
  HttpResponse Expand(const HttpRequest& request);
  HttpResponse Gold(const HttpRequest& request);

  // Replies with the body that `use` makes; closes the session if its simulator fails.
  template <typename Use>
  HttpResponse With(int64_t id, Use use);
  // The same for an episode that has begun and is not done.
  template <typename Use>
  HttpResponse InEpisode(int64_t id, Use use);
  // Hands the episode of `session` to `use`, which leaves it in the same state, or in that of
  // session.path afterwards.
  template <typename Use>
  std::string WithEpisode(Session& session, Use use);
  // A reply about the session in the query.
  template <typename Write>
  HttpHandler About(Write write);

  void Start(Session& session, SimulatorTask task);
  // The episodes and replies of `actions` taken in the state of `episode`.
  std::vector<Session> Children(const Session& session, SciWorldEpisode& episode,
                                const std::vector<std::string>& actions);
  // The number of simulators of forks for which there is room beside those of other sessions.
  size_t ForksAtMost() const;
  void AppendUse(std::string& out) const;

  const std::unique_ptr<SimulatorSource> source_;
  const std::string data_hash_;
  const bool extensions_;
  ForkPool forks_;                  // after source_, so that its simulators are destroyed first
  SessionStore<Session> sessions_;  // after forks_, which its paths use
};

}  // namespace agentr
