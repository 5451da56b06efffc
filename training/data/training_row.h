// A row of training data: its token ids, and which of them are trained.
#pragma once

#include <cstdint>
#include <vector>

#include "training/data/batch.h"

namespace agentr {

// Tokens begin … end - 1 of a row are trained: the loss contains -ln p(token | all tokens before
// it).
struct TrainedSpan {
  int32_t begin = 0;  // >= 1: nothing predicts the first token of a row
  int32_t end = 0;
  TargetKind kind = TargetKind::kOther;

  bool operator==(const TrainedSpan&) const = default;
};

struct TrainingRow {
  std::vector<int32_t> ids;
  std::vector<TrainedSpan> trained;  // in order, without overlap, none empty
  float weight = 1;                  // of its trained tokens in the loss; may be negative

  int64_t trained_tokens() const {
    int64_t count = 0;
    for (const TrainedSpan& span : trained) count += span.end - span.begin;
    return count;
  }
  bool operator==(const TrainingRow&) const = default;
};

}  // namespace agentr
