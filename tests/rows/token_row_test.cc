#include "rows/token_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "rows/row_format.h"
#include "rows/row_reader.h"
#include "tests/revision/hand_tree.h"
#include "tests/revision/pair_encoder.h"

namespace agentr {
namespace {

class TokenRowTest : public ::testing::Test {
 protected:
  static RowDraft DraftOf(const RowSource& source) {
    const Tree& tree = source.tree;
    const PathPair pair = PairPaths(tree, LeafPaths(tree), {}, Pairing::kAll).front();
    return HandRow(source, pair, {1, true, {{pair.bad.leaf, {Judgement::kBad, "No use.", true}}}});
  }

  TokenRow Encoded(const Tree& tree) const {
    const RowSource source{tree, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
    return EncodeRow(MessagesOf(DraftOf(source)), encoder_).value();
  }

  const Tree plain_ = HandTree({{"p g", 1}, {"p a", 0}});
  const Tree sampled_ = WithTokens(plain_);
  const PairEncoder encoder_;
};

TEST_F(TokenRowTest, WithoutSampledTokensItIsTheEncodersCut) {
  const RowSource source{plain_, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
  const RowDraft row = DraftOf(source);
  std::vector<Message> conversation;
  for (const RowMessage& m : RowMessages(row.trajectory)) {
    conversation.push_back({m.role, *m.content});
  }
  const TokenRow tokens = EncodeRow(MessagesOf(row), encoder_).value();
  EXPECT_EQ(tokens.ids, encoder_.Encode(conversation)->ids);
  EXPECT_THAT(tokens.logprobs, ::testing::Each(std::nullopt));
  EXPECT_EQ(tokens.trained.size(), tokens.ids.size());
}

TEST_F(TokenRowTest, SampledTokensStandAsTheyWereSampled) {
  const TokenRow tokens = Encoded(sampled_);
  const TokenRow encoded = Encoded(plain_);
  EXPECT_EQ(encoder_.Decode(tokens.ids), encoder_.Decode(encoded.ids));
  EXPECT_GT(tokens.ids.size(), encoded.ids.size()) << "bytes take more tokens than pairs";
  size_t sampled = 0;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (!tokens.logprobs[i]) continue;
    EXPECT_EQ(*tokens.logprobs[i], -0.5F);
    EXPECT_LT(tokens.ids[i], 256);
    ++sampled;
  }
  // "p" twice is one response of the prefix; a bad and a good one follow.
  EXPECT_EQ(sampled, 3 * std::string("Thought: I go on.\nAction: p").size());
}

TEST_F(TokenRowTest, TheTokenThatEndsATurnIsTrainedWhetherItWasSampledOrNot) {
  for (const Tree* tree : {&plain_, &sampled_}) {
    const TokenRow tokens = Encoded(*tree);
    std::vector<bool> ends;
    for (size_t i = 0; i < tokens.ids.size(); ++i) {
      if (tokens.ids[i] == PairEncoder::kEnd) ends.push_back(tokens.trained[i]);
    }
    // Instruction, "Ok.", goal; prefix turn; bad turn; revision turn; good turn.
    EXPECT_THAT(ends, ::testing::ElementsAre(false, false, false, false, false, false, false, true,
                                             false, true));
  }
}

TEST_F(TokenRowTest, TokensOfAnotherVocabularyAreNotTaken) {
  Tree foreign(plain_.origin(), plain_.instruction(), plain_.root().observation);
  for (int i = 1; i < plain_.size(); ++i) {
    Node node = plain_.node(i);
    node.children.clear();
    node.token_ids = {65, 66};
    node.logprobs = {-1, -1};
    foreign.Restore(foreign.Add(node.parent, node), plain_.node(i).visits, plain_.node(i).value);
  }
  EXPECT_EQ(Encoded(foreign).ids, Encoded(plain_).ids);
}

// Both ends of the turn would be trained, one after the other.
TEST_F(TokenRowTest, TokensThatEndTheTurnInAnotherWayAreNotTaken) {
  Tree other(plain_.origin(), plain_.instruction(), plain_.root().observation);
  for (int i = 1; i < plain_.size(); ++i) {
    Node node = sampled_.node(i);
    node.children.clear();
    node.token_ids.push_back(PairEncoder::kEnd - 1);
    node.logprobs.push_back(-0.5F);
    other.Restore(other.Add(node.parent, node), plain_.node(i).visits, plain_.node(i).value);
  }
  EXPECT_EQ(Encoded(other).ids, Encoded(plain_).ids);
}

TEST_F(TokenRowTest, AsALineItHasOneOfEachPerToken) {
  const RowSource source{sampled_, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
  const RowDraft draft = DraftOf(source);
  const auto line = nlohmann::json::parse(MakeRowFormat("tokens", &encoder_)->Line(RowOf(draft)));
  EXPECT_EQ(line["loss"].size(), line["ids"].size());
  EXPECT_EQ(line["logprobs"].size(), line["ids"].size());
  const std::vector<int32_t> ids = line["ids"];
  const std::vector<size_t> revision = line["revision"];
  const std::vector<int32_t> said(ids.begin() + static_cast<std::ptrdiff_t>(revision[0]),
                                  ids.begin() + static_cast<std::ptrdiff_t>(revision[1]));
  EXPECT_EQ(encoder_.Decode(said), "Thought: Oh.\nAction: wait");
  EXPECT_EQ(said.back(), PairEncoder::kEnd);
  EXPECT_TRUE(line["logprobs"][0].is_null());
  EXPECT_EQ(line["provenance"]["hash"], "abc");
}

TEST_F(TokenRowTest, TrainersOnTransformersReadTheSameTokens) {
  const RowSource source{sampled_, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
  const auto line =
      nlohmann::json::parse(MakeRowFormat("tokens", &encoder_)->Line(RowOf(DraftOf(source))));
  EXPECT_EQ(line["input_ids"], line["ids"]);
  ASSERT_EQ(line["labels"].size(), line["ids"].size());
  for (size_t i = 0; i < line["ids"].size(); ++i) {
    EXPECT_EQ(line["labels"][i], line["loss"][i] == 1 ? line["ids"][i] : nlohmann::json(-100));
  }
  nlohmann::json old = line;
  old.erase("input_ids");
  old.erase("labels");
  for (const Row& row : {ReadRow(line.dump()), ReadRow(old.dump())}) {
    EXPECT_EQ(row.format, DataFormat::kTokens);
    EXPECT_EQ(row.ids, line["input_ids"].get<std::vector<int32_t>>());
    EXPECT_TRUE(row.revision.has_value());
  }
  EXPECT_EQ(ReadRow(line.dump()).trained, ReadRow(old.dump()).trained);
}

TEST_F(TokenRowTest, WithoutSampledTokensALineHasNoLogProbabilities) {
  const RowSource source{plain_, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
  const auto line =
      nlohmann::json::parse(MakeRowFormat("tokens", &encoder_)->Line(RowOf(DraftOf(source))));
  EXPECT_FALSE(line.contains("logprobs"));
  EXPECT_EQ(ReadRow(line.dump()).ids, line["ids"].get<std::vector<int32_t>>());
}

// Writes no token at the end of a turn.
class Endless : public PairEncoder {
 public:
  Result<ChatTokens> Encode(std::span<const Message> conversation) const override {
    const ChatTokens whole = PairEncoder::Encode(conversation).value();
    ChatTokens chat;
    for (const ChatTokens::Span& span : whole.messages) {
      const auto at = whole.ids.begin() + static_cast<std::ptrdiff_t>(span.begin);
      chat.ids.push_back(*(at - 1));
      const size_t own = chat.ids.size();
      chat.ids.insert(chat.ids.end(), at,
                      at + static_cast<std::ptrdiff_t>(span.end - span.begin) - 1);
      chat.messages.push_back({own, chat.ids.size()});
    }
    return chat;
  }
};

TEST_F(TokenRowTest, WithoutATokenThatEndsTheTurnNothingIsAdded) {
  const RowSource source{sampled_, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
  const Endless endless;
  const TokenRow tokens = EncodeRow(MessagesOf(DraftOf(source)), endless).value();
  EXPECT_EQ(endless.Decode(tokens.ids), encoder_.Decode(Encoded(plain_).ids));
}

// Puts the first message behind all others, as templates do that write the system's text into the
// last turn of the user.
class FirstLast : public PairEncoder {
 public:
  Result<ChatTokens> Encode(std::span<const Message> conversation) const override {
    std::vector<Message> turned(conversation.begin() + 1, conversation.end());
    turned.push_back(conversation.front());
    ChatTokens chat = PairEncoder::Encode(turned).value();
    chat.messages.insert(chat.messages.begin(), chat.messages.back());
    chat.messages.pop_back();
    return chat;
  }
};

TEST_F(TokenRowTest, MessagesMayStandInAnotherOrderThanTheirs) {
  const RowSource source{plain_, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
  const FirstLast turned;
  const TokenRow tokens = EncodeRow(MessagesOf(DraftOf(source)), turned).value();
  std::vector<int32_t> trained;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.trained[i]) trained.push_back(tokens.ids[i]);
  }
  EXPECT_EQ(turned.Decode(trained), "Thought: Oh.\nAction: waitThought: I go on.\nAction: g");
}

// An encoder that can say nothing.
class Mute : public PairEncoder {
 public:
  Result<ChatTokens> Encode(std::span<const Message> /*conversation*/) const override {
    return Fail(ErrorKind::kRejected, "the first message must be the system's");
  }
};

TEST_F(TokenRowTest, AFormatThatCannotSayTheRowIsAnError) {
  const RowSource source{plain_, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
  const Mute mute;
  EXPECT_EQ(EncodeRow(MessagesOf(DraftOf(source)), mute).error().kind, ErrorKind::kRejected);
  const RowDraft draft = DraftOf(source);
  EXPECT_THROW(MakeRowFormat("tokens", &mute)->Line(RowOf(draft)), FatalError);
}

}  // namespace
}  // namespace agentr
