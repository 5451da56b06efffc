// Talks JSON to an environment server of a test.
#pragma once

#include <gtest/gtest.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <string>

namespace agentr {

class EnvClient {
 public:
  explicit EnvClient(int port) : http_("127.0.0.1", port) { http_.set_keep_alive(true); }

  nlohmann::json Get(const std::string& path) {
    auto reply = http_.Get(path);
    return Take(reply, path);
  }

  nlohmann::json Post(const std::string& path, const nlohmann::json& body) {
    auto reply = http_.Post(path, body.dump(), "application/json");
    return Take(reply, path);
  }

  // The status of the reply.
  int GetStatus(const std::string& path) {
    Get(path);
    return status_;
  }
  int PostStatus(const std::string& path, const nlohmann::json& body) {
    Post(path, body);
    return status_;
  }

  // A session of TextCraft at the task, and a step of it.
  int64_t Create(int data_idx) {
    const int64_t id = Post("/create", nlohmann::json::object()).at("id");
    Post("/reset", {{"id", id}, {"data_idx", data_idx}});
    return id;
  }

  nlohmann::json Step(int64_t id, const std::string& action) {
    return Post("/step", {{"id", id}, {"action", action}});
  }

  int status() const { return status_; }

 private:
  nlohmann::json Take(const httplib::Result& reply, const std::string& path) {
    EXPECT_TRUE(reply) << path;
    if (!reply) return nullptr;
    status_ = reply->status;
    return nlohmann::json::parse(reply->body);
  }

  httplib::Client http_;
  int status_ = 0;
};

}  // namespace agentr
