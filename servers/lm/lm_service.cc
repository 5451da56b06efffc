#include "servers/lm/lm_service.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/options.h"
#include "common/random.h"
#include "common/version.h"
#include "lm/engine/completion.h"
#include "lm/engine/sequence.h"
#include "lm/sampled_turns.h"
#include "servers/http/http_metrics.h"
#include "servers/lm/lm_reply.h"
#include "servers/lm/lm_stream.h"

namespace agentr {
namespace {

constexpr int kCompletionTokens = 16;                    // OpenAI's default for /v1/completions
constexpr std::chrono::milliseconds kBetweenLooks(200);  // for a client that has gone

int64_t Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// `field`: the field of the request that caused the error.
HttpStatusError ToHttp(const Error& error, const std::string& field = "") {
  switch (error.kind) {
    case ErrorKind::kContextLength:
      return {400, error.message, "context_length_exceeded", field};
    case ErrorKind::kRejected:
      return {400, error.message, "", field};
    case ErrorKind::kCancelled:
      return {503, error.message};
    default:
      return {500, error.message};
  }
}

template <typename T>
T OrThrow(Result<T> result, const std::string& field = "") {
  if (!result) throw ToHttp(result.error(), field);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Compares in a time that does not depend on where the two texts differ.
bool SameKey(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// The events of one stream and their data.
class EventSource {
 public:
  EventSource(LmReply reply, Engine& engine)
      : reply_(std::move(reply)),
        text_(engine, reply_.request.generation),
        offsets_(static_cast<size_t>(reply_.request.generation.n)) {}

  // Fails if the reply must be an error instead of a stream.
  Result<void> Begin() { return text_.Begin(); }

  std::optional<std::string> Next() {
    if (!std::exchange(opened_, true) && reply_.request.api == LmApi::kChat) {
      return reply_.Opening();
    }
    if (const auto piece = text_.Next()) {
      return reply_.Piece(piece->index, piece->text, piece->tokens,
                          offsets_[static_cast<size_t>(piece->index)]);
    }
    if (std::exchange(closed_, true)) return std::nullopt;
    const Result<Generation>& result = text_.result();
    return result ? reply_.Closing(*result, text_.rest(), offsets_)
                  : reply_.Broken(ToHttp(result.error()));
  }

 private:
  const LmReply reply_;
  TextStream text_;
  std::vector<int64_t> offsets_;  // characters of the tokens that were sent, per completion
  bool opened_ = false, closed_ = false;
};

HttpResponse Stream(LmReply reply, Engine& engine) {
  auto events = std::make_shared<EventSource>(std::move(reply), engine);
  OrThrow(events->Begin());
  return {.content_type = "text/event-stream", .stream = [events] { return events->Next(); }};
}

void AppendEngineMetrics(const EngineStats& s, std::string& out) {
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       int64_t value) {
    AppendMetric(fmt::format("agentr_lm_{}", name), type, help, static_cast<uint64_t>(value), out);
  };
  add("requests_total", "counter", "Requests for generation or scoring.", s.requests);
  add("prompt_tokens_total", "counter", "Tokens of the requests' prompts.", s.prompt_tokens);
  add("cached_tokens_total", "counter", "Prompt tokens found in the cache.", s.cached_tokens);
  add("computed_tokens_total", "counter", "Tokens computed by the network.", s.computed_tokens);
  add("completion_tokens_total", "counter", "Tokens generated.", s.completion_tokens);
  add("rounds_total", "counter", "Passes through the network.", s.rounds);
  add("evicted_blocks_total", "counter", "Blocks evicted from the cache.", s.evicted_blocks);
  add("blocks", "gauge", "Blocks of keys and values.", s.blocks);
  add("blocks_in_use", "gauge", "Blocks held by running sequences or the cache.", s.blocks_in_use);
  add("running", "gauge", "Running sequences.", s.running);
  add("waiting", "gauge", "Waiting requests.", s.waiting);
}

}  // namespace

void Declare(OptionSet& set, LmServerOptions& o) {
  set.Group("Server");
  set.Add("--host", o.host, "Address to listen on; 0.0.0.0 for every network").OnlyOutput();
  set.Add("--port", o.port, "Port to listen on; 0 chooses a free one").Range(0, 65535).OnlyOutput();
  set.Add("--allow_host", o.allow_host,
          "A name by which requests and web pages may reach this server, in addition to those of "
          "this machine (repeatable; *: any)")
      .OnlyOutput();
  set.Add("--api_key", o.api_key,
          "Key that clients must send; better set in the environment, where the list of processes "
          "does not show it",
          "AGENTR_API_KEY")
      .OnlyOutput();
  set.Add("--max_waiting", o.max_waiting,
          "Largest number of waiting requests; further ones are refused (503)")
      .Min(1)
      .OnlySpeed();
  set.Add("--max_body", o.max_body, "Largest body of a request, bytes").Min(1).OnlyOutput();
}

LmServer::LmServer(LoadedModel model, LmServerOptions options)
    : model_(std::move(model)),
      options_(std::move(options)),
      started_(Now()),
      http_(HttpOptionsOf(options_, [this] {
        return AboutText{"lm_server", Summary(),
                         "mcts_collect --llm_base http://host:port/v1 --model_name " + model_.name +
                             "\n\nClients of OpenAI's protocol use http://host:port/v1."};
      })) {
  http_.Post("/v1/chat/completions",
             [this](const HttpRequest& request) { return Serve(LmApi::kChat, request); });
  http_.Post("/v1/completions",
             [this](const HttpRequest& request) { return Serve(LmApi::kCompletions, request); });
  http_.Post("/v1/tokenize", [this](const HttpRequest& request) { return Tokenize(request); });
  http_.Get("/v1/models", [this](const HttpRequest&) { return Models(); });
  http_.Get("/v1/models/" + model_.name,
            [this](const HttpRequest&) { return HttpResponse{.body = ModelJson().dump()}; });
  http_.AddMetrics([this](std::string& out) { AppendEngineMetrics(model_.engine->stats(), out); });
  http_.Start();
}

std::string LmServer::Summary() const {
  const DecoderShape& shape = model_.decoder->shape();
  return fmt::format("{}: {} positions; cache of {} x {} tokens, {} MiB", model_.name,
                     shape.max_context, shape.blocks, shape.block_tokens,
                     shape.blocks * shape.block_bytes >> 20);
}

HttpServiceOptions LmServer::HttpOptionsOf(const LmServerOptions& options,
                                           std::function<AboutText()> about) {
  const auto admit = [key = options.api_key](const std::string& path, const std::string& header) {
    if (key.empty() || !path.starts_with("/v1/")) return;
    if (SameKey(header, "Bearer " + key.Reveal())) return;
    throw HttpStatusError(
        401, "The API key is wrong or missing; send it as 'Authorization: Bearer KEY'.",
        "invalid_api_key");
  };
  return {.host = options.host,
          .port = options.port,
          .max_body = options.max_body,
          .error_body = LmErrorBody,
          .about = std::move(about),
          .admit = admit,
          .allow_host = options.allow_host};
}

nlohmann::ordered_json LmServer::ModelJson() const {
  return {{"id", model_.name},
          {"object", "model"},
          {"created", started_},
          {"owned_by", "agentr"},
          {"max_model_len", model_.decoder->shape().max_context},
          {"agentr", {{"version", kVersion}, {"identity", model_.identity}}}};
}

HttpResponse LmServer::Models() const {
  const nlohmann::ordered_json list = {{"object", "list"},
                                       {"data", nlohmann::ordered_json::array({ModelJson()})}};
  return {.body = list.dump()};
}

HttpResponse LmServer::Serve(LmApi api, const HttpRequest& http) {
  LmRequest request = ParseLmRequest(api, http.body);
  CheckModel(request);
  CheckLoad();
  const uint64_t number = ++requests_;
  Complete(request, number);
  const std::string_view kind = api == LmApi::kChat ? "chatcmpl" : "cmpl";
  LmReply reply{.request = std::move(request),
                .tokenizer = model_.tokenizer.get(),
                .model = model_.name,
                .id = fmt::format("{}-{:x}-{}", kind, started_, number),
                .created = Now()};
  if (reply.request.stream) return Stream(std::move(reply), *model_.engine);
  Generation generation = OrThrow(Generate(http, reply.request.generation));
  if (!reply.request.generation.params.stop.empty()) {
    for (GeneratedSequence& sequence : generation.sequences) {
      LeaveOutStop(*model_.tokenizer, sequence);
    }
  }
  return {.body = reply.Whole(generation)};
}

Result<Generation> LmServer::Generate(const HttpRequest& http, GenerationRequest request) const {
  Pending<Generation> pending = model_.engine->Generate(std::move(request));
  while (!pending.WaitFor(kBetweenLooks)) {
    if (http.ClientGone()) pending.Cancel();
  }
  return pending.Wait();
}

void LmServer::CheckModel(const LmRequest& request) const {
  if (!request.model.empty() && request.model != model_.name) {
    throw HttpStatusError(
        404, fmt::format("There is no model '{}' here, only '{}'.", request.model, model_.name),
        "model_not_found", "model");
  }
}

void LmServer::CheckLoad() const {
  if (model_.engine->stats().waiting >= options_.max_waiting) {
    throw HttpStatusError(503, "Too many requests wait; try again later.", "overloaded");
  }
}

HttpResponse LmServer::Tokenize(const HttpRequest& http) const {
  const LmRequest request = ParseLmRequest(LmApi::kChat, http.body);
  CheckModel(request);
  const PreparedPrompt prompt = Prepare(request);
  const nlohmann::ordered_json json = {{"count", prompt.tokens},
                                       {"max_model_len", model_.decoder->shape().max_context},
                                       {"tokens", prompt.ids},
                                       {"message_begins", prompt.message_begins},
                                       {"reused_turns", prompt.reused_turns},
                                       {"reencoded_turns", prompt.reencoded_turns}};
  return {.body = json.dump()};
}

PreparedPrompt LmServer::Prepare(const LmRequest& request) const {
  const std::vector<std::span<const int32_t>> sampled(request.sampled.begin(),
                                                      request.sampled.end());
  const std::unique_ptr<ChatTemplate> own = TemplateFor(request);
  const ChatTemplate& chat = own ? *own : *model_.chat;
  return UseSampledIds(OrThrow(chat.Apply(request.messages, /*generation=*/true), "messages"),
                       request.messages, sampled, {*model_.tokenizer, chat.stop_tokens()});
}

std::unique_ptr<ChatTemplate> LmServer::TemplateFor(const LmRequest& request) const {
  if (request.chat_kwargs.is_null()) return nullptr;
  try {
    return model_.chat->With(request.chat_kwargs);
  } catch (const FatalError& error) {
    throw HttpStatusError(400, error.what(), "", "chat_template_kwargs");
  }
}

std::vector<int32_t> LmServer::PromptOf(const LmRequest& request) const {
  if (request.api == LmApi::kChat) return Prepare(request).ids;
  if (!request.token_ids.empty()) return request.token_ids;
  std::vector<int32_t> ids = model_.tokenizer->Encode(request.prompt);
  const std::optional<int32_t> bos = model_.tokenizer->bos();
  if (bos && model_.tokenizer->adds_bos() && (ids.empty() || ids.front() != *bos)) {
    ids.insert(ids.begin(), *bos);
  }
  return ids;
}

void LmServer::Complete(LmRequest& request, uint64_t number) const {
  GenerationRequest& generation = request.generation;
  generation.prompt = PromptOf(request);
  const std::string prompt_field = request.api == LmApi::kChat ? "messages" : "prompt";
  generation.stop_tokens = model_.stop_tokens;
  generation.params.seed = request.seed.value_or(RandomStream(0).Split(number).Next());
  const DecoderShape& shape = model_.decoder->shape();
  const int64_t room = std::max<int64_t>(1, Capacity(shape) - std::ssize(generation.prompt));
  const int64_t left_open = request.api == LmApi::kChat ? room : kCompletionTokens;
  generation.params.max_tokens = request.max_tokens.value_or(static_cast<int>(left_open));
  OrThrow(CheckRoom(generation, shape), prompt_field);
  if (auto error = Check(generation, shape)) throw ToHttp(*error, prompt_field);
}

}  // namespace agentr
