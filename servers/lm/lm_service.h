// A language model, or several, behind OpenAI's HTTP protocol: the program lm_server. A request's
// "model" says which one answers; without it, the first.
//
//   POST /v1/chat/completions, /v1/completions    whole or streamed (server-sent events)
//   GET /v1/models, /v1/models/NAME, /health, /metrics
//
// Extensions of OpenAI's protocol, with which a client gets the same results from a served model as
// from a model in its own process (clients/openai/prompt_ids.h):
//   POST /v1/tokenize  {"model", "messages"}: {"count", "max_model_len", "tokens",
//     "message_begins", "reused_turns", "reencoded_turns"}, the conversation's prompt in tokens
//   "token_ids" of an assistant's message: the ids that the model sampled for it, which go into the
//     prompt unchanged (lm/sampled_turns.h)
//   "agentr" of a model: {"version", "identity"}, which distinguishes it from others of its name
//
// Errors are {"error": {"message", "type", "param", "code"}}: 400 (context_length_exceeded if a
// prompt is too long), 401 (invalid_api_key), 404 (model_not_found), 405, 413, 500, 503
// (overloaded, or stopping). If a key is set, all paths under /v1/ require it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/secret.h"
#include "lm/local_language_model.h"
#include "servers/http/http_service.h"
#include "servers/lm/lm_request.h"

namespace agentr {

class OptionSet;

struct LmServerOptions {
  std::string host = "127.0.0.1";            // 0.0.0.0 for every network
  int port = 8000;                           // 0: a free one
  std::vector<std::string> allow_host = {};  // names in addition to those of this machine; see
                                             // HostNames
  Secret api_key = Secret::Key();            // empty: none is required
  int max_waiting = 1024;                    // requests that wait for the engine; more are refused
  size_t max_body = 64 << 20;                // bytes
};

void Declare(OptionSet& set, LmServerOptions& options);

// A running server. The destructor stops it after the replies in progress have been sent; streamed
// replies end immediately.
class LmServer {
 public:
  // `others`: served beside `model`, each with an engine of its own. Throws FatalError(kUsage) if
  // the port is taken or two models have one name.
  LmServer(LoadedModel model, LmServerOptions options, std::vector<LoadedModel> others = {});

  std::string base_url() const { return http_.base_url() + "/v1"; }
  int port() const { return http_.port(); }
  std::string Summary() const;  // "my-model: 32768 positions; cache of 4096 x 16 tokens, 512 MiB"

 private:
  static HttpServiceOptions HttpOptionsOf(const LmServerOptions& options,
                                          std::function<AboutText()> about);
  nlohmann::ordered_json ModelJson(const LoadedModel& model) const;
  HttpResponse Models() const;
  // A POST of either kind.
  HttpResponse Serve(LmApi api, const HttpRequest& http);
  // Ends early if the client disconnects.
  static Result<Generation> Generate(const LoadedModel& model, const HttpRequest& http,
                                     GenerationRequest request);
  HttpResponse Tokenize(const HttpRequest& http) const;
  // For a chat.
  static PreparedPrompt Prepare(const LoadedModel& model, const LmRequest& request);
  // The model's template with the request's variables; null if it sends none.
  static std::unique_ptr<ChatTemplate> TemplateFor(const LoadedModel& model,
                                                   const LmRequest& request);
  static std::vector<int32_t> PromptOf(const LoadedModel& model, const LmRequest& request);
  // Adds the prompt and the values that the client left out: max_tokens, and the seed, for which
  // the request's `number` is used.
  static void Complete(const LoadedModel& model, LmRequest& request, uint64_t number);
  // The model that the request names, or the first one. Throws HttpStatusError, as does CheckLoad.
  const LoadedModel& ModelOf(const LmRequest& request) const;
  void CheckLoad(const LoadedModel& model) const;

  const std::vector<LoadedModel> models_;  // at least one
  const LmServerOptions options_;
  const int64_t started_;  // seconds since 1970
  std::atomic<uint64_t> requests_ = 0;
  HttpService http_;  // last, so that it stops before the members that its routes use are destroyed
};

}  // namespace agentr
