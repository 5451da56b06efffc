#include "eval/failed_trajectories.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>

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

// Of the replayed turns, those with another answer than in the trajectory. The end of the episode
// is one too, because the trajectory went on there.
size_t DifferencesFrom(const Episode& trajectory, const Episode& after) {
  const size_t turns = after.replayed_turns;
  const bool ended = after.end == EpisodeEnd::kDone && turns > 0 && turns == after.turns.size() &&
                     turns < trajectory.turns.size();
  // The last turn counts already if its observation is another one.
  const bool counts =
      ended && after.turns.back().observation == trajectory.turns[turns - 1].observation;
  return after.replay_differences + (counts ? 1 : 0);
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
  const auto by_attempt = ByAttempt(starts);
  const auto found = std::ranges::find_if(episodes, [&](const Episode& episode) {
    const auto start = by_attempt.find(IdOf(episode));
    if (start == by_attempt.end()) return false;
    // An episode that ended while it was replayed has only the first of the given turns.
    const std::span<const EpisodeTurn> given = start->second->given;
    return !std::ranges::equal(given.first(std::min(given.size(), episode.turns.size())),
                               std::span(episode.turns).first(episode.replayed_turns), {},
                               &EpisodeTurn::action, &EpisodeTurn::action);
  });
  return found == episodes.end() ? nullptr : &*found;
}

RevisionTest JudgeRevisionTest(const std::vector<Episode>& trajectories,
                               const std::vector<Episode>& episodes, double success) {
  const auto by_attempt = ByAttempt(episodes);
  RevisionTest test;
  test.trajectories = trajectories.size();
  for (const Episode& trajectory : trajectories) {
    const auto found = by_attempt.find(IdOf(trajectory));
    if (found == by_attempt.end() || !HasResult(found->second->end)) continue;
    const Episode& after = *found->second;
    ++test.gone_on_from;
    test.reward_before += trajectory.reward;
    test.reward_after += after.reward;
    test.turned += IsSuccess(after, success) ? 1 : 0;
    test.replayed_turns += after.replayed_turns;
    const size_t differences = DifferencesFrom(trajectory, after);
    test.differences += differences;
    test.differing += differences > 0 ? 1 : 0;
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
