// A Decoder for tests that records the tokens in its blocks.
//
// A row of logits is a function of all tokens up to its position, read back through the block
// table, so a mistake of the caller with blocks, copies or positions changes the generated text.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lm/decoder/decoder.h"

namespace agentr {

class FakeDecoder : public Decoder {
 public:
  explicit FakeDecoder(DecoderShape shape);

  const DecoderShape& shape() const override { return shape_; }
  std::span<const float> Forward(std::span<const SequenceChunk> batch) override;
  void CopyBlock(int32_t from, int32_t to, int32_t tokens) override;

  // From now on logits also depend on the bytes of the weights. Empties every cell.
  void Load(std::shared_ptr<const WeightSource> weights) override;

  // The row of logits after `tokens`, each in [-4, 4).
  std::vector<float> Logits(std::span<const int32_t> tokens) const;

  int32_t At(int32_t block, int32_t offset) const;  // the token there; -1 if none was written

  int64_t computed() const { return computed_; }  // tokens so far
  int64_t copies() const { return copies_; }      // blocks so far

  // Called before each Forward, CopyBlock and Load; may wait or throw.
  std::function<void(std::span<const SequenceChunk> batch)> before_forward;
  std::function<void()> before_copy;
  std::function<void(const WeightSource& weights)> before_load;

 private:
  int32_t& Cell(std::span<const int32_t> blocks, int32_t position);
  void Append(std::vector<float>& rows, uint64_t hash) const;

  const DecoderShape shape_;
  uint64_t weights_ = 0;        // hash of the loaded weights; 0 if none
  std::vector<int32_t> cells_;  // blocks * block_tokens
  std::vector<float> rows_;
  std::atomic<int64_t> computed_ = 0;
  std::atomic<int64_t> copies_ = 0;
};

}  // namespace agentr
