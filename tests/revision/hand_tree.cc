#include "tests/revision/hand_tree.h"

#include <sstream>
#include <utility>

#include "tests/mcts/toy_environment.h"

namespace agentr {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

int ChildBy(const Tree& tree, int parent, const std::string& action) {
  for (const int child : tree.node(parent).children) {
    if (tree.node(child).action == action) return child;
  }
  return -1;
}

void AddEpisode(const Ended& episode, Tree& tree) {
  const std::vector<std::string> actions = Words(episode.actions);
  int at = 0;
  std::string history = "saw";
  for (size_t i = 0; i < actions.size(); ++i) {
    history += " " + actions[i];
    const bool last = i + 1 == actions.size();
    int next = last ? -1 : ChildBy(tree, at, actions[i]);
    if (next < 0) {
      Node node;
      node.action = actions[i];
      node.response = "Thought: I go on.\nAction: " + actions[i];
      node.observation = history;
      if (last) {
        node.reward = episode.reward;
        node.end = episode.end;
      }
      next = tree.Add(at, std::move(node));
    }
    at = next;
  }
  if (at != 0) tree.BackUp(at);
}

// The same tree, in which `change` was applied to every node but the root.
Tree Copy(const Tree& tree, const std::function<void(int, Node&)>& change) {
  Tree copy(tree.origin(), tree.instruction(), tree.root().observation);
  copy.Restore(0, tree.root().visits, tree.root().value);
  for (int i = 1; i < tree.size(); ++i) {
    Node node = tree.node(i);
    node.children.clear();
    change(i, node);
    copy.Restore(copy.Add(node.parent, node), tree.node(i).visits, tree.node(i).value);
  }
  return copy;
}

}  // namespace

Tree HandTree(const std::vector<Ended>& episodes) {
  Tree tree({"toy", 3, "hand", "", "{}"}, {{"user", "Play."}, {"assistant", "Ok."}}, "Goal 3.");
  for (const Ended& episode : episodes) AddEpisode(episode, tree);
  return tree;
}

int At(const Tree& tree, const std::string& actions) {
  int at = 0;
  for (const std::string& action : Words(actions)) {
    if (at >= 0) at = ChildBy(tree, at, action);
  }
  return at;
}

Tree WithRefusals(const Tree& plain) {
  return Copy(plain, [](int /*index*/, Node& node) {
    if (node.action.starts_with("stuck")) node.observation = "Nothing changes";
  });
}

Tree Changed(const Tree& tree, int index, const std::function<void(Node&)>& change) {
  return Copy(tree, [&](int i, Node& node) {
    if (i == index) change(node);
  });
}

Tree WithTokens(const Tree& tree) {
  return Copy(tree, [](int /*index*/, Node& node) {
    node.token_ids.clear();
    for (const char c : node.response) node.token_ids.push_back(static_cast<unsigned char>(c));
    node.logprobs.assign(node.token_ids.size(), -0.5F);
  });
}

Trajectory HandSplice(const Tree& tree, const PathPair& pair, int bad_steps,
                      const RevisionTurn& revision) {
  const StateMap states(tree, ToyFamily());
  return Splice(tree, states, PlanOf(tree, states, pair, bad_steps), revision);
}

RowDraft HandRow(const RowSource& source, const PathPair& pair, const FirstError& error,
                 const Replay& replay) {
  Trajectory trajectory = HandSplice(source.tree, pair, error.bad_steps, {"Oh.", "wait", "ok."});
  Decision decision;
  decision.pair = pair;
  decision.error = error;
  decision.turns = trajectory.turns;
  decision.replay = replay;
  return {source, std::move(decision), std::move(trajectory), "abc"};
}

}  // namespace agentr
