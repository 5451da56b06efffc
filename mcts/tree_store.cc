#include "mcts/tree_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "common/file.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// The id in "search_results_31.json"; nullopt for other names.
std::optional<int> TaskOf(const fs::path& path) {
  constexpr std::string_view kBegin = "search_results_";
  constexpr std::string_view kEnd = ".json";
  const std::string name = path.filename().string();
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  const char* begin = name.data() + kBegin.size();
  const char* end = name.data() + name.size() - kEnd.size();
  int task_id = 0;
  const auto [stopped, error] = std::from_chars(begin, end, task_id);
  if (error != std::errc() || stopped != end || begin == end || task_id < 0) return std::nullopt;
  return task_id;
}

}  // namespace

std::string TreeFileName(int task_id) { return fmt::format("search_results_{}.json", task_id); }

std::vector<TreeFile> TreeFilesIn(const fs::path& folder) {
  std::vector<TreeFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (const auto task = TaskOf(entry.path())) files.push_back({*task, entry.path()});
  }
  std::ranges::sort(files, {}, &TreeFile::task_id);
  return files;
}

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
