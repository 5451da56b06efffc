// Stores the episodes of an evaluation: a folder with one file for each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/work_claims.h"
#include "eval/episode_file.h"
#include "rollout/episode.h"

namespace agentr {

// Files `search_results_<task>.json` for attempt 0, as Agent-R names them, and
// `search_results_<task>_<attempt>.json` for the others. Several processes may share the folder; no
// episode is played by two of them at once. All episodes in a folder must be played with the same
// options, because they are averaged. Thread-safe.
class EpisodeStore {
 public:
  // `options`: a JSON object with everything that determines the episodes. Throws
  // FatalError(kFile).
  EpisodeStore(std::filesystem::path folder, std::string options);

  Claim TryClaim(int task_id, int attempt);
  void Release(int task_id, int attempt);  // ends a claim without a result
  // Writes a claimed episode, completely or not at all, and ends the claim. Throws
  // FatalError(kFile).
  void Commit(const Episode& episode);

  // The stored episodes, by task and attempt. Throws FatalError: kFile like ReadEpisodes, kUsage
  // naming an episode that was played with other options.
  std::vector<Episode> Load() const;

  std::filesystem::path PathOf(int task_id, int attempt) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  const std::filesystem::path folder_;
  const std::string options_;
  WorkClaims claims_;
};

// The episodes in `folder`, by task and attempt. Throws FatalError(kFile) if there is no such
// folder, and for a file that cannot be read, is not an episode, or contains another episode than
// its name says.
std::vector<StoredEpisode> ReadEpisodes(const std::filesystem::path& folder);

}  // namespace agentr
