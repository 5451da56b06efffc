// Stores finished trees: a task is claimed, and its tree is committed and loaded as a whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/work_claims.h"
#include "mcts/tree.h"
#include "mcts/tree_file.h"

namespace agentr {

// Thread-safe.
class TreeStore {
 public:
  virtual ~TreeStore() = default;

  // Reserves `task_id` for the caller until Commit or Release.
  virtual Claim TryClaim(int task_id) = 0;

  // Writes the tree of a claimed task, completely or not at all, and ends the claim. Returns false
  // if another worker has taken the task over; then the tree is discarded. Throws FatalError.
  virtual bool Commit(const Tree& tree) = 0;

  // Ends the claim without a result; `error`: why the task failed, empty if it was only given up.
  virtual void Release(int task_id, std::string_view error) = 0;

  // The tree of a finished task. Throws FatalError(kFile).
  virtual Tree Load(int task_id) const = 0;

  // The number of these tasks that have a tree now.
  virtual int64_t CountDone(const std::vector<int>& tasks) const = 0;

  // Where the trees are, for messages.
  virtual std::string place() const = 0;
};

// Files `search_results_<task>.json` in one folder, which runs of several processes may share.
class FileTreeStore : public TreeStore {
 public:
  // Makes the folder if it is missing. `terms`: CommonText of the run. Throws FatalError(kFile).
  FileTreeStore(std::filesystem::path folder, TreeFormat format, std::string_view terms = "");

  Claim TryClaim(int task_id) override;
  bool Commit(const Tree& tree) override;  // always true: a claim lasts as long as the process
  void Release(int task_id, std::string_view error) override;
  Tree Load(int task_id) const override;
  int64_t CountDone(const std::vector<int>& tasks) const override;
  std::string place() const override { return folder_.string(); }

  std::filesystem::path PathOf(int task_id) const;
  const std::filesystem::path& folder() const { return folder_; }
  const std::string& terms() const { return claims_.terms(); }  // as in WorkClaims

 private:
  const std::filesystem::path folder_;
  const TreeFormat format_;
  WorkClaims claims_;
};

}  // namespace agentr
