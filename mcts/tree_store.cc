#include "mcts/tree_store.h"

#include <fmt/core.h>

#include <utility>

#include "common/file.h"

namespace agentr {
namespace fs = std::filesystem;

FileTreeStore::FileTreeStore(fs::path folder, TreeFormat format)
    : folder_(std::move(folder)), format_(format), claims_(folder_) {}

fs::path FileTreeStore::PathOf(int task) const {
  return folder_ / fmt::format("search_results_{}.json", task);
}

Claim FileTreeStore::TryClaim(int task) { return claims_.TryClaim(task, PathOf(task)); }

void FileTreeStore::Commit(const Tree& tree) {
  const int task = tree.origin().task;
  try {
    WriteFileAtomically(PathOf(task), WriteTree(tree, format_));
  } catch (...) {
    Release(task);
    throw;
  }
  Release(task);
}

void FileTreeStore::Release(int task) { claims_.Release(task); }

Tree FileTreeStore::Load(int task) const {
  const fs::path path = PathOf(task);
  return ReadTree(ReadFile(path), path.string());
}

std::optional<Tree> FileTreeStore::Newest() const {
  fs::path newest;
  fs::file_time_type written;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("search_results_") || !name.ends_with(".json")) continue;
    const auto time = entry.last_write_time(error);
    if (!newest.empty() && time <= written) continue;
    newest = entry.path();
    written = time;
  }
  if (newest.empty()) return std::nullopt;
  return ReadTree(ReadFile(newest), newest.string());
}

}  // namespace agentr
