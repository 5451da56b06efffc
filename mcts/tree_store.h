// Stores finished trees: a task is claimed, and its tree is committed and loaded as a whole.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "common/work_claims.h"
#include "mcts/tree.h"
#include "mcts/tree_file.h"

namespace agentr {

// A file search_results_<task>.json.
struct TreeFile {
  int task_id = 0;
  std::filesystem::path path;
};

// The tree files in `folder`, by task; empty if there is no such folder.
std::vector<TreeFile> TreeFilesIn(const std::filesystem::path& folder);

// Thread-safe.
class TreeStore {
 public:
  virtual ~TreeStore() = default;

  // Reserves `task_id` for the caller until Commit or Release.
  virtual Claim TryClaim(int task_id) = 0;

  // Writes the tree of a claimed task, completely or not at all, and ends the claim. Throws
  // FatalError(kFile).
  virtual void Commit(const Tree& tree) = 0;

  // Ends the claim without a result.
  virtual void Release(int task_id) = 0;

  // The tree of a finished task. Throws FatalError(kFile).
  virtual Tree Load(int task_id) const = 0;
};

// Files `search_results_<task>.json` in one folder, which runs of several processes may share.
class FileTreeStore : public TreeStore {
 public:
  // Makes the folder if it is missing. Throws FatalError(kFile).
  FileTreeStore(std::filesystem::path folder, TreeFormat format);

  Claim TryClaim(int task_id) override;
  void Commit(const Tree& tree) override;
  void Release(int task_id) override;
  Tree Load(int task_id) const override;

  std::filesystem::path PathOf(int task_id) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  const std::filesystem::path folder_;
  const TreeFormat format_;
  WorkClaims claims_;
};

}  // namespace agentr
