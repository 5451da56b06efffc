#include "servers/lm/lm_reply.h"

#include <set>

#include "tests/servers/lm/lm_server_fixture.h"

namespace agentr {
namespace {

using ::testing::SizeIs;
using ::testing::StartsWith;
using LmReplyTest = LmServerTest;

TEST_F(LmReplyTest, AChatHasOpenAisFields) {
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

TEST_F(LmReplyTest, ACompletionHasOpenAisFields) {
  const Json reply = Query(kTextPath, {{"prompt", "once"}, {"seed", 1}, {"temperature", 0}});
  EXPECT_THAT(reply["id"].get<std::string>(), StartsWith("cmpl-"));
  EXPECT_EQ(reply["object"], "text_completion");
  EXPECT_EQ(reply["choices"][0]["index"], 0);
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
  EXPECT_THAT(reply["choices"][0]["text"].get<std::string>(), SizeIs(16));
  EXPECT_EQ(reply["usage"]["prompt_tokens"], 5);  // BOS is put before a text
}

TEST_F(LmReplyTest, NCompletions) {
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

TEST_F(LmReplyTest, LogprobsOfAChat) {
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

TEST_F(LmReplyTest, LogprobsOfACompletion) {
  const Json choice =
      Query(kTextPath, {{"prompt", "a"}, {"seed", 2}, {"logprobs", 2}})["choices"][0];
  const Json& logprobs = choice["logprobs"];
  const size_t tokens = logprobs["tokens"].size();
  EXPECT_EQ(logprobs["tokens"][1], choice["text"].get<std::string>().substr(1, 1));
  EXPECT_THAT(logprobs["token_logprobs"], SizeIs(tokens));
  ASSERT_THAT(logprobs["top_logprobs"], SizeIs(tokens));
  EXPECT_THAT(logprobs["top_logprobs"][0], SizeIs(2));
  ASSERT_THAT(logprobs["text_offset"], SizeIs(tokens));
  EXPECT_EQ(logprobs["text_offset"][1], 1);
  EXPECT_TRUE(
      Query(kTextPath, {{"prompt", "a"}, {"logprobs", 0}})["choices"][0]["logprobs"]["top_logprobs"]
          .is_null());
}

TEST_F(LmReplyTest, TokenIds) {
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
  const Json text = Query(kTextPath, {{"prompt", "x"}, {"return_token_ids", true}});
  EXPECT_EQ(text["choices"][0]["prompt_token_ids"], ids("^x"));
}

}  // namespace
}  // namespace agentr
