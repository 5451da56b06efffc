// Episodes in a PostgreSQL database, which evaluations on many machines share.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eval/episode_store.h"
#include "store/task_queue.h"

namespace agentr {

class PostgresEpisodeStore : public EpisodeStore {
 public:
  // Opens or makes the run `name`, adds `episodes` (task and attempt) to it and becomes one of its
  // workers. `options`: as for FileEpisodeStore. Throws FatalError: kUsage if the run was played
  // with other options; those of Database.
  PostgresEpisodeStore(const StoreOptions& store, const std::string& name,
                       const std::string& options,
                       const std::vector<std::pair<int, int>>& episodes);

  Claim TryClaim(int task_id, int attempt) override;
  void Release(int task_id, int attempt, std::string_view error) override;
  bool Commit(const Episode& episode) override;
  std::vector<Episode> Load() const override;
  std::string PlaceOf(int task_id, int attempt) const override;
  std::string place() const override { return queue_.place(); }

 private:
  mutable TaskQueue queue_;  // thread-safe
  const std::string options_;
};

}  // namespace agentr
