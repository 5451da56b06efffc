#include "eval/episode_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "common/file.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "search_results_";

std::string FileName(int task_id, int attempt) {
  return attempt == 0 ? fmt::format("{}{}.json", kPrefix, task_id)
                      : fmt::format("{}{}_{}.json", kPrefix, task_id, attempt);
}

bool IsEpisodeFile(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kPrefix) && name.ends_with(".json");
}

int64_t KeyOf(int task_id, int attempt) { return (int64_t{attempt} << 32) | task_id; }

}  // namespace

FileEpisodeStore::FileEpisodeStore(fs::path folder, std::string options)
    : folder_(std::move(folder)), options_(std::move(options)), claims_(folder_, options_) {
  const std::string differences = PlayedDifferences(claims_.terms(), options_, "there", "here");
  if (differences.empty()) return;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("another run is playing into {} with other options ({}): choose "
                               "another --output_dir, --model_name or --model_type",
                               folder_.string(), differences));
}

fs::path FileEpisodeStore::PathOf(int task_id, int attempt) const {
  return folder_ / FileName(task_id, attempt);
}

Claim FileEpisodeStore::TryClaim(int task_id, int attempt) {
  return claims_.TryClaim(KeyOf(task_id, attempt), PathOf(task_id, attempt));
}

void FileEpisodeStore::Release(int task_id, int attempt, std::string_view /*error*/) {
  claims_.Release(KeyOf(task_id, attempt));
}

std::string FileEpisodeStore::PlaceOf(int task_id, int attempt) const {
  return PathOf(task_id, attempt).string();
}

bool FileEpisodeStore::Commit(const Episode& episode) {
  try {
    WriteFileAtomically(PathOf(episode.task_id, episode.attempt),
                        WriteEpisode({episode, options_}));
  } catch (...) {
    Release(episode.task_id, episode.attempt, "");
    throw;
  }
  Release(episode.task_id, episode.attempt, "");
  return true;
}

std::vector<Episode> FileEpisodeStore::Load() const {
  std::vector<Episode> episodes;
  for (StoredEpisode& stored : ReadEpisodes(folder_)) {
    const std::string differences = PlayedDifferences(stored.options, options_, "there", "here");
    if (!differences.empty()) {
      const fs::path path = PathOf(stored.episode.task_id, stored.episode.attempt);
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("{} was played with other options ({}): choose another "
                      "--output_dir, --model_name or --model_type, or remove the folder",
                      path.string(), differences));
    }
    episodes.push_back(std::move(stored.episode));
  }
  return episodes;
}

std::vector<StoredEpisode> ReadEpisodes(const fs::path& folder) {
  std::error_code error;
  std::vector<StoredEpisode> episodes;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!IsEpisodeFile(entry.path())) continue;
    const std::string name = entry.path().filename().string();
    episodes.push_back(ReadEpisode(ReadFile(entry.path()), entry.path().string()));
    const Episode& episode = episodes.back().episode;
    if (name == FileName(episode.task_id, episode.attempt)) continue;
    throw FatalError(
        ExitCode::kFile,
        fmt::format("{} contains attempt {} of task {}, so it was renamed; move it away",
                    entry.path().string(), episode.attempt, episode.task_id));
  }
  if (error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("cannot read folder {}: {}", folder.string(), error.message()));
  }
  std::ranges::sort(episodes, {}, [](const StoredEpisode& stored) {
    return std::tuple(stored.episode.task_id, stored.episode.attempt);
  });
  return episodes;
}

fs::path FindEvaluation(const fs::path& folder) {
  std::error_code error;
  std::set<fs::path> found;
  using fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator entry(folder, skip_permission_denied, error);
  for (; entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (!IsEpisodeFile(entry->path())) continue;
    if (entry.depth() == 0) return folder;
    found.insert(entry->path().parent_path());
  }
  if (error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("cannot read folder {}: {}", folder.string(), error.message()));
  }
  if (found.empty()) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{} contains no episodes; give the folder with the files "
                                 "search_results_ID.json",
                                 folder.string()));
  }
  if (found.size() == 1) return *found.begin();
  std::string list;
  for (const fs::path& one : found) list += "\n  " + one.string();
  throw FatalError(ExitCode::kFile, fmt::format("{} contains {} evaluations; give one of{}",
                                                folder.string(), found.size(), list));
}

}  // namespace agentr
