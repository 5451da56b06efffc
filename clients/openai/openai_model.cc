#include "clients/openai/openai_model.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "clients/openai/prompt_ids.h"
#include "common/clock.h"
#include "common/json_depth.h"
#include "common/options.h"
#include "common/random.h"
#include "common/text.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

Secret KeyFromEnvironment() {
  const char* key = std::getenv("OPENAI_API_KEY");
  return Secret::Key(key == nullptr ? "" : key);
}

// Of a server that does not tell: its token ids or log-probabilities, else one per four bytes.
int64_t EstimatedTokens(const Completion& completion) {
  const size_t told = std::max(completion.token_ids.size(), completion.logprobs.size());
  const size_t bytes = completion.text.size() + completion.reasoning.size();
  return static_cast<int64_t>(told > 0 ? told : (bytes + 3) / 4);
}

std::map<std::string, std::string> ParseFields(const std::vector<Secret>& texts) {
  std::map<std::string, std::string> fields;
  for (const Secret& secret : texts) {
    const std::string text = secret.Reveal();
    const size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    if (name.empty() || equals == text.size()) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("--llm_field '{}' is not NAME=JSON", secret.Redacted()));
    }
    const std::string value = text.substr(equals + 1);
    if (!value.empty() && ParseJson(value).is_discarded()) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("--llm_field '{}': the value is not JSON; a text needs double "
                                   "quotes, which a shell keeps inside single ones",
                                   secret.Redacted()));
    }
    fields[name] = value;
  }
  return fields;
}

}  // namespace

struct OpenAiModel::Server {
  Server(const Secret& base, const HttpOptions& options, std::shared_ptr<CallStats> stats)
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
          "OPENAI_API_BASE")
      .OnlySpeed();
  Declare(set, o.http, "llm", "model server");
  set.Add("--llm_max_completion", o.max_completion,
          "Largest text of one completion in bytes; a longer one counts as an error of the model")
      .Min(1)
      .OnlySpeed();
  set.Add("--llm_logprobs", o.logprobs,
          "Request the log-probabilities of completions: 1 | 0 | auto (from an lm_server, so that "
          "a search equals that of the model in this process)")
      .OneOf({"auto", "0", "1"})
      .OnlyOutput();
  set.Add("--llm_seed", o.extras.seed,
          "Send a seed with each request (false: the server chooses one)");
  set.Add("--llm_field", o.fields,
          "NAME=JSON, a further field of each chat request (repeatable), such as top_k=20, "
          "'reasoning_effort=\"low\"' or 'chat_template_kwargs={\"enable_thinking\": false}'; "
          "without a value the field is not sent (temperature=)");
  set.AddSwitch("--llm_token_ids", o.extras.token_ids,
                "Request the token ids of completions (vLLM; other servers may refuse)")
      .OnlyOutput();
  Declare(set, o.limits);
  set.AfterParsing([&o] { o.extras.fields = ParseFields(o.fields); });
}

OpenAiModel::OpenAiModel(std::string name, OpenAiOptions options)
    : name_(std::move(name)),
      options_(std::move(options)),
      balancer_(options_.base.size(), options_.http.cool_down_s) {
  if (options_.base.empty()) {
    throw FatalError(ExitCode::kUsage, "model '" + name_ + "' needs a server: give --llm_base URL");
  }
  HttpOptions http = options_.http;
  const Secret key = KeyFromEnvironment();
  if (!key.empty()) http.headers["Authorization"] = Secret::Key("Bearer " + key.Reveal());
  for (const Secret& base : options_.base) {
    servers_.push_back(std::make_unique<Server>(base, http, stats_));
  }
}

OpenAiModel::~OpenAiModel() = default;

CallLimit OpenAiModel::Until() const {
  if (options_.within_s <= 0) return std::nullopt;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(options_.within_s));
}

template <typename Fn>
auto OpenAiModel::Repeat(CallLimit until, Fn&& fn) const {
  RetryPolicy policy = options_.http.retry;
  if (until) {
    policy.sleep = [inner = policy.sleep, end = *until](double seconds) {
      return inner(std::clamp(-SecondsSince(end), 0.0, seconds));
    };
  }
  return Retry(policy, RandomStream(0).Split(++calls_), *stats_, fn, [&](const Error& error) {
    return IsTransient(error.kind) && (!until || Clock::now() < *until);
  });
}

// The identity of the model on a server; nullopt if the server is not an lm_server.
std::optional<std::string> OpenAiModel::IdentityAt(size_t server, CallLimit until) {
  HttpClient& client = servers_[server]->client;
  const HttpResult reply = Repeat(until, [&] { return client.Get("/models", "", until); });
  if (reply) return ServedIdentity(reply->body, name_);
  const ErrorKind kind = reply.error().kind;
  if (!IsTransient(kind) && kind != ErrorKind::kCancelled) return std::nullopt;
  throw FatalError(kind == ErrorKind::kCancelled ? ExitCode::kInterrupted : ExitCode::kUnavailable,
                   fmt::format("the model's server {} does not answer: {}", client.base_url(),
                               Failed(server, reply.error()).message));
}

void OpenAiModel::Discover() {
  const CallLimit until = Until();
  bool all_ours = true;
  std::optional<std::string> identity;
  for (size_t i = 0; i < servers_.size(); ++i) {
    const std::optional<std::string> here = IdentityAt(i, until);
    if (here && identity && *here != *identity) {
      throw FatalError(ExitCode::kUsage, fmt::format("{} runs another model '{}' than the servers "
                                                     "before it: give servers with the same model",
                                                     servers_[i]->client.base_url(), name_));
    }
    all_ours = all_ours && here;
    if (here) identity = here;
  }
  // Further fields belong to chat requests, which have no ids.
  takes_ids_ = all_ours && options_.extras.fields.empty();
  identity_ = all_ours ? *identity : "";
  if (!options_.extras.seed) identity_ += " without seeds";
  if (!options_.extras.chat_kwargs.empty()) {
    identity_ += " chat_template_kwargs=" + options_.extras.chat_kwargs;
  }
  for (const auto& [name, value] : options_.extras.fields) {
    identity_ += RedactSecrets(fmt::format(" {}={}", name, value));
  }
  options_.extras.logprobs =
      options_.logprobs == "1" || (options_.logprobs == "auto" && takes_ids_);
}

Result<PreparedPrompt> OpenAiModel::Prepare(std::vector<Message> conversation,
                                            SampledIds sampled) const {
  if (!takes_ids_) return LanguageModel::Prepare(std::move(conversation), sampled);
  return PrepareUntil(std::move(conversation), sampled, Until());
}

Result<PreparedPrompt> OpenAiModel::PrepareUntil(std::vector<Message> conversation,
                                                 SampledIds sampled, CallLimit until) const {
  const std::string body = TokenizeBody(name_, conversation, sampled, options_.extras.chat_kwargs);
  auto prompt = Repeat(until, [&]() -> Result<PreparedPrompt> {
    const size_t index = balancer_.Acquire();
    AGENTR_ASSIGN_OR_RETURN(const std::string reply, PostTo(index, "/tokenize", body, until));
    Result<PreparedPrompt> read = ParseTokenize(reply);
    if (!read) return tl::make_unexpected(Failed(index, read.error()));
    return read;
  });
  if (prompt) prompt->messages = std::move(conversation);
  return prompt;
}

Result<CompletionBatch> OpenAiModel::Complete(std::span<const Message> prompt, int n,
                                              const SamplingParams& sampling) {
  const CallLimit until = Until();
  if (takes_ids_) {
    AGENTR_ASSIGN_OR_RETURN(const PreparedPrompt prepared,
                            PrepareUntil({prompt.begin(), prompt.end()}, {}, until));
    return CompleteIds(prepared, n, sampling, until);
  }
  const auto body = [&](int ask, int first) {
    ChatExtras extras = options_.extras;
    extras.max_completion_tokens = max_completion_tokens_;
    return ChatBody(name_, prompt, ask, first, sampling, extras);
  };
  // Servers refuse several most probable completions in one request.
  const bool one_each = sampling.temperature == 0;
  auto batch = CompleteBy({"/chat/completions", body, ParseChat, EstimateTokens(prompt), one_each},
                          n, until);
  if (batch) CountTextless(*batch);
  return batch;
}

void OpenAiModel::CountTextless(const CompletionBatch& batch) {
  for (const Completion& completion : batch.completions) {
    if (!completion.text.empty()) continue;
    if (stats_->AddTextless() > 1) continue;
    spdlog::warn(
        "the model's server sent a completion without text (finish_reason '{}'). A reasoning model "
        "may need a larger --max_new_tokens for its thoughts, or fewer of them by --llm_field; "
        "other "
        "reasons are a content filter and calls of tools. Further ones are counted in run.json",
        EscapeControls(completion.finish_reason));
  }
}

Result<CompletionBatch> OpenAiModel::CompletePrepared(const PreparedPrompt& prompt, int n,
                                                      const SamplingParams& sampling) {
  if (prompt.ids.empty()) return Complete(prompt.messages, n, sampling);
  return CompleteIds(prompt, n, sampling, Until());
}

Result<CompletionBatch> OpenAiModel::CompleteIds(const PreparedPrompt& prompt, int n,
                                                 const SamplingParams& sampling, CallLimit until) {
  const auto body = [&](int ask, int first) {
    return CompletionsBody(name_, prompt.ids, ask, first, sampling, options_.extras);
  };
  Result<CompletionBatch> batch =
      CompleteBy({"/completions", body, ParseCompletions, prompt.tokens}, n, until);
  if (!batch) return batch;
  batch->usage.reused_turns = prompt.reused_turns;
  batch->usage.reencoded_turns = prompt.reencoded_turns;
  return batch;
}

Result<CompletionBatch> OpenAiModel::CompleteBy(const Kind& kind, int n, CallLimit until) {
  CompletionBatch batch;
  while (batch.completions.size() < static_cast<size_t>(n)) {
    const int have = static_cast<int>(batch.completions.size());
    int attempts = 0;
    auto part = Repeat(until, [&] {
      ++attempts;
      return Request(kind, n - have, have, until);
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

Result<std::string> OpenAiModel::PostTo(size_t index, const char* path, const std::string& body,
                                        CallLimit until) const {
  HttpResult reply = servers_[index]->client.Post(path, body, /*repeatable=*/true, "", until);
  balancer_.Release(index);
  if (!reply) {
    if (RefusesMaxTokens(reply.error())) max_completion_tokens_ = true;
    return tl::make_unexpected(Failed(index, ChatError(reply.error())));
  }
  return std::move(reply->body);
}

Result<CompletionBatch> OpenAiModel::Request(const Kind& kind, int n, int first, CallLimit until) {
  const size_t index = balancer_.Acquire();
  Server& server = *servers_[index];
  const int ask = server.ignores_n || kind.one_each ? 1 : n;
  const bool newer_limit = max_completion_tokens_;
  const Result<std::string> reply = PostTo(index, kind.path, kind.body(ask, first), until);
  if (!reply) {
    if (max_completion_tokens_ != newer_limit) return Request(kind, n, first, until);
    return tl::make_unexpected(reply.error());
  }
  auto batch = kind.parse(*reply, options_.max_completion);
  if (!batch) {
    stats_->AddError(batch.error().kind);
    return tl::make_unexpected(Failed(index, batch.error()));
  }
  if (batch->completions.size() < static_cast<size_t>(ask)) server.ignores_n = true;
  if (batch->completions.size() > static_cast<size_t>(n)) batch->completions.resize(n);
  int64_t completion_tokens = 0;
  for (const Completion& c : batch->completions) completion_tokens += EstimatedTokens(c);
  Usage& usage = batch->usage;
  if (usage.prompt_tokens == 0 || (usage.completion_tokens == 0 && completion_tokens > 0)) {
    stats_->AddEstimatedUsage();
    if (usage.prompt_tokens == 0) usage.prompt_tokens = kind.prompt_tokens;
    if (usage.completion_tokens == 0) usage.completion_tokens = completion_tokens;
  }
  return batch;
}

Error OpenAiModel::Failed(size_t server, Error error) const {
  // A server may quote the key in its error message.
  error.message = servers_[server]->client.WithoutSecrets(std::move(error.message));
  if (IsTransient(error.kind)) {
    balancer_.Fault(server);
    // A Retry-After of one server is no reason to wait if another server is free.
    if (balancer_.AnyAvailable()) error.retry_after_s = 0;
  }
  return error;
}

}  // namespace agentr
