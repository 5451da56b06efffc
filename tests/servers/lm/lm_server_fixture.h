// A running server over a model without weights, and how tests speak to it.
#pragma once

#include <gmock/gmock.h>
#include <httplib.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lm/engine/engine.h"
#include "servers/lm/lm_service.h"
#include "tests/lm/small_lm.h"

namespace agentr {

using Json = nlohmann::json;

inline const Json kMessages = Json::array({{{"role", "user"}, {"content", "hi"}}});
inline const std::string kChatPath = "/v1/chat/completions";
inline const std::string kTextPath = "/v1/completions";

// A server over the model without weights.
class LmServerTest : public ::testing::Test {
 protected:
  LmServerTest() { Start({}); }
  void Start(LmServerOptions options, LoadedModel model = SmallModel()) {
    options.port = 0;
    server_ = std::make_unique<LmServer>(std::move(model), std::move(options));
  }

  // Turns do not end, but with the context; `before` is called before each round.
  void StartEndless(LmServerOptions options = {}, int32_t max_context = 1000,
                    std::function<void()> before = {}) {
    LoadedModel model = SmallModel(max_context, {.max_batch = 1});
    model.stop_tokens.clear();
    static_cast<FakeDecoder&>(*model.decoder).before_forward =
        [before = std::move(before)](std::span<const SequenceChunk>) {
          if (before) before();
        };
    Start(std::move(options), std::move(model));
  }

  httplib::Result Post(const std::string& path, const std::string& body,
                       const httplib::Headers& headers = {}) const {
    httplib::Client client("127.0.0.1", server_->port());
    return client.Post(path, headers, body, "application/json");
  }

  std::string Get(const std::string& path) const {
    const auto reply = httplib::Client("127.0.0.1", server_->port()).Get(path);
    return reply ? reply->body : "no reply";
  }

  // The reply to a request that must succeed.
  Json Query(const std::string& path, const Json& body) const {
    const auto reply = Post(path, body.dump());
    EXPECT_TRUE(reply);
    EXPECT_EQ(reply->status, 200) << reply->body;
    return Json::parse(reply->body);
  }
  Json Chat(Json fields) const {
    fields["messages"] = kMessages;
    return Query(kChatPath, fields);
  }
  std::string ChatText(const Json& fields) const {
    return Chat(fields)["choices"][0]["message"]["content"];
  }

  // The events of a stream, without the last, "[DONE]".
  std::vector<Json> Stream(const std::string& path, Json body) const {
    body["stream"] = true;
    const auto reply = Post(path, body.dump());
    EXPECT_EQ(reply->status, 200) << reply->body;
    EXPECT_EQ(reply->get_header_value("Content-Type"), "text/event-stream");
    std::vector<Json> events;
    std::string_view rest = reply->body;
    while (rest != "data: [DONE]\n\n") {
      const size_t end = rest.find("\n\n");
      if (end == std::string_view::npos || !rest.starts_with("data: ")) {
        ADD_FAILURE() << "no event: " << rest;
        break;
      }
      events.push_back(Json::parse(rest.substr(6, end - 6)));
      rest.remove_prefix(end + 2);
    }
    return events;
  }

  // Until the line stands in /metrics.
  void AwaitMetric(const std::string& line) const {
    while (Get("/metrics").find("\n" + line + "\n") == std::string::npos) {
      std::this_thread::yield();
    }
  }

  std::unique_ptr<LmServer> server_;
};

}  // namespace agentr
