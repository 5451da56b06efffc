#include "revision/revise.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/clock.h"
#include "common/handoff.h"
#include "common/progress.h"
#include "rows/row.h"

namespace agentr {
namespace {

constexpr size_t kMostInFlight = 4096;

using Outcome = std::shared_ptr<tl::expected<TaskRows, TaskFailure>>;

// Receives the outcomes in the order of the tasks; used by one thread at a time.
class Collect {
 public:
  Collect(RowSink& sink, const PipelineOptions& options, std::atomic<bool>& stop,
          const std::function<void(const FinishedRow&)>& on_row, Progress& progress)
      : sink_(sink), options_(options), stop_(stop), on_row_(on_row), progress_(progress) {}

  void Take(const tl::expected<TaskRows, TaskFailure>& outcome) {
    if (outcome) {
      Keep(*outcome);
    } else if (outcome.error().error.kind != ErrorKind::kCancelled) {
      CountFailure(outcome.error());
    }
  }

  ReviseReport report;

 private:
  void Keep(const TaskRows& task) {
    report.counts += task.counts;
    // Outcomes arrive in the order of tasks, so this count does not depend on the threads.
    failures_in_a_row_ = 0;
    for (const FinishedRow& row : task.rows) {
      switch (sink_.Add(row)) {
        case Deduplicator::Verdict::kNew:
          ++report.rows;
          report.verified += row.verified;
          on_row_(row);
          break;
        case Deduplicator::Verdict::kExact:
          ++report.exact_duplicates;
          break;
        case Deduplicator::Verdict::kNear:
          ++report.near_duplicates;
          break;
      }
    }
    progress_.AddUnits(static_cast<int64_t>(task.rows.size()));
    progress_.Done();
  }

  void CountFailure(const TaskFailure& failure) {
    spdlog::warn("task {}: {}", failure.task_id, failure.error.message);
    report.failed.push_back(failure);
    progress_.Failed();
    if (failure.bad_tree || ++failures_in_a_row_ < options_.give_up_after) return;
    report.gave_up = true;
    stop_ = true;
  }

  RowSink& sink_;
  const PipelineOptions& options_;
  std::atomic<bool>& stop_;
  const std::function<void(const FinishedRow&)>& on_row_;
  Progress& progress_;
  int failures_in_a_row_ = 0;
};

// True if trees could be read but none was finished: then the rows are unknown, not empty.
bool AllFailed(const ReviseReport& report) {
  return report.counts.trees == 0 &&
         std::ranges::any_of(report.failed, [](const TaskFailure& f) { return !f.bad_tree; });
}

}  // namespace

RowSink::RowSink(std::filesystem::path stem, const std::vector<std::unique_ptr<RowFormat>>& formats,
                 Options options)
    : stem_(std::move(stem)), options_(std::move(options)), dedup_(options_.dedup) {
  for (const auto& format : formats) {
    files_.push_back({stem_.string() + std::string(format->suffix), 0});
    open_.push_back(std::make_unique<AtomicFile>(files_.back().path));
  }
}

Deduplicator::Verdict RowSink::Add(const FinishedRow& row) {
  const Deduplicator::Verdict verdict = dedup_.Check(row.hash, row.actions_hash);
  if (verdict != Deduplicator::Verdict::kNew) return verdict;
  for (size_t i = 0; i < open_.size(); ++i) {
    open_[i]->Append(row.lines[i]);
    files_[i].bytes += static_cast<int64_t>(row.lines[i].size());
  }
  ++worth_.rows;
  worth_.verified += row.verified;
  return verdict;
}

std::string RowSink::Commit() {
  const auto standing = options_.overwrite ? std::nullopt : FindStandingRows(stem_);
  std::string why = standing ? WhyKeep(*standing, worth_, options_.run) : "";
  if (!why.empty()) return why;
  for (const auto& file : open_) file->Commit();
  RemoveOthers();
  return "";
}

void RowSink::RemoveOthers() const {
  // Beside the formats of rows.
  std::vector<std::string_view> suffixes = {".provenance.jsonl", kPreferenceSuffix};
  for (const FormatNames& format : kFormats) suffixes.push_back(format.suffix);
  for (const std::string_view suffix : suffixes) {
    std::filesystem::path path = stem_.string() + std::string(suffix);
    std::error_code none_there;
    if (std::ranges::find(files_, path, &WrittenFile::path) == files_.end()) {
      std::filesystem::remove(path, none_there);
    }
    std::filesystem::remove(path.replace_extension(".parquet"), none_there);
  }
}

ReviseReport Revise(const std::vector<TreeFile>& trees, const TaskReviser& reviser, RowSink& sink,
                    const PipelineOptions& options, std::atomic<bool>& stop,
                    const std::function<void(const FinishedRow&)>& on_row) {
  namespace tbb = oneapi::tbb;
  const auto begin = std::chrono::steady_clock::now();
  // TBB fixes its maximum number of threads at first use, so it is set to the largest value; the
  // arena limits the threads of one run.
  static const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                           kMostInFlight + 1);
  Progress progress("trees", "rows", static_cast<int64_t>(trees.size()));
  Collect collect(sink, options, stop, on_row, progress);
  Handoff handoff;
  size_t next = 0;
  const auto read = [&](tbb::flow_control& control) -> size_t {
    const HandoffScope scope(handoff);
    if (stop || next >= trees.size()) control.stop();
    return next++;
  };
  const auto work = [&](size_t index) -> Outcome {
    const HandoffScope scope(handoff);
    return std::make_shared<Outcome::element_type>(reviser.Run(trees[index]));
  };
  const auto take = [&](const Outcome& outcome) {
    const HandoffScope scope(handoff);
    collect.Take(*outcome);
  };
  tbb::task_arena arena(options.in_flight);
  arena.execute([&] {
    tbb::parallel_pipeline(
        2 * static_cast<size_t>(options.in_flight),
        tbb::make_filter<void, size_t>(tbb::filter_mode::serial_in_order, read) &
            tbb::make_filter<size_t, Outcome>(tbb::filter_mode::parallel, work) &
            tbb::make_filter<Outcome, void>(tbb::filter_mode::serial_in_order, take));
  });
  ReviseReport report = std::move(collect.report);
  report.interrupted = stop && !report.gave_up;
  report.gave_up = report.gave_up || AllFailed(report);
  if (!report.interrupted && !report.gave_up) {
    report.kept = sink.Commit();
    if (report.kept.empty()) report.files = sink.files();
  }
  report.wall_s = SecondsSince(begin);
  return report;
}

}  // namespace agentr
