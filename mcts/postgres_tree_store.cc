#include "mcts/postgres_tree_store.h"

#include <fmt/core.h>

#include "common/error.h"
#include "mcts/earlier_trees.h"

namespace agentr {
namespace {

std::vector<int64_t> KeysOf(const std::vector<int>& tasks) { return {tasks.begin(), tasks.end()}; }

}  // namespace

PostgresTreeStore::PostgresTreeStore(const StoreOptions& options, const std::string& name,
                                     TreeFormat format, const TreeOrigin& origin,
                                     const SearchOptions& search, bool mix_options,
                                     const std::vector<int>& tasks)
    : queue_(options, {kTreeRuns, name}, CommonText(origin, search)), format_(format) {
  const TreeOrigin there = CommonOrigin(queue_.options());
  const std::string misfit =
      there.family == origin.family
          ? TreeMisfit(there, origin, ToJson(search), mix_options, "--store_run")
          : fmt::format("another kind of task ({}): choose another --store_run", there.family);
  if (!misfit.empty()) {
    throw FatalError(ExitCode::kUsage, fmt::format("{} was searched with {}", place(), misfit));
  }
  queue_.Join(KeysOf(tasks));
}

Claim PostgresTreeStore::TryClaim(int task_id) { return queue_.TryClaim(task_id); }

bool PostgresTreeStore::Commit(const Tree& tree) {
  return queue_.Commit(tree.origin().task_id, WriteTree(tree, format_));
}

void PostgresTreeStore::Release(int task_id, std::string_view error) {
  queue_.Release(task_id, error);
}

Tree PostgresTreeStore::Load(int task_id) const {
  return ReadTree(queue_.Load(task_id), fmt::format("task {} of {}", task_id, place()));
}

int64_t PostgresTreeStore::CountDone(const std::vector<int>& tasks) const {
  return queue_.CountDone(KeysOf(tasks));
}

std::string PostgresTreeStore::place() const { return queue_.place(); }

}  // namespace agentr
