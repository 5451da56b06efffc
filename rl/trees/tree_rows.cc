#include "rl/trees/tree_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/json_depth.h"
#include "common/json_lenient.h"
#include "lm/sampled_turns.h"
#include "revision/find/paths.h"
#include "rl/losses/group_relative.h"
#include "rollout/thinking.h"

namespace agentr {
namespace {

[[noreturn]] void RefuseTemplate(const RowTokenizer& text, const Error& error) {
  throw FatalError(ExitCode::kFile,
                   fmt::format("the chat template {} cannot express the conversations: {}; choose "
                               "another one with --chat_template",
                               text.chat->name(), error.message));
}

// Adds `score` of each ended leaf to all nodes on its path.
void AddScores(const Tree& tree, const std::vector<LeafPath>& leaves,
               std::span<const double> scores, std::vector<double>& sums) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    for (const int node : tree.Path(leaves[i].leaf)) {
      sums[static_cast<size_t>(node)] += scores[i];
    }
  }
}

std::vector<double> Values(const std::vector<LeafPath>& leaves) {
  std::vector<double> rewards;
  for (const LeafPath& leaf : leaves) rewards.push_back(leaf.value);
  return rewards;
}

// What the search of the tree showed its model of earlier thoughts.
Thinking ThinkingOf(const Tree& tree) {
  const auto search = ParseJson<nlohmann::ordered_json>(tree.origin().search);
  const bool strips = search.is_object() && FieldOr(search, "thinking", std::string()) ==
                                                NameOf(kThinkings, Thinking::kStripHistory);
  return strips ? Thinking::kStripHistory : Thinking::kKeep;
}

}  // namespace

std::vector<int32_t> TreeRowEncoder::EncodePrompt(const Tree& tree, int node,
                                                  int dropped_turns) const {
  const Thinking thinking = ThinkingOf(tree);
  const std::vector<Message> whole = tree.Conversation(node, dropped_turns);
  const std::vector<Message> messages = ShownHistory(thinking, whole);
  std::vector<std::span<const int32_t>> sampled = tree.SampledIds(node, dropped_turns);
  if (thinking == Thinking::kStripHistory) sampled = ShownIds(whole, std::move(sampled));
  Result<ChatTokens> chat = text_.chat->Apply(messages, /*generation=*/true);
  if (!chat) RefuseTemplate(text_, chat.error());
  return UseSampledIds(std::move(*chat), messages, sampled,
                       {*text_.tokenizer, text_.chat->stop_tokens()})
      .ids;
}

std::vector<int32_t> TreeRowEncoder::EncodeResponse(const Tree& tree, int index) const {
  const Node& node = tree.node(index);
  if (!node.token_ids.empty() &&
      text_.tokenizer->Decode(node.token_ids, /*skip_special=*/true) == node.response) {
    return node.token_ids;
  }
  return EncodeResponse(tree.root().observation, {"assistant", node.response, node.reasoning});
}

// As it stands behind the user's message `before`.
std::vector<int32_t> TreeRowEncoder::EncodeResponse(const std::string& before,
                                                    const Message& response) const {
  const Result<ChatTokens> chat =
      text_.chat->Apply(std::vector<Message>{{"user", before}, response}, /*generation=*/false);
  if (!chat) RefuseTemplate(text_, chat.error());
  const ChatTokens::Span span = chat->messages.back();
  return {chat->ids.begin() + static_cast<std::ptrdiff_t>(span.begin),
          chat->ids.begin() + static_cast<std::ptrdiff_t>(span.end)};
}

std::optional<TreeResponse> TreeRowEncoder::RowOf(std::vector<int32_t> prompt,
                                                  const std::vector<int32_t>& own) const {
  TreeResponse response;
  const auto begin = static_cast<int32_t>(prompt.size());
  response.row.ids = std::move(prompt);
  response.row.ids.insert(response.row.ids.end(), own.begin(), own.end());
  const size_t length = response.row.ids.size();
  if (own.empty() || length > static_cast<size_t>(max_length_)) return std::nullopt;
  response.row.trained = {{begin, static_cast<int32_t>(length)}};
  return response;
}

std::optional<TreeResponse> TreeRowEncoder::Encode(const Tree& tree, int index) const {
  const Node& node = tree.node(index);
  const std::vector<int32_t> own = EncodeResponse(tree, index);
  std::optional<TreeResponse> response =
      RowOf(EncodePrompt(tree, node.parent, node.dropped_turns), own);
  if (!response) return std::nullopt;
  response->cut =
      own == node.token_ids && std::ranges::count(text_.chat->stop_tokens(), own.back()) == 0;
  if (own == node.token_ids && node.logprobs.size() == own.size()) {
    response->sampled = node.logprobs;
  }
  return response;
}

std::optional<TreeResponse> TreeRowEncoder::Encode(const std::vector<Message>& prompt,
                                                   const Message& response) const {
  Result<ChatTokens> chat = text_.chat->Apply(prompt, /*generation=*/true);
  if (!chat) RefuseTemplate(text_, chat.error());
  return RowOf(std::move(chat->ids), EncodeResponse(prompt.back().content, response));
}

std::vector<double> StepAdvantages(const Tree& tree) {
  std::vector<double> advantages(static_cast<size_t>(tree.size()));
  for (int i = 1; i < tree.size(); ++i) {
    const Node& node = tree.node(i);
    if (node.visits == 0) continue;
    advantages[static_cast<size_t>(i)] = node.mean() - tree.node(node.parent).mean();
  }
  return advantages;
}

std::vector<std::vector<double>> TreeGroupAdvantages(const std::vector<const Tree*>& trees,
                                                     bool divide_by_std) {
  std::vector<std::vector<LeafPath>> leaves;
  std::vector<double> all;  // rewards of the episodes of all trees
  for (const Tree* tree : trees) {
    leaves.push_back(LeafPaths(*tree));
    for (const double reward : Values(leaves.back())) all.push_back(reward);
  }
  const std::vector<double> between = GroupAdvantages(all, divide_by_std);
  std::vector<std::vector<double>> advantages;
  size_t first = 0;
  for (size_t t = 0; t < trees.size(); ++t) {
    std::vector<double>& sums = advantages.emplace_back(static_cast<size_t>(trees[t]->size()), 0.0);
    const std::vector<double> inside = GroupAdvantages(Values(leaves[t]), divide_by_std);
    AddScores(*trees[t], leaves[t], inside, sums);
    if (trees.size() > 1) {
      AddScores(*trees[t], leaves[t], std::span(between).subspan(first, inside.size()), sums);
    }
    first += inside.size();
    std::vector<double> episodes(sums.size());
    AddScores(*trees[t], leaves[t], std::vector<double>(inside.size(), 1.0), episodes);
    for (size_t i = 0; i < sums.size(); ++i) {
      if (episodes[i] > 0) sums[i] /= episodes[i];
    }
  }
  return advantages;
}

}  // namespace agentr
