#include "rl/agent_rl.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/json_fields.h"
#include "common/options.h"
#include "common/progress.h"
#include "lm/export_model.h"
#include "rl/collapse.h"
#include "rl/rl_context.h"
#include "training/distributed/job.h"
#include "training/distributed/job_fingerprint.h"
#include "training/model/weight_snapshot.h"
#include "training/resumable_run.h"
#include "training/speed.h"
#include "training/trainer.h"
#include "training/updater.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// The distinct tokens that the networks learned from in an iteration with these metrics.
int64_t TokensIn(const nlohmann::ordered_json& metrics) {
  double tokens = 0;
  for (const auto& part : metrics) {
    if (part.is_object()) tokens += part.value("distinct_tokens", 0.0);
  }
  return static_cast<int64_t>(tokens);
}

Fingerprint FingerprintOf(const AgentRlOptions& o, const OptionSet& resolved) {
  nlohmann::ordered_json options = resolved.Fingerprint();
  // The number of iterations decides nothing but the rates, so a run with one rate can be
  // prolonged.
  if (o.schedule.shape == "constant" && o.schedule.warmup == 0) options.erase("iterations");
  Fingerprint fingerprint;
  if (!o.start.dir.empty()) {
    fingerprint.emplace_back("the model (--model_dir)", ModelHash(o.start));
  }
  for (const auto& [name, value] : options.items())
    fingerprint.emplace_back("--" + name, value.dump());
  return fingerprint;
}

// The parameters and moments of all trainers, and the followers.
CheckpointTensors TensorsOf(Algorithm& algorithm) {
  CheckpointTensors all;
  const std::vector<Updater*> trainers = algorithm.trainers();
  for (size_t i = 0; i < trainers.size(); ++i) {
    CheckpointTensors own = trainers[i]->Own();
    // Two networks of one shape have parameters of the same names.
    for (Parameter& p : own.parameters) {
      if (i > 0) p.name = fmt::format("trainer{}.{}", i, p.name);
    }
    for (CheckpointTensors::Moments& moments : own.moments) {
      moments.parameter += all.parameters.size();
      all.moments.push_back(moments);
    }
    all.parameters.insert(all.parameters.end(), own.parameters.begin(), own.parameters.end());
  }
  const std::vector<Parameter> followers = algorithm.followers();
  all.parameters.insert(all.parameters.end(), followers.begin(), followers.end());
  all.frozen = followers.size();
  return all;
}

// Where the time of a run goes, in seconds, and what was done in it.
struct StageTimes {
  double playing = 0, learning = 0, evaluating = 0;
  int64_t steps = 0;   // of environments
  int64_t tokens = 0;  // distinct ones that were learned from, as often as they were

  StageTimes& operator+=(const StageTimes& other) {
    playing += other.playing;
    learning += other.learning;
    evaluating += other.evaluating;
    steps += other.steps;
    tokens += other.tokens;
    return *this;
  }
  nlohmann::ordered_json ToJson() const {
    const auto rate = [](int64_t count, double seconds) {
      return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
    };
    return {{"playing_s", playing},
            {"learning_s", learning},
            {"evaluating_s", evaluating},
            {"environment_steps_per_s_playing", rate(steps, playing)},
            {"environment_steps_per_s", rate(steps, playing + learning)},
            {"tokens_per_s_learning", rate(tokens, learning)}};
  }
  std::string Text() const {
    const nlohmann::ordered_json json = ToJson();
    const double all = std::max(1e-9, playing + learning + evaluating);
    return fmt::format(
        "{:.0f} s: playing {:.0f} % ({:.0f} environment steps/s), learning {:.0f} % ({:.0f} "
        "tokens/s), evaluating {:.0f} %",
        all, 100 * playing / all, json["environment_steps_per_s_playing"].get<double>(),
        100 * learning / all, json["tokens_per_s_learning"].get<double>(), 100 * evaluating / all);
  }
};

// A run of the program. Of a job of many processes each has its own, and all do the same with the
// same numbers, except that the work of the networks is divided (shared_pass.h); rank 0 alone
// writes.
class RlRun {
 public:
  RlRun(const AgentRlOptions& options, const OptionSet& resolved, ProcessGroup* group,
        Workbench* workbench)
      : o_(options),
        group_(group),
        workbench_(workbench),
        run_(RlFolder(options), options.keep_checkpoints, /*keep_best=*/true, group),
        state_(run_.state()) {
    run_.Lock();
    Open(FingerprintOf(o_, resolved));
    StopOnSignal();  // who sees a file of the run may stop it in order
    run_.Begin(resolved);
  }

  ExitCode Train();

 private:
  bool writes() const { return run_.writes(); }
  // False if it learns from what others have played.
  bool plays() const { return algorithm_->DataDescription().empty(); }
  void Open(Fingerprint fingerprint);
  void Restore(const nlohmann::json& saved);
  void CheckData(const nlohmann::json& saved) const;
  void OpenContext(int64_t transitions);
  void TakeIterations(const std::atomic<bool>& stop);
  bool TakeIteration(Progress& progress);
  void WarnOfCollapse(const nlohmann::ordered_json& metrics);
  int64_t GoodCheckpoint() const;
  std::string KeepGood();
  void Evaluate(Progress& progress);
  void Save();
  CheckpointTensors Checkpoint(nlohmann::ordered_json& json);
  void Export();

  const AgentRlOptions& o_;
  ProcessGroup* const group_;
  Workbench* const workbench_;
  ResumableRun run_;
  RunState& state_;  // of run_; its steps are iterations
  std::optional<RlContext> context_;
  std::unique_ptr<Algorithm> algorithm_;
  StageTimes times_;
  bool owes_evaluation_ = false;  // a signal came during that of the present iteration
  CollapseWatch watch_;
  std::set<std::string> signs_;  // of a collapse in the last iteration
};

void RlRun::Open(Fingerprint fingerprint) {
  const nlohmann::json saved = run_.Choose(std::move(fingerprint));
  const std::string record = run_.place() + "/state.json";
  OpenContext(ReadingRecord(record, kCheckpointCure,
                            [&] { return JsonFieldOr<int64_t>(saved, "transitions", 0); }));
  algorithm_ = o_.algorithm(*context_);
  RequireSame(group_, {{"what is learned from", algorithm_->DataDescription(), ""}});
  if (!saved.empty()) {
    ReadingRecord(record, kCheckpointCure, [&] { Restore(saved); });
  }
}

void RlRun::Restore(const nlohmann::json& saved) {
  CheckData(saved);
  run_.checkpoints().Load(run_.saved(), TensorsOf(*algorithm_));
  const std::vector<Updater*> trainers = algorithm_->trainers();
  const auto steps = JsonField<std::vector<int64_t>>(saved, "trainer_steps");
  if (steps.size() != trainers.size()) {
    throw std::invalid_argument(fmt::format("field \"trainer_steps\" has {} numbers, not {}",
                                            steps.size(), trainers.size()));
  }
  for (size_t i = 0; i < trainers.size(); ++i) trainers[i]->Continue(steps[i]);
  algorithm_->Restore(saved.at("algorithm"));
  if (saved.contains("watched")) watch_.Restore(saved.at("watched"));
  const auto signs = JsonFieldOr<std::vector<std::string>>(saved, "signs", {});
  signs_.insert(signs.begin(), signs.end());
  owes_evaluation_ = JsonFieldOr<bool>(saved, "owes_evaluation", false);
}

void RlRun::CheckData(const nlohmann::json& saved) const {
  if (JsonFieldOr<std::string>(saved, "data", "") == algorithm_->DataDescription()) return;
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("{} has learned from other trees, episodes or transitions than there "
                  "are now. Cure: another --name for a new run, or the same data as before",
                  run_.place()));
}

// The other ranks copy the transitions of rank 0, cut to those of the checkpoint.
void RlRun::OpenContext(int64_t transitions) {
  if (writes()) context_.emplace(o_, run_.folder(), transitions, group_, workbench_);
  WaitForAll(group_);
  if (writes()) return;
  const fs::path own = run_.folder() / "ranks" / std::to_string(group_->rank());
  fs::create_directories(own);
  const fs::path name = "transitions.bin";
  fs::copy_file(run_.folder() / name, own / name, fs::copy_options::overwrite_existing);
  context_.emplace(o_, own, transitions, group_);
}

ExitCode RlRun::Train() {
  const std::atomic<bool>& stop = StopOnSignal();
  const int64_t first = state_.step;
  const auto iterate = [&] {
    TakeIterations(stop);
    if (writes()) fs::remove_all(run_.folder() / "ranks");
  };
  run_.Record("agent_rl", iterate, [&](double wall_s) -> nlohmann::ordered_json {
    return {{"first_iteration", first},
            {"iterations", state_.step},
            {"transitions", context_->store().size()},
            {"wall_s", wall_s},
            {"stages", times_.ToJson()},
            {"peak_memory_gib", PeakMemoryGib()}};
  });
  if (writes()) fmt::print("{}\n", times_.Text());
  if (state_.step < o_.iterations || owes_evaluation_) return ExitCode::kInterrupted;
  if (writes()) Export();
  return ExitCode::kOk;
}

// Up to the last one, or until a signal says stop.
void RlRun::TakeIterations(const std::atomic<bool>& stop) {
  if (writes()) {
    spdlog::info("{}: {} of {} iterations to go, results in {}", NameOf(kAlgorithms, o_.algorithm),
                 o_.iterations - state_.step, o_.iterations, run_.folder().string());
  }
  // Of no iterations it draws nothing.
  Progress progress("iterations", plays() ? "transitions" : "tokens", writes() ? o_.iterations : 0);
  const bool owed = owes_evaluation_;
  if (run_.saved() < 0 || owed) Evaluate(progress);
  for (int64_t i = 0; i < state_.step; ++i) progress.Skipped();
  while (run_.GoesOn(o_.iterations, stop) && TakeIteration(progress)) {
  }
  if (run_.saved() != state_.step || owed != owes_evaluation_) Save();
}

// False if a signal came before it was made.
bool RlRun::TakeIteration(Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  const RlContext::Played before = context_->played();
  nlohmann::ordered_json line = {{"step", state_.step + 1}};
  progress.Note(fmt::format("iteration {}: {}", state_.step + 1,
                            plays() ? "playing and learning" : "learning"));
  const nlohmann::ordered_json metrics = algorithm_->Iterate(state_.step);
  if (metrics.is_null()) return false;
  line.update(metrics);
  ++state_.step;
  const RlContext::Played after = context_->played();
  const int64_t played = after.steps - before.steps;
  line["transitions"] = context_->store().size();
  const double playing = after.seconds - before.seconds;
  const StageTimes now{playing, SecondsSince(begin) - playing, 0, played, TokensIn(line)};
  times_ += now;
  line["speed"] = {{"seconds", now.playing + now.learning},
                   {"playing", now.playing / (now.playing + now.learning)},  // share of the time
                   {"environment_steps_per_s", now.ToJson()["environment_steps_per_s"]},
                   {"tokens_per_s_learning", now.ToJson()["tokens_per_s_learning"]},
                   {"memory_gib", MemoryGib()}};
  if (after.tokens > before.tokens && playing > 0) {
    line["speed"]["tokens_per_s_playing"] =
        static_cast<double>(after.tokens - before.tokens) / playing;
  }
  if (writes()) run_.metrics()->Add(line);
  WarnOfCollapse(line);
  progress.AddUnits(plays() ? played : now.tokens);
  const bool last = state_.step == o_.iterations;
  if (last || (o_.eval_every > 0 && state_.step % o_.eval_every == 0)) Evaluate(progress);
  if (last || state_.step % o_.save_every == 0) Save();
  progress.Done();
  return true;
}

// A sign that stays is said once. From the first sign on, the last checkpoint from before it, if
// there is one, is the best one (RunState::best_step) until there is no sign.
void RlRun::WarnOfCollapse(const nlohmann::ordered_json& metrics) {
  std::set<std::string> seen;
  for (const CollapseSign& sign : watch_.Look(metrics)) {
    const bool first = signs_.empty() && seen.empty();
    seen.emplace(sign.name);
    if (first) state_.best_step = GoodCheckpoint();
    if (!writes() || signs_.contains(std::string(sign.name))) continue;
    spdlog::warn("iteration {}: {}{}", state_.step, sign.text, first ? KeepGood() : "");
  }
  if (seen.empty()) state_.best_step = -1;
  signs_ = std::move(seen);
}

// The last checkpoint whose weights have played without a sign: those that played in the present
// iteration are the weights before it. -1: there is none.
int64_t RlRun::GoodCheckpoint() const {
  int64_t good = -1;
  for (const int64_t step : run_.checkpoints().Steps()) {
    if (step < state_.step - 1) good = step;
  }
  return good;
}

// What is kept from before the first sign, as the end of a message.
std::string RlRun::KeepGood() {
  if (state_.best_step < 0) return "; there is no checkpoint from before the first sign";
  const std::string checkpoint = run_.checkpoints().Path(state_.best_step).string();
  if (!PlaysTasks(o_)) return fmt::format("; {}, from before the first sign, is kept", checkpoint);
  PolicyModel policy(o_);
  Trainer trainer(policy.network(), o_.adamw, {}, nullptr);
  run_.checkpoints().LoadParameters(state_.best_step, trainer.Own());
  trainer.Continue(0);
  const fs::path to = run_.folder() / "good_model";
  ExportModel(to, o_.start.dir, *policy.Snapshot(state_.best_step));
  return fmt::format(
      "; {}, from before the first sign, is kept, and its model is in {}: go on from there with "
      "--model_dir",
      checkpoint, to.string());
}

void RlRun::Evaluate(Progress& progress) {
  if (o_.eval_episodes == 0) return;
  progress.Note(fmt::format("evaluating after iteration {}", state_.step));
  const auto begin = std::chrono::steady_clock::now();
  const nlohmann::ordered_json result = algorithm_->Evaluate(state_.step);
  times_.evaluating += SecondsSince(begin);
  owes_evaluation_ = result.is_null() && PlaysTasks(o_);
  if (result.is_null() || !writes()) return;
  run_.metrics()->Add({{"step", state_.step}, {"evaluation", result}});
  fmt::print("iteration {}: {}\n", state_.step, result.dump());
}

void RlRun::Save() {
  run_.Save([&](nlohmann::ordered_json& json) { return Checkpoint(json); });
}

// What is saved, and what state.json says besides the progress.
CheckpointTensors RlRun::Checkpoint(nlohmann::ordered_json& json) {
  for (const Updater* trainer : algorithm_->trainers()) trainer->CheckAnswer();
  algorithm_->CheckAnswer();
  context_->store().Sync();
  json["transitions"] = context_->store().size();
  json["trainer_steps"] = nlohmann::ordered_json::array();
  for (const Updater* trainer : algorithm_->trainers()) {
    json["trainer_steps"].push_back(trainer->optimizer_steps());
  }
  json["data"] = algorithm_->DataDescription();
  if (const auto watched = watch_.State(); !watched.empty()) json["watched"] = watched;
  if (!signs_.empty()) json["signs"] = signs_;
  if (owes_evaluation_) json["owes_evaluation"] = true;
  json["algorithm"] = algorithm_->State();
  return TensorsOf(*algorithm_);
}

void RlRun::Export() {
  // GRPO learns from what it has just played, and stores nothing.
  const auto stored = context_->store().size();
  const std::string done = fmt::format("{} iterations{}", state_.step,
                                       stored > 0 ? fmt::format(", {} transitions", stored) : "");
  if (o_.start.dir.empty()) {
    fmt::print("{}; the weights are in {}\n", done, run_.place());
    return;
  }
  const fs::path to = run_.folder() / "model";
  ExportModel(to, o_.start.dir, *context_->policy().Snapshot(state_.step));
  if (o_.lora.rank > 0) {
    WriteAdapters(run_.folder() / "adapter", o_.lora, o_.start.dir,
                  context_->policy().network().adapters());
  }
  fmt::print("{}; the model is in {}\n", done, to.string());
}

}  // namespace

ExitCode AgentRl(const AgentRlOptions& asked, const OptionSet& resolved, Workbench* workbench) {
  Check(asked);
  AgentRlOptions options = asked;
  options.start = Found(asked.start, asked.lora.rank > 0);
  KeepFreedMemory();
  const auto& all = resolved.ResolvedJson();
  return RunInJob(options.distributed, options.threads, all, [&](ProcessGroup* group) {
    RequireSame(group, ModelFingerprint(options.start));
    RlRun run(options, resolved, group, workbench);
    return run.Train();
  });
}

}  // namespace agentr
