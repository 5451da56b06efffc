// The search tree of one task.
//
// The tree owns its nodes in one vector; everything else holds indices. A node stores only its own
// turn; a conversation is rebuilt from the path (Conversation). During a search, visits and values
// change only through BackUp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "rollout/turn.h"

namespace agentr {

// The reason why a leaf ended. Inner nodes have kNone.
// kCut: every response to the node was a cut turn (rollout/cut_turns.h), so that it could not be
// continued; its reward is the present one, as at the depth limit.
enum class End { kNone, kDone, kDisaster, kDepth, kCut };

// The root has only an observation, the first one.
struct Node : TurnRecord {
  int parent = -1;  // -1 at the root
  int depth = 0;    // turns since the root
  std::vector<int> children = {};

  double reward = 0;  // in [0, 1]
  End end = End::kNone;
  int cut_turns = 0;  // responses to this node that were cut before an action; they have no node

  int visits = 0;                 // number of ended leaves backed up through this node, or from it
  double value = 0;               // sum of their rewards
  std::optional<Slip> slip = {};  // then `response` and `action` are not what the model said
  bool terminal = false;          // ended, or all children are terminal: nothing is left to explore

  // The average reward behind it; 0 if it was never visited.
  double mean() const { return visits > 0 ? value / visits : 0; }
};

// How a tree was made; written into its file.
struct TreeOrigin {
  std::string family;               // "textcraft"
  int task_id = 0;                  // the id on the environment server
  std::string model;                // LanguageModel::name()
  std::string data_hash;            // of the environment server's data; empty if unknown
  std::string search;               // the search options, as a JSON object
  std::string model_identity = "";  // LanguageModel::identity()
};

class Tree {
 public:
  Tree() = default;
  Tree(TreeOrigin origin, std::vector<Message> instruction, std::string first_observation);

  const TreeOrigin& origin() const { return origin_; }
  const std::vector<Message>& instruction() const { return instruction_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int index) const { return nodes_[static_cast<size_t>(index)]; }
  const Node& root() const { return nodes_.front(); }
  int size() const { return static_cast<int>(nodes_.size()); }

  // Appends `child` under `parent`, sets its parent and depth, and returns its index. An ended
  // child is terminal from the start.
  int Add(int parent, Node child);

  // Adds the reward of the ended leaf `leaf` and one visit to it and all its ancestors, then
  // refreshes `terminal` upwards.
  void BackUp(int leaf);

  // Counts responses to `index` that were cut before an action.
  void AddCutTurns(int index, int count) { at(index).cut_turns += count; }

  // Ends a node without children because all responses to it were cut, and backs it up.
  void EndCut(int index);

  // Marks `index` and its ancestors terminal, upwards as long as all children of a node are
  // terminal.
  void RefreshTerminal(int index);

  // Sets the counters of a tree read from a file.
  void Restore(int index, int visits, double value);

  // The same tree with its nodes in depth-first order, which does not depend on when a node was
  // made.
  Tree DepthFirst() const;

  // Indices from the root to `index`, both included.
  std::vector<int> Path(int index) const;

  // The messages up to the observation of `index`: instruction, first observation, then one
  // assistant and one user message per turn, without the oldest `dropped_turns` turns.
  std::vector<Message> Conversation(int index, int dropped_turns = 0) const;

  // The sampled token ids for each message of Conversation(index, dropped_turns); empty for
  // messages that the model did not write. They are valid as long as the tree.
  std::vector<std::span<const int32_t>> SampledIds(int index, int dropped_turns) const;

  // The prompt that the model saw at `index`, its response and the answer: Conversation without the
  // turns that were dropped from the prompt.
  std::vector<Message> SeenConversation(int index) const {
    return Conversation(index, node(index).dropped_turns);
  }

 private:
  Node& at(int index) { return nodes_[static_cast<size_t>(index)]; }

  TreeOrigin origin_;
  std::vector<Message> instruction_;
  std::vector<Node> nodes_;
};

}  // namespace agentr
