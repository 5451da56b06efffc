#include "training/data/row_encoder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using namespace std::string_literals;

// A conversation whose messages with a "+" before the role are trained.
ParsedRow RowOf(const std::vector<std::pair<std::string, std::string>>& messages) {
  ParsedRow row;
  for (const auto& [role, content] : messages) {
    const bool trained = role[0] == '+';
    row.messages.push_back({trained ? role.substr(1) : role, content});
    row.learned.push_back({trained});
  }
  return row;
}

TrainingRow EncodeWhole(const RowTokenizer& text, const ParsedRow& row) {
  RowCounts counts;
  const auto rows = RowEncoder(text, 100000, TooLong::kError).EncodeTurns(row, counts);
  EXPECT_EQ(rows.size(), 1U);
  EXPECT_EQ(counts.tokens, std::ssize(rows.at(0).ids));
  EXPECT_EQ(counts.trained, rows[0].trained_tokens());
  return rows[0];
}

std::string Refusal(const RowTokenizer& text, const ParsedRow& row, int max_length = 1000,
                    TooLong too_long = TooLong::kCut) {
  return FatalErrorOf([&] {
    RowCounts counts;
    RowEncoder(text, max_length, too_long).EncodeTurns(row, counts);
  });
}

std::vector<bool> Mask(const TrainingRow& row) {
  std::vector<bool> mask(row.ids.size());
  for (const TrainedSpan& span : row.trained) {
    for (int32_t i = span.begin; i < span.end; ++i) mask[static_cast<size_t>(i)] = true;
  }
  return mask;
}

std::string Spelling(const RowTokenizer& text, const std::vector<int32_t>& ids, size_t i) {
  return i == 0 ? text.tokenizer->FirstTokenBytes(ids[i]) : text.tokenizer->TokenBytes(ids[i]);
}

// Token by token, the trained ones in brackets.
std::string Marked(const RowTokenizer& text, const TrainingRow& row) {
  std::string marked;
  const std::vector<bool> mask = Mask(row);
  for (size_t i = 0; i < row.ids.size(); ++i) {
    const std::string bytes = Spelling(text, row.ids, i);
    marked += mask[i] ? "[" + bytes + "]" : bytes + "|";
  }
  return marked;
}

const ParsedRow kTalk = RowOf({{"system", "Be."},
                               {"user", "Hi"},
                               {"assistant", "Ok."},
                               {"user", "go"},
                               {"+assistant", "I do"},
                               {"user", "bye"}});

TEST(RowEncoder, MasksTokenByToken) {
  const struct {
    const char *kind, *chat, *marked;
  } cases[] = {
      {"llama3", "auto",
       "<|begin_of_text|>|<|start_header_id|>|s|y|st|e|m|<|end_header_id|>|\n|\n|B|e|.|"
       "<|eot_id|>|<|start_header_id|>|us|er|<|end_header_id|>|\n|\n|H|i|<|eot_id|>|"
       "<|start_header_id|>|as|s|i|st|a|n|t|<|end_header_id|>|\n|\n|O|k|.|<|eot_id|>|"
       "<|start_header_id|>|us|er|<|end_header_id|>|\n|\n|g|o|<|eot_id|>|"
       "<|start_header_id|>|as|s|i|st|a|n|t|<|end_header_id|>|\n|\n|[I][ do][<|eot_id|>]"
       "<|start_header_id|>|us|er|<|end_header_id|>|\n|\n|b|y|e|<|eot_id|>|"},
      {"qwen2", "auto",
       "<|im_start|>|s|y|st|e|m|\n|B|e|.|<|im_end|>|\n|<|im_start|>|us|er|\n|H|i|<|im_end|>|\n|"
       "<|im_start|>|as|s|i|st|a|n|t|\n|O|k|.|<|im_end|>|\n|<|im_start|>|us|er|\n|g|o|"
       "<|im_end|>|\n|<|im_start|>|as|s|i|st|a|n|t|\n|[I][ do][<|im_end|>]\n|"
       "<|im_start|>|us|er|\n|b|y|e|<|im_end|>|\n|"},
      // The system's text stands in the last turn of the user.
      {"mistral", "auto",
       "<s>|[INST]|H|i|[/INST]|O|k|.|</s>|[INST]|g|o|[/INST]|[I][ do][</s>][INST]|B|e.|\n|\n|"
       "b|y|e|[/INST]|"},
      {"llama2", "mistral",
       "<s>| |[|I|N|S|T|]| B|e.|\n|\n|H|i| |[|/|I|N|S|T|]| O|k|.|</s>| |[|I|N|S|T|]| go| |[|/|"
       "I|N|S|T|]|[ I][ do][</s>] |[|I|N|S|T|]| by|e| |[|/|I|N|S|T|]|"},
      {"gpt2", "plain",
       "<|endoftext|>|#|#|#| |S|y|st|e|m|:|\n|B|e|.|\n|\n|#|#|#| |U|s|er|:|\n|H|i|\n|\n|#|#|#| |"
       "A|s|s|i|st|a|n|t|:|\n|O|k|.|<|endoftext|>|\n|\n|#|#|#| |U|s|er|:|\n|g|o|\n|\n|#|#|#| |"
       "A|s|s|i|st|a|n|t|:|\n|[I][ do][<|endoftext|>]\n|\n|#|#|#| |U|s|er|:|\n|b|y|e|\n|\n|"}};
  for (const auto& c : cases) {
    const RowTokenizer text = GoldenRowTokenizer(c.kind, c.chat);
    EXPECT_EQ(Marked(text, EncodeWhole(text, kTalk)), c.marked) << c.kind;
  }
}

// What opens and what ends an assistant's turn in the text of a conversation.
struct Marks {
  std::vector<std::string> opens;
  std::string end;
};

const std::map<std::string, Marks> kMarks = {
    {"llama-3", {{"<|start_header_id|>assistant<|end_header_id|>\n\n"}, "<|eot_id|>"}},
    // Some tokenizers put a space behind a special token.
    {"chatml", {{"<|im_start|>assistant\n", "<|im_start|> assistant\n"}, "<|im_end|>"}},
    {"mistral", {{"[/INST] ", "[/INST]"}, "</s>"}},
    {"plain", {{"### Assistant:\n"}, ""}}};  // its end is the tokenizer's EOS

// The tokens between the marks, found by nothing but searching the text of all tokens.
std::vector<bool> MaskBySearch(const RowTokenizer& text, const std::vector<int32_t>& ids,
                               const Marks& marks) {
  std::string whole;
  std::vector<size_t> begins;
  for (size_t i = 0; i < ids.size(); ++i) {
    begins.push_back(whole.size());
    whole += Spelling(text, ids, i);
  }
  begins.push_back(whole.size());
  std::vector<bool> mask(ids.size());
  for (size_t at = 0; at < whole.size();) {
    const auto open = std::ranges::find_if(marks.opens, [&](const std::string& mark) {
      return whole.compare(at, mark.size(), mark) == 0;
    });
    if (open == marks.opens.end()) {
      ++at;
      continue;
    }
    const size_t begin = at + open->size();
    const size_t close = whole.find(marks.end, begin);
    if (close == std::string::npos) break;
    at = close + marks.end.size();
    for (size_t t = 0; t < ids.size(); ++t) {
      // Of a space that opens the turn, and the word behind it, one token may be made.
      if (begins[t] < at && begins[t + 1] > begin) mask[t] = true;
    }
  }
  return mask;
}

TEST(RowEncoder, MasksOfEveryTemplateOfTheGoldensAreWhatASearchFinds) {
  const json golden = ReadGolden("chat_templates.json");
  int masks = 0;
  for (const json& entry : golden.at("templates")) {
    json files = GoldenTokenizerFiles(entry.at("kind"));
    files["tokenizer_config"]["chat_template"] = entry.at("chat_template");
    const RowTokenizer text = RowTokenizerOf(LoadTokenizer(files));
    for (const json& expected : entry.at("rows")) {
      const auto number = expected.at("conversation").get<size_t>();
      if (expected.at("generation").get<bool>() || expected.contains("refused")) continue;
      ParsedRow row;
      for (const json& turn : golden["conversations"][number]) {
        row.messages.push_back({turn.at(0), turn.at(1)});
        row.learned.push_back({turn.at(0) == "assistant"});
      }
      const TrainingRow tokens = EncodeWhole(text, row);
      EXPECT_EQ(tokens.ids, expected.at("ids").get<std::vector<int32_t>>());
      Marks marks = kMarks.at(entry.at("format"));
      if (marks.end.empty()) marks.end = text.tokenizer->TokenBytes(text.tokenizer->eos().value());
      const std::vector<bool> by_search = MaskBySearch(text, tokens.ids, marks);
      EXPECT_EQ(Mask(tokens), by_search) << entry.at("name") << ", conversation " << number << ":\n"
                                         << Marked(text, tokens);
      masks += std::ranges::count(by_search, true) > 0 ? 1 : 0;
    }
  }
  EXPECT_GE(masks, 60);
}

// A template that leaves out the thoughts of earlier turns (scripts/golden/thinking_template.py).
RowTokenizer ThinkingRowTokenizer() {
  json files = GoldenTokenizerFiles("qwen2");
  files["tokenizer_config"]["chat_template"] = ReadGolden("thinking_template.json").at("template");
  return RowTokenizerOf(LoadTokenizer(files));
}

// The trained text of a sequence, and what stands before its last stretch.
std::pair<std::string, std::string> TrainedText(const RowTokenizer& text, const TrainingRow& row) {
  const std::span<const int32_t> ids(row.ids);
  const TrainedSpan span = row.trained.back();
  const auto begin = static_cast<size_t>(span.begin), end = static_cast<size_t>(span.end);
  return {text.tokenizer->Decode(ids.subspan(begin, end - begin)),
          text.tokenizer->Decode(ids.first(begin))};
}

TEST(RowEncoder, TurnsThatTheTemplateRewritesAreCountedAndTrainedInTheirOwnPrefix) {
  const RowTokenizer text = ThinkingRowTokenizer();
  const ParsedRow row = RowOf({{"user", "one"},
                               {"assistant", "<think>\nbad\n</think>\n\nB"},
                               {"user", "two"},
                               {"+assistant", "<think>\nhm\n</think>\n\nA"},
                               {"user", "three"},
                               {"+assistant", "<think>\nso\n</think>\n\nC"}});
  RowCounts counts;
  const auto whole = RowEncoder(text, 1000, TooLong::kError).EncodeTurns(row, counts);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0], EncodeWhole(text, row));
  EXPECT_EQ(whole[0].trained.size(), 2U);
  EXPECT_EQ(counts.rewritten, 1);
  const std::string own = "<think>\nhm\n</think>\n\nA<|im_end|>";
  EXPECT_EQ(counts.rewritten_tokens, std::ssize(text.tokenizer->Encode(own, SpecialText::kToken)));

  RowCounts each_counts;
  const auto each =
      RowEncoder(text, 1000, TooLong::kError, /*each_turn=*/true).EncodeTurns(row, each_counts);
  ASSERT_EQ(each.size(), 2U);
  EXPECT_EQ(each_counts.rewritten_tokens, counts.rewritten_tokens);
  EXPECT_EQ(each_counts.rows, 1);
  // The last turn stands behind the history that the model sees, and so does the rewritten one.
  const std::string first =
      "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\nB<|im_end|>\n"
      "<|im_start|>user\ntwo<|im_end|>\n<|im_start|>assistant\n";
  EXPECT_EQ(TrainedText(text, each[0]),
            std::pair("<think>\nso\n</think>\n\nC<|im_end|>"s,
                      first + "A<|im_end|>\n<|im_start|>user\nthree<|im_end|>\n"
                              "<|im_start|>assistant\n"));
  EXPECT_EQ(each[0].trained.size(), 1U);
  EXPECT_EQ(TrainedText(text, each[1]), std::pair(own, first));
  EXPECT_EQ(each[1].trained.size(), 1U);
  // Each sequence is the beginning of what the model is asked with.
  const auto asked = text.chat->Apply(std::span(row.messages).first(3), true).value().ids;
  EXPECT_TRUE(std::equal(asked.begin(), asked.end(), each[1].ids.begin()));
}

TEST(RowEncoder, ThoughtsApartAreTrainedAsThoseInTheText) {
  const RowTokenizer text = ThinkingRowTokenizer();
  const ParsedRow inside = RowOf({{"user", "one"}, {"+assistant", "<think>\nhm\n</think>\n\nA"}});
  ParsedRow apart = RowOf({{"user", "one"}, {"+assistant", "A"}});
  apart.messages[1].reasoning = "hm";
  EXPECT_EQ(EncodeWhole(text, apart), EncodeWhole(text, inside));
}

TEST(RowEncoder, OtherTemplatesHaveNoTurnsOfTheirOwn) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  RowCounts counts;
  const auto rows =
      RowEncoder(text, 1000, TooLong::kError, /*each_turn=*/true).EncodeTurns(kTalk, counts);
  EXPECT_EQ(rows.size(), 1U);
  EXPECT_EQ(counts.rewritten + counts.rewritten_tokens, 0);
}

TEST(RowEncoder, KindsGoIntoTheSpans) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  ParsedRow row = RowOf({{"user", "a"}, {"+assistant", "b"}, {"user", "c"}, {"+assistant", "d"}});
  row.learned[1].kind = TargetKind::kRevision;
  row.learned[3].kind = TargetKind::kCorrected;
  const TrainingRow tokens = EncodeWhole(text, row);
  ASSERT_EQ(tokens.trained.size(), 2U);
  EXPECT_EQ(tokens.trained[0].kind, TargetKind::kRevision);
  EXPECT_EQ(tokens.trained[1].kind, TargetKind::kCorrected);
}

TEST(RowEncoder, ATemplateThatCannotSayTheConversationIsNamed) {
  const RowTokenizer mistral = GoldenRowTokenizer("mistral");
  const std::string refusal =
      Refusal(mistral, RowOf({{"user", "a"}, {"user", "b"}, {"+assistant", "c"}}));
  EXPECT_THAT(refusal, HasSubstr("mistral cannot express the conversation"));
  EXPECT_THAT(refusal, HasSubstr("--chat_template"));
  EXPECT_THAT(Refusal(mistral, RowOf({{"tool", "a"}, {"+assistant", "c"}})), HasSubstr("'tool'"));
}

// An agent's row: instruction, "Ok.", first observation, then `turns` actions with observations,
// the last `trained` of which are trained.
ParsedRow AgentRow(int turns, int trained) {
  std::vector<std::pair<std::string, std::string>> messages = {
      {"user", "rules"}, {"assistant", "Ok."}, {"user", "start"}};
  for (int i = 0; i < turns; ++i) {
    messages.emplace_back(i >= turns - trained ? "+assistant" : "assistant",
                          "act " + std::to_string(i));
    messages.emplace_back("user", "saw " + std::to_string(i));
  }
  return RowOf(messages);
}

TEST(RowEncoder, CutsTheOldestTurnsAfterTheFirstObservation) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  const ParsedRow row = AgentRow(6, 2);
  const size_t whole = EncodeWhole(text, row).ids.size();
  const size_t less_two = EncodeWhole(text, AgentRow(4, 2)).ids.size();
  RowCounts counts;
  const auto cut_to = [&](size_t tokens, RowCounts& sums) {
    return RowEncoder(text, static_cast<int>(tokens), TooLong::kCut).EncodeTurns(row, sums);
  };
  const std::vector<TrainingRow> rows = cut_to(less_two, counts);
  EXPECT_EQ(counts.cut, 1);
  EXPECT_EQ(counts.dropped_turns, 2);
  EXPECT_EQ(counts.dropped, 0);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].ids.size(), less_two);
  EXPECT_LT(less_two, whole);
  // What is left is the row without turns 0 and 1.
  ParsedRow left = row;
  left.messages.erase(left.messages.begin() + 3, left.messages.begin() + 7);
  left.learned.erase(left.learned.begin() + 3, left.learned.begin() + 7);
  EXPECT_EQ(rows[0], EncodeWhole(text, left));
  // One token too many, and one turn goes.
  RowCounts once;
  EXPECT_EQ(cut_to(whole - 1, once).size(), 1U);
  EXPECT_EQ(once.dropped_turns, 1);
  // One token less, and a third turn has to go.
  EXPECT_EQ(cut_to(less_two - 1, counts).size(), 1U);
  EXPECT_EQ(counts.dropped_turns, 2 + 3);
}

TEST(RowEncoder, WhatIsTrainedStaysWithTheTurnBeforeIt) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  const auto least = static_cast<int>(EncodeWhole(text, AgentRow(3, 2)).ids.size());
  RowCounts counts;
  const RowEncoder fits(text, least, TooLong::kCut), too_short(text, least - 1, TooLong::kCut);
  EXPECT_EQ(fits.EncodeTurns(AgentRow(6, 2), counts).size(), 1U);
  EXPECT_EQ(counts.dropped_turns, 3);
  EXPECT_TRUE(too_short.EncodeTurns(AgentRow(6, 2), counts).empty());
  EXPECT_TRUE(fits.EncodeTurns(AgentRow(6, 6), counts).empty());
  EXPECT_EQ(counts.rows, 3);
  EXPECT_EQ(counts.cut, 1);
  EXPECT_EQ(counts.dropped, 2);
}

TEST(RowEncoder, DropsOrRefusesWhatIsTooLong) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  RowCounts counts;
  EXPECT_TRUE(RowEncoder(text, 30, TooLong::kDrop).EncodeTurns(AgentRow(6, 2), counts).empty());
  EXPECT_EQ(counts, (RowCounts{.rows = 1, .dropped = 1}));
  EXPECT_THAT(Refusal(text, AgentRow(6, 2), 30, TooLong::kError),
              HasSubstr("more than --max_length 30"));
}

TEST(RowEncoder, TokenRowsAreTakenAsTheyAre) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  ParsedRow row;
  row.format = DataFormat::kTokens;
  row.tokens = EncodeWhole(text, kTalk);
  EXPECT_EQ(EncodeWhole(text, row), row.tokens);
  row.tokenizer = text.hash;
  EXPECT_EQ(EncodeWhole(text, row), row.tokens);
  EXPECT_THAT(Refusal(text, row, 20, TooLong::kError), HasSubstr("more than --max_length 20"));
}

}  // namespace
}  // namespace agentr
