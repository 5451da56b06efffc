#include "rl/trees/episode_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/error.h"
#include "eval/episode_store.h"

namespace agentr {
namespace {

// The child of `parent` that is this turn, and has not ended; -1 if there is none.
int ChildOf(const Tree& tree, int parent, const TurnRecord& turn) {
  for (const int child : tree.node(parent).children) {
    const Node& node = tree.node(child);
    if (node.end == End::kNone && node.response == turn.response &&
        node.observation == turn.observation && node.token_ids == turn.token_ids &&
        node.dropped_turns == turn.dropped_turns && node.reasoning == turn.reasoning) {
      return child;
    }
  }
  return -1;
}

void AddEpisode(const Episode& episode, Tree& tree) {
  std::vector<TurnRecord> turns(episode.turns.begin(), episode.turns.end());
  if (!episode.cut_ids.empty()) {
    TurnRecord& cut = turns.emplace_back();
    cut.response = episode.cut_response;
    cut.dropped_turns = episode.cut_dropped_turns;
    cut.token_ids = episode.cut_ids;
    cut.logprobs = episode.cut_logprobs;
  }
  if (turns.empty()) turns.emplace_back();
  int at = 0;
  for (const TurnRecord& turn : turns) {
    const bool last = &turn == &turns.back();
    int next = last ? -1 : ChildOf(tree, at, turn);
    if (next < 0) {
      Node node{turn};
      if (last) {
        node.reward = episode.reward;
        node.end = episode.end == EpisodeEnd::kDone      ? End::kDone
                   : episode.end == EpisodeEnd::kCutTurn ? End::kCut
                                                         : End::kDepth;
      }
      next = tree.Add(at, std::move(node));
    }
    at = next;
  }
  tree.BackUp(at);
}

}  // namespace

Tree TreeOfEpisodes(const std::string& family, const std::vector<Episode>& episodes,
                    const std::string& played) {
  const Episode& first = episodes.front();
  Tree tree({family, first.task_id, first.model, "", played}, first.instruction,
            first.first_observation);
  for (const Episode& episode : episodes) AddEpisode(episode, tree);
  return tree;
}

std::vector<Tree> ReadEpisodeTrees(const std::filesystem::path& folder, const std::string& family) {
  std::map<int, std::vector<Episode>> groups;
  std::string played;
  for (StoredEpisode& stored : ReadEpisodes(folder)) {
    played = stored.options;  // those of all are the same
    if (std::ranges::any_of(stored.episode.turns,
                            [](const EpisodeTurn& turn) { return turn.slip.has_value(); })) {
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("{}: its episodes were played with slips (agent_eval --slip), so "
                      "what they show is not what the model said",
                      folder.string()));
    }
    groups[stored.episode.task_id].push_back(std::move(stored.episode));
  }
  std::vector<Tree> trees;
  for (const auto& [task_id, episodes] : groups) {
    trees.push_back(TreeOfEpisodes(family, episodes, played));
  }
  return trees;
}

}  // namespace agentr
