// Runs the revision of many trees at once, in bounded memory, into files whose rows stand in the
// order of the tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/file.h"
#include "revision/dedup.h"
#include "revision/task_reviser.h"
#include "revision/tree_input.h"

namespace agentr {

struct WrittenFile {
  std::filesystem::path path;
  int64_t bytes = 0;
};

// The rows of a run on their way into their files, which appear whole, with Commit, or not at all.
class RowSink {
 public:
  // One file per format of `suffixes`: `<stem><suffix>`. Throws FatalError(kFile).
  RowSink(const std::filesystem::path& stem, const std::vector<std::string>& suffixes, Dedup dedup);

  // The row, unless it was there before.
  Deduplicator::Verdict Add(const FinishedRow& row);
  void Commit();

  const std::vector<WrittenFile>& files() const { return files_; }

 private:
  Deduplicator dedup_;
  std::vector<WrittenFile> files_;
  std::vector<std::unique_ptr<AtomicFile>> open_;
};

struct ReviseReport {
  RevisionCounts counts;
  std::vector<TaskFailure> failed;  // in the order of the tasks; bad trees too
  int64_t rows = 0;                 // without duplicates
  int64_t verified = 0;             // of these
  int64_t exact_duplicates = 0;     // dropped
  int64_t near_duplicates = 0;      // dropped
  bool gave_up = false;             // too many failures in a row, or no success; bad trees aside
  bool interrupted = false;
  std::string kept;                // why the rows that were there were kept; empty: they were not
  std::vector<WrittenFile> files;  // none when the run gave up, was interrupted or kept others
  double wall_s = 0;
};

struct PipelineOptions {
  int in_flight = 8;       // trees worked on at once; twice as many are held in memory
  int give_up_after = 20;  // tasks failed in a row
};

// Asked once, before anything is written: why the rows of this run must not be; empty: they may.
using WhyNotWrite = std::function<std::string(const ReviseReport&)>;

// `on_row` is called with each row that is to be written, in order. Set `stop` to end early: nothing
// is written then. Throws FatalError(kFile) when a file cannot be written.
ReviseReport Revise(const std::vector<TreeFile>& trees, const TaskReviser& reviser, RowSink& sink,
                    const PipelineOptions& options, std::atomic<bool>& stop,
                    const std::function<void(const FinishedRow&)>& on_row,
                    const WhyNotWrite& why_not = nullptr);

}  // namespace agentr
