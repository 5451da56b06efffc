#include "mcts/tree.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace agentr {

Tree::Tree(TreeOrigin origin, std::vector<Message> instruction, std::string first_observation)
    : origin_(std::move(origin)), instruction_(std::move(instruction)) {
  nodes_.emplace_back();
  nodes_.front().observation = std::move(first_observation);
}

int Tree::Add(int parent, Node child) {
  assert(parent >= 0 && parent < size());
  const int index = size();
  child.parent = parent;
  child.depth = node(parent).depth + 1;
  child.terminal = child.end != End::kNone;
  at(parent).children.push_back(index);
  nodes_.push_back(std::move(child));
  return index;
}

void Tree::BackUp(int leaf) {
  const double reward = node(leaf).reward;
  for (int index = leaf; index >= 0; index = node(index).parent) {
    at(index).visits += 1;
    at(index).value += reward;
  }
  RefreshTerminal(node(leaf).parent);
}

void Tree::EndCut(int index) {
  at(index).end = End::kCut;
  at(index).terminal = true;
  BackUp(index);
}

void Tree::RefreshTerminal(int index) {
  for (; index >= 0; index = node(index).parent) {
    const std::vector<int>& children = node(index).children;
    const bool closed =
        !children.empty() && std::ranges::all_of(children, [&](int c) { return node(c).terminal; });
    if (!closed) return;
    at(index).terminal = true;
  }
}

void Tree::Restore(int index, int visits, double value) {
  at(index).visits = visits;
  at(index).value = value;
}

Tree Tree::DepthFirst() const {
  Tree sorted(origin_, instruction_, root().observation);
  struct Step {
    int from;
    int parent;  // in `sorted`
  };
  std::vector<Step> ahead = {{0, -1}};
  while (!ahead.empty()) {
    const Step step = ahead.back();
    ahead.pop_back();
    const Node& from = node(step.from);
    int to = 0;
    if (step.parent >= 0) {
      Node copy = from;
      copy.children.clear();
      to = sorted.Add(step.parent, std::move(copy));
    }
    sorted.at(to).visits = from.visits;
    sorted.at(to).value = from.value;
    sorted.at(to).terminal = from.terminal;
    for (auto child = from.children.rbegin(); child != from.children.rend(); ++child) {
      ahead.push_back({*child, to});
    }
  }
  return sorted;
}

std::vector<int> Tree::Path(int index) const {
  std::vector<int> path;
  path.reserve(static_cast<size_t>(node(index).depth) + 1);
  for (; index >= 0; index = node(index).parent) path.push_back(index);
  std::ranges::reverse(path);
  return path;
}

std::vector<Message> Tree::Conversation(int index, int dropped_turns) const {
  const std::vector<int> path = Path(index);
  assert(dropped_turns >= 0 && dropped_turns < static_cast<int>(path.size()));
  std::vector<Message> messages;
  messages.reserve(instruction_.size() + 2 * path.size());
  messages = instruction_;
  messages.push_back({"user", root().observation});
  for (size_t i = 1 + static_cast<size_t>(dropped_turns); i < path.size(); ++i) {
    messages.push_back({"assistant", node(path[i]).response, node(path[i]).reasoning});
    messages.push_back({"user", node(path[i]).observation});
  }
  return messages;
}

std::vector<std::span<const int32_t>> Tree::SampledIds(int index, int dropped_turns) const {
  std::vector<std::span<const int32_t>> ids(instruction_.size() + 1);
  const std::vector<int> path = Path(index);
  for (size_t i = 1 + static_cast<size_t>(dropped_turns); i < path.size(); ++i) {
    ids.emplace_back(node(path[i]).token_ids);
    ids.emplace_back();  // the observation
  }
  return ids;
}

}  // namespace agentr
