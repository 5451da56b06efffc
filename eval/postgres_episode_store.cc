#include "eval/postgres_episode_store.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include "common/error.h"

namespace agentr {
namespace {

// The attempts of a task follow one another.
constexpr int64_t kMostAttempts = int64_t{1} << 24;

int64_t StoreKey(int task_id, int attempt) { return task_id * kMostAttempts + attempt; }

}  // namespace

PostgresEpisodeStore::PostgresEpisodeStore(const StoreOptions& store, const std::string& name,
                                           const std::string& options,
                                           const std::vector<std::pair<int, int>>& episodes)
    : queue_(store, {"episodes", name}, options), options_(options) {
  const std::string differences = PlayedDifferences(queue_.options(), options_, "there", "here");
  if (!differences.empty()) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("{} was played with other options ({}): choose another --store_run", place(),
                    differences));
  }
  std::vector<int64_t> keys;
  for (const auto& [task_id, attempt] : episodes) keys.push_back(StoreKey(task_id, attempt));
  queue_.Join(keys);
}

Claim PostgresEpisodeStore::TryClaim(int task_id, int attempt) {
  return queue_.TryClaim(StoreKey(task_id, attempt));
}

void PostgresEpisodeStore::Release(int task_id, int attempt, std::string_view error) {
  queue_.Release(StoreKey(task_id, attempt), error);
}

bool PostgresEpisodeStore::Commit(const Episode& episode) {
  return queue_.Commit(StoreKey(episode.task_id, episode.attempt),
                       WriteEpisode({episode, options_}));
}

std::vector<Episode> PostgresEpisodeStore::Load() const {
  std::vector<Episode> episodes;
  for (const int64_t key : queue_.Done()) {
    const std::string name =
        PlaceOf(static_cast<int>(key / kMostAttempts), static_cast<int>(key % kMostAttempts));
    try {
      episodes.push_back(ReadEpisode(queue_.Load(key), name).episode);
    } catch (const DamagedData& error) {
      spdlog::warn("{}: {}", name, error.what());  // an episode that is missing now
    }
  }
  return episodes;
}

std::string PostgresEpisodeStore::PlaceOf(int task_id, int attempt) const {
  return fmt::format("attempt {} of task {} in {}", attempt, task_id, place());
}

}  // namespace agentr
