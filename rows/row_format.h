// Writes rows as JSON lines in several formats. Every format except agent-r contains the provenance
// of a row in "provenance"; agent-r has exactly the published fields and a separate file of
// provenance with corresponding lines.
//
//   agent-r   task_num, revise_log, high_log, low_log (messages; "loss" on assistant turns of
//             revise_log), task_description, revise (whether a first error was found),
//             revise_feedback: [{revision_feedback, action, obs, judgement}]
//   messages  OpenAI's chat format: {"messages": [{role, content, weight, loss}]}. Assistant
//             messages have both weight 0 or 1 and loss false or true, with the same meaning,
//             because trainers read one or the other
//   sharegpt  AgentGym's: {"conversations": [{from: human|gpt|system, loss, value}], "item_id"};
//             loss is null for what the model did not say
//   tokens    with the encoder of a model: {"ids", "loss", "logprobs", "revision", "tokenizer"}, one
//             of each of the first three per token of the row in the model's format (EncodeRow);
//             loss 0 or 1, "revision" [begin, end) of the revision turn or null,
//             log-probabilities null where a token was not sampled; the hash of the tokenizer, by
//             which a trainer tells rows of another one. Without one: {"segments": [{role, loss, ids, logprobs} |
//             {role, loss, text}]}: the tokens that were sampled, where the tree has them; what was
//             not sampled by the model is text, for the trainer's chat template
//
// Rows end with the agent's last turn; the reply to it is "last_observation" in the provenance.
//
// provenance: {version, tree, task, model, data_hash, nodes: {good, bad, ancestor, first_error},
// rewards: {good, bad, replay}, mistake, evidence, reason, values, revision_length: {from_start,
// from_ancestor}, bad_steps, recovery, pruned_turns, seed, alpha, beta, pairing, verifier, prune,
// train_prefix, replay, dropped_turns, last_observation, hash}; values: of the verifier rollout, {before,
// behind: {successes, continuations, low, high}} with the 95 % interval; node ids are positions in the tree
// file (agent-r trees: in depth-first order), null where there is none.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clients/chat_encoder.h"
#include "revision/row_draft.h"

namespace agentr {

// The paper's revision length, the number of steps up to the first error: counted from the start of
// the path, as in the paper, and from the point where it leaves the good path. -1 for good paths
// alone.
struct RevisionLength {
  int from_start = -1;
  int from_ancestor = -1;
};
RevisionLength RevisionLengthOf(const Row& row);

class RowFormat {
 public:
  virtual ~RowFormat() = default;

  // The end of the file name after "<task>_<data_type>": ".messages.jsonl".
  virtual std::string_view suffix() const = 0;

  // The row as one line of JSON with a newline. The same row gives the same bytes. Throws
  // FatalError(kUsage) if the model's format cannot express the row's order of roles.
  virtual std::string Line(const Row& row) const = 0;
};

// "agent-r", "messages", "sharegpt", "tokens", "provenance"; throws FatalError(kUsage) for others.
// `encoder` (may be null, outlives the format) is used by tokens.
std::unique_ptr<RowFormat> MakeRowFormat(std::string_view name,
                                         const ChatEncoder* encoder = nullptr);

// The formats of these names, each once, and provenance where there is agent-r, which needs it.
std::vector<std::unique_ptr<RowFormat>> MakeRowFormats(const std::vector<std::string>& names,
                                                       const ChatEncoder* encoder);

}  // namespace agentr
