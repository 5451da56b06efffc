// train_bench: row tokens per second of training, forward, backward and AdamW, on lm_bench's random
// Llama of 22 million parameters.
//
//   train_bench                         dense rows of 512 and 2,048 tokens, every token trained
//   train_bench --data ROWS.jsonl --model_dir DIR      rows as agent_train trains on them
//   train_bench --write_model DIR       writes the model, for transformers on the same machine:
//   tests/bench/train_transformers.py DIR
#include <ATen/Parallel.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "common/clock.h"
#include "common/error.h"
#include "common/options.h"
#include "common/random.h"
#include "tests/bench/cpu_seconds.h"
#include "tests/lm/decoder/random_model.h"
#include "training/data/step_loader.h"
#include "training/speed.h"
#include "training/trainer.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::string write_model;
  std::string model_dir;
  std::vector<std::string> dtypes = {"float32", "bfloat16"};
  std::vector<int> lengths = {512, 2048};
  int tokens = 2048;  // of a step of dense rows
  int steps = 5;
  int threads = 2;
  bool checkpoint = false;
  DataOptions data;
};

void DeclareBench(OptionSet& set, BenchOptions& o) {
  set.Group("Benchmark");
  set.Add("--write_model", o.write_model, "Only write the model into this folder");
  set.Add("--model_dir", o.model_dir, "Measure this model instead of the random one");
  set.Add("--dtype", o.dtypes, "Types to measure (repeatable)");
  set.Add("--length", o.lengths, "Tokens of a dense row (repeatable)");
  set.Add("--tokens", o.tokens, "Tokens of a step of dense rows").Min(1);
  set.Add("--steps", o.steps, "Steps; the fastest and the one of the least CPU time count").Min(1);
  set.Add("--threads", o.threads, "Threads on the CPU").Min(1);
  set.Add("--checkpoint_activations", o.checkpoint, "Compute the layers twice");
  Declare(set, o.data);
}

Batch DenseRows(const ModelConfig& config, int length, int tokens) {
  RandomStream stream(3);
  Batch batch;
  for (int row = 0; row < tokens / length; ++row) {
    const auto begin = static_cast<int32_t>(batch.tokens.size());
    batch.segments.push_back({begin, begin + length, -1});
    for (int i = 0; i < length; ++i) {
      batch.tokens.push_back(static_cast<int32_t>(stream.Below(config.vocab_size)));
      batch.positions.push_back(i);
      if (i > 0) batch.targets.push_back({begin + i - 1, batch.tokens.back(), 1});
    }
    ++batch.rows;
    batch.row_tokens += length;
  }
  return batch;
}

void MeasureSteps(const std::string& what, const fs::path& folder, const std::string& dtype,
                  const BenchOptions& o, const std::vector<std::vector<Batch>>& steps) {
  NetworkOptions options;
  options.type = dtype == "float32" ? at::kFloat : at::kBFloat16;
  options.checkpoint_activations = o.checkpoint;
  const ModelConfig config = ReadModelConfig(folder);
  Network network(config, WeightFiles(folder), options);
  network.TrainAll();
  Trainer trainer(network, {});
  const double limit = MeasureMatmulLimit(options, config);
  double fastest = 1e9, least_cpu = 1e9, share = 0, rows = 0, seconds = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    double weight = 0;
    for (const Batch& batch : steps[i]) weight += batch.weight();
    const double cpu_before = CpuSeconds();
    const auto begin = std::chrono::steady_clock::now();
    const StepReport report = trainer.Step(steps[i], weight, 1e-5, 0);
    const double s = SecondsSince(begin);
    const auto step_tokens = static_cast<double>(report.row_tokens);
    least_cpu = std::min(least_cpu, (CpuSeconds() - cpu_before) / step_tokens);
    const double per_token = s / step_tokens;
    if (i > 0 || steps.size() == 1) {  // the first one warms up
      rows += step_tokens;
      seconds += s;
    }
    if (per_token < fastest) {
      fastest = per_token;
      share = report.flops / s / limit;
    }
  }
  fmt::print("{:<9} {:<20} {:>8.0f} {:>8.0f} {:>8.0f} {:>10.0f}% {:>9.2f}\n", dtype, what,
             1 / fastest, rows / seconds, 1 / least_cpu, 100 * share, PeakMemoryGib());
  std::fflush(stdout);
}

void Measure(const fs::path& folder, const BenchOptions& o) {
  at::set_num_threads(o.threads);
  KeepFreedMemory();
  fmt::print("dtype     rows                  fastest     mean    /CPU s  of matmul  peak GiB\n");
  for (const std::string& dtype : o.dtypes) {
    if (o.data.data.empty()) {
      for (const int length : o.lengths) {
        const Batch batch = DenseRows(ReadModelConfig(folder), length, std::max(o.tokens, length));
        MeasureSteps(fmt::format("dense {}", length), folder, dtype, o,
                     std::vector<std::vector<Batch>>(o.steps, {batch}));
      }
      continue;
    }
    const RowTokenizer text = LoadRowTokenizer(folder, o.data.chat_template);
    TrainingData data(o.data, text);
    StepLoader loader(data, 0);
    std::vector<std::vector<Batch>> steps;
    for (int i = 0; i < o.steps; ++i) steps.push_back(loader.Next().batches);
    MeasureSteps(o.data.share_prefixes ? "shared" : "side by side", folder, dtype, o, steps);
  }
}

ExitCode Main(int argc, char** argv) {
  BenchOptions o;
  OptionSet set("train_bench", "Row tokens per second of training.");
  DeclareBench(set, o);
  if (const auto code = set.Parse(argc, argv)) return *code;
  if (!o.data.data.empty() && o.model_dir.empty()) {
    throw FatalError(
        ExitCode::kUsage,
        "--data needs --model_dir, a folder with a tokenizer: the random model has none");
  }
  BenchModel(o.write_model, o.model_dir, [&](const fs::path& folder) { Measure(folder, o); });
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Main(argc, argv); });
}
