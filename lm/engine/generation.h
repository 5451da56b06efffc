// The requests to an Engine and their results.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"

namespace agentr {

struct TokenLogprob {
  int32_t token = 0;
  float logprob =
      0;  // natural log under the model's own distribution, before the sampling parameters
};

struct GenerationRequest {
  std::vector<int32_t> prompt;       // at least one token
  int n = 1;                         // completions
  SamplingParams params;             // completion i draws from the random stream (params.seed, i)
  std::vector<int32_t> stop_tokens;  // end a completion; the stop token is the last of token_ids
  int top_logprobs = 0;              // alternatives to report for each token
  // A completion goes on in the prompt's text, and is no text of its own, from whose beginning some
  // tokenizers leave out a space.
  bool continues_text = false;
  // Called on the engine's thread with each piece of a completion's text as soon as it is final.
  std::function<void(int index, std::string_view piece)> on_text;
  // Called with each sampled token, before the text that it completes.
  std::function<void(int index, TokenLogprob token, std::span<const TokenLogprob> alternatives)>
      on_token;
};

struct GeneratedSequence {
  std::string text;                // without special tokens, stop strings and the stop token
  std::vector<int32_t> token_ids;  // as sampled, including the stop token
  std::vector<float> logprobs;     // one per token
  std::vector<std::vector<TokenLogprob>> alternatives;  // one list per token, if requested
  std::string finish_reason;                            // "stop" | "length"
  int64_t left_out = 0;  // sampled tokens that LeaveOutStop removed from token_ids
};

struct Generation {
  std::vector<GeneratedSequence> sequences;  // n of them
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;    // prompt tokens found in the cache
  int64_t weights_version = 0;  // version of the weights used (EngineStats)
};

// A request in progress. Destroying this object does not stop the work; Cancel does.
template <typename T>
class Pending {
 public:
  Pending(std::future<Result<T>> result, std::shared_ptr<std::atomic<bool>> cancelled)
      : result_(std::move(result)), cancelled_(std::move(cancelled)) {}

  Result<T> Wait() { return result_.get(); }
  // Waits for at most `longest`; true if the result is there.
  bool WaitFor(std::chrono::milliseconds longest) const {
    return result_.wait_for(longest) == std::future_status::ready;
  }
  void Cancel() { *cancelled_ = true; }  // Wait then ends soon with kCancelled

 private:
  std::future<Result<T>> result_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

}  // namespace agentr
