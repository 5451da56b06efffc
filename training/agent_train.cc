#include "training/agent_train.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "common/clock.h"
#include "common/file.h"
#include "common/fingerprint.h"
#include "common/interrupt.h"
#include "common/progress.h"
#include "lm/export_model.h"
#include "lm/gguf_export.h"
#include "rollout/run_metrics.h"
#include "training/data/step_loader.h"
#include "training/data/training_data.h"
#include "training/distributed/job.h"
#include "training/distributed/job_fingerprint.h"
#include "training/memory_parts.h"
#include "training/model/divergence.h"
#include "training/model/weight_snapshot.h"
#include "training/resumable_run.h"
#include "training/speed.h"
#include "training/train_setup.h"
#include "training/trainer.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// A run of the program: what it has opened, and how far it is. Of a job of many processes each has
// its own, and all take the same steps; rank 0 alone writes.
class Run {
 public:
  // `group`: null for a job of one process.
  Run(const AgentTrainOptions& options, const OptionSet& resolved, const WeightsListener& listener,
      ProcessGroup* group);
  ExitCode Train();

 private:
  bool writes() const { return run_.writes(); }
  LoaderOptions Share() const;
  void RequireSameInputs() const;
  Fingerprint MakeFingerprint() const;
  void SayMemory() const;
  void TakeSteps(const std::atomic<bool>& stop);
  void TakeStep(StepLoader& loader, Progress& progress);
  void NoteBatch(size_t done, size_t of, double seconds, Progress& progress);
  void CheckHeldOut() const;
  void NoteSpeed(const StepReport& report, double rate, double seconds, const LoadedStep& loaded,
                 Progress& progress);
  void EvaluateHeldOut();
  void WarnOfCollapse(double held_out);
  std::string HeldOutText() const;
  std::shared_ptr<const WeightSnapshot> Snapshot() const;
  void Show();
  void Save();
  void Export();

  const double program_gib_ = MemoryGib();  // before the model is opened
  const AgentTrainOptions& o_;
  const WeightsListener& listener_;
  ProcessGroup* const group_;
  ResumableRun run_;
  RunState& state_;  // of run_
  const ModelConfig config_;
  const RowTokenizer tokenizer_;
  TrainingData data_;
  Network network_;
  std::optional<Trainer> trainer_;
  bool evaluates_ = false;
  std::vector<Batch> held_out_;  // of this process
  int64_t steps_ = 0;            // of the whole run
  RowCounts counts_;             // of the steps of this process, over all ranks
  double matmul_limit_ = 0;
  MemoryParts memory_;
  bool timed_ = false;      // whether it was said how long a step takes
  bool collapsed_ = false;  // at the last held-out loss
};

Run::Run(const AgentTrainOptions& options, const OptionSet& resolved,
         const WeightsListener& listener, ProcessGroup* group)
    : o_(options),
      listener_(listener),
      group_(group),
      run_(TrainFolder(options), options.keep, options.export_which == "best", group),
      state_(run_.state()),
      config_(ReadModelConfig(options.start.dir)),
      tokenizer_(LoadRowTokenizer(options.start.dir, options.data.chat_template,
                                  options.data.chat_kwargs)),
      data_(OpenData(options, tokenizer_, group)),
      network_(config_, *FirstWeights(options.start, config_, options.data.seed),
               NetworkOptionsOf(options, config_, group)) {
  RequireRows(*tokenizer_.tokenizer, config_.vocab_size, options.start.dir);
  if (config_.fused && o_.lora.rank > 0 && !o_.merge_adapters) {
    throw FatalError(
        ExitCode::kUsage,
        "the matrices of this family are fused, and PEFT's adapters of them are others "
        "than ours: export merged ones with --merge_adapters 1");
  }
  if (const std::string gguf = DescribeGguf(o_.start); writes() && !gguf.empty()) {
    fmt::print("{}, which computes in {} (--dtype); {} is exported (--export_dtype)\n", gguf,
               TypeName(ComputeType(o_, config_)), Name(ExportType(o_, config_)));
  }
  if (writes()) fmt::print("{}", data_.Describe());
  if (writes()) WarnOfUnread(data_);
  RequireSameInputs();
  if (o_.data.inspect > 0) return;
  if (o_.lora.rank > 0) {
    network_.TrainAdapters(o_.lora, o_.data.seed);
  } else {
    network_.TrainAll();
  }
  trainer_.emplace(network_, o_.adamw, group_, o_.distributed.zero);
  steps_ = data_.steps_per_epoch() * o_.epochs;
  if (o_.train_tokens > 0) steps_ = StepsForTokens(data_, static_cast<int64_t>(o_.train_tokens));
  if (o_.max_steps > 0) steps_ = std::min<int64_t>(steps_, o_.max_steps);
  evaluates_ = o_.eval_rows > 0 && data_.held_out_rows() > 0;
  if (evaluates_) {
    held_out_ = MicroBatches(data_.ReadHeldOut(o_.eval_rows).rows, data_.options(), Share());
  }
  run_.Lock();
  memory_ = MemoryOf(program_gib_, network_, trainer_->memory(), o_.data);
  if (writes()) SayMemory();
  if (!run_.Choose(MakeFingerprint()).empty()) {
    run_.checkpoints().Load(run_.saved(), trainer_->Own());
    trainer_->Continue(state_.optimizer_steps);
  }
  StopOnSignal();  // who sees a file of the run may stop it in order
  run_.Begin(resolved);
  matmul_limit_ = SumOverRanks(group_, MeasureMatmulLimit(network_.options(), config_));
}

LoaderOptions Run::Share() const {
  LoaderOptions share;
  share.pair_cost = PairCost(config_);
  if (group_ != nullptr) share.rank = group_->rank();
  if (group_ != nullptr) share.ranks = group_->size();
  return share;
}

void Run::SayMemory() const {
  for (const std::string& line : memory_.Lines()) spdlog::info("{}", line);
  if (group_ == nullptr) return;
  const TrainingMemory memory = trainer_->memory();
  constexpr double kMib = 1 << 20;
  fmt::print(
      "{} processes, --zero {}: each holds {:.3f} MiB of optimiser state and {:.3f} MiB of "
      "gradients, and at most {:.3f} MiB while gradients are exchanged\n",
      group_->size(), o_.distributed.zero, static_cast<double>(memory.optimizer) / kMib,
      static_cast<double>(memory.gradients) / kMib, static_cast<double>(memory.exchange) / kMib);
}

// Of the job's processes; their options have been compared where they met.
void Run::RequireSameInputs() const {
  JobFingerprint fingerprint = ModelFingerprint(o_.start);
  fingerprint.push_back(
      {"--data", data_.data_hash(),
       fmt::format("{} (hash {:.8})", fmt::join(o_.data.data, " "), data_.data_hash())});
  RequireSame(group_, fingerprint);
}

Fingerprint Run::MakeFingerprint() const {
  const auto adapters = FingerprintOf(o_.lora);
  const auto adamw = FingerprintOf(o_.adamw);
  const auto schedule = FingerprintOf(o_.schedule);
  Fingerprint fingerprint = {
      {"the model (--model_dir)", ModelHash(o_.start)},
      {"the rows or how they are read and ordered (--data and its options, --seed)",
       data_.data_hash()},
      {"the number of steps (--epochs, --max_steps, --train_tokens)", std::to_string(steps_)},
      {"--dtype", TypeName(ComputeType(o_, config_))},
      {"the adapters (--lora_…)", ValuesText(adapters)},
      {"AdamW (--adam_…, --weight_decay, --max_grad_norm)", ValuesText(adamw)},
      {"the learning rate (--lr…, --warmup)", ValuesText(schedule)}};
  // What is in none of these entries.
  auto rest = ChangedOptions(o_);
  for (const auto& part :
       {FingerprintOf(o_.start), FingerprintOf(o_.data), adapters, adamw, schedule}) {
    for (const auto& [name, value] : part.items()) rest.erase(name);
  }
  for (const char* name : {"epochs", "max_steps", "train_tokens", "dtype"}) rest.erase(name);
  for (const auto& [name, value] : rest.items()) {
    fingerprint.emplace_back("--" + name, value.dump());
  }
  return fingerprint;
}

ExitCode Run::Train() {
  if (o_.data.inspect > 0) {
    fmt::print("{}", data_.Inspect(o_.data.inspect, ::isatty(1) != 0));
    fmt::print("nothing was trained: --inspect only shows rows; leave it out to train\n");
    return ExitCode::kOk;
  }
  const std::atomic<bool>& stop = StopOnSignal();
  const int64_t first = state_.step;
  const auto details = [&](double wall_s) {
    nlohmann::ordered_json run = {{"first_step", first},
                                  {"steps", state_.step},
                                  {"wall_s", wall_s},
                                  {"peak_memory_gib", PeakMemoryGib()},
                                  {"memory_parts_gib", memory_.ToJson()}};
    if (counts_.rewritten > 0) {
      run["rows_rewritten"] = counts_.rewritten;
      run["rewritten_tokens"] = counts_.rewritten_tokens;
    }
    return run;
  };
  run_.Record(
      "agent_train", [&] { TakeSteps(stop); }, details);
  if (state_.step < steps_) return ExitCode::kInterrupted;
  CheckSomeRowsFit(state_.optimizer_steps, o_.data.max_length);
  if (writes()) WarnOfLongRows(counts_, o_.data.max_length);
  if (writes()) Export();
  if (state_.step > first) Show();
  return ExitCode::kOk;
}

// Up to the last one, or until a signal says stop.
void Run::TakeSteps(const std::atomic<bool>& stop) {
  const bool begun = run_.saved() >= 0;
  if (!begun) EvaluateHeldOut();
  if (o_.export_which == "best") {
    CheckHeldOut();
    if (!begun) Save();  // the start model may stay the best one
  }
  Progress progress("steps", "tokens", writes() ? steps_ : 0);  // 0: it draws nothing
  for (int64_t i = 0; i < state_.step; ++i) progress.Skipped();
  std::optional<RunMetrics> served;
  if (writes() && o_.metrics_port > 0) {
    served.emplace(o_.metrics_port,
                   [&] { return MetricsText("optimiser steps", "row tokens", progress.Now()); });
  }
  if (state_.step < steps_) {
    StepLoader loader(data_, state_.step, Share());
    while (run_.GoesOn(steps_, stop)) TakeStep(loader, progress);
  }
  // Also after a signal: the same command then continues from this step.
  if (run_.saved() != state_.step) Save();
}

void Run::CheckHeldOut() const {
  if (state_.best_step >= 0) return;
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("--export best needs a held-out loss, but {}. Cure: a larger --held_out, or "
                  "--export last",
                  evaluates_ ? "all held-out rows are longer than --max_length"
                             : "no task of the rows was drawn to be held out"));
}

void Run::TakeStep(StepLoader& loader, Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  const LoadedStep loaded = loader.Next();
  const double rate = LearningRate(o_.schedule, state_.step, steps_);
  const StepReport report =
      trainer_->Step(loaded.batches, loaded.weight, rate,
                     o_.lora.dropout > 0 ? static_cast<uint64_t>(state_.step) + 1 : 0,
                     {.stop = &StopOnSignal(), .batch_done = [&](size_t done, size_t of) {
                        NoteBatch(done, of, SecondsSince(begin), progress);
                      }});
  if (report.stopped) return;  // the next run makes this step anew
  if (writes() && counts_.rewritten == 0) TellRewrittenTurns(loaded.counts, o_.data.each_turn);
  counts_ += loaded.counts;
  ++state_.step;
  state_.optimizer_steps = trainer_->optimizer_steps();
  const double seconds = SecondsSince(begin);
  NoteSpeed(report, rate, seconds, loaded, progress);
  const bool last = state_.step == steps_;
  const bool due = o_.eval_every > 0 && state_.step % o_.eval_every == 0;
  const int64_t best = state_.best_step;
  if (due || last) EvaluateHeldOut();
  if (listener_.every > 0 && !last && state_.step % listener_.every == 0) Show();
  const bool better = o_.export_which == "best" && state_.best_step != best;
  if (last || better || (o_.save_every > 0 && state_.step % o_.save_every == 0)) Save();
  progress.Done();
}

// Of a long step the progress line shows the batches, and the first one tells how long all will
// take.
void Run::NoteBatch(size_t done, size_t of, double seconds, Progress& progress) {
  if (!writes()) return;
  progress.Part(static_cast<double>(done) / static_cast<double>(of));
  if (of > 1) progress.Note(fmt::format("step {}: batch {} of {}", state_.step + 1, done, of));
  if (std::exchange(timed_, true)) return;
  const std::string forecast = StepForecast(
      seconds * static_cast<double>(of) / static_cast<double>(done), steps_ - state_.step);
  if (!forecast.empty()) spdlog::info("{}", forecast);
}

void Run::NoteSpeed(const StepReport& report, double rate, double seconds, const LoadedStep& loaded,
                    Progress& progress) {
  // Every rank must call this sum, also those that write nothing.
  const double memory_gib = SumOverRanks(group_, MemoryGib());
  if (!writes()) return;
  const double distinct = static_cast<double>(report.tokens) / seconds;
  const double share = report.flops / seconds / matmul_limit_;
  nlohmann::ordered_json line = {{"step", state_.step},
                                 {"epoch", loaded.epoch},
                                 {"train", ToJson(report.sums)},
                                 {"lr", rate},
                                 {"gradient_norm", report.gradient_norm},
                                 {"rows", loaded.counts.rows},
                                 {"rows_cut", loaded.counts.cut},
                                 {"rows_dropped", loaded.counts.dropped},
                                 {"row_tokens", report.row_tokens},
                                 {"distinct_tokens", report.tokens}};
  if (loaded.counts.rewritten > 0) {
    line["rows_rewritten"] = loaded.counts.rewritten;
    line["rewritten_tokens"] = loaded.counts.rewritten_tokens;
  }
  line["speed"] = {{"seconds", seconds},
                   {"row_tokens_per_s", static_cast<double>(report.row_tokens) / seconds},
                   {"distinct_tokens_per_s", distinct},
                   {"share_of_matmul_limit", share},
                   {"memory_gib", memory_gib}};
  run_.metrics()->Add(line);
  progress.AddUnits(report.row_tokens);
  const LossSums::Part total = report.sums.Total();
  progress.Note(fmt::format(
      "loss {:.4f}, {}lr {:.2e}, norm {:.2f}, {:.0f} distinct tokens/s, {:.0f}% of the matmul "
      "limit, {:.1f} GiB",
      total.weight > 0 ? total.loss / total.weight : 0,
      state_.best_step < 0 ? "held-out -, " : fmt::format("held-out {:.4f}, ", state_.held_out),
      rate, report.gradient_norm, distinct, 100 * share, memory_gib));
}

std::string Run::HeldOutText() const {
  if (state_.best_step < 0) return "held-out loss -";
  return fmt::format("held-out loss {:.4f} (best {:.4f} at step {})", state_.held_out,
                     state_.best_held_out, state_.best_step);
}

void Run::EvaluateHeldOut() {
  if (!evaluates_) return;
  const LossSums sums = trainer_->HeldOut(held_out_);
  const LossSums::Part total = sums.Total();
  if (total.weight == 0) return;
  const double loss = total.loss / total.weight;
  if (!std::isfinite(loss)) {
    EndDiverged(fmt::format("after step {} the held-out loss is {}", state_.step, std::abs(loss)));
  }
  state_.held_out = loss;
  WarnOfCollapse(loss);
  if (state_.best_step < 0 || state_.held_out < state_.best_held_out) {
    state_.best_step = state_.step;
    state_.best_held_out = state_.held_out;
  }
  if (writes()) run_.metrics()->Add({{"step", state_.step}, {"held_out", ToJson(sums)}});
}

// A model that is worse than guessing was good before, or never learned anything.
void Run::WarnOfCollapse(double held_out) {
  const double guessing = std::log(static_cast<double>(config_.vocab_size));
  constexpr double kMuchWorse = 1.5;  // a new model may be a little worse
  const bool collapsed = held_out > kMuchWorse * guessing;
  if (collapsed && !collapsed_ && writes()) {
    spdlog::warn(
        "step {}: the held-out loss is {:.2f}, but {:.2f} if every token is equally likely: the "
        "model has collapsed. Usual cure: a lower --lr, with another --name",
        state_.step, held_out, guessing);
  }
  collapsed_ = collapsed;
}

std::shared_ptr<const WeightSnapshot> Run::Snapshot() const {
  return std::make_shared<WeightSnapshot>(
      fmt::format("{}, step {}", run_.folder().string(), state_.step), network_.merged(),
      ExportType(o_, config_));
}

void Run::Show() {
  if (listener_.show && writes()) {
    const nlohmann::ordered_json play = listener_.show(state_.step, Snapshot());
    if (!play.is_null()) run_.metrics()->Add({{"step", state_.step}, {"play", play}});
  }
  WaitForAll(group_);
}

void Run::Save() {
  if (writes()) trainer_->CheckAnswer();
  const CheckpointTensors tensors = trainer_->Whole();
  run_.Save([&](nlohmann::ordered_json&) { return tensors; });
}

void Run::Export() {
  const bool best = o_.export_which == "best";
  if (best) {
    if (!fs::exists(run_.checkpoints().Path(state_.best_step))) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("the best model, that of step {}, was not kept, because the run "
                                   "began with --export last. Cure: train again with --export best "
                                   "and another --name",
                                   state_.best_step));
    }
    run_.checkpoints().LoadParameters(state_.best_step, trainer_->Own());
    network_.Refresh();
  }
  const fs::path to = run_.folder() / "model";
  if (o_.lora.rank > 0 && !o_.merge_adapters) {
    WriteAdapters(to, o_.lora, o_.start.dir, network_.adapters());
  } else {
    ExportModel(to, o_.start.dir, *Snapshot());
    if (o_.export_gguf != "none") {
      ExportGguf(to, run_.folder() / "model.gguf",
                 o_.export_gguf == "f16"    ? WeightType::kF16
                 : o_.export_gguf == "bf16" ? WeightType::kBF16
                                            : WeightType::kQ8_0);
    }
  }
  const std::string chat = tokenizer_.chat->training_template();
  if (!chat.empty()) WriteFileAtomically(to / "chat_template_training.jinja", chat);
  fmt::print("{} steps, {}; {} is in {}\n", state_.step, HeldOutText(),
             best ? "the best model" : "the model", to.string());
}

}  // namespace

ExitCode AgentTrain(const AgentTrainOptions& options, const OptionSet& resolved,
                    const WeightsListener& listener) {
  AgentTrainOptions o = options;
  if (o.data.data.empty()) o.data.data = {NewestRows()};
  Check(o);
  if (o.name.empty()) o.name = NameOf(o.start.dir);
  o.start = Found(o.start, o.lora.rank > 0 && !o.merge_adapters);
  KeepFreedMemory();
  if (o.data.inspect > 0) o.distributed.processes = 1;
  return RunInJob(o.distributed, o.threads, resolved.ResolvedJson(), [&](ProcessGroup* group) {
    Run run(o, resolved, listener, group);
    return run.Train();
  });
}

}  // namespace agentr
