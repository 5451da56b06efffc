#include "clients/openai/openai_protocol.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "clients/http/json_fields.h"
#include "common/json_depth.h"
#include "common/random.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

// Servers put their message in "error" (an object with "message", or a text) or in "message".
std::string ErrorText(const Json& reply) {
  if (!reply.is_object()) return "";
  const Json& error = reply.contains("error") ? reply["error"] : reply;
  if (error.is_string()) return error.get<std::string>();
  if (!error.is_object() || !error.contains("message")) return "";
  return error["message"].is_string() ? error["message"].get<std::string>() : "";
}

std::string ErrorCode(const Json& reply) {
  if (!reply.is_object() || !reply.contains("error") || !reply["error"].is_object()) return "";
  const Json code = reply["error"].value("code", Json());
  return code.is_string() ? code.get<std::string>() : "";
}

// The phrases of OpenAI and vLLM, newer vLLM, llama.cpp, and SGLang.
bool SpeaksOfContextLength(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::array<std::string_view, 4> phrases = {"maximum context length", "maximum model length",
                                                   "context size", "model's context length"};
  return std::ranges::any_of(
      phrases, [&](std::string_view phrase) { return text.find(phrase) != std::string::npos; });
}

tl::unexpected<Error> Bad(const std::string& message) {
  return Fail(ErrorKind::kProtocol, "the /chat/completions reply: " + message);
}

Result<std::vector<float>> Logprobs(const Json& choice) {
  std::vector<float> out;
  const auto found = choice.find("logprobs");
  if (found == choice.end() || found->is_null()) return out;
  if (!found->is_object()) return Bad("field 'logprobs' has the wrong type");
  if (found->value("content", Json()).is_null()) return out;
  const auto tokens = Field<Json::array_t>(*found, "content");
  if (!tokens) return Bad(tokens.error().message);
  for (const Json& token : *tokens) {
    if (!token.is_object()) return Bad("a token of 'logprobs' is no object");
    const auto logprob = Field<float>(token, "logprob");
    if (!logprob) return Bad(logprob.error().message);
    out.push_back(*logprob);
  }
  return out;
}

Result<std::vector<int32_t>> TokenIds(const Json& choice) {
  std::vector<int32_t> out;
  const auto found = choice.find("token_ids");
  if (found == choice.end() || found->is_null()) return out;
  if (!found->is_array()) return Bad("field 'token_ids' has the wrong type");
  for (const Json& id : *found) {
    const bool fits = id.is_number_unsigned() && id.get<uint64_t>() <= INT32_MAX;
    if (!fits) return Bad("field 'token_ids' contains a value that is not a token id");
    out.push_back(id.get<int32_t>());
  }
  return out;
}

Result<Completion> ParseChoice(const Json& choice) {
  if (!choice.is_object()) return Bad("a choice is no object");
  const Json message = choice.value("message", Json());
  if (!message.is_object()) return Bad("field 'message' is missing or no object");
  Completion out;
  if (!message.value("content", Json()).is_null()) {
    auto content = Field<std::string>(message, "content");
    if (!content) return Bad(content.error().message);
    out.text = std::move(*content);
  }
  const Json reason = choice.value("finish_reason", Json());
  if (reason.is_string()) out.finish_reason = reason.get<std::string>();
  auto logprobs = Logprobs(choice);
  if (!logprobs) return tl::make_unexpected(logprobs.error());
  out.logprobs = std::move(*logprobs);
  auto ids = TokenIds(choice);
  if (!ids) return tl::make_unexpected(ids.error());
  out.token_ids = std::move(*ids);
  return out;
}

int64_t Count(const Json& usage, const std::string& name) {
  return Field<int64_t>(usage, name).value_or(0);
}

}  // namespace

int64_t RequestSeed(uint64_t seed, int first) {
  return static_cast<int64_t>(RandomStream(seed).Split(static_cast<uint64_t>(first)).Next() >> 33);
}

std::string ChatBody(const std::string& model, std::span<const Message> prompt, int n, int first,
                     const SamplingParams& sampling, const ChatExtras& extras) {
  Json messages = Json::array();
  for (const Message& message : prompt) {
    messages.push_back({{"role", message.role}, {"content", message.content}});
  }
  Json body = {{"model", model},
               {"messages", std::move(messages)},
               {"temperature", sampling.temperature},
               {"top_p", sampling.top_p},
               {"max_tokens", sampling.max_tokens}};
  if (n > 1) body["n"] = n;
  if (!sampling.stop.empty()) body["stop"] = sampling.stop;
  if (extras.seed) body["seed"] = RequestSeed(sampling.seed, first);
  if (sampling.logprobs) body["logprobs"] = true;
  if (extras.token_ids) body["return_token_ids"] = true;
  return JsonText(body);
}

Result<CompletionBatch> ParseChat(std::string_view reply, size_t max_text) {
  const auto object = ParseObject(reply, "/chat/completions reply");
  if (!object) return tl::make_unexpected(object.error());
  if (!object->contains("choices") && object->contains("error")) {
    return Fail(ErrorKind::kServer,
                "the model's server says: " + EscapeControls(ErrorText(*object)));
  }
  const auto choices = Field<Json::array_t>(*object, "choices");
  if (!choices) return Bad(choices.error().message);
  if (choices->empty()) return Bad("field 'choices' is empty");
  CompletionBatch batch;
  for (const Json& choice : *choices) {
    auto completion = ParseChoice(choice);
    if (!completion) return tl::make_unexpected(completion.error());
    if (completion->text.size() > max_text) {
      return Fail(
          ErrorKind::kRejected,
          fmt::format(
              "the model's completion has {} bytes, over the limit of {} (--llm_max_completion); "
              "does it repeat itself? A lower --max_tokens ends it earlier",
              completion->text.size(), max_text));
    }
    batch.completions.push_back(std::move(*completion));
  }
  batch.usage.requests = 1;
  const Json usage = object->value("usage", Json());
  if (usage.is_object()) {
    batch.usage.prompt_tokens = Count(usage, "prompt_tokens");
    batch.usage.completion_tokens = Count(usage, "completion_tokens");
    const Json details = usage.value("prompt_tokens_details", Json());
    if (details.is_object()) batch.usage.cached_tokens = Count(details, "cached_tokens");
  }
  return batch;
}

Error ChatError(const HttpError& error) {
  Error out = error;
  if (error.kind != ErrorKind::kRejected) return out;
  const Json body = ParseJson(error.body);
  const std::string text = ErrorText(body);
  if (ErrorCode(body) == "context_length_exceeded" || SpeaksOfContextLength(text)) {
    out.kind = ErrorKind::kContextLength;
  }
  if (!text.empty())
    out.message = fmt::format("the model's server refuses: {}", EscapeControls(text));
  if (error.status == 401 || error.status == 403) out.message += "; is OPENAI_API_KEY right?";
  if (error.status == 404) out.message += "; are the base URL (…/v1) and the model's name right?";
  return out;
}

}  // namespace agentr
