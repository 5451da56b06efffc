// The responses in search trees as rows of token ids, for training from trees without writing text
// in between: the prompt as the model saw it, and the response exactly as it was sampled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mcts/tree.h"
#include "training/data/row_tokenizer.h"
#include "training/data/training_row.h"

namespace agentr {

// A response of the policy and what is known about it.
struct TreeResponse {
  TrainingRow row;  // its only trained span is the response
  // By trained token, the natural log-probability when it was sampled; empty if unknown.
  std::vector<float> sampled;
  double advantage = 0;
  bool cut = false;  // it was sampled, and a limit ended it: no token that ends a turn
};

// Encodes with the chat template of the trained model. Thread-safe; the tokenizer outlives it.
class TreeRowEncoder {
 public:
  // Rows of more than `max_length` tokens are left out.
  TreeRowEncoder(const RowTokenizer& text, int max_length) : text_(text), max_length_(max_length) {}

  // The response of `node` (not the root). Sampled ids are used where they decode to the text of
  // the tree, as in the search; everything else is encoded. nullopt if the row is too long. Throws
  // FatalError(kFile) if the template cannot express the conversation.
  std::optional<TreeResponse> Encode(const Tree& tree, int node) const;

  // The same for a response that is in no tree. `prompt` ends with a message that it answers.
  std::optional<TreeResponse> Encode(const std::vector<Message>& prompt,
                                     const Message& response) const;

 private:
  // The prompt that a response to the observation of `node` follows, without the oldest
  // `dropped_turns` turns.
  std::vector<int32_t> EncodePrompt(const Tree& tree, int node, int dropped_turns) const;
  std::vector<int32_t> EncodeResponse(const Tree& tree, int node) const;
  std::vector<int32_t> EncodeResponse(const std::string& before, const Message& response) const;
  // The row of `prompt` and `own`, the response.
  std::optional<TreeResponse> RowOf(std::vector<int32_t> prompt,
                                    const std::vector<int32_t>& own) const;

  const RowTokenizer& text_;
  const int max_length_;
};

// The advantage of each node's response: the average reward behind the node minus that behind its
// parent, where the parent's average is over all episodes through it. 0 at the root and at nodes
// without visits.
std::vector<double> StepAdvantages(const Tree& tree);

// Tree-GRPO's advantage of each node's response (Ji et al. 2025, arXiv 2509.21240, section 3.3):
// the average over the episodes through the node of the standard score of their reward among the
// episodes of the tree, plus that among the episodes of all trees of the task where there are
// several. `trees`: of one task. Returns a value per node for each tree.
std::vector<std::vector<double>> TreeGroupAdvantages(const std::vector<const Tree*>& trees,
                                                     bool divide_by_std);

}  // namespace agentr
