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

}  // namespace

Tree HandTree(const std::vector<Ended>& episodes, int task_id,
              const std::string& first_observation) {
  Tree tree({"toy", task_id, "hand", "", "{}"}, {{"user", "Play."}, {"assistant", "Ok."}},
            first_observation);
  for (const Ended& episode : episodes) AddEpisode(episode, tree);
  return tree;
}

StepResult HandWorld(int /*task*/, const std::vector<std::string>& actions) {
  if (actions.empty()) return {"Goal 3."};
  if (actions.back() == "wait") return {"Nothing changes"};
  if (actions.back() == "g") return {"saw p g", 1, true};
  if (actions.back() == "over") return {"saw p over", 0, true};
  std::string saw = "saw";
  for (const std::string& action : actions) saw += " " + action;
  return {saw};
}

int At(const Tree& tree, const std::string& actions) {
  int at = 0;
  for (const std::string& action : Words(actions)) {
    if (at >= 0) at = ChildBy(tree, at, action);
  }
  return at;
}

Tree Changed(const Tree& tree, const std::function<void(int, Node&)>& change) {
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

Tree WithRefusals(const Tree& plain) {
  return Changed(plain, [](int /*index*/, Node& node) {
    if (node.action.starts_with("stuck")) node.observation = "Nothing changes";
  });
}

Tree Changed(const Tree& tree, int index, const std::function<void(Node&)>& change) {
  return Changed(tree, [&](int i, Node& node) {
    if (i == index) change(node);
  });
}

Tree WithTokens(const Tree& tree) {
  return Changed(tree, [](int /*index*/, Node& node) {
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

std::string Outline(const Trajectory& trajectory) {
  std::string text;
  for (const SplicedTurn& turn : trajectory.turns) {
    text += text.empty() ? "" : " ";
    text += std::string("=-~^+").substr(static_cast<size_t>(turn.part), 1) + turn.action;
  }
  return text;
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
