// Reads the next steps while the present one is being trained.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "training/data/batch.h"
#include "training/data/batch_builder.h"
#include "training/data/training_data.h"

namespace agentr {

struct LoadedStep {
  int64_t step = 0;  // the number that a checkpoint after this step stores is step + 1
  int64_t epoch = 0;
  std::vector<Batch> batches;  // micro-batches of this rank; empty if it has no rows
  double weight = 0;           // sum of the targets' weights in the whole step, over all ranks
  RowCounts counts;            // counts of the whole step, over all ranks
};

struct LoaderOptions {
  int rank = 0;
  int ranks = 1;
  int ahead = 2;                 // number of steps that are read ahead
  double pair_cost = kPairCost;  // see batch_builder.h
};

// Used by one thread at a time. `data` outlives it and must not be used by others in the meantime.
class StepLoader {
 public:
  StepLoader(TrainingData& data, int64_t first_step, const LoaderOptions& options = {});
  ~StepLoader();
  StepLoader(const StepLoader&) = delete;
  StepLoader& operator=(const StepLoader&) = delete;

  // Throws the exceptions of reading the rows.
  LoadedStep Next();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

// The micro-batches of `rank`: the rows are divided among the ranks by cost, and each part by
// tokens. `rows` are sorted (StepRows).
std::vector<Batch> MicroBatches(const std::vector<TrainingRow>& rows, const DataOptions& options,
                                const LoaderOptions& loader = {});

}  // namespace agentr
