// A training run that a kill does not harm: the same command continues from the last checkpoint and
// ends in the same bytes. The part that agent_train and agent_rl share.
//
//   Lock     refuses a second run in the folder
//   Choose   the last checkpoint, whose options must be the same
//   Begin    what it says has been loaded: resolved.toml, metrics.jsonl
//   Record   the steps, and the run in run.json; meanwhile GoesOn and Save
//
// Of a job of many processes each has its own, and all call its functions together; rank 0 alone
// writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/file.h"
#include "training/checkpoint/checkpoint.h"
#include "training/distributed/process_group.h"
#include "training/metrics.h"
#include "training/run_state.h"

namespace agentr {

class OptionSet;

class ResumableRun {
 public:
  // Keeps the last `keep` checkpoints in `folder`/checkpoints and, with `keep_best`, that of
  // RunState::best_step. `group`: null for a job of one process.
  ResumableRun(std::filesystem::path folder, int keep, bool keep_best, ProcessGroup* group);

  bool writes() const { return IsFirstRank(group_); }
  const std::filesystem::path& folder() const { return folder_; }
  const CheckpointFolder& checkpoints() const { return checkpoints_; }
  RunState& state() { return state_; }
  const RunState& state() const { return state_; }
  int64_t saved() const { return saved_; }  // the step of the last checkpoint; -1: none
  std::string place() const;                // of the last checkpoint
  std::optional<Metrics>& metrics() { return metrics_; }  // after Begin, where this process writes

  // Throws FatalError(kFile) if another run works in the folder.
  void Lock();

  // The state.json of the last checkpoint, and its progress becomes state(); an empty object if
  // there is none. Throws FatalError: kUsage if it was made with another fingerprint or if the
  // processes see different checkpoints, kFile if it cannot be read.
  nlohmann::json Choose(Fingerprint fingerprint);

  // Once every process has loaded the checkpoint, and accepted it: the options of the earlier run
  // are in the present file until then.
  void Begin(const OptionSet& resolved);

  // Whether there is another one of `steps` steps to make, and no process was told to stop: a
  // signal may reach only some of them.
  bool GoesOn(int64_t steps, const std::atomic<bool>& stop) const;

  // Writes the checkpoint of the present step and removes older ones. `tensors` is called where
  // this process writes; it may add to what state.json says.
  void Save(const std::function<CheckpointTensors(nlohmann::ordered_json& json)>& tensors);
  void RemoveOldCheckpoints() const;

  // Does `work` and adds the run to run.json with its options and what `details` says of it, which
  // is given its wall time in seconds; also if the training diverged, with the reason. Throws what
  // `work` throws.
  void Record(const char* program, const std::function<void()>& work,
              const std::function<nlohmann::ordered_json(double wall_s)>& details) const;

 private:
  const std::filesystem::path folder_;
  const int keep_;
  const bool keep_best_;
  ProcessGroup* const group_;
  const CheckpointFolder checkpoints_;
  Fingerprint fingerprint_;
  nlohmann::ordered_json options_;
  std::optional<FileLock> lock_;
  std::optional<Metrics> metrics_;
  RunState state_;
  int64_t saved_ = -1;
};

}  // namespace agentr
