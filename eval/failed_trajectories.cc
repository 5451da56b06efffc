#include "eval/failed_trajectories.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/random.h"
#include "common/text.h"
#include "eval/task_episodes.h"

namespace agentr {
namespace {

// The number of turns; nullopt for "seeded".
std::optional<size_t> ParseCut(const std::string& cut) {
  if (cut == "seeded") return std::nullopt;
  const std::optional<size_t> turns = ParseNumber<size_t>(cut);
  if (turns.value_or(0) > 0) return turns;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("--cut {} is neither \"seeded\" nor a number of turns", cut));
}

}  // namespace

std::vector<Episode> Failed(std::vector<Episode> episodes, double success) {
  std::erase_if(episodes, [&](const Episode& episode) {
    return !HasResult(episode.end) || IsSuccess(episode, success);
  });
  return episodes;
}

std::vector<EpisodeStart> CutTrajectories(const std::vector<Episode>& trajectories,
                                          const std::string& cut, uint64_t seed, int max_steps) {
  const std::optional<size_t> fixed = ParseCut(cut);
  std::vector<EpisodeStart> starts;
  for (const Episode& episode : trajectories) {
    const size_t turns_at_most = std::min(episode.turns.size(), static_cast<size_t>(max_steps));
    if (turns_at_most < 2) continue;
    const size_t most = turns_at_most - 1;
    RandomStream random = RandomStream(seed)
                              .Split("cut")
                              .Split(static_cast<uint64_t>(episode.task_id))
                              .Split(static_cast<uint64_t>(episode.attempt));
    const size_t turns = fixed ? std::min(*fixed, most) : 1 + random.Below(most);
    const auto end = episode.turns.begin() + static_cast<std::ptrdiff_t>(turns);
    starts.push_back({episode.task_id, episode.attempt, {episode.turns.begin(), end}});
  }
  return starts;
}

const Episode* FirstNotGoneOnFrom(const std::vector<Episode>& episodes,
                                  const std::vector<EpisodeStart>& starts) {
  std::map<std::pair<int, int>, const EpisodeStart*> by_key;
  for (const EpisodeStart& start : starts) by_key[{start.task_id, start.attempt}] = &start;
  const auto found = std::ranges::find_if(episodes, [&](const Episode& episode) {
    const auto start = by_key.find({episode.task_id, episode.attempt});
    return start != by_key.end() &&
           !std::ranges::equal(start->second->given,
                               std::span(episode.turns).first(episode.replayed_turns), {},
                               &EpisodeTurn::action, &EpisodeTurn::action);
  });
  return found == episodes.end() ? nullptr : &*found;
}

RevisionTest JudgeRevisionTest(const std::vector<Episode>& trajectories,
                               const std::vector<Episode>& episodes, double success) {
  std::map<std::pair<int, int>, const Episode*> by_key;
  for (const Episode& episode : episodes) by_key[{episode.task_id, episode.attempt}] = &episode;
  RevisionTest test;
  test.trajectories = trajectories.size();
  for (const Episode& trajectory : trajectories) {
    const auto found = by_key.find({trajectory.task_id, trajectory.attempt});
    if (found == by_key.end() || !HasResult(found->second->end)) continue;
    const Episode& after = *found->second;
    ++test.gone_on_from;
    test.reward_before += trajectory.reward;
    test.reward_after += after.reward;
    test.turned += IsSuccess(after, success) ? 1 : 0;
    test.replayed_turns += after.replayed_turns;
    test.differences += after.replay_differences;
    test.differing += after.replay_differences > 0 ? 1 : 0;
  }
  const auto count = static_cast<double>(std::max<size_t>(test.gone_on_from, 1));
  test.reward_before /= count;
  test.reward_after /= count;
  return test;
}

std::string RevisionTable(const RevisionTest& test) {
  const double share = test.gone_on_from > 0 ? 100.0 * static_cast<double>(test.turned) /
                                                   static_cast<double>(test.gone_on_from)
                                             : 0;
  return fmt::format(
      "{:<20}{} of {} failed trajectories continued\n"
      "{:<20}{:.3f} before, {:.3f} after\n"
      "{:<20}{} ({:.1f} %)\n"
      "{:<20}{}, {} of them with a different answer, in {} episodes\n",
      "revision test", test.gone_on_from, test.trajectories, "  mean reward", test.reward_before,
      test.reward_after, "  now a success", test.turned, share, "  replayed turns",
      test.replayed_turns, test.differences, test.differing);
}

}  // namespace agentr
