// Thoughts and variables in chat templates.
#include <gmock/gmock.h>

#include "lm/chat/chat_template.h"
#include "tests/common/fatal_error.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"

namespace agentr {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const json& ThinkingGolden() {
  static const json golden = ReadGolden("thinking_template.json");
  return golden;
}

std::unique_ptr<Tokenizer> ThinkingTokenizer() {
  json files = GoldenTokenizerFiles("qwen2");
  files["tokenizer_config"]["chat_template"] = ThinkingGolden().at("template");
  return LoadTokenizer(files);
}

std::vector<Message> MessagesOf(const json& messages) {
  std::vector<Message> talk;
  for (const json& m : messages) {
    talk.push_back({m.at("role"), m.at("content"), m.value("reasoning_content", "")});
  }
  return talk;
}

TEST(ThinkingTemplate, IsTransformersTextWithEveryVariable) {
  const auto tokenizer = ThinkingTokenizer();
  int rows = 0;
  for (const json& row : ThinkingGolden().at("rows")) {
    SCOPED_TRACE(row.dump());
    const std::string arguments = row["arguments"].empty() ? "" : row["arguments"].dump();
    const auto chat = ChatTemplate::Make("auto", *tokenizer, "", arguments);
    const auto tokens = chat->Apply(MessagesOf(row["messages"]), row["generation"].get<bool>());
    ASSERT_TRUE(tokens) << tokens.error().message;
    EXPECT_EQ(tokenizer->Decode(tokens->ids), row["text"].get<std::string>());
    if (!arguments.empty()) {
      const auto plain = ChatTemplate::Make("auto", *tokenizer);
      const auto with = plain->With(ordered_json::parse(arguments));
      EXPECT_EQ(with->Apply(MessagesOf(row["messages"]), row["generation"].get<bool>())->ids,
                tokens->ids);
      EXPECT_EQ(with->identity(), chat->identity());
      EXPECT_NE(with->identity(), plain->identity());
    }
    ++rows;
  }
  EXPECT_EQ(rows, 36);
}

TEST(ThinkingTemplate, LaterArgumentsReplaceThoseOfTheSameName) {
  const auto tokenizer = ThinkingTokenizer();
  const auto off = ChatTemplate::Make("auto", *tokenizer, "", R"({"enable_thinking": false})");
  const auto on = off->With({{"enable_thinking", true}});
  const std::vector<Message> talk = {{"user", "a"}};
  EXPECT_EQ(on->Apply(talk, true)->ids,
            ChatTemplate::Make("auto", *tokenizer)->Apply(talk, true)->ids);
  EXPECT_NE(off->Apply(talk, true)->ids, on->Apply(talk, true)->ids);
}

TEST(ThinkingTemplate, ArgumentsAreAnObjectThatLeavesTheConversationAlone) {
  const auto tokenizer = ThinkingTokenizer();
  const auto error = [&](const std::string& arguments) {
    return FatalErrorOf(ExitCode::kUsage,
                        [&] { ChatTemplate::Make("auto", *tokenizer, "", arguments); });
  };
  EXPECT_THAT(error("enable_thinking"), AllOf(HasSubstr("--chat_kwargs"), HasSubstr("object")));
  EXPECT_THAT(error("[1]"), HasSubstr("object"));
  EXPECT_THAT(error(R"({"messages": []})"), HasSubstr("\"messages\""));
  EXPECT_EQ(error("{}"), "");
}

TEST(ThinkingTemplate, WhetherATemplateRewritesTurnsIsMeasured) {
  EXPECT_TRUE(ChatTemplate::Make("auto", *ThinkingTokenizer())->rewrites_turns());
  for (const auto& [name, kind] : {std::pair("llama-3", "llama3"),
                                   {"chatml", "qwen2"},
                                   {"mistral", "mistral"},
                                   {"plain", "gpt2"}}) {
    EXPECT_FALSE(ChatTemplate::Make(name, *GoldenTokenizer(kind))->rewrites_turns()) << name;
  }
}

// The trained part of a turn has its thought, whether that stands in the content or apart.
TEST(ThinkingTemplate, TheAssistantsPartBeginsWithItsThought) {
  const auto tokenizer = ThinkingTokenizer();
  const auto chat = ChatTemplate::Make("auto", *tokenizer);
  for (const Message& said :
       {Message{"assistant", "<think>\nhm\n</think>\n\ngo"}, Message{"assistant", "go", "hm"}}) {
    const std::vector<Message> talk = {{"user", "a"}, said};
    const ChatTokens tokens = chat->Apply(talk, false).value();
    const ChatTokens::Span span = tokens.messages[1];
    EXPECT_EQ(tokenizer->Decode(std::span(tokens.ids).subspan(span.begin, span.end - span.begin)),
              "<think>\nhm\n</think>\n\ngo<|im_end|>");
  }
}

TEST(ThinkingTemplate, AThoughtWithoutAPlaceStandsInTheContent) {
  const auto tokenizer = GoldenTokenizer("qwen2");
  const auto chat = ChatTemplate::Make("chatml", *tokenizer);
  EXPECT_EQ(
      tokenizer->Decode(
          chat->Apply(std::vector<Message>{{"user", "a"}, {"assistant", "go", "hm"}}, false)->ids),
      "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n<think>\nhm\n</think>\n\ngo"
      "<|im_end|>\n");
}

}  // namespace
}  // namespace agentr
