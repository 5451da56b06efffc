#include "mcts/postgres_tree_store.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/json_depth.h"
#include "mcts/earlier_trees.h"

namespace agentr {
namespace {

// What all trees of a run have in common.
std::string CommonText(const TreeOrigin& origin, const SearchOptions& search) {
  const nlohmann::ordered_json json = {{"family", origin.family},
                                       {"model", origin.model},
                                       {"model_identity", origin.model_identity},
                                       {"data_hash", origin.data_hash},
                                       {"search", nlohmann::ordered_json::parse(ToJson(search))}};
  return json.dump();
}

// Reads CommonText; anything else has none of the fields.
TreeOrigin CommonOrigin(const std::string& text) {
  const auto json = ParseJson<nlohmann::ordered_json>(text);
  TreeOrigin origin;
  if (!json.is_object()) return origin;
  origin.family = json.value("family", "");
  origin.model = json.value("model", "");
  origin.model_identity = json.value("model_identity", "");
  origin.data_hash = json.value("data_hash", "");
  if (json.contains("search")) origin.search = json["search"].dump();
  return origin;
}

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
