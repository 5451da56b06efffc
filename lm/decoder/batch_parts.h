// The chunks of a batch as the CPU decoder computes them: all their tokens as rows, side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/decoder/decoder.h"

namespace agentr {

// The tokens that go through all layers at once: chunks, or parts of long ones.
class BatchParts {
 public:
  struct Part {
    SequenceChunk chunk;
    int64_t row = 0;  // of its first token
  };

  // Consecutive tokens of a part, few enough for one call of the attention kernel.
  struct Tile {
    const Part* part = nullptr;
    int first = 0;
    int tokens = 0;
  };

  void Clear();

  // Adds the first tokens of `chunk`, at most as many as make `most_rows` rows in all, and leaves
  // the rest in `chunk`.
  void Take(SequenceChunk& chunk, int64_t most_rows);

  // To be called after the last Take: divides the parts into tiles of at most `tile_tokens` tokens,
  // and lists their rows.
  void Finish(int tile_tokens);

  int64_t rows() const { return rows_; }
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Tile>& tiles() const { return tiles_; }
  bool one_tile_each() const { return tiles_.size() == parts_.size(); }
  const std::vector<int32_t>& tokens() const { return tokens_; }        // by row
  const std::vector<int32_t>& positions() const { return positions_; }  // by row
  const std::vector<int64_t>& wanted() const { return wanted_; }        // rows that want logits

 private:
  int64_t rows_ = 0;
  std::vector<Part> parts_;
  std::vector<Tile> tiles_;
  std::vector<int32_t> tokens_, positions_;
  std::vector<int64_t> wanted_;
};

}  // namespace agentr
