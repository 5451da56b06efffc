// What the small game servers of the tests have in common: sessions by id, handlers of JSON calls,
// one at a time, and how often each path was called.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/clients/http/local_server.h"

namespace agentr {

template <typename Session>
class SessionServer {
 public:
  std::string url() const { return server_.url(); }

  // Calls of `path`, answered or not.
  int calls(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(path);
    return found == calls_.end() ? 0 : found->second;
  }

  // All sessions are lost.
  void Forget() {
    const std::lock_guard lock(mutex_);
    sessions_.clear();
  }

 protected:
  using Json = nlohmann::json;

  // POST of `path`: fn(body) -> reply. What it throws is answered with a 500.
  template <typename Fn>
  void On(const std::string& path, Fn fn) {
    server_->Post(path, [this, path, fn](const auto& request, auto& response) {
      const std::lock_guard lock(mutex_);
      ++calls_[path];
      const Json body = request.body.empty() ? Json() : Json::parse(request.body);
      response.set_content(fn(body).dump(), "application/json");
    });
  }

  // The same for one session, as AgentGym's servers name it: fn(session, body) -> reply. Session
  // has a member `deleted`.
  template <typename Fn>
  void OnSession(const std::string& path, Fn fn) {
    On(path, [this, fn](const Json& body) -> Json {
      const int id = body.at("id");
      const auto session = sessions_.find(id);
      if (session == sessions_.end()) return Lost(id, false);
      if (session->second.deleted) return Lost(id, true);
      return fn(session->second, body);
    });
  }

  // GET of `path`?id=: fn(session) -> reply, as OnSession.
  template <typename Fn>
  void OnGet(const std::string& path, Fn fn) {
    server_->Get(path, [this, path, fn](const auto& request, auto& response) {
      const std::lock_guard lock(mutex_);
      ++calls_[path];
      const int id = std::stoi(request.get_param_value("id"));
      const auto session = sessions_.find(id);
      const Json reply = session == sessions_.end() ? Lost(id, false)
                         : session->second.deleted  ? Lost(id, true)
                                                    : Json(fn(session->second));
      response.set_content(reply.dump(), "application/json");
    });
  }

  static Json Lost(int id, bool deleted) {
    return deleted ? Json{{"error", "The task with environment " + std::to_string(id) +
                                        " has been deleted."}}
                   : Json{{"error", "The id " + std::to_string(id) + " is not valid."}};
  }

  mutable std::mutex mutex_;
  std::map<int, Session> sessions_;  // guarded by mutex_, as all below
  int next_id_ = 0;
  std::map<std::string, int> calls_;
  LocalServer server_;  // last: its threads use the others
};

}  // namespace agentr
