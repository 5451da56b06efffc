#include "lm/chat_template.h"

#include <gmock/gmock.h>

#include "common/error.h"
#include "lm/utf8.h"
#include "tests/lm/golden_tokenizer.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Message> ConversationOf(const json& turns) {
  std::vector<Message> conversation;
  for (const json& turn : turns) {
    conversation.push_back({turn.at(0).get<std::string>(), turn.at(1).get<std::string>()});
  }
  return conversation;
}

std::unique_ptr<Tokenizer> TokenizerWith(const std::string& kind, const json& chat_template) {
  json files = GoldenTokenizerFiles(kind);
  files["tokenizer_config"]["chat_template"] = chat_template;
  return LoadTokenizer(files);
}

std::string SpanText(const Tokenizer& tokenizer, const ChatTokens& tokens, size_t message) {
  const ChatTokens::Span span = tokens.messages.at(message);
  return tokenizer.Decode(std::span(tokens.ids).subspan(span.begin, span.end - span.begin));
}

// Every message's tokens hold what it says, an assistant's end with a stop token, and no two
// messages share any.
void ExpectSpans(const Tokenizer& tokenizer, const ChatTemplate& chat,
                 const std::vector<Message>& conversation, const ChatTokens& tokens) {
  ASSERT_EQ(tokens.messages.size(), conversation.size());
  std::vector<bool> used(tokens.ids.size());
  for (size_t i = 0; i < conversation.size(); ++i) {
    SCOPED_TRACE(i);
    const ChatTokens::Span span = tokens.messages[i];
    ASSERT_LE(span.begin, span.end);
    ASSERT_LE(span.end, tokens.ids.size());
    for (size_t at = span.begin; at < span.end; ++at) {
      EXPECT_FALSE(used[at]);
      used[at] = true;
    }
    const std::string content = conversation[i].content;
    if (content.find("</think>") == std::string::npos) {
      const std::string said(StripSpace(tokenizer.Decode(tokenizer.Encode(StripSpace(content)))));
      EXPECT_THAT(SpanText(tokenizer, tokens, i), HasSubstr(said));
    }
    if (conversation[i].role == "assistant") {
      EXPECT_THAT(chat.stop_tokens(), ::testing::Contains(tokens.ids.at(span.end - 1)));
    }
  }
}

TEST(ChatTemplate, IsApplyChatTemplateOnEveryGolden) {
  const json golden = ReadGolden("chat_templates.json");
  int rows = 0;
  for (const json& entry : golden.at("templates")) {
    const auto tokenizer =
        TokenizerWith(entry.at("kind").get<std::string>(), entry.at("chat_template"));
    const auto chat = ChatTemplate::Make("auto", *tokenizer);
    ASSERT_EQ(chat->name(), entry.at("format").get<std::string>());
    for (const json& row : entry.at("rows")) {
      SCOPED_TRACE(entry.at("name").dump() + ", conversation " + row.at("conversation").dump() +
                   (row.at("generation").get<bool>() ? ", generation" : ""));
      const std::vector<Message> conversation =
          ConversationOf(golden["conversations"][row["conversation"].get<size_t>()]);
      const Result<ChatTokens> tokens = chat->Apply(conversation, row["generation"].get<bool>());
      ++rows;
      if (row.contains("refused")) {
        ASSERT_FALSE(tokens);
        EXPECT_EQ(tokens.error().kind, ErrorKind::kRejected);
        continue;
      }
      ASSERT_TRUE(tokens) << tokens.error().message;
      EXPECT_EQ(tokens->ids, row.at("ids").get<std::vector<int32_t>>())
          << row["text"] << "\n"
          << tokenizer->Decode(tokens->ids);
      ExpectSpans(*tokenizer, *chat, conversation, *tokens);
    }
  }
  EXPECT_GE(rows, 200);
}

}  // namespace
}  // namespace agentr
