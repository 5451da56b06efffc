#include "mcts/agent_r_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "clients/message_json.h"
#include "common/json_depth.h"
#include "common/json_lenient.h"
#include "mcts/selection.h"
#include "rollout/slip_json.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRootText = "ROOT";
// The names in the compact format.
constexpr const char* kDepthEnd = "depth";
constexpr const char* kCutEnd = "cut";

double ExplorationOf(const Tree& tree) {
  const Json search = Json::parse(tree.origin().search, nullptr, /*allow_exceptions=*/false);
  return FieldOr(search, "c", 0.25);
}

Json RecentActions(const Tree& tree, int index) {
  const TaskKind* kind = FindTaskKind(tree.origin().family);
  Json recent = Json::array();
  for (const int step : tree.Path(index)) {
    if (step == 0) continue;
    const Node& node = tree.node(step);
    if (kind != nullptr && kind->turns_as_text) {
      recent.push_back(fmt::format("({}, {})", node.action, node.observation));
    } else {
      recent.push_back(Json::array({node.action, node.observation}));
    }
  }
  return recent;
}

Json NodeToJson(const Tree& tree, int index, double c) {
  const Node& node = tree.node(index);
  const bool root = index == 0;
  const double score = root || node.visits == 0 ? 0
                                                : SelectionScore(node.value, node.visits,
                                                                 tree.node(node.parent).visits, c);
  Json children = Json::array();
  for (const int child : node.children) children.push_back(NodeToJson(tree, child, c));
  Json json = {{"visits", node.visits},
               {"value", node.value},
               {"prior", 1},
               {"puct_value", score},
               {"obs", node.observation},
               {"llm_response", root ? kRootText : node.response},
               {"depth", node.depth},
               {"is_terminal", node.terminal},
               {"recent_actions", RecentActions(tree, index)},
               {"action", root ? kRootText : node.action},
               {"env_score", node.reward},
               {"disaster", node.end == End::kDisaster},
               {"state", MessagesToJson(tree.SeenConversation(index))}};
  // An additional field: Agent-R's format does not distinguish the environment's end of an episode
  // from the depth limit.
  if (node.end == End::kDepth) json["end"] = kDepthEnd;
  if (node.end == End::kCut) json["end"] = kCutEnd;
  // Another one: a trainer must not learn what the model did not say.
  if (node.slip) json["slip"] = SlipToJson(*node.slip);
  json["children"] = std::move(children);
  return json;
}

// The number of turns that are missing in the state of a node at this depth.
int DroppedTurns(const Json& node, size_t instruction_size, int depth) {
  const size_t messages = node.at("state").size();
  const size_t turns = messages > instruction_size + 1 ? (messages - instruction_size - 1) / 2 : 0;
  return std::clamp(depth - static_cast<int>(turns), 0, depth - 1);
}

End EndOfLeaf(const Json& json) {
  if (JsonField<bool>(json, "disaster")) return End::kDisaster;
  const auto end = JsonFieldOr(json, "end", std::string());
  return end == kDepthEnd ? End::kDepth : end == kCutEnd ? End::kCut : End::kDone;
}

void AddChildren(const Json& parent, int parent_index, Tree& tree) {
  for (const auto& json : parent.at("children")) {
    Node node;
    node.response = JsonField<std::string>(json, "llm_response");
    node.action = JsonField<std::string>(json, "action");
    node.observation = JsonField<std::string>(json, "obs");
    node.reward = JsonField<double>(json, "env_score");
    const int depth = tree.node(parent_index).depth + 1;
    node.dropped_turns = DroppedTurns(json, tree.instruction().size(), depth);
    const bool ended = JsonField<bool>(json, "is_terminal") && json.at("children").empty();
    if (ended) node.end = EndOfLeaf(json);
    node.slip = ReadSlip(json);
    const int index = tree.Add(parent_index, std::move(node));
    tree.Restore(index, JsonField<int>(json, "visits"), JsonField<double>(json, "value"));
    AddChildren(json, index, tree);
  }
}

}  // namespace

std::string WriteAgentRTree(const Tree& tree) {
  return DumpJson(NodeToJson(tree, 0, ExplorationOf(tree))) + "\n";
}

Tree ReadAgentRTree(const Json& document) {
  std::vector<Message> instruction = MessagesFromJson(document.at("state"));
  if (instruction.empty()) throw std::invalid_argument("the root's \"state\" is empty");
  std::string first_observation = std::move(instruction.back().content);
  instruction.pop_back();
  Tree tree(TreeOrigin{}, std::move(instruction), std::move(first_observation));
  tree.Restore(0, JsonField<int>(document, "visits"), JsonField<double>(document, "value"));
  AddChildren(document, 0, tree);
  return tree;
}

}  // namespace agentr
