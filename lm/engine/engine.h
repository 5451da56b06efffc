// Generation for many callers at once over one Decoder.
//
// One thread owns the decoder. Each of its rounds takes the next token of every running sequence
// and a share of the waiting prompts (continuous batching: Yu et al. 2022). Prompts and completions
// stay in a radix tree over token ids while memory lasts (prefix cache, least recently used goes
// first: Zheng et al. 2024): a prompt that continues an earlier one computes only its new tokens,
// and the n samples of a request share one prompt.
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
  int max_batched_tokens = 512;  // new tokens per round, prompts in pieces
  bool prefix_cache = true;
};

struct EngineStats {
  int64_t requests = 0;
  int64_t prompt_tokens = 0;    // asked for
  int64_t cached_tokens = 0;    // of them, not computed again
  int64_t computed_tokens = 0;  // that went through the decoder, prompts and completions
  int64_t completion_tokens = 0;
  int64_t rounds = 0;
  int64_t evicted_blocks = 0;
  int32_t blocks = 0;           // of the pool
  int32_t blocks_in_use = 0;    // by running sequences and the cache
  int32_t running = 0;          // sequences
  int32_t waiting = 0;          // requests
  int64_t weights_version = 0;  // how many Loads have succeeded; 0: the weights of the beginning
};

// Thread-safe. Errors: kContextLength for a request that can never fit, kCancelled, kRejected for
// a token id out of range, a knob that makes no sense or what on_text throws, kServer with what the
// decoder throws. Where memory is short, requests wait. max_tokens is cut to what fits behind the
// prompt, in the context and in memory.
class Engine {
 public:
  // Both outlive the engine.
  Engine(Decoder& decoder, const Tokenizer& tokenizer, EngineOptions options);
  ~Engine();  // every request under way ends with kCancelled
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Pending<Generation> Generate(GenerationRequest request);
  Pending<ContinuationScores> Score(ScoreRequest request);

  // Replaces the weights by others of the same names and shapes (Decoder::Load). What was asked
  // before is still computed with the old weights, and what is asked afterwards waits for the new
  // ones; no prompt that the old ones computed stays in the prefix cache. The bytes of `weights`
  // have to stay as they are until the result is there: the version of the new weights. kRejected,
  // and the old ones stay, for weights that do not fit. Where the decoder fails half-way: kServer,
  // also for every request until a Load succeeds.
  Pending<int64_t> Load(std::shared_ptr<const WeightSource> weights);

  EngineStats stats() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace agentr
