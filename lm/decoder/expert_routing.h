// Which experts of a layer compute which rows of a batch.
//
// A row is computed by its experts, and each pair of a row and one of its experts is an entry.
// Entries lie in the order of the experts, so that an expert multiplies neighbouring rows.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/weights/model_config.h"

namespace agentr {

class ExpertRouting {
 public:
  struct Choice {
    int64_t expert = 0;
    float weight = 0;  // of what the expert makes of the row
    int64_t entry = 0;
  };
  struct Block {  // neighbouring entries of an expert
    int64_t expert = 0, entry = 0;
    int rows = 0;
  };

  // Of at most `most_rows` rows, in blocks of at most `block_rows` entries.
  ExpertRouting(const ModelConfig& config, int64_t most_rows, int block_rows);

  // The experts with the highest of `logits` [experts], of equal ones the first, and their weights:
  // their shares of the softmax, which sum to 1 if the model divides them by their sum. Other rows
  // may be chosen at the same time.
  void Choose(int64_t row, const float* logits);

  // After Choose of the first `rows` rows: their entries, and the blocks of these.
  void Sort(int64_t rows);

  // In the order of the logits.
  const Choice& choice(int64_t row, int64_t k) const { return choices_[row * chosen_ + k]; }
  int64_t row_of(int64_t entry) const { return rows_[entry]; }
  const std::vector<Block>& blocks() const { return blocks_; }
  // There are at most so many blocks of `rows` rows, which is known before Sort.
  int64_t MostBlocks(int64_t rows) const;

 private:
  const int64_t experts_;
  const int64_t chosen_;  // experts of a row
  const bool normal_;
  const int64_t block_rows_;
  std::vector<Choice> choices_;  // [rows, experts of a row]
  std::vector<int64_t> rows_;    // of each entry
  std::vector<int64_t> ends_;    // of each expert
  std::vector<Block> blocks_;
};

}  // namespace agentr
