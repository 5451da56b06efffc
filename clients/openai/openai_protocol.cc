#include "clients/openai/openai_protocol.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "clients/http/json_fields.h"
#include "clients/openai/openai_reply.h"
#include "common/json_depth.h"
#include "common/random.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

std::string ErrorCode(const Json& reply) {
  if (!reply.is_object() || !reply.contains("error") || !reply["error"].is_object()) return "";
  const Json code = reply["error"].value("code", Json());
  return code.is_string() ? code.get<std::string>() : "";
}

// The phrases of OpenAI and vLLM, newer vLLM, llama.cpp, and SGLang.
bool SpeaksOfContextLength(std::string_view message) {
  const std::string text = AsciiLower(message);
  const std::array<std::string_view, 4> phrases = {"maximum context length", "maximum model length",
                                                   "context size", "model's context length"};
  return std::ranges::any_of(
      phrases, [&](std::string_view phrase) { return text.find(phrase) != std::string::npos; });
}

constexpr std::string_view kPath = "/chat/completions";

tl::unexpected<Error> Bad(const std::string& message) { return BadReply(kPath, message); }

Result<std::vector<float>> ChatLogprobs(const Json& choice) {
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
  AGENTR_ASSIGN_OR_RETURN(out.logprobs, ChatLogprobs(choice));
  AGENTR_ASSIGN_OR_RETURN(out.token_ids, ReplyTokenIds(choice, kPath));
  return out;
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
  if (sampling.logprobs || extras.logprobs) body["logprobs"] = true;
  if (extras.token_ids) body["return_token_ids"] = true;
  return DumpJson(body);
}

Result<CompletionBatch> ParseChat(std::string_view reply, size_t max_text) {
  return ParseReply(reply, kPath, max_text, ParseChoice);
}

Error ChatError(const HttpError& error) {
  Error out = error;
  if (error.kind != ErrorKind::kRejected) return out;
  const Json body = ParseJson(error.body);
  const std::string text = ReplyErrorText(body);
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
