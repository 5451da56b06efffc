#include "servers/lm/lm_service.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "clients/openai/openai_model.h"
#include "tests/servers/http/raw_client.h"
#include "tests/servers/lm/lm_server_fixture.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using LmServiceTest = LmServerTest;

TEST_F(LmServiceTest, TheSeedDecides) {
  EXPECT_EQ(ChatText({{"seed", 5}}), ChatText({{"seed", 5}}));
  EXPECT_NE(ChatText({{"seed", 5}}), ChatText({{"seed", 6}}));
  EXPECT_NE(ChatText({{"seed", 5}}), ChatText({{"seed", -5}}));
  EXPECT_NE(ChatText({}), ChatText({}));
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
  EXPECT_EQ(Json::parse(Get("/v1/models/small")), models["data"][0]);
  const Json usage = Chat({})["usage"];
  const std::string metrics = Get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("\nagentr_lm_requests_total 1\n"));
  EXPECT_THAT(metrics, HasSubstr("\nagentr_lm_completion_tokens_total " +
                                 usage["completion_tokens"].dump() + "\n"));
  EXPECT_THAT(metrics, HasSubstr("route=\"POST /v1/chat/completions\",status=\"200\"} 1\n"));
}

TEST_F(LmServiceTest, TheModelOfARequestIsTheOneItNames) {
  const auto started = [](std::vector<LoadedModel> others) {
    LmServerOptions options;
    options.port = 0;
    return std::make_unique<LmServer>(SmallModel(), std::move(options), std::move(others));
  };
  std::vector<LoadedModel> others;
  others.push_back(SmallModel(/*max_context=*/500));
  others[0].name = "other";
  others[0].identity = "of the other";
  server_ = started(std::move(others));
  const Json models = Json::parse(Get("/v1/models"))["data"];
  ASSERT_THAT(models, SizeIs(2));
  EXPECT_EQ(models[0]["id"], "small");
  EXPECT_EQ(models[1]["id"], "other");
  EXPECT_EQ(models[1]["max_model_len"], 500);
  EXPECT_EQ(models[1]["agentr"]["identity"], "of the other");
  EXPECT_EQ(Json::parse(Get("/v1/models/other")), models[1]);
  EXPECT_THAT(server_->Summary(), HasSubstr("other: 500 positions"));

  const auto length = [&](Json fields) {
    fields["messages"] = kMessages;
    return Query("/v1/tokenize", fields)["max_model_len"].get<int>();
  };
  EXPECT_EQ(length({}), 1000);
  EXPECT_EQ(length({{"model", "small"}}), 1000);
  EXPECT_EQ(length({{"model", "other"}}), 500);
  EXPECT_EQ(Chat({{"model", "other"}})["model"], "other");
  EXPECT_EQ(Chat({})["model"], "small");
  EXPECT_THAT(Get("/metrics"), HasSubstr("\nagentr_lm_requests_total 2\n")) << "of both";
  const auto reply = Post(kChatPath, Json{{"messages", kMessages}, {"model", "third"}}.dump());
  EXPECT_EQ(reply->status, 404);
  EXPECT_THAT(reply->body, HasSubstr("only 'small', 'other'."));

  std::vector<LoadedModel> same;
  same.push_back(SmallModel());
  EXPECT_THROW(started(std::move(same)), FatalError);
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

TEST_F(LmServiceTest, NothingIsGeneratedForAClientThatHasGone) {
  StartEndless({}, /*max_context=*/1'000'000,
               [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  const std::string body = Json{{"messages", kMessages}}.dump();
  {
    testing::RawClient client(server_->port());
    client.Send(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}",
                            kChatPath, body.size(), body));
    AwaitMetric("agentr_lm_running 1");
  }
  AwaitMetric("agentr_lm_running 0");  // its million tokens would take a quarter of an hour
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
    const SamplingParams sampling = {.temperature = random.Uniform() * 2,
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
  remote.Discover();
  EXPECT_EQ(remote.identity(), local.identity());
  // With earlier turns as the ids that were sampled, one of which is not what its text encodes to.
  const std::vector<Message> conversation = {
      {"user", "u"}, {"assistant", "abc"}, {"user", "v"}, {"assistant", "x"}, {"user", "w"}};
  const std::vector<int32_t> first = {CharacterTokenizer::Of('a'), CharacterTokenizer::Of('b'),
                                      CharacterTokenizer::Of('c')};
  const std::vector<int32_t> other = {CharacterTokenizer::Of('y')};
  const std::vector<std::span<const int32_t>> sampled = {{}, first, {}, other};
  const auto there = remote.Prepare(conversation, sampled);
  const auto here = local.Prepare(conversation, sampled);
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(there->ids, here->ids);
  EXPECT_EQ(there->message_begins, here->message_begins);
  EXPECT_EQ(there->tokens, here->tokens);
  EXPECT_EQ(there->messages, conversation);
  EXPECT_EQ(there->reused_turns, 1);
  EXPECT_EQ(there->reencoded_turns, 1);
  const SamplingParams all = {
      .top_k = 9, .min_p = 0.01, .repetition_penalty = 1.3, .max_tokens = 9};
  const auto completed = remote.CompletePrepared(*there, 2, all);
  ASSERT_TRUE(completed) << completed.error().message;
  const auto expected = local.CompletePrepared(*here, 2, all);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(completed->completions[k].text, expected->completions[k].text);
    EXPECT_EQ(completed->completions[k].token_ids, expected->completions[k].token_ids);
    EXPECT_EQ(completed->completions[k].logprobs, expected->completions[k].logprobs);
  }
  EXPECT_EQ(completed->usage.reused_turns, 1);
  const auto too_long = remote.Complete({{{"user", std::string(2000, 'x')}}}, 1, {});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().kind, ErrorKind::kContextLength);
}

}  // namespace
}  // namespace agentr
