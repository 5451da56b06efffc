#include "lm/decoder/fake_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/random.h"

namespace agentr {
namespace {

uint64_t Extend(uint64_t hash, int32_t token) {
  return RandomStream(hash).Split(static_cast<uint64_t>(token)).Next();
}

void Require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(fmt::format("FakeDecoder: {}", what));
}

}  // namespace

FakeDecoder::FakeDecoder(DecoderShape shape)
    : shape_(shape), cells_(static_cast<size_t>(shape.blocks * shape.block_tokens), -1) {}

int32_t& FakeDecoder::Cell(std::span<const int32_t> blocks, int32_t position) {
  const auto index = static_cast<size_t>(position / shape_.block_tokens);
  Require(position >= 0 && position < shape_.max_context, "position out of range");
  Require(index < blocks.size(), "position outside of the block table");
  Require(blocks[index] >= 0 && blocks[index] < shape_.blocks, "block out of range");
  return cells_.at(
      static_cast<size_t>(blocks[index] * shape_.block_tokens + position % shape_.block_tokens));
}

int32_t FakeDecoder::At(int32_t block, int32_t offset) const {
  return cells_.at(static_cast<size_t>(block * shape_.block_tokens + offset));
}

std::span<const float> FakeDecoder::Forward(std::span<const SequenceChunk> batch) {
  if (before_forward) before_forward(batch);
  Require(!batch.empty(), "an empty batch");
  std::set<int32_t> written;
  for (const SequenceChunk& chunk : batch) {
    const auto length = static_cast<int32_t>(chunk.tokens.size());
    Require(length > 0 && chunk.logits >= 0 && chunk.logits <= length, "a malformed chunk");
    for (int32_t i = 0; i < length; ++i) {
      Cell(chunk.blocks, chunk.start + i) = chunk.tokens[static_cast<size_t>(i)];
    }
    for (int32_t i = chunk.start / shape_.block_tokens;
         i <= (chunk.start + length - 1) / shape_.block_tokens; ++i) {
      Require(written.insert(chunk.blocks[static_cast<size_t>(i)]).second,
              "two chunks write into one block");
    }
    computed_ += length;
  }
  rows_.clear();
  for (const SequenceChunk& chunk : batch) {
    const int32_t end = chunk.start + static_cast<int32_t>(chunk.tokens.size());
    uint64_t hash = weights_;
    for (int32_t position = 0; position < end; ++position) {
      const int32_t token = Cell(chunk.blocks, position);
      Require(token >= 0, "a position that was never computed");
      hash = Extend(hash, token);
      if (position >= end - chunk.logits) Append(rows_, hash);
    }
  }
  return rows_;
}

void FakeDecoder::CopyBlock(int32_t from, int32_t to, int32_t tokens) {
  if (before_copy) before_copy();
  Require(from != to && tokens > 0 && tokens <= shape_.block_tokens, "a malformed copy");
  for (int32_t i = 0; i < tokens; ++i) {
    const int32_t token = At(from, i);
    Require(token >= 0, "a copy of what was never computed");
    cells_.at(static_cast<size_t>(to * shape_.block_tokens + i)) = token;
  }
  ++copies_;
}

void FakeDecoder::Load(std::shared_ptr<const WeightSource> weights) {
  if (before_load) before_load(*weights);
  weights_ = 1;
  for (const auto& [name, weight] : weights->weights()) {
    for (const char c : name) weights_ = Extend(weights_, c);
    for (const std::byte byte : weight.data)
      weights_ = Extend(weights_, std::to_integer<int>(byte));
  }
  std::ranges::fill(cells_, -1);
}

std::vector<float> FakeDecoder::Logits(std::span<const int32_t> tokens) const {
  uint64_t hash = weights_;
  for (const int32_t token : tokens) hash = Extend(hash, token);
  std::vector<float> row;
  Append(row, hash);
  return row;
}

void FakeDecoder::Append(std::vector<float>& rows, uint64_t hash) const {
  RandomStream random(hash);
  for (int32_t i = 0; i < shape_.vocab_size; ++i) {
    rows.push_back(static_cast<float>(random.Uniform() * 8 - 4));
  }
}

}  // namespace agentr
