#include "training/train_setup.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/error.h"
#include "training/device.h"

namespace agentr {

namespace fs = std::filesystem;
namespace {

constexpr std::string_view kLongRowsCure =
    "Usual cures: a larger --max_length, or --too_long cut, which leaves out the oldest turns";

// Of a type by its name; auto: that of the weights.
bool IsFloat32(const std::string& dtype, const ModelConfig& config) {
  return dtype == "auto" ? config.weight_type == WeightType::kF32 : dtype == "float32";
}

}  // namespace

std::string NewestRows() {
  const fs::path folder = "path_result";
  fs::path newest;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kEnd = ".run.json";
    if (!name.ends_with(kEnd)) continue;
    for (const char* suffix : {".messages.jsonl", ".jsonl", ".sharegpt.jsonl"}) {
      const fs::path rows = folder / (name.substr(0, name.size() - kEnd.size()) + suffix);
      if (!fs::exists(rows)) continue;
      if (newest.empty() || fs::last_write_time(rows) > fs::last_write_time(newest)) newest = rows;
      break;
    }
  }
  if (newest.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "there is nothing to train on: path_result contains no rows of path_collect. "
                     "Cure: run path_collect first, or name the rows with --data");
  }
  return newest.string();
}

at::ScalarType ComputeType(const AgentTrainOptions& o, const ModelConfig& config) {
  return IsFloat32(o.dtype, config) ? at::kFloat : at::kBFloat16;
}

WeightType ExportType(const AgentTrainOptions& o, const ModelConfig& config) {
  return IsFloat32(o.export_dtype, config) ? WeightType::kF32 : WeightType::kBF16;
}

std::string TypeName(at::ScalarType type) { return type == at::kFloat ? "float32" : "bfloat16"; }

NetworkOptions NetworkOptionsOf(const AgentTrainOptions& o, const ModelConfig& config,
                                const ProcessGroup* group) {
  return {.device = TrainingDevice(o.device, LocalRank(group)),
          .type = ComputeType(o, config),
          .checkpoint_activations = o.checkpoint_activations};
}

TrainingData OpenData(const AgentTrainOptions& o, const RowTokenizer& text, ProcessGroup* group) {
  if (group != nullptr && group->rank() > 0) group->Barrier();
  TrainingData data(o.data, text);
  if (group != nullptr && group->rank() == 0) group->Barrier();
  return data;
}

double PairCost(const ModelConfig& c) {
  const auto heads = static_cast<double>(c.num_heads * c.head_dim);
  const auto keys = static_cast<double>(c.num_kv_heads * c.head_dim);
  const auto inner = static_cast<double>(c.intermediate_size);
  return 2 * heads / (static_cast<double>(c.hidden_size) * (2 * heads + 2 * keys + 3 * inner));
}

void CheckSomeRowsFit(int64_t steps, int64_t max_length) {
  if (steps > 0) return;
  throw FatalError(ExitCode::kFile,
                   fmt::format("no row could be trained: all are longer than {} tokens. {}",
                               max_length, kLongRowsCure));
}

void WarnOfUnread(const TrainingData& data) {
  if (const std::string warning = data.Unread(); !warning.empty()) spdlog::warn("{}", warning);
}

void WarnOfLongRows(const RowCounts& counts, int64_t max_length) {
  if (counts.dropped == 0) return;
  spdlog::warn(
      "{} of {} rows that were read were left out, because they are longer than {} tokens. {}",
      counts.dropped, counts.rows, max_length, kLongRowsCure);
}

void TellRewrittenTurns(const RowCounts& counts, bool each_turn) {
  if (counts.rewritten == 0) return;
  const std::string what = fmt::format(
      "in {} of {} rows that were read the chat template writes trained turns otherwise once later "
      "turns follow: {} trained tokens",
      counts.rewritten, counts.rows, counts.rewritten_tokens);
  if (each_turn) {
    spdlog::info("{}; each such turn is trained behind its own prefix (--each_turn 1)", what);
  } else {
    spdlog::warn(
        "{}, which are trained behind a prefix that the model never sees. --each_turn 1 "
        "trains each such turn behind its own prefix",
        what);
  }
}

int64_t StepsForTokens(TrainingData& data, int64_t tokens) {
  int64_t trained = 0;
  int64_t steps = 0;
  for (; trained < tokens; ++steps) {
    for (const TrainingRow& row : data.ReadStep(steps).rows) trained += row.trained_tokens();
    if (trained == 0 && steps == data.steps_per_epoch()) {
      throw FatalError(ExitCode::kFile, "--train_tokens: no row of --data trains a token");
    }
  }
  return steps;
}

}  // namespace agentr
