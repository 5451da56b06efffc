#include "mcts/tree_store.h"

#include <algorithm>
#include <utility>

#include "common/file.h"
#include "mcts/tree_folder.h"

namespace agentr {
namespace fs = std::filesystem;

FileTreeStore::FileTreeStore(fs::path folder, TreeFormat format, std::string_view terms)
    : folder_(std::move(folder)), format_(format), claims_(folder_, terms) {}

fs::path FileTreeStore::PathOf(int task_id) const { return folder_ / TreeFileName(task_id); }

Claim FileTreeStore::TryClaim(int task_id) { return claims_.TryClaim(task_id, PathOf(task_id)); }

bool FileTreeStore::Commit(const Tree& tree) {
  const int task_id = tree.origin().task_id;
  try {
    WriteFileAtomically(PathOf(task_id), WriteTree(tree, format_));
  } catch (...) {
    claims_.Release(task_id);
    throw;
  }
  claims_.Release(task_id);
  return true;
}

void FileTreeStore::Release(int task_id, std::string_view /*error*/) { claims_.Release(task_id); }

Tree FileTreeStore::Load(int task_id) const {
  const fs::path path = PathOf(task_id);
  return ReadTree(ReadFile(path), path.string());
}

// If the folder is removed during a run, the next tree makes it again, but the earlier trees are
// lost.
int64_t FileTreeStore::CountDone(const std::vector<int>& tasks) const {
  return std::ranges::count_if(tasks, [&](int task_id) { return fs::exists(PathOf(task_id)); });
}

}  // namespace agentr
