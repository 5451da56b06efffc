#include "clients/openai/openai_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "clients/http/json_fields.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

int64_t Count(const Json& usage, const std::string& name) {
  return Field<int64_t>(usage, name).value_or(0);
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
  return found != object.end() && !found->is_null() && !found->empty() && *found != "";
}

// Whether the server ended the completion, not the model: by what it says, or by a reason that
// nobody knows and no text. The words are those of OpenAI, vLLM, SGLang, TGI and the servers that
// translate for Anthropic, Gemini and Cohere.
bool IsBrokenOff(const Completion& completion) {
  constexpr std::string_view kBroken[] = {"abort", "aborted",     "cancelled", "canceled",
                                          "error", "error_limit", "failed",    "timeout"};
  constexpr std::string_view kEnds[] = {"",
                                        "stop",
                                        "length",
                                        "content_filter",
                                        "tool_calls",
                                        "function_call",
                                        "eos",
                                        "end_turn",
                                        "eos_token",
                                        "stop_sequence",
                                        "max_tokens",
                                        "tool_use",
                                        "safety",
                                        "complete",
                                        "refusal",
                                        "recitation",
                                        "finish_reason_unspecified"};
  const std::string reason = AsciiLower(completion.finish_reason);
  if (std::ranges::find(kBroken, reason) != std::end(kBroken)) return true;
  return completion.text.empty() && std::ranges::find(kEnds, reason) == std::end(kEnds);
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
  if (object.value("choices", Json()).is_null() && IsTold(object, "error")) {
    return Fail(ErrorKind::kServer,
                "the model's server says: " + EscapeControls(ReplyErrorText(object)));
  }
  const auto choices = Field<Json::array_t>(object, "choices");
  if (!choices) return BadReply(path, choices.error().message);
  if (choices->empty()) return BadReply(path, "field 'choices' is empty");
  CompletionBatch batch;
  for (const Json& choice : *choices) {
    if (!choice.is_object()) return BadReply(path, "a choice is no object");
    if (IsTold(choice, "error")) {
      return Fail(ErrorKind::kServer, "the model's server broke a completion off: " +
                                          EscapeControls(ReplyErrorText(choice)));
    }
    AGENTR_ASSIGN_OR_RETURN(Completion completion, parse_choice(choice));
    const Json reason = choice.value("finish_reason", Json());
    if (reason.is_string()) completion.finish_reason = reason.get<std::string>();
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
