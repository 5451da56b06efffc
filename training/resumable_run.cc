#include "training/resumable_run.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <set>
#include <utility>

#include "common/clock.h"
#include "common/hash.h"
#include "common/options.h"
#include "common/run_file.h"
#include "training/distributed/job_fingerprint.h"
#include "training/model/divergence.h"

namespace agentr {

ResumableRun::ResumableRun(std::filesystem::path folder, int keep, bool keep_best,
                           ProcessGroup* group)
    : folder_(std::move(folder)),
      keep_(keep),
      keep_best_(keep_best),
      group_(group),
      checkpoints_(folder_ / "checkpoints") {}

std::string ResumableRun::place() const { return checkpoints_.Path(saved_).string(); }

void ResumableRun::Lock() {
  if (writes()) lock_.emplace(folder_ / ".lock", FileLock::IfLocked::kRefuse);
}

nlohmann::json ResumableRun::Choose(Fingerprint fingerprint) {
  fingerprint_ = std::move(fingerprint);
  const std::vector<int64_t> steps = checkpoints_.Steps();
  // Rank 0 chooses the checkpoint, because a network file system may show new files to other ranks
  // later.
  const int64_t last = steps.empty() ? -1 : steps.back();
  saved_ = static_cast<int64_t>(SumOverRanks(group_, writes() ? static_cast<double>(last) : 0));
  nlohmann::json saved = nlohmann::json::object();
  if (saved_ >= 0) saved = checkpoints_.State(saved_);
  RequireSame(group_, {{"the checkpoint (--output_dir)", Sha256(saved.dump()),
                        saved_ < 0 ? "none" : place()}});
  if (saved_ < 0) return saved;
  state_ = RunState::From(saved, fingerprint_, place());
  spdlog::info("continuing from {}", place());
  return saved;
}

void ResumableRun::Begin(const OptionSet& resolved) {
  WaitForAll(group_);  // so that no checkpoint is removed before all have read it
  if (!writes()) return;
  options_ = resolved.ResolvedJson();
  if (saved_ >= 0) RemoveOldCheckpoints();
  WriteResolved(folder_, resolved.ResolvedToml());
  metrics_.emplace(folder_, saved_);
}

bool ResumableRun::GoesOn(int64_t steps, const std::atomic<bool>& stop) const {
  return state_.step < steps && SumOverRanks(group_, stop ? 1 : 0) == 0;
}

void ResumableRun::Save(
    const std::function<CheckpointTensors(nlohmann::ordered_json& json)>& tensors) {
  if (writes()) {
    nlohmann::ordered_json json = state_.ToJson(fingerprint_);
    const CheckpointTensors values = tensors(json);
    checkpoints_.Save(state_.step, values, std::move(json));
    RemoveOldCheckpoints();
  }
  saved_ = state_.step;
  WaitForAll(group_);  // so that no rank makes a step before the checkpoint is complete
}

void ResumableRun::RemoveOldCheckpoints() const {
  std::set<int64_t> kept;
  if (keep_best_) kept.insert(state_.best_step);
  checkpoints_.KeepLast(keep_, kept);
}

void ResumableRun::Record(
    const char* program, const std::function<void()>& work,
    const std::function<nlohmann::ordered_json(double wall_s)>& details) const {
  const auto begin = std::chrono::steady_clock::now();
  const auto note = [&](const char* diverged) {
    if (!writes()) return;
    nlohmann::ordered_json run = RunOf(program);
    run["options"] = options_;
    run["processes"] = group_ == nullptr ? 1 : group_->size();
    run.update(details(SecondsSince(begin)));
    if (diverged != nullptr) run["diverged"] = diverged;
    AppendToRunFile(folder_, std::move(run));
  };
  try {
    work();
  } catch (const DivergedError& error) {
    note(error.what());
    throw;
  }
  note(nullptr);
}

}  // namespace agentr
