// A server that speaks TextCraft's protocol over a trivial world: the observation tells the task
// and the actions so far, and "win" ends it with reward 1.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/clients/http/local_server.h"

namespace agentr {

class ToyTextCraft {
 public:
  struct Config {
    bool version = true;  // answer GET /version
    bool expand = true;
    std::string data_hash = "abc";
    int port = 0;
    int unknown_session = 200;  // the status of the reply for a session that it does not know
  };

  ToyTextCraft() : ToyTextCraft(Config()) {}
  explicit ToyTextCraft(const Config& config) : config_(config) {
    if (config.version) {
      server_->Get("/version", [this](const auto&, auto& response) {
        std::lock_guard lock(mutex_);
        ++calls_["/version"];
        nlohmann::json extensions = nlohmann::json::array();
        if (config_.expand) extensions.push_back("expand");
        Send(response, {{"server", "toy"},
                        {"version", "1"},
                        {"data_hash", config_.data_hash},
                        {"tasks", 544},
                        {"extensions", extensions}});
      });
    }
    On("/create", [this](const Json&) -> Json {
      sessions_[next_id_] = {};
      return Json{{"id", next_id_++}, {"observation", ""}, {"done", false}, {"reward", 0}};
    });
    OnSession("/reset", [this](int id, const Json& body) -> Json {
      sessions_[id] = {"task " + std::to_string(body.at("data_idx").get<int>())};
      return Reply(id);
    });
    OnSession("/step", [this](int id, const Json& body) -> Json {
      sessions_[id].push_back(body.at("action"));
      return Reply(id);
    });
    if (config.expand)
      OnSession("/expand", [this](int id, const Json& body) { return Expand(id, body); });
    OnSession("/close", [this](int id, const Json&) -> Json {
      ++closes_;
      return sessions_.erase(id) > 0;
    });
    server_.Start(config.port);
  }

  std::string url() const { return server_.url(); }
  int port() const { return server_.port(); }
  void Stop() { server_.Stop(); }

  // As if it had been started anew.
  void Forget() {
    std::lock_guard lock(mutex_);
    sessions_.clear();
    next_id_ = 0;
  }

  size_t sessions() const {
    return Locked([this] { return sessions_.size(); });
  }
  int closes() const {
    return Locked([this] { return closes_; });
  }
  int calls(const std::string& path) const {
    return Locked([&] { return calls_.contains(path) ? calls_.at(path) : 0; });
  }

  // The next call of `path` is carried out, but its reply is lost.
  void LoseReply(const std::string& path) {
    std::lock_guard lock(mutex_);
    lose_ = path;
  }

 private:
  using Json = nlohmann::json;

  static void Send(httplib::Response& response, const Json& body) {
    response.set_content(body.dump(), "application/json");
  }

  template <typename Fn>
  auto Locked(Fn fn) const -> decltype(fn()) {
    std::lock_guard lock(mutex_);
    return fn();
  }

  template <typename Fn>
  void On(const std::string& path, Fn fn) {
    server_->Post(path, [this, path, fn](const auto& request, auto& response) {
      std::lock_guard lock(mutex_);
      ++calls_[path];
      const Json reply = fn(Json::parse(request.body));
      if (reply.contains("error")) response.status = config_.unknown_session;
      Send(response, reply);
      if (lose_ != path) return;
      lose_.clear();
      CutReply(response);
    });
  }

  template <typename Fn>
  void OnSession(const std::string& path, Fn fn) {
    On(path, [this, fn](const Json& body) -> Json {
      const int id = body.at("id");
      if (sessions_.contains(id)) return fn(id, body);
      return {{"error", "The id " + std::to_string(id) + " is not valid."}};
    });
  }

  Json Reply(int id) const {
    std::string text;
    for (const std::string& action : sessions_.at(id)) text += (text.empty() ? "" : ", ") + action;
    const bool won = sessions_.at(id).back() == "win";
    return {{"id", id}, {"observation", text}, {"reward", won ? 1 : 0}, {"done", won}};
  }

  Json Expand(int id, const Json& body) {
    Json children = Json::array();
    for (const std::string action : body.at("actions")) {
      sessions_[next_id_] = sessions_[id];
      sessions_[next_id_].push_back(action);
      children.push_back(Reply(next_id_++));
    }
    return {{"children", children}};
  }

  const Config config_;
  mutable std::mutex mutex_;
  std::map<int, std::vector<std::string>> sessions_;  // guarded by mutex_, as all below
  int next_id_ = 0;
  int closes_ = 0;
  std::map<std::string, int> calls_;
  std::string lose_;
  LocalServer server_;  // last: its threads use the others
};

}  // namespace agentr
