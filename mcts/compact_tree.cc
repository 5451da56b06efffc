#include "mcts/compact_tree.h"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "clients/message_json.h"
#include "common/json_depth.h"
#include "rollout/slip_json.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "agentr-tree";
constexpr int kVersion1 = 1;
constexpr std::array<NamedValue<End>, 4> kEnds = {{{"done", End::kDone},
                                                   {"disaster", End::kDisaster},
                                                   {"depth", End::kDepth},
                                                   {"cut", End::kCut}}};

nlohmann::ordered_json NodeToJson(const Node& node) {
  nlohmann::ordered_json json;
  if (node.parent >= 0) {
    json["parent"] = node.parent;
    json["response"] = node.response;
    json["action"] = node.action;
  }
  json["observation"] = node.observation;
  if (node.reward != 0) json["reward"] = node.reward;
  if (node.visits != 0) json["visits"] = node.visits;
  if (node.value != 0) json["value"] = node.value;
  if (node.end != End::kNone) json["end"] = NameOf(kEnds, node.end);
  if (node.dropped_turns != 0) json["dropped_turns"] = node.dropped_turns;
  if (!node.token_ids.empty()) json["token_ids"] = node.token_ids;
  if (!node.logprobs.empty()) json["logprobs"] = node.logprobs;
  if (!node.reasoning.empty()) json["reasoning_content"] = node.reasoning;
  if (node.cut_turns != 0) json["cut_turns"] = node.cut_turns;
  if (node.slip) json["slip"] = SlipToJson(*node.slip);
  return json;
}

Node NodeFromJson(const nlohmann::ordered_json& json) {
  Node node;
  node.response = JsonField<std::string>(json, "response");
  node.action = JsonField<std::string>(json, "action");
  node.observation = JsonField<std::string>(json, "observation");
  node.reward = JsonFieldOr(json, "reward", 0.0);
  if (json.contains("end")) node.end = JsonField(json, "end", kEnds);
  node.dropped_turns = JsonFieldOr(json, "dropped_turns", 0);
  node.token_ids = JsonFieldOr(json, "token_ids", std::vector<int32_t>());
  node.logprobs = JsonFieldOr(json, "logprobs", std::vector<float>());
  node.reasoning = JsonFieldOr(json, "reasoning_content", std::string());
  node.cut_turns = JsonFieldOr(json, "cut_turns", 0);
  node.slip = ReadSlip(json);
  return node;
}

void CheckHeader(const nlohmann::ordered_json& document) {
  const auto format = JsonField<std::string>(document, "format");
  if (format != kFormat) {
    throw std::invalid_argument(fmt::format("\"format\" is {}, not {}", format, kFormat));
  }
  const int version = JsonField<int>(document, "version");
  if (version != kVersion1) {
    throw std::invalid_argument(
        fmt::format("tree format version {} is unknown; use a newer agentr", version));
  }
}

}  // namespace

std::string WriteCompactTree(const Tree& tree) {
  const TreeOrigin& origin = tree.origin();
  std::string text = fmt::format("{{\"format\":\"{}\",\"version\":{},\n", kFormat, kVersion1);
  text += fmt::format("\"family\":{},\"task\":{},\"model\":{},\"data_hash\":{},\n",
                      DumpJson<Json>(origin.family), origin.task_id, DumpJson<Json>(origin.model),
                      DumpJson<Json>(origin.data_hash));
  if (!origin.model_identity.empty()) {
    text += fmt::format("\"model_identity\":{},\n", DumpJson<Json>(origin.model_identity));
  }
  text += fmt::format("\"search\":{},\n", origin.search.empty() ? "{}" : origin.search);
  text +=
      fmt::format("\"instruction\":{},\n\"nodes\":[", DumpJson(MessagesToJson(tree.instruction())));
  for (const Node& node : tree.nodes()) {
    text += &node == &tree.root() ? "\n" : ",\n";
    text += DumpJson(NodeToJson(node));
  }
  text += "\n]}\n";
  return text;
}

Tree ReadCompactTree(const nlohmann::ordered_json& document) {
  CheckHeader(document);
  const nlohmann::ordered_json& nodes = document.at("nodes");
  if (!nodes.is_array() || nodes.empty()) throw std::invalid_argument("\"nodes\" is empty");
  Tree tree(
      {JsonField<std::string>(document, "family"), JsonField<int>(document, "task"),
       JsonField<std::string>(document, "model"), JsonField<std::string>(document, "data_hash"),
       document.at("search").dump(), JsonFieldOr(document, "model_identity", std::string())},
      MessagesFromJson(document.at("instruction")),
      JsonField<std::string>(nodes[0], "observation"));
  tree.AddCutTurns(0, JsonFieldOr(nodes[0], "cut_turns", 0));
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) {
      const int parent = JsonField<int>(nodes[i], "parent");
      if (parent < 0 || parent >= tree.size()) {
        throw std::invalid_argument(fmt::format("node {} has \"parent\" {}", i, parent));
      }
      Node node = NodeFromJson(nodes[i]);
      if (node.dropped_turns < 0 || node.dropped_turns > tree.node(parent).depth) {
        throw std::invalid_argument(
            fmt::format("node {} has \"dropped_turns\" {}", i, node.dropped_turns));
      }
      tree.Add(parent, std::move(node));
    }
    tree.Restore(static_cast<int>(i), JsonFieldOr(nodes[i], "visits", 0),
                 JsonFieldOr(nodes[i], "value", 0.0));
  }
  return tree;
}

}  // namespace agentr
