// A WebShop server as AgentGym's public one, over SmallWebShop: without /version, /expand and
// /close, and a 500 for a session that it does not know. Task n is goal n.
#pragma once

#include <mutex>
#include <string>

#include "tests/clients/env/session_server.h"
#include "tests/tasks/small_webshop.h"

namespace agentr {

class PublicWebShop : public SessionServer<SmallWebShop> {
 public:
  PublicWebShop() {
    On("/create", [this](const Json&) -> Json {
      sessions_.emplace(next_id_, SmallWebShop(0));
      return next_id_++;
    });
    OnShop("/reset", [this](int id, const Json& body) -> Json {
      sessions_.erase(id);
      sessions_.emplace(id, SmallWebShop(body.at("session_id").get<size_t>()));
      return {sessions_.at(id).Page(), nullptr};
    });
    OnShop("/step", [this](int id, const Json& body) -> Json {
      const StepResult step = sessions_.at(id).Step(body.at("action").get<std::string>());
      return {{"state", step.observation},
              {"reward", step.reward},
              {"done", step.done},
              {"info", nullptr}};
    });
    server_->set_error_handler([this](const auto& request, const auto& response) {
      const std::lock_guard lock(mutex_);
      if (response.status == 404) ++calls_[request.path];
    });
    server_.Start();
  }

 private:
  template <typename Fn>
  void OnShop(const std::string& path, Fn fn) {
    On(path, [this, fn](const Json& body) -> Json {
      const int id = body.at("env_idx");
      sessions_.at(id);  // what this throws is answered with a 500
      return fn(id, body);
    });
  }
};

}  // namespace agentr
