#include "lm/sampled_turns.h"

#include <gmock/gmock.h>

#include "tests/lm/small_lm.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kEnd = CharacterTokenizer::kEnd;
constexpr int32_t kPair = 96;   // "ab" as one token, which Encode never makes
constexpr int32_t kOther = 97;  // another token that ends a turn

// Several cuts for one text: what is sampled need not be what encoding gives.
class PairTokenizer : public CharacterTokenizer {
 public:
  std::string TokenBytes(int32_t id) const override {
    return id == kPair ? "ab" : id == kOther ? "<other>" : CharacterTokenizer::TokenBytes(id);
  }
  bool IsSpecial(int32_t id) const override { return id == kEnd || id == kOther; }
  int32_t size() const override { return 98; }
};

// LetterTemplate, which strips the content of messages where it is told to and counts its calls.
class CountingTemplate : public LetterTemplate {
 public:
  Result<ChatTokens> Apply(std::span<const Message> conversation, bool generation) const override {
    ++calls;
    if (!strip) return LetterTemplate::Apply(conversation, generation);
    std::vector<Message> stripped(conversation.begin(), conversation.end());
    for (Message& message : stripped)
      message.content.erase(0, message.content.find_first_not_of(' '));
    return LetterTemplate::Apply(stripped, generation);
  }

  bool strip = false;
  mutable int calls = 0;
};

class SampledTurns : public ::testing::Test {
 protected:
  // The prompt of a conversation in which the model said `content` by sampling `ids`.
  PreparedPrompt Prompt(const std::string& content, const std::vector<int32_t>& ids) {
    const std::vector<Message> conversation = {
        {"user", "hi"}, {"assistant", content}, {"user", "go"}};
    const std::vector<std::span<const int32_t>> sampled = {{}, ids};
    return UseSampledIds(chat_.Apply(conversation, true).value(), conversation, sampled,
                         {tokenizer_, stop_});
  }
  // The ids between "a:" of the model's turn and "u:" of the next one.
  std::vector<int32_t> Turn(const PreparedPrompt& prompt) {
    const size_t before = 1 + 2 + 2 + 1 + 2, behind = 2 + 2 + 1 + 2;
    return {prompt.ids.begin() + before, prompt.ids.end() - behind};
  }
  static std::vector<int32_t> Of(std::string_view text) {
    return CharacterTokenizer().Encode(text, SpecialText::kPlain);
  }

  PairTokenizer tokenizer_;
  CountingTemplate chat_;
  const std::vector<int32_t> stop_ = {kEnd, kOther};
};

TEST_F(SampledTurns, StandInThePromptAsTheyWereSampled) {
  const std::vector<int32_t> ids = {kPair, kPair, kEnd};
  const PreparedPrompt prompt = Prompt("abab", ids);
  EXPECT_EQ(Turn(prompt), ids);
  EXPECT_EQ(prompt.reused_turns, 1);
  EXPECT_EQ(prompt.reencoded_turns, 0);
  EXPECT_EQ(prompt.tokens, std::ssize(prompt.ids));
  // Beside the turn, the prompt is the template's, and its messages begin where they are now.
  const PreparedPrompt encoded = Prompt("abab", {});
  EXPECT_EQ(encoded.tokens, prompt.tokens + 2);
  EXPECT_EQ(encoded.reused_turns + encoded.reencoded_turns, 0);
  EXPECT_THAT(encoded.message_begins, ElementsAre(3, 8, 15));
  EXPECT_THAT(prompt.message_begins, ElementsAre(3, 8, 13));
  EXPECT_EQ(tokenizer_.Decode(prompt.ids, false), tokenizer_.Decode(encoded.ids, false));
}

TEST_F(SampledTurns, ThatWereCutOffGetTheEndOfTheTemplate) {
  EXPECT_THAT(Turn(Prompt("abab", {kPair, kPair})), ElementsAre(kPair, kPair, kEnd));
}

TEST_F(SampledTurns, OfAnotherTextAreEncodedAnew) {
  const PreparedPrompt prompt = Prompt("abX", {kPair, kPair, kEnd});
  std::vector<int32_t> expected = Of("abX");
  expected.push_back(kEnd);
  EXPECT_EQ(Turn(prompt), expected);
  EXPECT_EQ(prompt.reused_turns, 0);
  EXPECT_EQ(prompt.reencoded_turns, 1);
}

TEST_F(SampledTurns, WithAnotherEndThanTheTemplatesAreEncodedAnew) {
  EXPECT_EQ(Prompt("ab", {kPair, kOther}).reencoded_turns, 1);
}

TEST_F(SampledTurns, ThatTheTemplateChangesAreEncodedAnew) {
  chat_.strip = true;
  const int32_t space = 0;
  EXPECT_EQ(Prompt(" ab", {space, kPair, kEnd}).reencoded_turns, 1);
  EXPECT_EQ(Prompt("ab", {kPair, kEnd}).reused_turns, 1);
}

// The whole way: what was sampled in one turn stands in the next prompt, which is encoded once.
class SampledTurnsOfAModel : public ::testing::Test {
 protected:
  SampledTurnsOfAModel() {
    LoadedModel model = SmallModel();
    model.engine.reset();
    model.tokenizer = std::make_unique<PairTokenizer>();
    auto chat = std::make_unique<CountingTemplate>();
    chat_ = chat.get();
    model.chat = std::move(chat);
    model.decoder = std::make_unique<FakeDecoder>(DecoderShape{.vocab_size = 98,
                                                               .max_context = 1000,
                                                               .block_tokens = 4,
                                                               .blocks = 1000,
                                                               .block_bytes = 64});
    model.engine = std::make_unique<Engine>(*model.decoder, *model.tokenizer, EngineOptions{});
    model_ = std::make_unique<LocalLanguageModel>(std::move(model));
  }

  std::unique_ptr<LocalLanguageModel> model_;
  CountingTemplate* chat_ = nullptr;
};

TEST_F(SampledTurnsOfAModel, AreFoundInThePrefixCacheToTheLastToken) {
  const std::vector<Message> begin = {{"user", "hi"}};
  int64_t pairs = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const SamplingParams params{.max_tokens = 80, .seed = seed};
    const Completion said = model_->Complete(begin, 1, params).value().completions[0];
    if (said.token_ids.back() == kOther) continue;
    pairs += std::ranges::count(said.token_ids, kPair);
    const std::vector<Message> next = {begin[0], {"assistant", said.text}, {"user", "go"}};
    const std::vector<std::span<const int32_t>> sampled = {{}, said.token_ids};
    chat_->calls = 0;
    const PreparedPrompt prompt = model_->Prepare(next, sampled).value();
    EXPECT_EQ(std::ranges::search(prompt.ids, said.token_ids).size(), said.token_ids.size());
    const CompletionBatch batch = model_->CompletePrepared(prompt, 1, {.max_tokens = 1}).value();
    EXPECT_EQ(chat_->calls, 1) << "encoded once";
    EXPECT_EQ(batch.usage.prompt_tokens, prompt.tokens);
    EXPECT_EQ(batch.usage.reused_turns, 1);
    EXPECT_EQ(batch.usage.reencoded_turns, 0);
    // "^u:hi", its end, "a:" and all of the turn but its last token, whose keys nobody needed.
    EXPECT_GE(batch.usage.cached_tokens, 1 + 2 + 2 + 1 + 2 + std::ssize(said.token_ids) - 1);
  }
  EXPECT_GT(pairs, 0) << "nothing was sampled that encoding would cut otherwise";
}

}  // namespace
}  // namespace agentr
