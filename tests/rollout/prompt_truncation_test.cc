#include "rollout/prompt_truncation.h"

#include <gmock/gmock.h>

#include "lm/local_language_model.h"
#include "tests/clients/count_tokens.h"
#include "tests/lm/small_lm.h"
#include "tests/mcts/toy_model.h"

namespace agentr {
namespace {

using ::testing::Contains;
using ::testing::Gt;
using ::testing::SizeIs;

// LetterTemplate, which counts how often it is asked.
class CountingTemplate : public LetterTemplate {
 public:
  explicit CountingTemplate(int& calls) : calls_(calls) {}
  Result<ChatTokens> Apply(std::span<const Message> conversation, bool generation) const override {
    ++calls_;
    return LetterTemplate::Apply(conversation, generation);
  }

 private:
  int& calls_;
};

class PromptTruncation : public ::testing::Test {
 protected:
  PromptTruncation() {
    LoadedModel model = SmallModel();
    model.chat = std::make_unique<CountingTemplate>(calls_);
    model_ = std::make_unique<LocalLanguageModel>(std::move(model));
    all_ = {{"system", "be brief"}, {"user", "what is a?"}};
    for (int turn = 0; turn < 12; ++turn) {
      all_.push_back({"assistant", std::string(static_cast<size_t>(3 * turn % 7), 'x')});
      all_.push_back({"user", std::string(static_cast<size_t>(20 + turn), 'o')});
    }
  }

  std::vector<Message> Without(int turns) const {
    std::vector<Message> messages = all_;
    messages.erase(messages.begin() + 2, messages.begin() + 2 + 2 * turns);
    return messages;
  }

  Result<TruncatedCompletion> Complete(LanguageModel& model, int max_context, bool as_turns) {
    TruncatableConversation conversation;
    conversation.messages = [this](int dropped) { return Without(dropped); };
    conversation.most_dropped = 12;
    if (as_turns) conversation.first_turn = 2;
    return CompleteTruncated(model, conversation, 1, {.max_tokens = 5}, {max_context});
  }

  int calls_ = 0;
  std::unique_ptr<LocalLanguageModel> model_;
  std::vector<Message> all_;
};

TEST_F(PromptTruncation, AConversationThatFitsIsEncodedOnce) {
  EXPECT_EQ(Complete(*model_, 1000, /*as_turns=*/true)->dropped_turns, 0);
  EXPECT_EQ(calls_, 1);
}

// Whatever the context, as few turns are dropped as by trying one number after the other.
TEST_F(PromptTruncation, FewLengthsAreTriedAndNoTurnTooManyIsDropped) {
  std::vector<int64_t> tokens;
  for (int dropped = 0; dropped <= 12; ++dropped) {
    tokens.push_back(CountTokens(*model_, Without(dropped)));
  }
  for (int context = 30; context < 500; ++context) {
    SCOPED_TRACE(context);
    const auto fits = std::ranges::find_if(tokens, [&](int64_t n) { return n + 5 <= context; });
    calls_ = 0;
    const Result<TruncatedCompletion> said = Complete(*model_, context, /*as_turns=*/true);
    EXPECT_LE(calls_, 3);
    ASSERT_EQ(said.has_value(), fits != tokens.end());
    if (!said) {
      EXPECT_EQ(said.error().kind, ErrorKind::kContextLength);
      continue;
    }
    EXPECT_EQ(said->dropped_turns, fits - tokens.begin());
    EXPECT_EQ(said->batch.usage.prompt_tokens, *fits);
  }
}

TEST_F(PromptTruncation, AConversationOfAnotherKindIsTriedTurnByTurn) {
  EXPECT_EQ(Complete(*model_, 100, /*as_turns=*/false)->dropped_turns,
            Complete(*model_, 100, /*as_turns=*/true)->dropped_turns);
}

TEST_F(PromptTruncation, AModelThatEstimatesIsAskedOnce) {
  ToyModel toy({"go a"});
  const Result<TruncatedCompletion> said = Complete(toy, 105, /*as_turns=*/true);
  EXPECT_EQ(said->dropped_turns, 8) << "ten tokens per message";
  ASSERT_THAT(toy.prompts(), SizeIs(1));
  EXPECT_EQ(toy.prompts()[0], Without(8));
}

// With slack a prompt that has to lose turns loses more of them, so that later prompts lose the
// same ones: each conversation is then the beginning of the next one, but for every few turns.
TEST_F(PromptTruncation, SlackLeavesRoomForTheNextTurns) {
  const auto lost_along_the_way = [this](double slack) {
    const std::vector<Message> whole = all_;
    std::vector<int> lost;
    for (int turn = 0; turn <= 12; ++turn) {
      all_.assign(whole.begin(), whole.begin() + 2 + 2 * turn);
      TruncatableConversation conversation;
      conversation.messages = [this](int dropped) { return Without(dropped); };
      conversation.least_dropped = lost.empty() ? 0 : lost.back();
      conversation.most_dropped = turn;
      conversation.first_turn = 2;
      const auto said =
          CompleteTruncated(*model_, conversation, 1, {.max_tokens = 5}, {150, slack});
      EXPECT_LE(said->batch.usage.prompt_tokens, 145);
      lost.push_back(said->dropped_turns);
    }
    all_ = whole;
    return lost;
  };
  const std::vector<int> all = lost_along_the_way(0), some = lost_along_the_way(0.4);
  const auto changes = [](const std::vector<int>& lost) {
    int count = 0;
    for (size_t i = 1; i < lost.size(); ++i) count += lost[i] != lost[i - 1];
    return count;
  };
  EXPECT_GT(changes(all), 6);
  EXPECT_LE(changes(some), changes(all) / 2);
  EXPECT_THAT(some, Contains(Gt(0)));
  for (size_t i = 0; i < all.size(); ++i) EXPECT_GE(some[i], all[i]);
}

// A last turn that takes more than the slack leaves is still shown.
TEST_F(PromptTruncation, SlackIsGivenUpBeforeTheLastTurn) {
  all_.back().content = std::string(200, 'o');
  const int64_t least = CountTokens(*model_, Without(11));
  TruncatableConversation conversation;
  conversation.messages = [this](int dropped) { return Without(dropped); };
  conversation.most_dropped = 11;
  conversation.first_turn = 2;
  const auto said = CompleteTruncated(*model_, conversation, 1, {.max_tokens = 5},
                                      {static_cast<int>(least) + 5, 0.5});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->dropped_turns, 11);
}

TEST_F(PromptTruncation, APromptThatTheModelCannotSayIsAnError) {
  all_.push_back({"assistant", "mine"});
  EXPECT_EQ(Complete(*model_, 1000, true).error().kind, ErrorKind::kRejected);
}

}  // namespace
}  // namespace agentr
