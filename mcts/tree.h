// The search tree of one task.
//
// The tree owns its nodes in one vector; everything else holds indices. A node stores only what its
// own turn added; a conversation is rebuilt from the path (Conversation). Visits and values change
// only through BackUp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

// Why a leaf was ended. Inner nodes have kNone.
enum class End { kNone, kDone, kDisaster, kDepth };

struct Node {
  int parent = -1;  // -1 at the root
  int depth = 0;    // turns since the root
  std::vector<int> children;

  std::string response;     // what the model wrote; empty at the root
  std::string action;       // parsed out of it; empty at the root
  std::string observation;  // what the environment answered; the root's is the first observation
  double reward = 0;        // in [0, 1]
  End end = End::kNone;
  int dropped_turns = 0;  // turn pairs cut from the prompt that `response` was sampled from
  std::vector<int32_t> token_ids;  // of `response`, where the model told them
  std::vector<float> logprobs;     // natural log, one per token id

  int visits = 0;         // ended leaves below (or this one)
  double value = 0;       // sum of their rewards
  bool terminal = false;  // ended, or all children terminal: nothing is left to explore
};

// How a tree was made; written into its file.
struct TreeOrigin {
  std::string family;               // "textcraft"
  int task = 0;                     // the id on the environment server
  std::string model;                // LanguageModel::name()
  std::string data_hash;            // of the environment server's data; empty when it does not tell
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

  // Appends `child` under `parent` (sets its parent and depth); the index of the new node. An ended
  // child is terminal from the start.
  int Add(int parent, Node child);

  // Adds the reward of the ended leaf `leaf` and one visit to it and all its ancestors, then
  // refreshes `terminal` upwards.
  void BackUp(int leaf);

  // Makes `index` and its ancestors terminal as far as all their children are.
  void RefreshTerminal(int index);

  // Sets the counters of a tree read from a file.
  void Restore(int index, int visits, double value);

  // The same tree with each node before those below it, and these before its next sibling: the order
  // does not tell when a node was made.
  Tree DepthFirst() const;

  // Indices from the root to `index`, both included.
  std::vector<int> Path(int index) const;

  // The messages up to the observation of `index`: instruction, first observation, then one
  // assistant and one user message per turn, without the oldest `dropped_turns` turns.
  std::vector<Message> Conversation(int index, int dropped_turns = 0) const;

  // What the model saw and wrote at `index`, and what it was answered: Conversation with the turns
  // that were cut from its prompt left out.
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
