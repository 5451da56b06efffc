#include "servers/lm/lm_request.h"

#include "tests/servers/lm/lm_server_fixture.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using LmRequestTest = LmServerTest;

TEST_F(LmRequestTest, EveryKnobReachesTheEngine) {
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

TEST_F(LmRequestTest, MaxTokens) {
  const auto length = [&](const Json& fields) { return ChatText(fields).size(); };
  EXPECT_EQ(length({{"max_tokens", 3}, {"temperature", 0}}), 3U);
  EXPECT_EQ(length({{"max_completion_tokens", 2}, {"max_tokens", 3}, {"temperature", 0}}), 2U);
  StartEndless();
  const Json reply = Chat(Json::object());
  EXPECT_EQ(reply["usage"]["completion_tokens"], 1000 - 8);  // all that is left of the context
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
}

TEST_F(LmRequestTest, Stop) {
  const std::string whole = ChatText({{"temperature", 0}, {"max_tokens", 20}});
  const std::string stop = whole.substr(5, 2);
  for (const Json& field : {Json(stop), Json({"never there", stop})}) {
    const Json choice =
        Chat({{"temperature", 0}, {"max_tokens", 20}, {"stop", field}})["choices"][0];
    EXPECT_EQ(choice["message"]["content"], whole.substr(0, whole.find(stop)));
    EXPECT_EQ(choice["finish_reason"], "stop");
  }
}

TEST_F(LmRequestTest, TheTokensOfAStopTextAreLeftOut) {
  const Json chat = {{"temperature", 0}, {"max_tokens", 20}, {"return_token_ids", true}};
  const std::string whole = Chat(chat)["choices"][0]["message"]["content"];
  Json stopped = chat;
  stopped["stop"] = whole.substr(5, 2);
  stopped["logprobs"] = true;
  const Json reply = Chat(stopped);
  const Json& choice = reply["choices"][0];
  EXPECT_EQ(choice["token_ids"].size(), choice["message"]["content"].get<std::string>().size());
  EXPECT_EQ(choice["logprobs"]["content"].size(), choice["token_ids"].size());
  EXPECT_EQ(reply["usage"]["completion_tokens"], choice["token_ids"].size() + 2)
      << "what was sampled";
}

TEST_F(LmRequestTest, VariablesOfTheTemplateAndThoughts) {
  const LmRequest request = ParseLmRequest(
      LmApi::kChat, R"({"messages":[{"role":"user","content":"u"},{"role":"assistant",)"
                    R"("content":"a","reasoning_content":"hm"},{"role":"user","content":"v"}],)"
                    R"("chat_template_kwargs":{"enable_thinking":false}})");
  EXPECT_EQ(request.chat_kwargs.dump(), R"({"enable_thinking":false})");
  EXPECT_EQ(request.messages[1], (Message{"assistant", "a", "hm"}));
}

TEST_F(LmRequestTest, APromptOfTokens) {
  const auto text = [&](const Json& prompt) {
    return Query(kTextPath, {{"prompt", prompt}, {"temperature", 0}})["choices"][0]["text"];
  };
  EXPECT_EQ(text({'^' - ' ', 'h' - ' ', 'i' - ' '}), text("hi"));
  EXPECT_EQ(text(Json::array({{'^' - ' ', 'h' - ' ', 'i' - ' '}})), text("hi"));
  EXPECT_EQ(text(Json::array({"hi"})), text("hi"));
  EXPECT_NE(text({'h' - ' ', 'i' - ' '}), text("hi"));
}

TEST_F(LmRequestTest, ContentsInPartsAndTheNewNameOfSystem) {
  const auto content = [&](const Json& messages) {
    return Query(kChatPath, {{"messages", messages},
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

TEST_F(LmRequestTest, RefusesWhatItCannotDo) {
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
      {kChatPath,
       {{"messages", {{{"role", "assistant"}, {"content", ""}}}}},
       400,
       "messages",
       "",
       "last"},
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
      {kChatPath, {{"temperature", -1}}, 400, "temperature", "", "at least 0"},
      {kChatPath, {{"top_p", 0}}, 400, "top_p", "", "above 0"},
      {kChatPath, {{"min_p", 2}}, 400, "min_p", "", "from 0 to 1"},
      {kChatPath, {{"repetition_penalty", 0}}, 400, "repetition_penalty", "", "above 0"},
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
      {kTextPath, {{"prompt", {300}}}, 400, "prompt", "", "300"},
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

// What would change the reply is honoured or refused.
TEST_F(LmRequestTest, FieldsOfOtherServersThatAreNotOfferedAreRefused) {
  const Json fields = {{"ignore_eos", true},
                       {"min_tokens", 5},
                       {"stop_token_ids", {7}},
                       {"guided_json", Json::object()},
                       {"guided_choice", {"a"}},
                       {"structured_outputs", {{"regex", "a"}}},
                       {"add_generation_prompt", false},
                       {"continue_final_message", true},
                       {"chat_template", "x"},
                       {"prompt_logprobs", 1},
                       {"logits_processors", {"x"}},
                       {"tool_choice", "auto"}};
  for (const auto& [field, value] : fields.items()) {
    try {
      ParseLmRequest(LmApi::kChat, Json{{"messages", kMessages}, {field, value}}.dump());
      ADD_FAILURE() << field;
    } catch (const HttpStatusError& error) {
      EXPECT_EQ(error.status(), 400) << field;
      EXPECT_EQ(error.field(), field);
    }
  }
}

TEST_F(LmRequestTest, ABodyThatIsNestedTooDeep) {
  try {
    ParseLmRequest(LmApi::kChat, std::string(30'000'000, '['));
    ADD_FAILURE();
  } catch (const HttpStatusError& error) {
    EXPECT_EQ(error.status(), 400);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("nested deeper"));
  }
}

TEST_F(LmRequestTest, NeutralValuesOfWhatIsNotOfferedAreTaken) {
  const Json plain = {{"max_tokens", 20}, {"seed", 1}};
  Json neutral = {{"frequency_penalty", 0.0},
                  {"tools", Json::array()},
                  {"user", "me"},
                  {"stop", nullptr},
                  {"response_format", {{"type", "text"}}},
                  {"logit_bias", Json::object()},
                  {"ignore_eos", false},
                  {"min_tokens", 0},
                  {"guided_json", nullptr},
                  {"x", 1}};
  neutral.update(plain);
  EXPECT_EQ(ChatText(neutral), ChatText(plain));
}

}  // namespace
}  // namespace agentr
