// Stores the episodes of an evaluation: an episode is claimed, and committed as a whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/work_claims.h"
#include "eval/episode_file.h"
#include "rollout/episode.h"

namespace agentr {

// All episodes in a store must be played with the same options, because they are averaged.
// Thread-safe.
class EpisodeStore {
 public:
  virtual ~EpisodeStore() = default;

  // Reserves the episode for the caller until Commit or Release.
  virtual Claim TryClaim(int task_id, int attempt) = 0;

  // Ends a claim without a result; `error`: why the episode failed, empty if it was only given up.
  virtual void Release(int task_id, int attempt, std::string_view error) = 0;

  // Writes a claimed episode, completely or not at all, and ends the claim. Returns false if
  // another worker has taken it over; then it is discarded. Throws FatalError.
  virtual bool Commit(const Episode& episode) = 0;

  // The stored episodes, by task and attempt. Damaged ones of a database are left out with a
  // warning: they will be played again. Throws FatalError: kFile for an episode that cannot be
  // read, kUsage naming one that was played with other options.
  virtual std::vector<Episode> Load() const = 0;

  // Where the episode is, or would be, for messages.
  virtual std::string PlaceOf(int task_id, int attempt) const = 0;
  virtual std::string place() const = 0;  // of all
};

// Files `search_results_<task>.json` for attempt 0, as Agent-R names them, and
// `search_results_<task>_<attempt>.json` for the others. Several processes may share the folder; no
// episode is played by two of them at once.
class FileEpisodeStore : public EpisodeStore {
 public:
  // `options`: a JSON object with everything that determines the episodes. Throws FatalError:
  // kFile, and kUsage if another run plays into the folder at this moment with other options.
  FileEpisodeStore(std::filesystem::path folder, std::string options);

  Claim TryClaim(int task_id, int attempt) override;
  void Release(int task_id, int attempt, std::string_view error) override;
  bool Commit(const Episode& episode) override;  // always true
  std::vector<Episode> Load() const override;
  std::string PlaceOf(int task_id, int attempt) const override;
  std::string place() const override { return folder_.string(); }

  std::filesystem::path PathOf(int task_id, int attempt) const;

 private:
  const std::filesystem::path folder_;
  const std::string options_;
  WorkClaims claims_;
};

// The episodes in `folder`, by task and attempt. Throws FatalError(kFile) if there is no such
// folder, and for a file that cannot be read, is not an episode, or contains another episode than
// its name says.
std::vector<StoredEpisode> ReadEpisodes(const std::filesystem::path& folder);

// The folder with the episodes of one evaluation: `folder`, or the only one below it that has any,
// so that an evaluation's --output_dir names it, too. Throws FatalError(kFile) if there is none, or
// more than one, which the message lists.
std::filesystem::path FindEvaluation(const std::filesystem::path& folder);

}  // namespace agentr
