// Where the episodes of an evaluation are kept: a folder with a file for each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/work_claims.h"
#include "eval/episode_file.h"
#include "rollout/episode.h"

namespace agentr {

// Files `search_results_<task>.json` for attempt 0, as Agent-R names them, and
// `search_results_<task>_<attempt>.json` for the others. Runs of several processes may share the
// folder; no episode is played by two at once. All episodes of a folder are played with the same
// options, else they would not make one number. Thread-safe.
class EpisodeStore {
 public:
  // `options`: a JSON object with all that decides what is played. Throws FatalError(kFile).
  EpisodeStore(std::filesystem::path folder, std::string options);

  Claim TryClaim(int task_id, int attempt);
  void Release(int task_id, int attempt);  // gives a claimed episode back unfinished
  // Keeps a claimed episode, whole or not at all, and ends the claim. Throws FatalError(kFile).
  void Commit(const Episode& episode);

  // What is there, by task and attempt. Throws FatalError: kFile as ReadEpisodes, kUsage for an
  // episode that was played with other options, which it names.
  std::vector<Episode> Load() const;

  std::filesystem::path PathOf(int task_id, int attempt) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  const std::filesystem::path folder_;
  const std::string options_;
  WorkClaims claims_;
};

// The episodes in `folder`, by task and attempt. Throws FatalError(kFile) where there is no such
// folder, and for a file that cannot be read, is no episode, or does not hold the one that its name
// tells.
std::vector<StoredEpisode> ReadEpisodes(const std::filesystem::path& folder);

}  // namespace agentr
