// A SciWorld server with AgentGym's protocol over SmallSciWorld: with or without our own server's
// /version, /gold and /valid_actions.
#pragma once

#include <cmath>
#include <mutex>
#include <string>

#include "tests/clients/env/session_server.h"
#include "tests/tasks/small_sciworld.h"

namespace agentr {

// An episode of the small house.
struct SmallSciWorldSession {
  SmallSciWorld world{0};
  bool done = false;
  bool deleted = false;
  double score = 0;
};

class SmallSciWorldServer : public SessionServer<SmallSciWorldSession> {
 public:
  explicit SmallSciWorldServer(bool extensions = true) {
    On("/create", [this](const Json&) -> Json {
      sessions_[next_id_];
      return {{"id", next_id_++}};
    });
    OnSession("/reset", [](Session& session, const Json& body) { return Reset(session, body); });
    OnSession("/step", [this](Session& session, const Json& body) { return Step(session, body); });
    OnSession("/close", [](Session& session, const Json&) -> Json {
      session.deleted = true;
      return true;
    });
    if (extensions) AddExtensions();
    server_.Start();
  }

  // Steps in sessions that had ended, which no client should make.
  int steps_after_done() const { return calls("after done"); }

 private:
  using Session = SmallSciWorldSession;

  static Json Reset(Session& session, const Json& body) {
    const int task_id = body.at("data_idx").get<int>();
    session = Session{SmallSciWorld(task_id)};
    return {{"task_name", "find-plant"},
            {"var_num", task_id},
            {"task_description", session.world.TaskDescription()},
            {"observation", session.world.Look()},
            {"reward", 0},
            {"score", 0},
            {"deleted", false},
            {"done", false}};
  }

  Json Step(Session& session, const Json& body) {
    if (session.done) {
      ++calls_["after done"];
      return {{"error", "The task with environment 0 has finished."}};
    }
    const StepResult step = session.world.Step(body.at("action").get<std::string>());
    const double score = std::nearbyint(100 * step.reward);
    const double change = score - session.score;
    session.score = score;
    session.done = step.done;
    return {{"observation", step.observation},
            {"reward", change},
            {"score", score},
            {"done", step.done}};
  }

  void AddExtensions() {
    server_->Get("/version", [](const auto&, auto& response) {
      const Json version = {{"server", "small sciworld"},
                            {"version", "1"},
                            {"data_hash", "small"},
                            {"extensions", {"gold", "valid_actions"}},
                            {"tasks", SmallSciWorld::kTasks}};
      response.set_content(version.dump(), "application/json");
    });
    List("gold", [](const SmallSciWorld& world) { return world.Gold(); });
    List("valid_actions", [](const SmallSciWorld& world) { return world.ValidActions(); });
  }

  template <typename Fn>
  void List(const std::string& name, Fn fn) {
    server_->Get("/" + name, [this, name, fn](const auto& request, auto& response) {
      const std::lock_guard lock(mutex_);
      ++calls_["/" + name];
      const auto session = sessions_.find(std::stoi(request.get_param_value("id")));
      const Json reply =
          session == sessions_.end() ? Lost(0, false) : Json{{name, fn(session->second.world)}};
      response.set_content(reply.dump(), "application/json");
    });
  }
};

}  // namespace agentr
