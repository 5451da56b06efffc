// The chunks of a batch as the CPU decoder computes them: all their tokens as rows, side by side.
#pragma once

#include <cstdint>
#include <span>
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

  struct Token {
    int64_t row = 0;
    int32_t position = 0;
    const int32_t* blocks = nullptr;  // the block table of its sequence
  };

  // Tokens for one call of the attention kernel: consecutive ones of a part, or the single tokens
  // of parts that share most of their blocks, which are then read once for all of them.
  struct Tile {
    std::span<const Token> tokens;
    std::span<const Part* const> parts;  // those that the tokens are of
  };

  void Clear();

  // Adds the first tokens of `chunk`, at most as many as make `most_rows` rows in all, and leaves
  // the rest in `chunk`.
  void Take(SequenceChunk& chunk, int64_t most_rows);

  // To be called after the last Take: divides the parts into tiles of at most `tile_tokens` tokens,
  // or `shared_tokens` of different parts, and lists their rows.
  void Finish(int tile_tokens, int shared_tokens);

  int64_t rows() const { return rows_; }
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Tile>& tiles() const { return tiles_; }
  bool parts_are_whole() const { return parts_are_whole_; }             // each is in one tile
  const std::vector<int32_t>& tokens() const { return tokens_; }        // by row
  const std::vector<int32_t>& positions() const { return positions_; }  // by row
  const std::vector<int64_t>& wanted() const { return wanted_; }        // rows that want logits

 private:
  void MakeTiles(int tile_tokens, int shared_tokens);

  int64_t rows_ = 0;
  std::vector<Part> parts_;
  std::vector<const Part*> by_blocks_;  // parts with equal beginnings are neighbours
  std::vector<Token> attended_;         // all tokens in the order of the tiles
  std::vector<Tile> tiles_;
  bool parts_are_whole_ = true;
  std::vector<int32_t> tokens_, positions_;
  std::vector<int64_t> wanted_;
};

}  // namespace agentr
