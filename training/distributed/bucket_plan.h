// The memory layout of gradients and master weights for the exchange: memory blocks of parameters,
// in the order in which a backward pass finishes their gradients, are placed in buckets, and each
// bucket is divided into one span per rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace agentr {

// The stage at which the gradients of a block are complete; higher stages come first. A layer's
// stage is its number, that of the parts after the layers (last norm, output projection) is the
// number of layers, and that of the embedding is -1.
int StageOf(std::string_view parameter_name, int layers);

struct Block {
  int64_t size = 0;  // values
  int stage = 0;
};

struct Bucket {
  struct Placed {
    size_t block;
    int64_t begin;  // offset in the bucket
  };
  std::vector<Placed> blocks;
  int64_t span = 0;         // values per rank; the last ones may be padding
  int first = 0, last = 0;  // highest and lowest stage
};

// Blocks of neighbouring stages share a bucket until it has `least` values. The embedding has its
// own, because its gradient is complete much later than the others.
std::vector<Bucket> PlanBuckets(const std::vector<Block>& blocks, int ranks, int64_t least);

}  // namespace agentr
