// The rows of --data as optimiser steps. See row_order.h for the order.
//
//   const RowTokenizer text = LoadRowTokenizer(model_dir, options.chat_template);
//   TrainingData data(options, text);          // opens the files, reads the first row of each
//   StepLoader loader(data, first_step, rank, ranks);
//   while (…) { LoadedStep step = loader.Next(); for (const Batch& batch : step.batches) … }
//
// The position in the data is the number of the next step, and nothing else; data_hash() tells
// whether a checkpoint's number means the same rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/data/batch.h"
#include "training/data/data_options.h"
#include "training/data/row_encoder.h"
#include "training/data/row_file.h"
#include "training/data/row_order.h"
#include "training/data/row_tokenizer.h"

namespace agentr {

// Rows of an optimiser step, sorted by ids (SortForSharing).
struct StepRows {
  std::vector<TrainingRow> rows;
  RowCounts counts;
};

class TrainingData {
 public:
  // Reads JSON only of the first row of each file. Throws FatalError: kUsage for options, kFile for
  // files, and where all rows of a pool are held out. `text` outlives it.
  TrainingData(const DataOptions& options, const RowTokenizer& text);

  // A line per file for people: path, format as detected, rows, share, held out.
  std::string Describe() const;

  int64_t rows() const { return order_->rows(); }  // of an epoch, without those held out
  int64_t held_out_rows() const { return static_cast<int64_t>(held_out_.size()); }
  int64_t steps_per_epoch() const { return order_->steps_per_epoch(); }

  // The rows of step `step` (0, 1, …, over all epochs). JSON is parsed and text is encoded here, on
  // all cores. Rows that are too long and left out are missing from their step, which is not filled
  // up: a step may be empty. Throws FatalError(kFile) "path:line: …". One caller at a time.
  StepRows ReadStep(int64_t step);

  // At most `most` rows that are held out: the first ones of a shuffled order, the same every time.
  StepRows ReadHeldOut(int64_t most) const;

  // The first `count` rows as they will be trained on, for --inspect: text for people, with trained
  // tokens in colour (`color`; otherwise in marks) and control characters escaped.
  std::string Inspect(int count, bool color);

  // Of all that decides which rows step n has: files, weights, seed, batch_rows, held_out,
  // max_length, too_long, tokenizer and template.
  const std::string& data_hash() const { return data_hash_; }

  const DataOptions& options() const { return options_; }

 private:
  StepRows Read(const std::vector<RowId>& ids) const;
  std::optional<TrainingRow> ReadRow(RowId id, RowCounts& counts) const;
  std::string Hash() const;

  DataOptions options_;
  const RowTokenizer* text_;
  RowEncoder encoder_;
  std::vector<DataPath> paths_;
  std::vector<DataFormat> formats_;
  std::vector<std::unique_ptr<RowFile>> files_;
  std::unique_ptr<RowOrder> order_;
  std::vector<RowId> held_out_;
  std::string data_hash_;
};

}  // namespace agentr
