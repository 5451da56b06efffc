#include "servers/lm/lm_stream.h"

#include "tests/servers/http/raw_client.h"
#include "tests/servers/lm/lm_server_fixture.h"

namespace agentr {
namespace {

using testing::RawClient;
using ::testing::SizeIs;
using LmStreamTest = LmServerTest;

TEST_F(LmStreamTest, AStreamSaysWhatTheWholeReplySays) {
  const Json fields = {
      {"messages", kMessages},   {"n", 3}, {"seed", 4}, {"logprobs", true}, {"top_logprobs", 2},
      {"return_token_ids", true}};
  const Json whole = Query(kChatPath, fields);
  std::vector<std::string> texts(3);
  std::vector<Json> ends(3);
  std::vector<Json> logprobs(3, Json::array());
  size_t most = 0;  // tokens in one event
  for (const Json& event : Stream(kChatPath, fields)) {
    EXPECT_EQ(event["object"], "chat.completion.chunk");
    EXPECT_FALSE(event.contains("usage"));
    const Json& choice = event["choices"][0];
    const size_t i = choice["index"];
    EXPECT_TRUE(ends[i].is_null());
    if (texts[i].empty() && choice["delta"].contains("role")) {
      EXPECT_EQ(choice["delta"]["role"], "assistant");
    }
    texts[i] += choice["delta"].value("content", "");
    if (choice["logprobs"].is_object()) {
      std::string tokens;
      const Json& content = choice["logprobs"]["content"];
      for (const Json& token : content) {
        logprobs[i].push_back(token);
        tokens += token["token"].get<std::string>();
      }
      most = std::max(most, content.size());
      if (choice["finish_reason"].is_null()) {
        EXPECT_EQ(choice["delta"]["content"], tokens);
      }
    }
    if (!choice["finish_reason"].is_null()) ends[i] = choice;
  }
  for (size_t i = 0; i < 3; ++i) {
    const Json& choice = whole["choices"][i];
    EXPECT_EQ(texts[i], choice["message"]["content"].get<std::string>());
    for (const char* name : {"finish_reason", "token_ids"}) {
      EXPECT_EQ(ends[i][name], choice[name]) << name;
    }
    EXPECT_EQ(logprobs[i], choice["logprobs"]["content"]);
  }
  EXPECT_EQ(most, 1U) << "each character is a token, and is certain at once";
}

// The offsets go on from event to event.
TEST_F(LmStreamTest, AStreamOfTextHasTheLogprobsOfTheWholeReply) {
  const Json fields = {{"prompt", "x"}, {"seed", 4}, {"max_tokens", 40}, {"logprobs", 2}};
  Json streamed;
  for (const Json& event : Stream(kTextPath, fields)) {
    for (const auto& [name, values] : event["choices"][0]["logprobs"].items()) {
      for (const Json& value : values) streamed[name].push_back(value);
    }
  }
  EXPECT_EQ(streamed, Query(kTextPath, fields)["choices"][0]["logprobs"]);
}

TEST_F(LmStreamTest, AStreamOfTextWithUsage) {
  const Json fields = {{"prompt", "x"}, {"seed", 4}, {"max_tokens", 40}};
  const Json whole = Query(kTextPath, fields);
  Json streamed = fields;
  streamed["stream_options"] = {{"include_usage", true}};
  const std::vector<Json> events = Stream(kTextPath, streamed);
  std::string text;
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    EXPECT_EQ(events[i]["object"], "text_completion");
    EXPECT_TRUE(events[i]["usage"].is_null());
    text += events[i]["choices"][0]["text"];
  }
  EXPECT_EQ(text, whole["choices"][0]["text"].get<std::string>());
  EXPECT_GT(events.size(), 5U);  // not all at once
  EXPECT_THAT(events.back()["choices"], SizeIs(0));
  EXPECT_EQ(events.back()["usage"]["total_tokens"], whole["usage"]["total_tokens"]);
}

// Without the cancellation the sequence would run to the end of a context that takes minutes.
TEST_F(LmStreamTest, AClientThatHangsUpCancels) {
  StartEndless({}, /*max_context=*/200'000);
  {
    RawClient client(server_->port());
    const std::string body = Json{{"messages", kMessages}, {"stream", true}}.dump();
    client.Send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    client.ReadUntil("\"delta\":{\"content\":\"");
    AwaitMetric("agentr_lm_running 1");
  }
  AwaitMetric("agentr_lm_running 0");
}

}  // namespace
}  // namespace agentr
