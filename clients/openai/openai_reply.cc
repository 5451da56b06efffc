#include "clients/openai/openai_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "clients/filtered.h"
#include "clients/http/json_fields.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

int64_t Count(const Json& usage, const std::string& name) {
  return std::max<int64_t>(Field<int64_t>(usage, name).value_or(0), 0);
}

void AddUsage(const Json& reply, Usage& usage) {
  usage.requests = 1;
  const Json told = reply.value("usage", Json());
  if (!told.is_object()) return;
  usage.prompt_tokens = Count(told, "prompt_tokens");
  usage.completion_tokens = Count(told, "completion_tokens");
  const Json details = told.value("prompt_tokens_details", Json());
  if (details.is_object()) usage.cached_tokens = Count(details, "cached_tokens");
}

bool IsTold(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && IsSaid(*found);
}

// What servers say of a prompt that is over the model's limit: a message that contains both parts,
// in lower case.
constexpr std::pair<std::string_view, std::string_view> kTooLong[] = {
    {"maximum context length", ""},              // OpenAI, vLLM, Mistral, Fireworks, OpenRouter
    {"exceed", "context window"},                // OpenAI's newer models, llama-cpp-python, MiniMax
    {"contextwindowexceeded", ""},               // LiteLLM
    {"maximum model length", ""},                // newer vLLM
    {"tokens) is too long", ""},                 // older vLLM
    {"model's context length", ""},              // SGLang
    {"exceed", "context length"},                // Ollama, SGLang
    {"exceeds the maximum allowed length", ""},  // SGLang
    {"context size", ""},                        // llama.cpp
    {"exceed context limit", ""},                // Anthropic
    {"prompt is too long", ""},                  // Anthropic
    {"exceeds the maximum number of tokens", ""},  // Gemini
    {"input token count", "only supports up to"},  // Vertex AI
    {"`inputs`", "`max_new_tokens` must be <="},   // TGI, Together
    {"`inputs` must have less than", "tokens"},    // TGI
    {"prompt length", "exceed"},                   // TensorRT-LLM
    {"prompt length", "max_seq_len"},              // TabbyAPI
    {"maximum prompt length", ""},                 // xAI
    {"greater than the context length", ""},       // LM Studio
    {"context the overflows", ""},                 // older LM Studio
    {"input is too long", ""},                     // Bedrock
    {"too many input tokens", ""},                 // Bedrock's own models
    {"reduce the length of the", "messages"},      // OpenAI, Groq, Cerebras
    {"too many tokens", "prompt"},                 // Cohere
    {"exceeded model token limit", ""},            // Moonshot
    {"prompt exceeds max length", ""},             // GLM
    {"range of input length should be", ""},       // DashScope
    {"number of input tokens", "cannot exceed"},   // watsonx
    {"prompt token count", "exceed"},              // GitHub Copilot, Databricks
    {"request body too large", "tokens"},          // GitHub Models
};

bool SpeaksOfContextLength(std::string_view message) {
  const std::string text = AsciiLower(message);
  return std::ranges::any_of(kTooLong, [&](const auto& parts) {
    return text.find(parts.first) != std::string::npos &&
           text.find(parts.second) != std::string::npos;
  });
}

// The codes of OpenAI, llama.cpp, GitHub Copilot and GitHub Models.
bool IsContextCode(const Json& error) {
  constexpr std::string_view kCodes[] = {"context_length_exceeded", "exceed_context_size_error",
                                         "model_max_prompt_tokens_exceeded",
                                         "tokens_limit_reached"};
  if (!error.is_object()) return false;
  return std::ranges::any_of(kCodes, [&](std::string_view code) {
    return error.value("code", Json()) == code || error.value("type", Json()) == code;
  });
}

// The error in a reply, or a choice, with HTTP status 200.
tl::unexpected<Error> Told(const Json& reply, const std::string& what) {
  return Fail(IsContextError(reply) ? ErrorKind::kContextLength : ErrorKind::kServer,
              what + ": " + EscapeControls(ReplyErrorText(reply)));
}

// Some servers send an object with the reason as its type.
std::string ReasonOf(const Json& choice) {
  Json reason = choice.value("finish_reason", Json());
  if (reason.is_object()) reason = reason.value("type", Json());
  return reason.is_string() ? reason.get<std::string>() : "";
}

// Whether the server ended the completion, not the model: by what it says, or by a reason that
// nobody knows and no text.
bool IsBrokenOff(const Completion& completion) {
  constexpr std::string_view kFaults[] = {"abort",     "cancel",     "error",      "fail",
                                          "timeout",   "timed_out",  "overload",   "insufficient",
                                          "interrupt", "terminated", "disconnect", "unavailable"};
  // Beside limits and filters: OpenAI, vLLM, SGLang, TGI, Anthropic, Gemini, Cohere.
  constexpr std::string_view kEnds[] = {"",
                                        "stop",
                                        "tool_calls",
                                        "function_call",
                                        "eos",
                                        "end_turn",
                                        "pause_turn",
                                        "eos_token",
                                        "stop_sequence",
                                        "tool_use",
                                        "complete",
                                        "malformed_function_call",
                                        "finish_reason_unspecified"};
  if (ReachedLimit(completion) || IsFiltered(completion)) return false;
  const std::string reason = AsciiLower(completion.finish_reason);
  if (std::ranges::find(kEnds, reason) != std::end(kEnds)) return false;
  return completion.text.empty() || std::ranges::any_of(kFaults, [&](std::string_view fault) {
           return reason.find(fault) != std::string::npos;
         });
}

}  // namespace

tl::unexpected<Error> BadReply(std::string_view path, const std::string& message) {
  return Fail(ErrorKind::kProtocol, fmt::format("the {} reply: {}", path, message));
}

const Json& ReplyError(const Json& reply) {
  // Gemini sends a list with one object.
  const Json& object = reply.is_array() && reply.size() == 1 ? reply[0] : reply;
  if (!object.is_object()) return object;
  for (const char* name : {"error", "detail"}) {
    const auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return *found;
  }
  return object;
}

std::string ReplyErrorText(const Json& reply) {
  const Json& error = ReplyError(reply);
  if (error.is_string()) return error.get<std::string>();
  if (error.is_array() && !error.empty()) return ReplyErrorText(error[0]);
  if (!error.is_object()) return "";
  for (const char* name : {"message", "msg"}) {
    if (error.contains(name) && error[name].is_string()) return error[name].get<std::string>();
  }
  return "";
}

bool IsContextError(const Json& reply) {
  return IsContextCode(ReplyError(reply)) || SpeaksOfContextLength(ReplyErrorText(reply));
}

Result<std::vector<int32_t>> ReplyTokenIds(const Json& choice, std::string_view path) {
  std::vector<int32_t> out;
  const auto found = choice.find("token_ids");
  if (found == choice.end() || found->is_null()) return out;
  if (!found->is_array()) return BadReply(path, "field 'token_ids' has the wrong type");
  for (const Json& id : *found) {
    const bool fits = id.is_number_unsigned() && id.get<uint64_t>() <= INT32_MAX;
    if (!fits) return BadReply(path, "field 'token_ids' contains a value that is not a token id");
    out.push_back(id.get<int32_t>());
  }
  return out;
}

Result<CompletionBatch> ParseReply(
    std::string_view reply, std::string_view path, size_t max_text,
    const std::function<Result<Completion>(const Json& choice)>& parse_choice) {
  AGENTR_ASSIGN_OR_RETURN(const Json object, ParseObject(reply, fmt::format("{} reply", path)));
  // What stands beside it is only the part of a completion that came before.
  if (IsTold(object, "error")) return Told(object, "the model's server says");
  const auto choices = Field<Json::array_t>(object, "choices");
  if (!choices) return BadReply(path, choices.error().message);
  if (choices->empty()) return BadReply(path, "field 'choices' is empty");
  CompletionBatch batch;
  for (const Json& choice : *choices) {
    if (!choice.is_object()) return BadReply(path, "a choice is no object");
    if (IsTold(choice, "error")) {
      return Told(choice, "the model's server broke a completion off");
    }
    AGENTR_ASSIGN_OR_RETURN(Completion completion, parse_choice(choice));
    completion.finish_reason = ReasonOf(choice);
    if (IsBrokenOff(completion)) {
      return Fail(ErrorKind::kServer,
                  fmt::format("the model's server broke a completion off (finish_reason '{}')",
                              EscapeControls(completion.finish_reason)));
    }
    if (completion.text.size() > max_text) {
      return Fail(ErrorKind::kRejected,
                  fmt::format("the model's completion has {} bytes, over the limit of {} "
                              "(--llm_max_completion); does it repeat itself? A lower "
                              "--max_new_tokens ends it",
                              completion.text.size(), max_text));
    }
    batch.completions.push_back(std::move(completion));
  }
  AddUsage(object, batch.usage);
  return batch;
}

}  // namespace agentr
