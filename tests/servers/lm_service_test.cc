#include "servers/lm_service.h"

#include <gmock/gmock.h>
#include <httplib.h>

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "clients/openai_model.h"
#include "tests/lm/small_lm.h"
#include "tests/servers/raw_client.h"

namespace agentr {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using testing::RawClient;
using ::testing::SizeIs;
using ::testing::StartsWith;

const Json kMessages = Json::array({{{"role", "user"}, {"content", "hi"}}});
const std::string kChatPath = "/v1/chat/completions";
const std::string kTextPath = "/v1/completions";

// A server over the model without weights.
class LmServiceTest : public ::testing::Test {
 protected:
  LmServiceTest() { Start({}); }
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
        [before = std::move(before)](std::span<const Slice>) {
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
  Json Ask(const std::string& path, const Json& body) const {
    const auto reply = Post(path, body.dump());
    EXPECT_TRUE(reply);
    EXPECT_EQ(reply->status, 200) << reply->body;
    return Json::parse(reply->body);
  }
  Json Chat(Json fields) const {
    fields["messages"] = kMessages;
    return Ask(kChatPath, fields);
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

TEST_F(LmServiceTest, AChatHasOpenAisFields) {
  const Json reply = Chat({{"model", "small"}, {"seed", 3}, {"max_tokens", 900}});
  EXPECT_THAT(reply["id"].get<std::string>(), StartsWith("chatcmpl-"));
  EXPECT_EQ(reply["object"], "chat.completion");
  EXPECT_EQ(reply["model"], "small");
  EXPECT_GT(reply["created"], 1'600'000'000);
  ASSERT_THAT(reply["choices"], SizeIs(1));
  const Json& choice = reply["choices"][0];
  EXPECT_EQ(choice["index"], 0);
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_TRUE(choice["logprobs"].is_null());
  EXPECT_FALSE(choice.contains("token_ids"));
  // Each character is a token; one more ended the turn. The prompt: BOS, "u:hi", its end, "a:".
  const auto tokens =
      static_cast<int64_t>(choice["message"]["content"].get<std::string>().size()) + 1;
  EXPECT_EQ(reply["usage"], Json({{"prompt_tokens", 8},
                                  {"completion_tokens", tokens},
                                  {"total_tokens", 8 + tokens},
                                  {"prompt_tokens_details", {{"cached_tokens", 0}}}}));
}

TEST_F(LmServiceTest, ACompletionHasOpenAisFields) {
  const Json reply = Ask(kTextPath, {{"prompt", "once"}, {"seed", 1}, {"temperature", 0}});
  EXPECT_THAT(reply["id"].get<std::string>(), StartsWith("cmpl-"));
  EXPECT_EQ(reply["object"], "text_completion");
  EXPECT_EQ(reply["choices"][0]["index"], 0);
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
  EXPECT_THAT(reply["choices"][0]["text"].get<std::string>(), SizeIs(16));
  EXPECT_EQ(reply["usage"]["prompt_tokens"], 5);  // BOS is put before a text
}

TEST_F(LmServiceTest, APromptOfTokens) {
  const auto text = [&](const Json& prompt) {
    return Ask(kTextPath, {{"prompt", prompt}, {"temperature", 0}})["choices"][0]["text"];
  };
  EXPECT_EQ(text({'^' - ' ', 'h' - ' ', 'i' - ' '}), text("hi"));
  EXPECT_EQ(text(Json::array({{'^' - ' ', 'h' - ' ', 'i' - ' '}})), text("hi"));
  EXPECT_EQ(text(Json::array({"hi"})), text("hi"));
  EXPECT_NE(text({'h' - ' ', 'i' - ' '}), text("hi"));
}

TEST_F(LmServiceTest, TheSeedDecides) {
  EXPECT_EQ(ChatText({{"seed", 5}}), ChatText({{"seed", 5}}));
  EXPECT_NE(ChatText({{"seed", 5}}), ChatText({{"seed", 6}}));
  EXPECT_NE(ChatText({{"seed", 5}}), ChatText({{"seed", -5}}));
  EXPECT_NE(ChatText({}), ChatText({}));
}

TEST_F(LmServiceTest, NCompletions) {
  const Json reply = Chat({{"n", 4}, {"seed", 1}});
  std::set<std::string> texts;
  size_t tokens = 0;
  for (size_t i = 0; i < reply["choices"].size(); ++i) {
    EXPECT_EQ(reply["choices"][i]["index"], i);
    texts.insert(reply["choices"][i]["message"]["content"]);
    tokens += reply["choices"][i]["message"]["content"].get<std::string>().size() + 1;
  }
  EXPECT_THAT(texts, SizeIs(4));
  EXPECT_EQ(reply["usage"]["completion_tokens"], tokens);
  EXPECT_EQ(reply["usage"]["prompt_tokens"], 8);
}

TEST_F(LmServiceTest, EveryKnobReachesTheEngine) {
  const std::string greedy = ChatText({{"temperature", 0}, {"max_tokens", 20}});
  const auto drawn = [&](Json knob) {
    knob.update({{"max_tokens", 20}, {"seed", 1}});
    return ChatText(knob);
  };
  EXPECT_NE(drawn({}), greedy);
  EXPECT_EQ(drawn({{"top_k", 1}}), greedy);
  EXPECT_EQ(drawn({{"top_k", -1}}), drawn({}));
  EXPECT_EQ(drawn({{"top_p", 1e-6}}), greedy);
  EXPECT_EQ(drawn({{"min_p", 1}}), greedy);
  EXPECT_NE(ChatText({{"temperature", 0}, {"max_tokens", 20}, {"repetition_penalty", 1e6}}),
            greedy);
}

TEST_F(LmServiceTest, MaxTokens) {
  const auto length = [&](const Json& fields) { return ChatText(fields).size(); };
  EXPECT_EQ(length({{"max_tokens", 3}, {"temperature", 0}}), 3U);
  EXPECT_EQ(length({{"max_completion_tokens", 2}, {"max_tokens", 3}, {"temperature", 0}}), 2U);
  StartEndless();
  const Json reply = Chat(Json::object());
  EXPECT_EQ(reply["usage"]["completion_tokens"], 1000 - 8);  // all that is left of the context
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
}

TEST_F(LmServiceTest, Stop) {
  const std::string whole = ChatText({{"temperature", 0}, {"max_tokens", 20}});
  const std::string stop = whole.substr(5, 2);
  for (const Json& field : {Json(stop), Json({"never there", stop})}) {
    const Json choice =
        Chat({{"temperature", 0}, {"max_tokens", 20}, {"stop", field}})["choices"][0];
    EXPECT_EQ(choice["message"]["content"], whole.substr(0, whole.find(stop)));
    EXPECT_EQ(choice["finish_reason"], "stop");
  }
}

TEST_F(LmServiceTest, LogprobsOfAChat) {
  const Json choice = Chat({{"seed", 2}, {"logprobs", true}, {"top_logprobs", 3}})["choices"][0];
  const std::string text = choice["message"]["content"];
  const Json& content = choice["logprobs"]["content"];
  ASSERT_EQ(content.size(), text.size() + 1);
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(content[i]["token"], text.substr(i, 1));
    EXPECT_EQ(content[i]["bytes"], Json::array({text[i]}));
    EXPECT_LT(content[i]["logprob"], 0);
    ASSERT_THAT(content[i]["top_logprobs"], SizeIs(3));
    EXPECT_GE(content[i]["top_logprobs"][0]["logprob"], content[i]["logprob"]);
    EXPECT_GE(content[i]["top_logprobs"][0]["logprob"], content[i]["top_logprobs"][2]["logprob"]);
    EXPECT_THAT(content[i]["top_logprobs"][0]["bytes"], SizeIs(1));
  }
  EXPECT_EQ(content.back()["token"], "<end>");
  EXPECT_THAT(Chat({{"logprobs", true}})["choices"][0]["logprobs"]["content"][0]["top_logprobs"],
              SizeIs(0));
}

TEST_F(LmServiceTest, LogprobsOfACompletion) {
  const Json choice = Ask(kTextPath, {{"prompt", "a"}, {"seed", 2}, {"logprobs", 2}})["choices"][0];
  const Json& logprobs = choice["logprobs"];
  const size_t tokens = logprobs["tokens"].size();
  EXPECT_EQ(logprobs["tokens"][1], choice["text"].get<std::string>().substr(1, 1));
  EXPECT_THAT(logprobs["token_logprobs"], SizeIs(tokens));
  ASSERT_THAT(logprobs["top_logprobs"], SizeIs(tokens));
  EXPECT_THAT(logprobs["top_logprobs"][0], SizeIs(2));
  ASSERT_THAT(logprobs["text_offset"], SizeIs(tokens));
  EXPECT_EQ(logprobs["text_offset"][1], 1);
  EXPECT_TRUE(
      Ask(kTextPath, {{"prompt", "a"}, {"logprobs", 0}})["choices"][0]["logprobs"]["top_logprobs"]
          .is_null());
}

TEST_F(LmServiceTest, TokenIds) {
  const Json chat = Chat({{"seed", 1}, {"return_token_ids", true}});
  const CharacterTokenizer tokenizer;
  const auto ids = [&](const std::string& text) {
    return tokenizer.Encode(text, SpecialText::kPlain);
  };
  std::vector<int32_t> prompt = ids("^u:hi?a:");
  prompt[5] = CharacterTokenizer::kEnd;
  EXPECT_EQ(chat["prompt_token_ids"], prompt);
  std::vector<int32_t> completion = ids(chat["choices"][0]["message"]["content"]);
  completion.push_back(CharacterTokenizer::kEnd);
  EXPECT_EQ(chat["choices"][0]["token_ids"], completion);
  const Json text = Ask(kTextPath, {{"prompt", "x"}, {"return_token_ids", true}});
  EXPECT_EQ(text["choices"][0]["prompt_token_ids"], ids("^x"));
}

TEST_F(LmServiceTest, AStreamSaysWhatTheWholeReplySays) {
  const Json fields = {{"messages", kMessages},
                       {"n", 3},
                       {"seed", 4},
                       {"logprobs", true},
                       {"return_token_ids", true}};
  const Json whole = Ask(kChatPath, fields);
  std::vector<std::string> texts(3);
  std::vector<Json> ends(3);
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
    if (!choice["finish_reason"].is_null()) ends[i] = choice;
  }
  for (size_t i = 0; i < 3; ++i) {
    const Json& choice = whole["choices"][i];
    EXPECT_EQ(texts[i], choice["message"]["content"]);
    for (const char* name : {"finish_reason", "logprobs", "token_ids"}) {
      EXPECT_EQ(ends[i][name], choice[name]) << name;
    }
  }
}

TEST_F(LmServiceTest, AStreamOfTextWithUsage) {
  const Json fields = {{"prompt", "x"}, {"seed", 4}, {"max_tokens", 40}};
  const Json whole = Ask(kTextPath, fields);
  Json streamed = fields;
  streamed["stream_options"] = {{"include_usage", true}};
  const std::vector<Json> events = Stream(kTextPath, streamed);
  std::string text;
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    EXPECT_EQ(events[i]["object"], "text_completion");
    EXPECT_TRUE(events[i]["usage"].is_null());
    text += events[i]["choices"][0]["text"];
  }
  EXPECT_EQ(text, whole["choices"][0]["text"]);
  EXPECT_GT(events.size(), 5U);  // not all at once
  EXPECT_THAT(events.back()["choices"], SizeIs(0));
  EXPECT_EQ(events.back()["usage"]["total_tokens"], whole["usage"]["total_tokens"]);
}

TEST_F(LmServiceTest, ContentsInPartsAndTheNewNameOfSystem) {
  const auto content = [&](const Json& messages) {
    return Ask(kChatPath, {{"messages", messages},
                           {"temperature", 0},
                           {"max_tokens", 20}})["choices"][0]["message"]["content"];
  };
  const Json parts = Json::array({{{"type", "text"}, {"text", "h"}},  //
                                  {{"type", "text"}, {"text", "i"}}});
  EXPECT_EQ(content({{{"role", "developer"}, {"content", "s"}},  //
                     {{"role", "user"}, {"content", parts}}}),
            content({{{"role", "system"}, {"content", "s"}},  //
                     {{"role", "user"}, {"content", "hi"}}}));
}

struct Refusal {
  std::string path;
  Json fields;  // beyond the least that the path needs; a null takes one away
  int status;
  std::string param, code, message;
};

TEST_F(LmServiceTest, RefusesWhatItCannotDo) {
  const Json long_chat = Json::array({{{"role", "user"}, {"content", std::string(2000, 'x')}}});
  const std::vector<Refusal> refusals = {
      {kChatPath, {{"model", "other"}}, 404, "model", "model_not_found", "only 'small'"},
      {kChatPath, {{"messages", long_chat}}, 400, "messages", "context_length_exceeded", "context"},
      {kChatPath, {{"max_tokens", 2000}}, 400, "messages", "context_length_exceeded", "context"},
      {kChatPath, {{"messages", nullptr}}, 400, "messages", "", "at least one"},
      {kChatPath, {{"messages", "hi"}}, 400, "messages", "", "list"},
      {kChatPath,
       {{"messages", {{{"role", "tool"}, {"content", ""}}}}},
       400,
       "messages",
       "",
       "role"},
      {kChatPath, {{"messages", {{{"role", "assistant"}, {"content", ""}}}}}, 400, "", "", "last"},
      {kChatPath,
       {{"messages", {{{"role", "user"}, {"content", 5}}}}},
       400,
       "messages",
       "",
       "content"},
      {kChatPath, {{"n", 0}}, 400, "n", "", "from 1"},
      {kChatPath, {{"n", 2.5}}, 400, "n", "", "integer"},
      {kChatPath, {{"max_tokens", 0}}, 400, "max_tokens", "", "from 1"},
      {kChatPath, {{"temperature", "hot"}}, 400, "temperature", "", "number"},
      {kChatPath, {{"temperature", -1}}, 400, "", "", "temperature"},
      {kChatPath, {{"seed", 18446744073709551615U}}, 400, "seed", "", "integer"},
      {kChatPath, {{"stream", "yes"}}, 400, "stream", "", "true or false"},
      {kChatPath, {{"stop", {1}}}, 400, "stop", "", "strings"},
      {kChatPath, {{"stop", ""}}, 400, "stop", "", "empty"},
      {kChatPath, {{"top_logprobs", 2}}, 400, "top_logprobs", "", "logprobs"},
      {kChatPath, {{"logprobs", true}, {"top_logprobs", 21}}, 400, "top_logprobs", "", "to 20"},
      {kChatPath, {{"tools", {1}}}, 400, "tools", "", "not supported"},
      {kChatPath, {{"frequency_penalty", 0.5}}, 400, "frequency_penalty", "", "not supported"},
      {kTextPath, {{"prompt", nullptr}}, 400, "prompt", "", "string"},
      {kTextPath, {{"prompt", {"a", "b"}}}, 400, "prompt", "", "per prompt"},
      {kTextPath, {{"prompt", {300}}}, 400, "", "", "300"},
      {kTextPath, {{"echo", true}}, 400, "echo", "", "not supported"},
  };
  for (const Refusal& refusal : refusals) {
    for (const bool stream : {false, true}) {
      Json body = refusal.path == kChatPath ? Json{{"messages", kMessages}} : Json{{"prompt", "x"}};
      body["stream"] = stream;
      body.update(refusal.fields);
      const auto reply = Post(refusal.path, body.dump());
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->status, refusal.status) << body;
      const Json error = Json::parse(reply->body)["error"];
      EXPECT_EQ(error["type"], "invalid_request_error");
      EXPECT_EQ(error["param"], refusal.param.empty() ? Json() : Json(refusal.param)) << body;
      EXPECT_EQ(error["code"], refusal.code.empty() ? Json() : Json(refusal.code)) << body;
      EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(refusal.message)) << body;
    }
  }
}

TEST_F(LmServiceTest, NeutralValuesOfWhatIsNotOfferedAreTaken) {
  Chat({{"frequency_penalty", 0.0},
        {"tools", Json::array()},
        {"user", "me"},
        {"stop", nullptr},
        {"response_format", {{"type", "text"}}},
        {"logit_bias", Json::object()}});
}

TEST_F(LmServiceTest, ErrorsBeforeARoute) {
  const auto error = [](const httplib::Result& reply) {
    return std::to_string(reply->status) + " " +
           Json::parse(reply->body)["error"]["type"].get<std::string>();
  };
  EXPECT_EQ(error(Post(kChatPath, "{")), "400 invalid_request_error");
  EXPECT_EQ(error(Post(kChatPath, "[]")), "400 invalid_request_error");
  EXPECT_EQ(error(Post("/v1/embeddings", "{}")), "404 invalid_request_error");
  EXPECT_EQ(error(httplib::Client("127.0.0.1", server_->port()).Get(kChatPath)),
            "405 invalid_request_error");
  Start({.max_body = 100});
  EXPECT_EQ(error(Post(kChatPath, std::string(101, ' '))), "413 invalid_request_error");
}

TEST_F(LmServiceTest, AKey) {
  Start({.api_key = "secret"});
  const std::string body = Json{{"messages", kMessages}}.dump();
  for (const std::string header : {"", "Bearer wrong!", "Bearer secre", "secret"}) {
    const auto reply = Post(kChatPath, body, {{"Authorization", header}});
    EXPECT_EQ(reply->status, 401) << header;
    EXPECT_EQ(reply->get_header_value("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(Json::parse(reply->body)["error"]["code"], "invalid_api_key");
  }
  EXPECT_EQ(Post(kChatPath, body, {{"Authorization", "Bearer secret"}})->status, 200);
  EXPECT_THAT(Get("/v1/models"), HasSubstr("invalid_api_key"));
  EXPECT_THAT(Get("/health"), HasSubstr("ok"));
}

TEST_F(LmServiceTest, ModelsAndMetrics) {
  const Json models = Json::parse(Get("/v1/models"));
  ASSERT_THAT(models["data"], SizeIs(1));
  EXPECT_EQ(models["data"][0]["id"], "small");
  EXPECT_EQ(models["data"][0]["max_model_len"], 1000);
  const Json usage = Chat({})["usage"];
  const std::string metrics = Get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("\nagentr_lm_requests_total 1\n"));
  EXPECT_THAT(metrics, HasSubstr("\nagentr_lm_completion_tokens_total " +
                                 usage["completion_tokens"].dump() + "\n"));
  EXPECT_THAT(metrics, HasSubstr("route=\"POST /v1/chat/completions\",status=\"200\"} 1\n"));
}

// Without the cancellation the sequence would run to the end of a context that takes minutes.
TEST_F(LmServiceTest, AClientThatHangsUpCancels) {
  StartEndless({}, /*max_context=*/200'000);
  {
    RawClient client(server_->port());
    const std::string body = Json{{"messages", kMessages}, {"stream", true}}.dump();
    client.Send("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    client.ReadUntil("\"delta\":{\"content\":\"");
    AwaitMetric("agentr_lm_running 1");
  }
  AwaitMetric("agentr_lm_running 0");
}

TEST_F(LmServiceTest, TooManyRequestsWait) {
  std::atomic<bool> open = false;
  std::atomic<bool> entered = false;
  StartEndless({.max_waiting = 1}, 1000, [&] {
    entered = true;
    entered.notify_all();
    open.wait(false);
  });
  const auto chat = [&] {
    return Post(kChatPath, Json{{"messages", kMessages}, {"max_tokens", 5}}.dump());
  };
  std::vector<std::thread> clients;
  clients.emplace_back([&] { EXPECT_EQ(chat()->status, 200); });
  entered.wait(false);
  clients.emplace_back([&] { EXPECT_EQ(chat()->status, 200); });
  AwaitMetric("agentr_lm_waiting 1");
  const auto reply = chat();
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(Json::parse(reply->body)["error"]["code"], "overloaded");
  open = true;
  open.notify_all();
  for (std::thread& client : clients) client.join();
}

// The project's own client sees what the model in the process says.
TEST_F(LmServiceTest, TheClientGetsWhatTheModelSays) {
  OpenAiOptions options;
  options.base = {server_->base_url()};
  options.extras.token_ids = true;
  OpenAiModel remote("small", options);
  LocalLanguageModel local(SmallModel());
  RandomStream random(1);
  for (uint64_t i = 0; i < 20; ++i) {
    const std::vector<Message> prompt = {{"system", "s"}, {"user", std::to_string(i)}};
    const Sampling sampling = {.temperature = random.Uniform() * 2,
                               .top_p = 0.2 + 0.8 * random.Uniform(),
                               .max_tokens = 20,
                               .stop = {"ab"},
                               .seed = random.Next(),
                               .logprobs = true};
    const auto there = remote.Complete(prompt, 3, sampling);
    const auto here = local.Complete(prompt, 3, sampling);
    ASSERT_TRUE(there) << there.error().message;
    ASSERT_TRUE(here) << here.error().message;
    EXPECT_EQ(there->usage.prompt_tokens, here->usage.prompt_tokens);
    EXPECT_EQ(there->usage.cached_tokens, here->usage.cached_tokens);
    EXPECT_EQ(there->usage.completion_tokens, here->usage.completion_tokens);
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(there->completions[k].text, here->completions[k].text);
      EXPECT_EQ(there->completions[k].finish_reason, here->completions[k].finish_reason);
      EXPECT_EQ(there->completions[k].token_ids, here->completions[k].token_ids);
      EXPECT_EQ(there->completions[k].logprobs, here->completions[k].logprobs);
    }
  }
  const auto too_long = remote.Complete({{{"user", std::string(2000, 'x')}}}, 1, {});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().kind, ErrorKind::kContextLength);
}

}  // namespace
}  // namespace agentr
