#include "clients/openai/openai_model.h"

#include <cstdlib>
#include <utility>

#include "common/options.h"
#include "common/random.h"

namespace agentr {
namespace {

std::string KeyFromEnvironment() {
  const char* key = std::getenv("OPENAI_API_KEY");
  return key == nullptr ? "" : key;
}

// A server may quote the key in its error message, so it is removed.
void Redact(std::string& text, const std::string& secret) {
  if (secret.empty()) return;
  for (size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), "***");
  }
}

}  // namespace

struct OpenAiModel::Server {
  Server(const std::string& base, const HttpOptions& options, std::shared_ptr<CallStats> stats)
      : client(base, options, std::move(stats)) {}
  HttpClient client;
  std::atomic<bool> ignores_n = false;
};

// A completion may take minutes, and all searches share the model's servers.
HttpOptions OpenAiOptions::DefaultHttp() {
  HttpOptions http;
  http.timeout_s = 600;
  http.max_connections = 256;
  http.retry.attempts = 6;
  http.retry.base_s = 0.5;
  http.retry.cap_s = 30;
  http.retry.total_s = 600;
  return http;
}

void Declare(OptionSet& set, OpenAiOptions& o) {
  set.Group("Model server");
  set.Add("--llm_base", o.base,
          "Base URL of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1 (repeatable); "
          "its key comes from OPENAI_API_KEY",
          "OPENAI_API_BASE");
  Declare(set, o.http, "llm", "model server");
  set.Add("--llm_max_completion", o.max_completion,
          "Largest text of one completion in bytes; a longer one counts as an error of the model")
      .Min(1);
  set.Add("--llm_seed", o.extras.seed,
          "Send a seed with each request (false: the server chooses one)");
  set.AddSwitch("--llm_token_ids", o.extras.token_ids,
                "Request the token ids of completions (vLLM; other servers may refuse)");
}

OpenAiModel::OpenAiModel(std::string name, OpenAiOptions options)
    : name_(std::move(name)),
      options_(std::move(options)),
      key_(KeyFromEnvironment()),
      balancer_(options_.base.size(), options_.http.cool_down_s) {
  if (options_.base.empty()) {
    throw FatalError(ExitCode::kUsage, "model '" + name_ + "' needs a server: give --llm_base URL");
  }
  HttpOptions http = options_.http;
  if (!key_.empty()) http.headers["Authorization"] = "Bearer " + key_;
  for (const std::string& base : options_.base) {
    servers_.push_back(std::make_unique<Server>(base, http, stats_));
  }
}

OpenAiModel::~OpenAiModel() = default;

Result<CompletionBatch> OpenAiModel::Complete(std::span<const Message> prompt, int n,
                                              const SamplingParams& sampling) {
  CompletionBatch batch;
  while (batch.completions.size() < static_cast<size_t>(n)) {
    const int have = static_cast<int>(batch.completions.size());
    int attempts = 0;
    auto part = Retry(options_.http.retry, RandomStream(0).Split(++calls_), *stats_, [&] {
      ++attempts;
      return Request(prompt, n - have, have, sampling);
    });
    if (!part) return part;
    part->usage.retries = attempts - 1;
    batch.usage += part->usage;
    for (Completion& completion : part->completions) {
      batch.completions.push_back(std::move(completion));
    }
  }
  return batch;
}

Result<CompletionBatch> OpenAiModel::Request(std::span<const Message> prompt, int n, int first,
                                             const SamplingParams& sampling) {
  const size_t index = balancer_.Acquire();
  Server& server = *servers_[index];
  const int ask = server.ignores_n ? 1 : n;
  const HttpResult reply = server.client.Post(
      "/chat/completions", ChatBody(name_, prompt, ask, first, sampling, options_.extras),
      /*repeatable=*/true);
  balancer_.Release(index);
  if (!reply) return tl::make_unexpected(Failed(index, ChatError(reply.error())));
  auto batch = ParseChat(reply->body, options_.max_completion);
  if (!batch) {
    stats_->AddError(batch.error().kind);
    return tl::make_unexpected(Failed(index, batch.error()));
  }
  if (batch->completions.size() < static_cast<size_t>(ask)) server.ignores_n = true;
  if (batch->completions.size() > static_cast<size_t>(n)) batch->completions.resize(n);
  return batch;
}

Error OpenAiModel::Failed(size_t server, Error error) {
  Redact(error.message, key_);
  if (IsTransient(error.kind)) {
    balancer_.Fault(server);
    // A Retry-After of one server is no reason to wait if another server is free.
    if (balancer_.AnyAvailable()) error.retry_after_s = 0;
  }
  return error;
}

}  // namespace agentr
