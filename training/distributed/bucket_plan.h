// How gradients and master weights are laid out to be exchanged: memory blocks of parameters, in
// the order in which a backward pass finishes their gradients, side by side in buckets, each cut
// into one span per rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace agentr {

// When the gradients of a block are whole: those of higher stages come first. The layers have their
// numbers; what lies behind them (last norm, output projection) has the number of layers; what
// lies before them (the embedding) has -1.
int StageOf(std::string_view parameter_name, int layers);

struct Block {
  int64_t size = 0;  // values
  int stage = 0;
};

struct Bucket {
  struct Placed {
    size_t block;
    int64_t begin;  // in the bucket
  };
  std::vector<Placed> blocks;
  int64_t span = 0;         // values of each rank; the last ones may be padding
  int first = 0, last = 0;  // stages, highest and lowest
};

// Blocks of neighbouring stages share a bucket until it has `least` values; the embedding, which
// comes long after the others, has its own.
std::vector<Bucket> PlanBuckets(const std::vector<Block>& blocks, int ranks, int64_t least);

}  // namespace agentr
