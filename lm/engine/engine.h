// Generation for many callers at once over one Decoder.
//
// One thread owns the decoder. Each of its rounds takes the next token of every running sequence
// and a share of the waiting prompts (continuous batching: Yu et al. 2022). Prompts and completions
// stay in a radix tree over token ids while memory lasts (prefix cache, least recently used goes
// first: Zheng et al. 2024): a prompt that continues an earlier one computes only its new tokens,
// and the n samples of a request share one prompt.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "lm/decoder/decoder.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

// How tokens are drawn. The knobs apply in this order: repetition penalty, temperature, top-k,
// top-p, min-p.
struct SamplingKnobs {
  double temperature = 1.0;         // 0: the most probable token
  int top_k = 0;                    // 0: all
  double top_p = 1.0;               // smallest set of that probability (Holtzman et al. 2020)
  double min_p = 0.0;               // least share of the most probable token's probability
  double repetition_penalty = 1.0;  // of tokens in prompt and completion (Keskar et al. 2019)
};

struct GenerationRequest {
  std::vector<int32_t> prompt;  // at least one token
  int n = 1;                    // completions
  int max_tokens = 500;         // per completion
  SamplingKnobs knobs;
  uint64_t seed = 0;                 // completion i draws from the stream (seed, i)
  std::vector<int32_t> stop_tokens;  // end a completion; the token is the last of token_ids
  std::vector<std::string> stop;     // texts that end a completion, not part of its text
  int top_logprobs = 0;              // alternatives to report for each token
  // Called on the engine's thread with each piece of text as it is certain, per completion.
  std::function<void(int index, std::string_view piece)> on_text;
};

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;  // natural log under the model's own distribution, before the knobs
};

struct GeneratedSequence {
  std::string text;                // without special tokens, stop strings and the stop token
  std::vector<int32_t> token_ids;  // as sampled, the stop token included
  std::vector<float> logprobs;     // one per token
  std::vector<std::vector<TokenLogprob>> alternatives;  // one list per token, if asked for
  std::string finish_reason;                            // "stop" | "length"
};

struct Generation {
  std::vector<GeneratedSequence> sequences;  // n of them
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt, that the cache had
};

// The natural-log probability of each token of `continuation` after `prompt`.
struct ScoreRequest {
  std::vector<int32_t> prompt;  // at least one token
  std::vector<int32_t> continuation;
};

// A request under way. Dropping it does not stop the work; Cancel does.
template <typename T>
class Pending {
 public:
  Pending(std::future<Result<T>> result, std::shared_ptr<std::atomic<bool>> cancelled)
      : result_(std::move(result)), cancelled_(std::move(cancelled)) {}

  Result<T> Wait() { return result_.get(); }
  void Cancel() { *cancelled_ = true; }  // Wait then ends soon with kCancelled

 private:
  std::future<Result<T>> result_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

struct EngineOptions {
  int max_batch = 64;          // sequences that run at once
  int max_round_tokens = 512;  // new tokens per round, prompts in pieces
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
  int32_t blocks = 0;         // of the pool
  int32_t blocks_in_use = 0;  // by running sequences and the cache
  int32_t running = 0;        // sequences
  int32_t waiting = 0;        // requests
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
  Pending<std::vector<float>> Score(ScoreRequest request);

  EngineStats stats() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace agentr
