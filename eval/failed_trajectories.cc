#include "eval/failed_trajectories.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/hash.h"
#include "common/random.h"
#include "eval/task_episodes.h"

namespace agentr {
namespace {

// Nothing for "seeded".
std::optional<size_t> ParseCut(const std::string& cut) {
  if (cut == "seeded") return std::nullopt;
  size_t turns = 0;
  const auto [end, error] = std::from_chars(cut.data(), cut.data() + cut.size(), turns);
  if (error == std::errc() && end == cut.data() + cut.size()) return turns;
  throw FatalError(ExitCode::kUsage, fmt::format("--cut {}: \"seeded\" or a number of turns", cut));
}

}  // namespace

std::vector<Episode> Failed(std::vector<Episode> episodes, double success) {
  std::erase_if(episodes, [&](const Episode& episode) {
    return !HasResult(episode.end) || IsSuccess(episode, success);
  });
  return episodes;
}

std::vector<EpisodeStart> CutTrajectories(const std::vector<Episode>& trajectories,
                                          const std::string& cut, uint64_t seed) {
  const std::optional<size_t> fixed = ParseCut(cut);
  std::vector<EpisodeStart> starts;
  for (const Episode& episode : trajectories) {
    const size_t most = episode.turns.empty() ? 0 : episode.turns.size() - 1;
    RandomStream random = RandomStream(seed)
                              .Split("cut")
                              .Split(static_cast<uint64_t>(episode.task))
                              .Split(static_cast<uint64_t>(episode.attempt));
    size_t turns = most;
    if (fixed) {
      turns = std::min(*fixed, most);
    } else if (most > 0) {
      turns = 1 + random.Below(most);
    }
    const auto end = episode.turns.begin() + static_cast<std::ptrdiff_t>(turns);
    starts.push_back({episode.task, episode.attempt, {episode.turns.begin(), end}});
  }
  return starts;
}

std::string HashOf(const std::vector<Episode>& trajectories) {
  std::string text;
  for (const Episode& episode : trajectories) {
    text += fmt::format("{}_{}\n", episode.task, episode.attempt);
    for (const EpisodeTurn& turn : episode.turns) text += turn.action + "\n";
    text += "\n";
  }
  return Sha256(text);
}

}  // namespace agentr
