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

// Of all models together.
void AppendEngineMetrics(const std::vector<LoadedModel>& models, std::string& out) {
  using S = EngineStats;
  std::vector<S> stats;
  for (const LoadedModel& model : models) stats.push_back(model.engine->stats());
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       auto member) {
    uint64_t sum = 0;
    for (const S& one : stats) sum += static_cast<uint64_t>(one.*member);
    AppendMetric(fmt::format("agentr_lm_{}", name), type, help, sum, out);
  };
  add("requests_total", "counter", "Requests for generation or scoring.", &S::requests);
  add("prompt_tokens_total", "counter", "Tokens of the requests' prompts.", &S::prompt_tokens);
  add("cached_tokens_total", "counter", "Prompt tokens found in the cache.", &S::cached_tokens);
  add("computed_tokens_total", "counter", "Tokens computed by the network.", &S::computed_tokens);
  add("completion_tokens_total", "counter", "Tokens generated.", &S::completion_tokens);
  add("rounds_total", "counter", "Passes through the network.", &S::rounds);
  add("evicted_blocks_total", "counter", "Blocks evicted from the cache.", &S::evicted_blocks);
  add("blocks", "gauge", "Blocks of keys and values.", &S::blocks);
  add("blocks_in_use", "gauge", "Blocks held by running sequences or the cache.",
      &S::blocks_in_use);
  add("running", "gauge", "Running sequences.", &S::running);
  add("waiting", "gauge", "Waiting requests.", &S::waiting);
}

std::vector<LoadedModel> Joined(LoadedModel first, std::vector<LoadedModel> others) {
  std::vector<LoadedModel> all;
  all.push_back(std::move(first));
  for (LoadedModel& other : others) {
    if (std::ranges::count(all, other.name, &LoadedModel::name) > 0) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("two models would be served as '{}': give them names with "
                                   "--model_name and --adapter NAME=DIR",
                                   other.name));
    }
    all.push_back(std::move(other));
  }
  return all;
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

LmServer::LmServer(LoadedModel model, LmServerOptions options, std::vector<LoadedModel> others)
    : models_(Joined(std::move(model), std::move(others))),
      options_(std::move(options)),
      started_(Now()),
      http_(HttpOptionsOf(options_, [this] {
        return AboutText{"lm_server", Summary(),
                         "mcts_collect --llm_base http://host:port/v1 --model_name " +
                             models_[0].name +
                             "\n\nClients of OpenAI's protocol use http://host:port/v1."};
      })) {
  http_.Post("/v1/chat/completions",
             [this](const HttpRequest& request) { return Serve(LmApi::kChat, request); });
  http_.Post("/v1/completions",
             [this](const HttpRequest& request) { return Serve(LmApi::kCompletions, request); });
  http_.Post("/v1/tokenize", [this](const HttpRequest& request) { return Tokenize(request); });
  http_.Get("/v1/models", [this](const HttpRequest&) { return Models(); });
  for (const LoadedModel& one : models_) {
    http_.Get("/v1/models/" + one.name,
              [&](const HttpRequest&) { return HttpResponse{.body = ModelJson(one).dump()}; });
  }
  http_.AddMetrics([this](std::string& out) { AppendEngineMetrics(models_, out); });
  http_.Start();
}

std::string LmServer::Summary() const {
  std::string text;
  for (const LoadedModel& model : models_) {
    const DecoderShape& shape = model.decoder->shape();
    text += fmt::format("{}{}: {} positions; cache of {} x {} tokens, {} MiB",
                        text.empty() ? "" : "\n", model.name, shape.max_context, shape.blocks,
                        shape.block_tokens, shape.blocks * shape.block_bytes >> 20);
  }
  return text;
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

nlohmann::ordered_json LmServer::ModelJson(const LoadedModel& model) const {
  return {{"id", model.name},
          {"object", "model"},
          {"created", started_},
          {"owned_by", "agentr"},
          {"max_model_len", model.decoder->shape().max_context},
          {"agentr", {{"version", kVersion}, {"identity", model.identity}}}};
}

HttpResponse LmServer::Models() const {
  nlohmann::ordered_json list = {{"object", "list"}, {"data", nlohmann::ordered_json::array()}};
  for (const LoadedModel& model : models_) list["data"].push_back(ModelJson(model));
  return {.body = list.dump()};
}

HttpResponse LmServer::Serve(LmApi api, const HttpRequest& http) {
  LmRequest request = ParseLmRequest(api, http.body);
  const LoadedModel& model = ModelOf(request);
  CheckLoad(model);
  const uint64_t number = ++requests_;
  Complete(model, request, number);
  const std::string_view kind = api == LmApi::kChat ? "chatcmpl" : "cmpl";
  LmReply reply{.request = std::move(request),
                .tokenizer = model.tokenizer.get(),
                .model = model.name,
                .id = fmt::format("{}-{:x}-{}", kind, started_, number),
                .created = Now()};
  if (reply.request.stream) return Stream(std::move(reply), *model.engine);
  Generation generation = OrThrow(Generate(model, http, reply.request.generation));
  if (!reply.request.generation.params.stop.empty()) {
    for (GeneratedSequence& sequence : generation.sequences) {
      LeaveOutStop(*model.tokenizer, sequence, reply.request.generation.continues_text);
    }
  }
  return {.body = reply.Whole(generation)};
}

Result<Generation> LmServer::Generate(const LoadedModel& model, const HttpRequest& http,
                                      GenerationRequest request) {
  Pending<Generation> pending = model.engine->Generate(std::move(request));
  while (!pending.WaitFor(kBetweenLooks)) {
    if (http.ClientGone()) pending.Cancel();
  }
  return pending.Wait();
}

const LoadedModel& LmServer::ModelOf(const LmRequest& request) const {
  if (request.model.empty()) return models_[0];
  const auto found = std::ranges::find(models_, request.model, &LoadedModel::name);
  if (found != models_.end()) return *found;
  std::string names;
  for (const LoadedModel& model : models_) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", model.name);
  }
  throw HttpStatusError(404,
                        fmt::format("There is no model '{}' here, only {}.", request.model, names),
                        "model_not_found", "model");
}

void LmServer::CheckLoad(const LoadedModel& model) const {
  if (model.engine->stats().waiting >= options_.max_waiting) {
    throw HttpStatusError(503, "Too many requests wait; try again later.", "overloaded");
  }
}

HttpResponse LmServer::Tokenize(const HttpRequest& http) const {
  const LmRequest request = ParseLmRequest(LmApi::kChat, http.body);
  const LoadedModel& model = ModelOf(request);
  const PreparedPrompt prompt = Prepare(model, request);
  const nlohmann::ordered_json json = {{"count", prompt.tokens},
                                       {"max_model_len", model.decoder->shape().max_context},
                                       {"tokens", prompt.ids},
                                       {"message_begins", prompt.message_begins},
                                       {"reused_turns", prompt.reused_turns},
                                       {"reencoded_turns", prompt.reencoded_turns}};
  return {.body = json.dump()};
}

PreparedPrompt LmServer::Prepare(const LoadedModel& model, const LmRequest& request) {
  const std::vector<std::span<const int32_t>> sampled(request.sampled.begin(),
                                                      request.sampled.end());
  const std::unique_ptr<ChatTemplate> own = TemplateFor(model, request);
  const ChatTemplate& chat = own ? *own : *model.chat;
  return UseSampledIds(OrThrow(chat.Apply(request.messages, /*generation=*/true), "messages"),
                       request.messages, sampled, {*model.tokenizer, chat.stop_tokens()});
}

std::unique_ptr<ChatTemplate> LmServer::TemplateFor(const LoadedModel& model,
                                                    const LmRequest& request) {
  if (request.chat_kwargs.is_null()) return nullptr;
  try {
    return model.chat->With(request.chat_kwargs);
  } catch (const FatalError& error) {
    throw HttpStatusError(400, error.what(), "", "chat_template_kwargs");
  }
}

std::vector<int32_t> LmServer::PromptOf(const LoadedModel& model, const LmRequest& request) {
  if (request.api == LmApi::kChat) return Prepare(model, request).ids;
  if (!request.token_ids.empty()) return request.token_ids;
  std::vector<int32_t> ids = model.tokenizer->Encode(request.prompt);
  const std::optional<int32_t> bos = model.tokenizer->bos();
  if (bos && model.tokenizer->adds_bos() && (ids.empty() || ids.front() != *bos)) {
    ids.insert(ids.begin(), *bos);
  }
  return ids;
}

void LmServer::Complete(const LoadedModel& model, LmRequest& request, uint64_t number) {
  GenerationRequest& generation = request.generation;
  generation.prompt = PromptOf(model, request);
  generation.continues_text = request.api == LmApi::kCompletions;
  const std::string prompt_field = request.api == LmApi::kChat ? "messages" : "prompt";
  generation.stop_tokens = model.stop_tokens;
  generation.params.seed = request.seed.value_or(RandomStream(0).Split(number).Next());
  const DecoderShape& shape = model.decoder->shape();
  const int64_t room = std::max<int64_t>(1, Capacity(shape) - std::ssize(generation.prompt));
  const int64_t left_open = request.api == LmApi::kChat ? room : kCompletionTokens;
  generation.params.max_tokens = request.max_tokens.value_or(static_cast<int>(left_open));
  OrThrow(CheckRoom(generation, shape), prompt_field);
  if (auto error = Check(generation, shape)) throw ToHttp(*error, prompt_field);
}

}  // namespace agentr
