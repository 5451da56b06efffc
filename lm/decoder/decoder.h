// The interface of the network to the engine: new tokens and block tables go in, logits come out.
//
// Keys and values of earlier tokens live in a pool of equal blocks of `block_tokens` positions. A
// sequence has a list of blocks, its block table: position p is in blocks[p / block_tokens] at
// offset p % block_tokens. Sequences with equal beginnings may share blocks; the caller copies a
// shared block before a sequence writes into it (CopyBlock). The caller assigns the blocks; the
// decoder only reads and writes the given ones (paged attention: Kwon et al. 2023, section 4).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lm/weights/weight_source.h"

namespace agentr {

struct DecoderShape {
  int32_t vocab_size = 0;    // width of a row of logits
  int32_t max_context = 0;   // largest number of positions of a sequence
  int32_t block_tokens = 0;  // positions of a block
  int32_t blocks = 0;        // of the pool
  int64_t block_bytes = 0;   // memory of one block, keys and values of all layers
};

// New tokens of one sequence: `tokens` have the positions start, start + 1, …; `blocks` covers
// positions 0 … start + tokens.size() - 1. Positions before `start` are already computed.
struct SequenceChunk {
  std::span<const int32_t> tokens;  // at least one
  int32_t start = 0;
  std::span<const int32_t> blocks;
  int32_t logits = 1;  // number of last tokens for which a row of logits is wanted
};

// One thread at a time.
class Decoder {
 public:
  virtual ~Decoder() = default;

  virtual const DecoderShape& shape() const = 0;

  // Computes the new tokens of all chunks together and stores their keys and values. No two chunks
  // may write into the same block. Returns the wanted rows of logits (natural units), chunk after
  // chunk, with vocab_size values each; valid until the next call.
  virtual std::span<const float> Forward(std::span<const SequenceChunk> batch) = 0;

  // Copies the first `tokens` positions of block `from` to block `to`.
  virtual void CopyBlock(int32_t from, int32_t to, int32_t tokens) = 0;

  // Replaces the weights by others of the same names and shapes. Earlier keys and values belong to
  // the old weights: no block may be read again before it is rewritten. Throws FatalError(kFile)
  // and keeps the old weights if a weight is missing or has another shape; after any other
  // exception the decoder cannot be used until a Load succeeds.
  virtual void Load(std::shared_ptr<const WeightSource> weights) = 0;
};

}  // namespace agentr
