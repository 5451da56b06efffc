// A WebShop server as AgentGym's public one, over SmallWebShop: without /version, /expand and
// /close, and a 500 for a session that it does not know. Task n is goal n.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/clients/local_server.h"
#include "tests/clients/small_webshop.h"

namespace agentr {

class PublicWebShop {
 public:
  PublicWebShop() {
    On("/create", [this](const Json&) -> Json {
      sessions_.emplace(next_id_, SmallWebShop(0));
      return next_id_++;
    });
    OnSession("/reset", [this](int id, const Json& body) -> Json {
      sessions_.erase(id);
      sessions_.emplace(id, SmallWebShop(body.at("session_id").get<size_t>()));
      return {sessions_.at(id).Page(), nullptr};
    });
    OnSession("/step", [this](int id, const Json& body) -> Json {
      const StepResult step = sessions_.at(id).Step(body.at("action").get<std::string>());
      return {{"state", step.observation},
              {"reward", step.reward},
              {"done", step.done},
              {"info", nullptr}};
    });
    server_->set_error_handler([this](const auto& request, const auto& response) {
      std::lock_guard lock(mutex_);
      if (response.status == 404) ++calls_[request.path];
    });
    server_.Start();
  }

  std::string url() const { return server_.url(); }

  // Calls of `path`, answered or not.
  int calls(const std::string& path) const {
    std::lock_guard lock(mutex_);
    return calls_.contains(path) ? calls_.at(path) : 0;
  }

 private:
  using Json = nlohmann::json;

  template <typename Fn>
  void On(const std::string& path, Fn fn) {
    server_->Post(path, [this, path, fn](const auto& request, auto& response) {
      std::lock_guard lock(mutex_);
      ++calls_[path];
      const Json body = request.body.empty() ? Json() : Json::parse(request.body);
      response.set_content(fn(body).dump(), "application/json");
    });
  }

  template <typename Fn>
  void OnSession(const std::string& path, Fn fn) {
    On(path, [this, fn](const Json& body) -> Json {
      const int id = body.at("env_idx");
      sessions_.at(id);  // what this throws is answered with a 500
      return fn(id, body);
    });
  }

  mutable std::mutex mutex_;
  std::map<int, SmallWebShop> sessions_;  // guarded by mutex_, as all below
  int next_id_ = 0;
  std::map<std::string, int> calls_;
  LocalServer server_;  // last: its threads use the others
};

}  // namespace agentr
