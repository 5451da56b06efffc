// Divides the rows of --data into optimiser steps. See row_order.h for the order.
//
//   const RowTokenizer text = LoadRowTokenizer(model_dir, options.chat_template);
//   TrainingData data(options, text);          // opens the files, reads the first row of each
//   StepLoader loader(data, first_step, rank, ranks);
//   while (…) { LoadedStep step = loader.Next(); for (const Batch& batch : step.batches) … }
//
// The position in the data is only the number of the next step; data_hash() shows whether a
// checkpoint's number refers to the same rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rows/row_file.h"
#include "training/data/data_options.h"
#include "training/data/row_encoder.h"
#include "training/data/row_order.h"
#include "training/data/row_tokenizer.h"

namespace agentr {

// The rows of an optimiser step, sorted by ids (SortForSharing).
struct StepRows {
  std::vector<TrainingRow> rows;
  RowCounts counts;
};

class TrainingData {
 public:
  // Parses only the first row of each file. Throws FatalError: kUsage for bad options and if all
  // rows of a pool are held out, kFile for bad files. `text` outlives it.
  TrainingData(const DataOptions& options, const RowTokenizer& text);

  // A text for people with one line per file: path, detected format, rows, share, held-out rows.
  std::string Describe() const;

  // A warning for people with a line for each file whose messages have keys that are not read, in
  // its first kLookedAt rows (UnreadWarning).
  std::string Unread() const;
  static constexpr int64_t kLookedAt = 1000;

  int64_t rows() const { return order_->rows(); }  // rows per epoch, without held-out rows
  int64_t held_out_rows() const { return static_cast<int64_t>(held_out_.size()); }
  int64_t steps_per_epoch() const { return order_->steps_per_epoch(); }

  // The rows of step `step` (0, 1, …, over all epochs). Parses JSON and encodes text, on all cores.
  // Rows left out because they are too long are not replaced, so a step may be empty. Throws
  // FatalError(kFile) "path:line: …". One caller at a time.
  StepRows ReadStep(int64_t step);

  // At most `most` held-out rows: the first ones of a shuffled order, which is always the same.
  StepRows ReadHeldOut(int64_t most) const;

  // The first `count` rows in the order of training, for --inspect: a text for people, with trained
  // tokens coloured (`color`; otherwise marked) and control characters escaped.
  std::string Inspect(int count, bool color);

  // A hash of everything that determines the rows of step n: files, weights, seed, batch_rows,
  // held_out, max_length, too_long, each_turn, tokenizer, template and its arguments.
  const std::string& data_hash() const { return data_hash_; }

  const DataOptions& options() const { return options_; }

 private:
  StepRows Read(const std::vector<RowId>& ids) const;
  std::vector<TrainingRow> ReadRow(RowId id, RowCounts& counts) const;
  std::string Hash() const;

  DataOptions options_;
  const RowTokenizer* tokenizer_;
  RowEncoder encoder_;
  std::vector<DataPath> paths_;
  std::vector<DataFormat> formats_;
  std::vector<std::unique_ptr<RowFile>> files_;
  std::unique_ptr<RowOrder> order_;
  std::vector<RowId> held_out_;
  std::string data_hash_;
};

}  // namespace agentr
