// Rows of training data, and the formats of their files.
//
// A thought that is kept apart from its message is "reasoning_content" of the message; in sharegpt,
// and in tokens without an encoder, it stands in the text, between <think> and </think>.
//
//   messages  OpenAI's chat format: {"messages": [{role, content, weight, loss}]}. path_collect
//             gives assistant messages both weight 0 or 1 and loss false or true, with the same
//             meaning, because trainers read one or the other. A row in which no message has either
//             is general chat: every assistant message is trained
//   sharegpt  AgentGym's: {"conversations": [{from: human|gpt|system, loss, value}], "item_id"};
//             loss is null for what the model did not say
//   prompt_completion  TRL's: a line for each trained turn, {"prompt": [{role, content}],
//             "completion": [{role, content}]}: the turns before it, and the turn alone. For
//             trainers that read no marks of messages, and would train the bad actions of a path
//             too
//   last_turn  the same lines as messages, whose last one alone is trained: for trainers that can
//             be told to train the last turn and read no prompt apart (LLaMA-Factory's
//             mask_history)
//   agent-r   task_num, revise_log (messages; "loss" on assistant turns), high_log, low_log,
//             task_description, revise (whether a first error was found), revise_feedback:
//             [{revision_feedback, action, obs, judgement}]. An assistant message without "loss" is
//             not trained: in Agent-R's own files that is the "OK." after the instruction, which
//             the policy did not say
//   tokens    with the encoder of a model: {"ids", "loss", "logprobs", "revision", "tokenizer",
//             "input_ids", "labels"}, one of each of the first three per token of the row in the
//             model's format (EncodeRow); loss 0 or 1, "revision" [begin, end) of the revision turn
//             or null, log-probabilities null where a token was not sampled, and absent where none
//             was; the hash of the tokenizer, by which a trainer tells rows of another one. The
//             last two say the first two again for trainers on transformers: a label is the id, or
//             -100. Without an encoder: {"segments": [{role, loss, ids, logprobs} | {role, loss,
//             text}]}: the tokens that were sampled, where the tree has them; what was not sampled
//             by the model is text, for the trainer's chat template
//
//   preference  TRL's: {"prompt": [{role, content}], "chosen": [{role, content}], "rejected":
//             [{role, content}]} of each row whose last wrong step was refused: the turn that mends
//             and the refused one again (revision/make/correction.h). No row, and no format of one
//             that is read
//
// Every format except agent-r contains the provenance of a row in "provenance" (provenance.h);
// agent-r has exactly the published fields and a separate file of provenance with corresponding
// lines. Rows end with the agent's last turn; the reply to it is "last_observation" in the
// provenance.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

enum class DataFormat {
  kMessages,
  kShareGpt,
  kAgentR,
  kTokens,
  kSegments,
  kPromptCompletion,
  kLastTurn  // read as kMessages
};

struct FormatNames {
  DataFormat format;
  std::string_view name;    // of --format
  std::string_view suffix;  // end of the file's name after "<task>_<data_type>"
  const char* list;         // the member with the messages, or with the ids
  const char* role = "";    // members of a message
  const char* text = "";
};

// A row has the first of these formats whose list it has.
inline constexpr std::array<FormatNames, 7> kFormats = {
    {{DataFormat::kMessages, "messages", ".messages.jsonl", "messages", "role", "content"},
     {DataFormat::kShareGpt, "sharegpt", ".sharegpt.jsonl", "conversations", "from", "value"},
     {DataFormat::kAgentR, "agent-r", ".jsonl", "revise_log", "role", "content"},
     {DataFormat::kTokens, "tokens", ".tokens.jsonl", "ids"},
     {DataFormat::kSegments, "tokens", ".tokens.jsonl", "segments", "role", "text"},
     {DataFormat::kPromptCompletion, "prompt_completion", ".prompt_completion.jsonl", "completion",
      "role", "content"},
     {DataFormat::kLastTurn, "last_turn", ".last_turn.jsonl", "messages", "role", "content"}}};

constexpr const FormatNames& NamesOf(DataFormat format) {
  return *std::ranges::find(kFormats, format, &FormatNames::format);
}

// What a row says of the failed path that it corrects. Rows of others say nothing.
enum class BadPath { kUnknown, kNone, kNamed };

// Keys that are not read, with the number of messages that have each.
using UnreadKeys = std::map<std::string, int64_t>;

// A row as it is read.
struct Row {
  DataFormat format = DataFormat::kMessages;
  std::vector<Message> messages;
  std::vector<int32_t> ids;   // of a token row, which has no messages
  std::vector<bool> trained;  // one per message, or per id; only assistant messages are, and never
                              // the first token, which nothing predicts
  std::optional<std::pair<size_t, size_t>> revision;  // [begin, end) of its ids, if it tells
  std::string tokenizer;                              // hash of a token row's; empty if unknown
  std::string task;                                   // empty if unknown
  BadPath bad_path = BadPath::kUnknown;
  std::optional<bool> train_prefix;                          // as the provenance says
  std::shared_ptr<const nlohmann::ordered_json> provenance;  // an object, or null
  UnreadKeys unread;                                         // of its messages
};

// A message of a row that is made. `content` and what was sampled outlive it.
struct RowMessage {
  std::string role;
  const std::string* content = nullptr;
  bool trained = false;
  int turn = -1;          // the index of its turn; -1 before the first one
  bool revision = false;  // the turn that admits the mistake
  // The node's response, if the model sampled the message in the search, and its tokens there. The
  // response differs from `content` if the turn was changed.
  const std::string* response = nullptr;
  std::span<const int32_t> ids = {};
  std::span<const float> logprobs = {};    // one per id, or none
  const std::string* reasoning = nullptr;  // the thought that is kept apart; null or empty: none

  Message AsMessage() const { return {role, *content, reasoning == nullptr ? "" : *reasoning}; }
};

}  // namespace agentr
