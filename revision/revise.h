// Revises many trees at once, in bounded memory, and writes files with rows in the order of the
// tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/file.h"
#include "mcts/tree_folder.h"
#include "revision/make/dedup.h"
#include "revision/revise_options.h"
#include "revision/task_reviser.h"
#include "rows/standing_rows.h"

namespace agentr {

struct WrittenFile {
  std::filesystem::path path;
  int64_t bytes = 0;
};

// Writes the rows of a run into files, which appear completely with Commit, or not at all.
class RowSink {
 public:
  struct Options {
    Dedup dedup = Dedup::kNear;
    bool overwrite = true;  // false: better rows of an earlier run stay (standing_rows.h)
    nlohmann::ordered_json run = nullptr;  // the run's options, to name what differs
  };

  // Opens `<stem><suffix>` for each format. Throws FatalError(kFile).
  RowSink(std::filesystem::path stem, const std::vector<std::unique_ptr<RowFormat>>& formats,
          Options options);

  // Adds the row unless it is a duplicate.
  Deduplicator::Verdict Add(const FinishedRow& row);

  // Puts the files in their places, and removes the rows that an earlier run left there in other
  // formats and all tables (.parquet); or returns the reason why the rows there stay.
  std::string Commit();

  const std::vector<WrittenFile>& files() const { return files_; }

 private:
  void RemoveOthers() const;

  const std::filesystem::path stem_;
  const Options options_;
  Deduplicator dedup_;
  RowsWorth worth_;
  std::vector<WrittenFile> files_;
  std::vector<std::unique_ptr<AtomicFile>> open_;
};

struct ReviseReport {
  RevisionCounts counts;
  std::vector<TaskFailure> failed;  // by task, including bad trees
  int64_t rows = 0;                 // without duplicates
  int64_t verified = 0;             // verified ones among them
  int64_t exact_duplicates = 0;     // dropped
  int64_t near_duplicates = 0;      // dropped
  bool gave_up = false;             // too many failures in a row, or no success; bad trees do not
                                    // count
  bool interrupted = false;
  std::string kept;                // why existing rows were kept; empty if they were not
  std::vector<WrittenFile> files;  // empty if the run gave up, was interrupted or kept other rows
  double wall_s = 0;
  Usage usage;      // of the verifier's model
  double cost = 0;  // of the usage, in the money of --llm_price; 0 without a price
};

// Calls `on_row` with each row to be written, in order. Set `stop` to end early; then nothing is
// written. Throws FatalError(kFile) if a file cannot be written.
ReviseReport Revise(const std::vector<TreeFile>& trees, const TaskReviser& reviser, RowSink& sink,
                    const PipelineOptions& options, std::atomic<bool>& stop,
                    const std::function<void(const FinishedRow&)>& on_row);

}  // namespace agentr
