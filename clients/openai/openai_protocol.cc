#include "clients/openai/openai_protocol.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "clients/http/json_fields.h"
#include "clients/message_json.h"
#include "clients/openai/openai_reply.h"
#include "common/json_depth.h"
#include "common/random.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

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

bool HasType(const Json& part, std::initializer_list<const char*> types) {
  const Json type = part.value("type", Json());
  return std::ranges::any_of(types, [&](const char* name) { return type == name; });
}

// The text of a thought among the parts of a content, which may be a list of parts itself.
std::string ThoughtText(const Json& thought) {
  if (thought.is_string()) return thought.get<std::string>();
  std::string text;
  for (const Json& part : thought.is_array() ? thought : Json::array()) text += ThoughtText(part);
  for (const char* name : {"thinking", "reasoning", "text"}) {
    if (thought.is_object() && thought.contains(name)) text += ThoughtText(thought[name]);
  }
  return text;
}

// A message's text: a string, or a list of parts of which the texts count; empty for null.
Result<std::string> ContentText(const Json& message) {
  const Json content = message.value("content", Json());
  if (content.is_null()) return "";
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return Bad("field 'content' is neither a text nor a list of parts");
  std::string text;
  for (const Json& part : content) {
    if (part.is_string()) text += part.get<std::string>();
    if (!part.is_object()) continue;
    if (part.contains("type") && !HasType(part, {"text", "output_text"})) continue;
    auto piece = Field<std::string>(part, "text");
    if (!piece) return Bad("a part of 'content': " + piece.error().message);
    text += *piece;
  }
  return text;
}

// The thought that stands beside the content, or among its parts; empty if there is none.
std::string ThoughtBeside(const Json& message) {
  for (const char* name : {"reasoning_content", "reasoning"}) {
    const Json thought = message.value(name, Json());
    if (thought.is_string() && thought != "") return thought.get<std::string>();
  }
  std::string thoughts;
  const Json content = message.value("content", Json());
  for (const Json& part : content.is_array() ? content : Json::array()) {
    if (part.is_object() && HasType(part, {"thinking", "reasoning"})) thoughts += ThoughtText(part);
  }
  return thoughts;
}

Result<Completion> ParseChoice(const Json& choice) {
  const Json message = choice.value("message", Json());
  if (!message.is_object()) return Bad("field 'message' is missing or no object");
  Completion out;
  AGENTR_ASSIGN_OR_RETURN(out.text, ContentText(message));
  out.reasoning = ThoughtBeside(message);
  AGENTR_ASSIGN_OR_RETURN(out.logprobs, ChatLogprobs(choice));
  AGENTR_ASSIGN_OR_RETURN(out.token_ids, ReplyTokenIds(choice, kPath));
  return out;
}

// Whether a refusal calls a field of the request unknown: by a message with its name in quotation
// marks or between blanks, or as FastAPI does, which names it in "loc", beside the message.
bool RefusesField(const Json& error, const std::string& message, const std::string& field) {
  constexpr std::string_view kUnknown[] = {"unsupported",  "not support", "unknown",
                                           "unrecognized", "unexpected",  "not permitted",
                                           "deprecated"};
  const std::string text = AsciiLower(message);
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  if (!std::ranges::any_of(kUnknown, says)) return false;
  if (DumpJson(error).find("\"" + field + "\"") != std::string::npos) return true;
  for (size_t at = text.find(field); at != std::string::npos; at = text.find(field, at + 1)) {
    const auto is_name = [&](size_t place) {
      const char c = place < text.size() ? text[place] : ' ';
      return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '_';
    };
    if ((at == 0 || !is_name(at - 1)) && !is_name(at + field.size())) return true;
  }
  return false;
}

}  // namespace

int64_t RequestSeed(uint64_t seed, int first) {
  return static_cast<int64_t>(RandomStream(seed).Split(static_cast<uint64_t>(first)).Next() >> 33);
}

std::string ChatBody(const std::string& model, std::span<const Message> prompt, int n, int first,
                     const SamplingParams& sampling, const ChatExtras& extras) {
  Json messages = Json::array();
  for (const Message& message : prompt) messages.push_back(MessageToJson<Json>(message));
  Json body = {
      {"model", model},
      {"messages", std::move(messages)},
      {"temperature", sampling.temperature},
      {extras.max_completion_tokens ? "max_completion_tokens" : "max_tokens", sampling.max_tokens}};
  if (sampling.top_p != 1) body["top_p"] = sampling.top_p;
  if (n > 1) body["n"] = n;
  if (!sampling.stop.empty()) body["stop"] = sampling.stop;
  if (extras.seed) body["seed"] = RequestSeed(sampling.seed, first);
  if (sampling.logprobs || extras.logprobs) body["logprobs"] = true;
  if (extras.token_ids) body["return_token_ids"] = true;
  if (!extras.chat_kwargs.empty()) body["chat_template_kwargs"] = Json::parse(extras.chat_kwargs);
  for (const auto& [name, value] : extras.fields) {
    if (value.empty()) {
      body.erase(name);
    } else {
      body[name] = Json::parse(value);
    }
  }
  return DumpJson(body);
}

Result<CompletionBatch> ParseChat(std::string_view reply, size_t max_text) {
  return ParseReply(reply, kPath, max_text, ParseChoice);
}

Error ChatError(const HttpError& error) {
  constexpr int kException = 500;  // as some servers answer to a prompt that is too long
  Error out = error;
  if (error.kind != ErrorKind::kRejected && error.status != kException) return out;
  const Json body = ParseJson(error.body);
  const std::string text = ReplyErrorText(body);
  if (IsContextError(body)) out.kind = ErrorKind::kContextLength;
  if (out.kind == ErrorKind::kServer) return out;
  if (!text.empty())
    out.message = fmt::format("the model's server refuses: {}", EscapeControls(text));
  for (const char* field : {"seed", "temperature", "top_p", "stop", "logprobs", "n"}) {
    if (out.kind != ErrorKind::kRejected || !RefusesField(ReplyError(body), text, field)) continue;
    out.message += fmt::format("; --llm_field {}= leaves \"{}\" out", field, field);
  }
  if (error.status == 401 || error.status == 403) out.message += "; is OPENAI_API_KEY right?";
  if (error.status == 404) out.message += "; are the base URL (…/v1) and the model's name right?";
  return out;
}

bool RefusesMaxTokens(const HttpError& error) {
  if (error.kind != ErrorKind::kRejected || error.status >= 500) return false;
  if (ChatError(error).kind == ErrorKind::kContextLength) return false;
  const Json body = ParseJson(error.body);
  const Json told = ReplyError(body);
  if (told.is_object() && told.value("param", Json()) == "max_tokens") return true;
  return ReplyErrorText(body).find("max_completion_tokens") != std::string::npos ||
         RefusesField(told, ReplyErrorText(body), "max_tokens");
}

}  // namespace agentr
