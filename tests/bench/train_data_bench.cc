// train_data_bench: the speed of making batches from rows, and the savings by sharing their
// prefixes.
//
// For each file: seconds to open it, rows and row tokens per second (JSON, chat template,
// tokenizer, prefix trees; all cores), and the sharing ratio, tokens in all over distinct ones: of
// the whole file as one tree, of optimiser steps whose rows are grouped by task, of the
// micro-batches they are cut into, and of steps drawn at random.
//   train_data_bench --data path_result/textcraft_good.messages.jsonl --model_dir models/mine
// Without --data it makes rows up; without --model_dir it takes the Llama-3 tokenizer of the tests,
// whose 706 tokens are shorter than those of any real one.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/options.h"
#include "common/random.h"
#include "tests/common/scratch_folder.h"
#include "training/data/batch_builder.h"
#include "training/data/step_loader.h"
#include "training/data/training_data.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

// Rows of 20 tasks, ten of each, with equal beginnings.
std::string MakeRows() {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += fmt::format(
        R"({{"task_num":{0},"revise_log":[{{"role":"user","content":"Task {0}: make it."}},)"
        R"({{"role":"assistant","content":"Action: get {0}","loss":true}},)"
        R"({{"role":"user","content":"Got it."}},{{"role":"assistant","content":"Action: use {1}","loss":true}}],)"
        R"("low_log":[]}})"
        "\n",
        i / 10, i % 10);
  }
  return text;
}

void WriteTokenizer(const std::filesystem::path& folder) {
  const auto golden =
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/tokenizers/llama3.json"));
  WriteFileAtomically(folder / "tokenizer.json", golden["tokenizer"].dump());
  WriteFileAtomically(folder / "tokenizer_config.json", golden["tokenizer_config"].dump());
}

// Tokens in all over distinct ones, of batches of `batch_rows` of the rows one after the other.
double Sharing(const std::vector<const TrainingRow*>& rows, size_t batch_rows) {
  int64_t tokens = 0, distinct = 0;
  for (size_t at = 0; at < rows.size(); at += batch_rows) {
    const auto part = std::span(rows).subspan(at, std::min(batch_rows, rows.size() - at));
    const Batch batch = BuildBatch(part, true);
    tokens += batch.row_tokens;
    distinct += std::ssize(batch.tokens);
  }
  return static_cast<double>(tokens) / static_cast<double>(distinct);
}

void Measure(DataOptions options, const std::string& path, const RowTokenizer& text) {
  options.data = {path};
  auto begin = Clock::now();
  TrainingData data(options, text);
  const double opened = Seconds(begin);
  std::vector<TrainingRow> rows;
  RowCounts counts;
  int64_t in_batches = 0, distinct = 0, batches = 0;
  double seconds = 0;
  for (int64_t i = 0; i < data.steps_per_epoch(); ++i) {
    begin = Clock::now();
    StepRows step = data.ReadStep(i);
    for (const Batch& batch : MicroBatches(step.rows, options)) {
      in_batches += batch.row_tokens;
      distinct += std::ssize(batch.tokens);
      ++batches;
    }
    seconds += Seconds(begin);
    counts += step.counts;
    std::ranges::move(step.rows, std::back_inserter(rows));
  }
  std::vector<const TrainingRow*> order;
  for (const TrainingRow& row : rows) order.push_back(&row);
  const auto per_second = [&](int64_t n) { return static_cast<double>(n) / seconds; };
  fmt::print("{}{}", data.Describe(), data.Inspect(options.inspect, /*color=*/true));
  fmt::print("  opened in {:.2f} s; {} rows ({} cut, {} left out), {} tokens, {:.1f} % trained\n",
             opened, counts.rows, counts.cut, counts.dropped, counts.tokens,
             100.0 * static_cast<double>(counts.trained) / static_cast<double>(counts.tokens));
  fmt::print("  {:.0f} rows/s, {:.0f} row tokens/s\n", per_second(counts.rows),
             per_second(counts.tokens));
  const auto batch_rows = static_cast<size_t>(options.batch_rows);
  // Rows of a step were sorted, but steps still stand in their order.
  const double grouped = Sharing(order, batch_rows), whole = Sharing(order, order.size());
  RandomStream(1).Shuffle(order);
  fmt::print(
      "  sharing: whole file {:.2f}; steps of {} rows by task {:.2f}, their {} micro-batches of {} "
      "tokens {:.2f}; at random {:.2f}\n",
      whole, batch_rows, grouped, batches, options.batch_tokens,
      static_cast<double>(in_batches) / static_cast<double>(distinct), Sharing(order, batch_rows));
}

ExitCode Run(int argc, char** argv) {
  DataOptions options;
  options.held_out = 0;
  std::string model_dir;
  OptionSet set("train_data_bench", "Reads rows of training data and prints figures.");
  Declare(set, options);
  set.Add("--model_dir", model_dir, "Folder with the tokenizer");
  if (const auto exit = set.Parse(argc, argv)) return *exit;
  const ScratchFolder folder;
  if (model_dir.empty()) {
    WriteTokenizer(folder.path());
    model_dir = folder.path().string();
  }
  if (options.data.empty()) options.data = {folder.Write("made.jsonl", MakeRows()).string()};
  const RowTokenizer text = LoadRowTokenizer(model_dir, options.chat_template);
  for (const std::string& path : std::vector<std::string>(options.data)) {
    Measure(options, path, text);
  }
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Run(argc, argv); });
}
