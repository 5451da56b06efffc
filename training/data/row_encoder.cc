#include "training/data/row_encoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "common/error.h"

namespace agentr {
namespace {

[[noreturn]] void RefuseRow(const std::string& why) { throw FatalError(ExitCode::kFile, why); }

// A turn that can be left out: messages begin … end - 1.
struct Turn {
  size_t begin = 0;
  size_t end = 0;
};

// The turns between the first observation and the trained part, oldest first, without the last one,
// to which a revision refers. A conversation begins with the user, or with an instruction, an
// untrained "Ok.", and the first observation.
std::vector<Turn> SpareTurns(const ParsedRow& row) {
  std::vector<size_t> begins;  // beginnings of turns, each with an assistant's message
  for (size_t i = 0; i < row.messages.size(); ++i) {
    if (row.messages[i].role == "assistant") begins.push_back(i);
  }
  std::vector<Turn> turns;
  for (size_t k = 1; k + 1 < begins.size() && !row.learned[begins[k]].trained; ++k) {
    turns.push_back({begins[k], begins[k + 1]});
  }
  if (begins.empty() || row.learned[begins[0]].trained) return {};
  if (!turns.empty() && row.learned[turns.back().end].trained) turns.pop_back();
  return turns;
}

ParsedRow Without(const ParsedRow& row, const Turn& oldest, const Turn& newest) {
  ParsedRow shorter = row;
  const auto erase = [&](auto& list) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(oldest.begin),
               list.begin() + static_cast<std::ptrdiff_t>(newest.end));
  };
  erase(shorter.messages);
  erase(shorter.learned);
  return shorter;
}

bool IsStop(const ChatTemplate& chat, int32_t id) {
  return std::ranges::find(chat.stop_tokens(), id) != chat.stop_tokens().end();
}

void CheckNoBos(const RowTokenizer& text, const std::string& content) {
  const std::optional<int32_t> bos = text.tokenizer->bos();
  if (!bos) return;
  const std::string spelling = text.tokenizer->TokenBytes(*bos);
  if (spelling.empty() || !content.starts_with(spelling)) return;
  RefuseRow(
      fmt::format("a doubled BOS: the first message begins with the text {}, which the chat "
                  "template {} writes itself; take it out of the row",
                  spelling, text.chat->name()));
}

TrainingRow EncodeMessages(const RowTokenizer& text, const ParsedRow& row) {
  Result<ChatTokens> chat = text.chat->Apply(row.messages, /*generation=*/false);
  if (!chat) {
    RefuseRow(
        fmt::format("the chat template {} cannot express the conversation: {}; choose another one "
                    "with --chat_template",
                    text.chat->name(), chat.error().message));
  }
  TrainingRow tokens;
  size_t done = 1;  // nothing predicts the first token
  for (const size_t i : chat->InOrder()) {
    const ChatTokens::Span span = chat->messages[i];
    // A token with the end of one message and the beginning of the next one is in both spans.
    const size_t begin = std::max(span.begin, done);
    const size_t end = std::max(span.end, begin);
    done = end;
    if (!row.learned[i].trained) continue;
    if (begin == end || !IsStop(*text.chat, chat->ids[end - 1])) {
      RefuseRow(fmt::format(
          "the chat template {} cannot mark the end of message {}, so the model would not learn to "
          "stop: set eos_token in tokenizer_config.json, or choose another --chat_template",
          text.chat->name(), i));
    }
    tokens.trained.push_back(
        {static_cast<int32_t>(begin), static_cast<int32_t>(end), row.learned[i].kind});
  }
  tokens.ids = std::move(chat->ids);
  return tokens;
}

}  // namespace

RowCounts& RowCounts::operator+=(const RowCounts& other) {
  AddFields(kRowCountFields, other, *this);
  return *this;
}

std::vector<TrainingRow> RowEncoder::EncodeTurns(const ParsedRow& row, RowCounts& counts) const {
  ++counts.rows;
  TrainingRow tokens;
  std::optional<ParsedRow> shorter;
  const bool of_tokens = row.format == DataFormat::kTokens;
  const bool fits =
      of_tokens ? EncodeTokens(row, tokens) : EncodeConversation(row, tokens, shorter, counts);
  if (!fits) {
    ++counts.dropped;
    return {};
  }
  std::vector<TrainingRow> sequences;
  const bool learns = !tokens.trained.empty();
  if (!of_tokens && tokenizer_->chat->rewrites_turns()) {
    sequences = TakeRewritten(shorter ? *shorter : row, tokens, counts);
  }
  if (!learns || !tokens.trained.empty()) {
    sequences.insert(sequences.begin(), std::move(tokens));
  }
  for (const TrainingRow& sequence : sequences) {
    counts.tokens += static_cast<int64_t>(sequence.ids.size());
    counts.trained += sequence.trained_tokens();
  }
  return sequences;
}

std::vector<TrainingRow> RowEncoder::TakeRewritten(const ParsedRow& row, TrainingRow& tokens,
                                                   RowCounts& counts) const {
  std::vector<TrainingRow> own_sequences;
  std::vector<TrainedSpan> same;
  bool any = false;
  auto span = tokens.trained.begin();
  for (size_t i = 0; i < row.messages.size() && span != tokens.trained.end(); ++i) {
    if (!row.learned[i].trained) continue;
    ParsedRow prefix;
    prefix.messages.assign(row.messages.begin(),
                           row.messages.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    prefix.learned.resize(i + 1);
    prefix.learned[i] = row.learned[i];
    TrainingRow own = EncodeMessages(*tokenizer_, prefix);
    own.ids.resize(static_cast<size_t>(own.trained.front().end));
    const bool equal = own.trained.front() == *span &&
                       std::equal(own.ids.begin(), own.ids.end(), tokens.ids.begin());
    if (equal || !each_turn_) same.push_back(*span);
    ++span;
    if (equal) continue;
    any = true;
    counts.rewritten_tokens += own.trained_tokens();
    if (each_turn_ && Fits(own)) own_sequences.push_back(std::move(own));
  }
  counts.rewritten += any ? 1 : 0;
  tokens.trained = std::move(same);
  return own_sequences;
}

bool RowEncoder::Fits(const TrainingRow& tokens) const {
  if (tokens.ids.size() <= static_cast<size_t>(max_length_)) return true;
  if (too_long_ != TooLong::kError) return false;
  RefuseRow(fmt::format("{} tokens, more than --max_length {}: raise it, or --too_long cut or drop",
                        tokens.ids.size(), max_length_));
}

bool RowEncoder::EncodeConversation(const ParsedRow& row, TrainingRow& tokens,
                                    std::optional<ParsedRow>& shorter, RowCounts& counts) const {
  CheckNoBos(*tokenizer_, row.messages.front().content);
  tokens = EncodeMessages(*tokenizer_, row);
  if (Fits(tokens)) return true;
  if (too_long_ != TooLong::kCut) return false;
  const std::vector<Turn> spare = SpareTurns(row);
  // Leaving out more turns never makes a row longer, so the smallest number is found by bisection.
  size_t few = 0, enough = spare.size() + 1;
  while (few + 1 < enough) {
    const size_t middle = few + (enough - few) / 2;
    ParsedRow fewer = Without(row, spare[0], spare[middle - 1]);
    TrainingRow encoded = EncodeMessages(*tokenizer_, fewer);
    if (Fits(encoded)) {
      enough = middle;
      tokens = std::move(encoded);
      shorter = std::move(fewer);
    } else {
      few = middle;
    }
  }
  if (enough > spare.size()) return false;
  ++counts.cut;
  counts.dropped_turns += static_cast<int64_t>(enough);
  return true;
}

bool RowEncoder::EncodeTokens(const ParsedRow& row, TrainingRow& tokens) const {
  const Tokenizer& tokenizer = *tokenizer_->tokenizer;
  constexpr char kCure[] =
      "; write the rows with this model: path_collect --format tokens --model_dir DIR";
  if (!row.tokenizer.empty() && !tokenizer_->hash.empty() && row.tokenizer != tokenizer_->hash) {
    RefuseRow(
        fmt::format("a token row of another tokenizer (its hash begins with {:.8}, that of "
                    "the model's tokenizer.json with {:.8}){}",
                    row.tokenizer, tokenizer_->hash, kCure));
  }
  for (const int32_t id : row.tokens.ids) {
    if (id < tokenizer.size()) continue;
    RefuseRow(
        fmt::format("a token row of another tokenizer: it has the id {}, and this one has {} "
                    "tokens{}",
                    id, tokenizer.size(), kCure));
  }
  const std::vector<int32_t>& ids = row.tokens.ids;
  if (const auto bos = tokenizer.bos(); bos && ids.size() > 1 && ids[0] == *bos && ids[1] == *bos) {
    RefuseRow(fmt::format("a doubled BOS: the row begins with {} twice{}",
                          tokenizer.TokenBytes(*bos), kCure));
  }
  for (const TrainedSpan& span : row.tokens.trained) {
    if (IsStop(*tokenizer_->chat, ids[static_cast<size_t>(span.end) - 1])) continue;
    RefuseRow(
        fmt::format("a token row whose trained tokens up to number {} do not end with a token that "
                    "ends the turn in the chat template {}: the row is of another tokenizer or "
                    "template, or does not train the end of the turn{}",
                    span.end, tokenizer_->chat->name(), kCure));
  }
  tokens = row.tokens;
  return Fits(tokens);
}

}  // namespace agentr
