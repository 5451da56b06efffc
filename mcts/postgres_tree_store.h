// Trees in a PostgreSQL database, which searches on many machines share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mcts/search.h"
#include "mcts/tree_store.h"
#include "store/task_queue.h"

namespace agentr {

// The kind of runs that consist of trees.
inline constexpr const char* kTreeRuns = "trees";

class PostgresTreeStore : public TreeStore {
 public:
  // Opens or makes the run `name`, adds `tasks` to it and becomes one of its workers. Throws
  // FatalError: kUsage like CheckEarlierTrees if the run is that of another model, other data or,
  // unless `mix_options`, other options; those of Database.
  PostgresTreeStore(const StoreOptions& options, const std::string& name, TreeFormat format,
                    const TreeOrigin& origin, const SearchOptions& search, bool mix_options,
                    const std::vector<int>& tasks);

  Claim TryClaim(int task_id) override;
  bool Commit(const Tree& tree) override;
  void Release(int task_id, std::string_view error) override;
  Tree Load(int task_id) const override;
  int64_t CountDone(const std::vector<int>& tasks) const override;
  std::string place() const override;

 private:
  mutable TaskQueue queue_;  // thread-safe
  const TreeFormat format_;
};

}  // namespace agentr
