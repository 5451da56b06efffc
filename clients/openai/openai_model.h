// A language model behind OpenAI-compatible servers (vLLM, SGLang, llama.cpp, OpenAI, …).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "clients/call_stats.h"
#include "clients/http/http_client.h"
#include "clients/http/load_balancer.h"
#include "clients/language_model.h"
#include "clients/openai/openai_protocol.h"

namespace agentr {

class OptionSet;

struct OpenAiOptions {
  std::vector<std::string> base;  // base URLs, including "/v1", of servers with the same model
  HttpOptions http = DefaultHttp();
  ChatExtras extras;
  size_t max_completion =
      kMaxCompletion;  // bytes of one completion's text; a longer one is an error

  static HttpOptions DefaultHttp();
};

// Declares --llm_base, --llm_timeout, --llm_attempts, …, --llm_seed, --llm_token_ids.
void Declare(OptionSet& set, OpenAiOptions& options);

// A request goes to the server with the fewest requests in progress. A server that fails is skipped
// for options.http.cool_down_s, and the request is tried again on another one. If a server returns
// fewer completions than requested, the missing ones are requested again, from then on one at a
// time, with at most n requests in all. Each request has its own seed. Thread-safe.
//
// The key in the environment variable OPENAI_API_KEY is sent to the servers, and appears in no
// message, file or option.
class OpenAiModel : public LanguageModel {
 public:
  // Throws FatalError(kUsage) if there is no base URL or a bad one.
  OpenAiModel(std::string name, OpenAiOptions options);
  ~OpenAiModel() override;

  std::string name() const override { return name_; }
  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const SamplingParams& sampling) override;

  const CallStats& stats() const { return *stats_; }

 private:
  struct Server;

  // Returns from 1 to `n` completions; one attempt.
  Result<CompletionBatch> Request(std::span<const Message> prompt, int n, int first,
                                  const SamplingParams& sampling);
  // Records the failure; returns the error to report or retry.
  Error Failed(size_t server, Error error);

  const std::string name_;
  OpenAiOptions options_;
  std::string key_;
  const std::shared_ptr<CallStats> stats_ = std::make_shared<CallStats>();
  std::vector<std::unique_ptr<Server>> servers_;
  LoadBalancer balancer_;
  std::atomic<uint64_t> calls_ = 0;  // numbers the random streams of the waits
};

}  // namespace agentr
