// Generates text for many callers at once with one Decoder.
//
// One thread owns the decoder. Each of its steps computes the next token of every running sequence
// and a part of the waiting prompts (continuous batching: Yu et al. 2022). Prompts and completions
// stay in a radix tree over token ids until memory is needed (prefix cache with LRU eviction: Zheng
// et al. 2024). So a prompt that continues an earlier one computes only its new tokens, and the n
// samples of a request share one prompt.
#pragma once

#include <cstdint>
#include <memory>

#include "common/error.h"
#include "lm/decoder/decoder.h"
#include "lm/engine/generation.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

struct EngineOptions {
  int max_batch = 64;            // sequences that run at once
  int max_batched_tokens = 512;  // new tokens per step; prompts are computed in chunks
  bool prefix_cache = true;
};

struct EngineStats {
  int64_t requests = 0;
  int64_t prompt_tokens = 0;    // in requests
  int64_t cached_tokens = 0;    // of the prompt tokens, found in the cache
  int64_t computed_tokens = 0;  // prompt and completion tokens computed by the decoder
  int64_t completion_tokens = 0;
  int64_t rounds = 0;
  int64_t evicted_blocks = 0;
  int32_t blocks = 0;           // in the pool
  int32_t blocks_in_use = 0;    // held by running sequences and the cache
  int32_t running = 0;          // sequences
  int32_t waiting = 0;          // requests
  int64_t weights_version = 0;  // number of successful Loads; 0: the initial weights
};

// Thread-safe. Errors: kContextLength for a request that can never fit, kCancelled, kRejected for a
// token id out of range, an invalid sampling parameter or an exception of on_text, kServer for an
// exception of the decoder. If memory is short, requests wait. max_tokens is limited to what fits
// after the prompt in the context and in memory.
class Engine {
 public:
  // Both outlive the engine.
  Engine(Decoder& decoder, const Tokenizer& tokenizer, EngineOptions options);
  ~Engine();  // every unfinished request ends with kCancelled
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Pending<Generation> Generate(GenerationRequest request);

  // Replaces the weights by others of the same names and shapes (Decoder::Load) and returns their
  // version. Earlier requests are still computed with the old weights, and later ones wait for the
  // new weights. The prefix cache is emptied. The bytes of `weights` must not change until the
  // result is there. kRejected for weights that do not fit; the old ones stay. If the decoder fails
  // half-way: kServer, also for every request until a Load succeeds.
  Pending<int64_t> Load(std::shared_ptr<const WeightSource> weights);

  EngineStats stats() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace agentr
