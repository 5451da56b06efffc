// The network as the engine sees it: new tokens and block tables go in, logits come out.
//
// Keys and values of earlier tokens live in a pool of equal blocks of `block_tokens` positions. A
// sequence is a list of blocks, its block table: position p stands in blocks[p / block_tokens] at
// offset p % block_tokens. Sequences that begin alike may share blocks; who writes into a shared
// block copies it first (CopyBlock). Which block is whose, the caller decides: the decoder only
// reads and writes where it is told (paged attention: Kwon et al. 2023, section 4).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lm/weights/weight_source.h"

namespace agentr {

struct DecoderShape {
  int32_t vocab_size = 0;    // width of a row of logits
  int32_t max_context = 0;   // positions a sequence can have
  int32_t block_tokens = 0;  // positions of a block
  int32_t blocks = 0;        // of the pool
  int64_t block_bytes = 0;   // memory of one block, keys and values of all layers
};

// New tokens of one sequence: `tokens` stand at positions start, start + 1, …; `blocks` covers
// positions 0 … start + tokens.size() - 1, of which those before `start` are computed already.
struct SequenceChunk {
  std::span<const int32_t> tokens;  // at least one
  int32_t start = 0;
  std::span<const int32_t> blocks;
  int32_t logits = 1;  // of the last so many tokens a row of logits is wanted; 0: none
};

// One thread at a time.
class Decoder {
 public:
  virtual ~Decoder() = default;

  virtual const DecoderShape& shape() const = 0;

  // Computes the new tokens of all chunks, side by side, and stores their keys and values. No two
  // chunks write into the same block. Returns the wanted rows of logits, natural units, slice after
  // slice, vocab_size values each; valid until the next call.
  virtual std::span<const float> Forward(std::span<const SequenceChunk> batch) = 0;

  // The first `tokens` positions of block `from` become those of block `to`.
  virtual void CopyBlock(int32_t from, int32_t to, int32_t tokens) = 0;

  // Replaces the weights by others of the same names and shapes. All keys and values that were
  // computed before belong to the old ones: no block may be used again before it is written anew.
  // Throws FatalError(kFile), and keeps the old weights, where a weight is missing or has another
  // shape; after any other exception the weights are of no use until a Load succeeds.
  virtual void Load(std::shared_ptr<const WeightSource> weights) = 0;
};

}  // namespace agentr
